"""What flows along the edges of an imported graph: a view of a map, or a constant whose numbers may be unknown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from workloads.errors import NetworkError, shown
from workloads.importing.views import Dims, positions

if TYPE_CHECKING:
    import numpy as np

MAX_DATA = 2**16  #: elements of a constant whose numbers are kept, our choice: shapes, paddings and indices are short
MAX_RANK = 16  #: our choice


@dataclass(frozen=True)
class Value:
    """An array of an imported graph, batch 1 included in its shape."""

    shape: tuple[int, ...]
    source: str | None = None  #: the layer or model input that holds it; None: a constant
    dims: Dims = ()  #: how it lies on the map of its source
    data: np.ndarray | None = None  #: the numbers of a constant, where they are known
    is_given: bool = False  #: a constant that comes from a model input: indices, a mask
    origins: frozenset[str] = frozenset()  #: stored tensors and model inputs that a constant is made of
    name: str = ""  #: of a constant: what it is called where a layer must read it
    pad: tuple[int, int, int, int] = (0, 0, 0, 0)  #: zeros around rows and columns that its reader takes in
    pending: str = ""  #: the element-wise layer that its reader must put in between: layernorm, softmax
    above: str = ""  #: a cache whose rows stand above those of the source, which are new: dims are those of all rows
    is_statistic: bool = False  #: one number for each position, from the channels of the source

    @property
    def is_constant(self) -> bool:
        """Whether it is no map of the network."""
        return self.source is None

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)


def constant(shape: tuple[int, ...], data: np.ndarray | None = None, is_given: bool = False) -> Value:
    """Return a constant; numbers are kept where they are few."""
    if data is not None and data.size > MAX_DATA:
        data = None
    return Value(checked(shape), data=data, is_given=is_given)


def derived(shape: tuple[int, ...], data: np.ndarray | None, values: Iterable[Value]) -> Value:
    """Return the constant that is made of constants."""
    values = list(values)
    found = constant(shape, data, any(value.is_given for value in values))
    names = [value.name for value in values if value.name]
    return replace(found, origins=frozenset().union(*(value.origins for value in values)), name=(*names, "")[0])


def checked(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape; raises NetworkError where it is none."""
    if len(shape) > MAX_RANK or not all(type(extent) is int and 0 <= extent < 2**40 for extent in shape):
        raise NetworkError(f"has an array of shape {shown(list(shape))}; extents must be known and not below 0")
    if prod(shape) > 2**62:
        raise NetworkError(f"has an array of shape {shown(list(shape))}; it is too large")
    return shape


def broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes have together; raises NetworkError where they do not match."""
    rank = max(map(len, shapes))
    columns = zip(*[(1,) * (rank - len(shape)) + shape for shape in shapes], strict=True)
    found = tuple(max(set(column) - {1}, default=1) if 0 not in column else 0 for column in columns)
    for shape in shapes:
        for have, want in zip(shape[::-1], found[::-1]):
            if have not in (want, 1):
                raise NetworkError(f"combines arrays of shapes {', '.join(str(list(each)) for each in shapes[:4])}")
    return found


def position_dims(value: Value) -> list[int]:
    """Return the dimensions of a value that run along rows or columns."""
    return [i for i, dim in enumerate(value.dims) if positions(dim)]


def size_of(value: Value) -> int:
    """Return the number of elements."""
    return prod(value.shape)
