"""What is read of an imported graph so far, in topological order: model inputs, layers, notes, and whose weights.

Constants that a layer must read are also model inputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from workloads.errors import NetworkError
from workloads.importing.values import Value, size_of
from workloads.importing.views import Dims, laid_out
from workloads.network.builder import Builder
from workloads.network.layers.layer import Layer, Note
from workloads.network.layers.shapes import MAX_NAME, Shape

MAX_LAYERS = 2**16  #: our choice: far above any network we know


class Layers:
    """Collects model inputs and layers; `at` names the node that is being read, for the layers that it makes."""

    def __init__(self, name: str) -> None:
        self.builder = Builder(name)
        self.layers: list[Layer] = []
        self.inputs: list[str] = []
        self.notes: list[Note] = []
        self.at = ""
        self.made: dict[object, str] = {}  # layers that several readers ask for
        self.sizes: dict[str, int] = {}  # elements of stored tensors and of model inputs, by origin
        self.matrices: dict[str, int] = {}  # elements of stored weights of two dimensions and more
        self.ends: list[str] = []  # layers needed by more than the outputs: new rows of caches
        self.orders: list[str] = []  # layers that say where elements are taken from
        self.weights_of: dict[str, frozenset[str]] = {}  # layer -> matrices that it reads
        self.chosen_tables: dict[str, None] = {}  # tables, of which a model input chooses rows
        self.read_elements: Counter[str] = Counter()  # elements of stored matrices that are model inputs
        self.caches: set[str] = set()  # model inputs that hold the rows of earlier steps
        self.appended: set[str] = set()  # layers whose rows are appended to a cache
        self.kept: list[str] = []  # layers that the outputs need, once they are known
        self.split: dict[str, tuple[str, ...]] = {}  # fused projections, and the layers in their place
        self.outside: set[str] = set()  # stored tensors whose numbers are in another file
        self._names: Counter[str] = Counter()

    def fresh(self, name: str) -> str:
        """Return the name, printable, of a sane length, and unlike those that are taken."""
        clean = "".join(c if c.isprintable() else "_" for c in name)[: MAX_NAME - 16] or "node"
        found = clean
        while self._names[found]:
            found = f"{clean}.{self._names[clean]}"
            self._names[clean] += 1
        self._names[found] += 1
        return found

    def input(self, name: str, shape: Sequence[int], rows: Sequence[int], columns: Sequence[int] = ()) -> Value:
        """Add a model input whose dimensions lie along rows and columns as given, the others along channels."""
        dims, extents = laid_out(shape, rows, columns)
        name = self.builder.input(self.fresh(name), *extents)
        self.inputs.append(name)
        return Value(tuple(shape), name, dims)

    def cache(self, name: str, shape: Sequence[int], rows: int) -> Value:
        """Add a model input that holds the rows of earlier steps along one dimension, the others along channels."""
        dims, extents = laid_out(shape, [rows], [])
        name = self.builder.input(self.fresh(name), *extents, kind="cache")
        self.inputs.append(name)
        self.caches.add(name)
        self.notes.append(Note(name, f"{shape[rows]} rows", "cache"))
        return Value(tuple(shape), name, dims)

    def add(self, layer: Layer) -> str:
        """Put a layer down; its name is that of the node that is being read, unless it has one."""
        if len(self.layers) == MAX_LAYERS:
            raise NetworkError(f"has more than {MAX_LAYERS} layers")
        name = self.fresh(layer.name or self.at)
        layer = replace(layer, name=name)
        self.builder.append(layer)
        self.layers.append(layer)
        return name

    def dense(self, layer: Layer, weights: Value | None) -> str:
        """Put down a layer with weights, which are a constant (None: not stored in the file)."""
        name = self.add(layer)
        if weights is not None:
            self.weights_of[name] = frozenset(weights.origins & self.matrices.keys())
        return name

    def choose_from(self, table: Value) -> None:
        """Account for stored tables whose rows an input chooses: they are not loaded."""
        self.chosen_tables |= dict.fromkeys(sorted(table.origins & self.matrices.keys()))

    def fed(self, value: Value, rows: Sequence[int] | None = None, columns: Sequence[int] = ()) -> Value:
        """Return a constant as a model input: its bytes are read. All but its last dimension are rows unless given."""
        if rows is None:
            rows = [i for i in range(value.rank - 1) if value.shape[i] > 1]
        dims, extents = laid_out(value.shape, rows, columns)
        return Value(value.shape, self._fed(value, dims, extents), dims)

    def fed_like(self, value: Value, like: Value) -> Value | None:
        """Return a constant as a model input that lies as a map does; None where it covers an axis in part."""
        shape = (1,) * (like.rank - value.rank) + value.shape
        dims = tuple(dim if extent > 1 else () for dim, extent in zip(like.dims, shape))
        extents = [prod(atom.extent for dim in dims for atom in dim if atom.axis == axis) for axis in range(3)]
        if any(have not in (1, want) for have, want in zip(extents, self.map_of(like))):
            return None
        return Value(shape, self._fed(value, dims, (extents[0], extents[1], extents[2])), dims)

    def _fed(self, value: Value, dims: Dims, extents: Shape) -> str:
        name = value.name or f"{self.at}.constant"
        key = "fed", name, value.shape, dims
        if key not in self.made:
            self.made[key] = self.builder.input(self.fresh(name), *extents)
            self.inputs.append(self.made[key])
            self.notes.append(Note(name, "input" if value.is_given else "constant", "read", size_of(value)))
            for origin in value.origins & self.matrices.keys():
                self.read_elements[origin] += size_of(value)
        return self.made[key]

    def is_stored(self, value: Value) -> bool:
        """Whether a constant is made of stored or given tensors that are no smaller: it is read as it lies."""
        return value.is_constant and sum(self.sizes.get(name, 0) for name in value.origins) >= size_of(value) > 0

    def map_of(self, value: Value) -> Shape:
        """Return (height, width, channels) of the map that holds a value; the height includes rows stacked above it."""
        assert value.source is not None
        height, width, channels = self.builder.shape(value.source)
        return height + (self.builder.shape(value.above)[0] if value.above else 0), width, channels

    def light(self, op: str, name: str, inputs: tuple[str, ...], shape: Shape, whole: tuple[int, ...] = ()) -> str:
        """Put down an element-wise layer or a rearrangement."""
        return self.add(Layer(name, op, inputs, *shape, shape[2], whole=whole))
