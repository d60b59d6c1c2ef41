"""A sketch of the network that an imported graph is: its layers, and what is put down late, when something reads it.

That is a normalisation made of its pieces, padding (in the window that reads it), parts of channels, another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from workloads.errors import NetworkError
from workloads.importing.layers import Layers
from workloads.importing.values import Value, position_dims
from workloads.importing.views import (
    CHANNELS,
    COLUMNS,
    ROWS,
    Atom,
    Dims,
    channels_in,
    full,
    is_channels,
    laid_out,
    normal,
    numbered,
    repeats_in,
    turned,
)
from workloads.network.layers.layer import Layer
from workloads.network.layers.shapes import Shape

Cut = tuple[int, int, int, int]  #: stride and extent of a channel atom, and the first and last + 1 step that are kept


@dataclass(frozen=True)
class Piece:
    """Steps of a dimension of an array, and whose they are."""

    steps: range
    value: Value
    of: range  #: the steps of that value


class Sketch(Layers):
    """Layers, and views of them that become layers where their readers need that."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.cuts: dict[str, Cut] = {}  # slices of one atom of the channels
        self._parts: dict[str, tuple[Value, Value, int, range]] = {}  # slices: of what, as what, along, which steps
        self._origins: dict[str, tuple[str, ...]] = {}  # rearrangements with all that they read: of what
        self._pieces: dict[str, tuple[Value, int, tuple[Piece, ...]]] = {}  # arrays that were written piece by piece

    def append(self, cache: Value, value: Value, rows: int) -> Value | None:
        """Return a cache with new rows below it, which go to DRAM; None where they are not as wide."""
        value = self.conform(value, [rows])
        shape = (*cache.shape[:rows], cache.shape[rows] + value.shape[rows], *cache.shape[rows + 1 :])
        if cache.source is None or value.source is None or self.map_of(cache)[2] != self.map_of(value)[2]:
            return None
        made = {layer.name: layer for layer in self.layers}.get(value.source)
        if made is None or made.op == "concat":  # what may dissolve is no tensor of its own
            height, width, channels = self.map_of(value)
            name = f"{self.at}.rows"
            value = replace(
                value, source=self.add(Layer(name, "slice", (value.source,), height, width, channels, channels))
            )
        assert value.source is not None
        self.appended.add(value.source)
        return Value(shape, value.source, laid_out(shape, [rows], [])[0], above=cache.source)

    def settle(self, value: Value) -> Value:
        """Return the value as a map of its own: with pending layers put down, padding, repeats, rows of a cache."""
        value = self.put_down(value)
        if value.above:
            value = self._stacked(value)
        if repeats_in(value.dims):
            along = position_dims(value) or [i for i, extent in enumerate(value.shape[:-1]) if extent > 1]
            rows, columns = ([along[0]], [along[1]]) if value.rank == 4 and len(along) == 2 else (along, [])
            value = self.rearranged([value], value.shape, rows, columns)
        return value

    def _stacked(self, value: Value) -> Value:
        """A cache and the rows below it as one map: a copy."""
        key = "stacked", value.above, value.source
        if key not in self.made:
            assert value.source is not None
            name, sources = f"{self.at}.order", (value.above, value.source)
            self.made[key] = self.light("rearrange", name, sources, self.map_of(value), (0, 1))
        return replace(value, source=self.made[key], above="")

    def put_down(self, value: Value) -> Value:
        """Return the value with pending layers put down, and padding; repeats and rows of a cache stay a view."""
        if value.is_constant:
            raise NetworkError(f"works on a constant of shape {list(value.shape)[:8]} where a map must be")
        if value.above and (value.pending or value.is_statistic or value.pad != (0, 0, 0, 0)):
            value = self._stacked(value)
        if value.pad != (0, 0, 0, 0):
            value = self._padded(value)
        if value.pending:
            key = value.source, value.pending
            if key not in self.made:
                assert value.source is not None
                name = f"{self.at}.{value.pending}"
                self.made[key] = self.light(value.pending, name, (value.source,), self.map_of(value))
            value = replace(value, source=self.made[key], pending="")
        if value.is_statistic:
            value = self._reduced(value)
        return value

    def _padded(self, value: Value) -> Value:
        key = value.source, value.pad
        top, left, bottom, right = value.pad
        height, width, channels = self.map_of(value)
        if key not in self.made:
            assert value.source is not None
            self.made[key] = self.add(Layer(
                f"{self.at}.pad", "maxpool", (value.source,), height + top + bottom, width + left + right, channels,
                channels, padding=value.pad,
            ))  # fmt: skip
        dims = list(value.dims)
        for axis, extent, more in ((ROWS, height, top + bottom), (COLUMNS, width, left + right)):
            if more:  # of a map of one row its dimension has no atom
                where = (
                    i for i, dim in enumerate(dims) if dim == full(axis, extent) and value.shape[i] == extent + more
                )
                dims[max(where)] = full(axis, extent + more)
        return replace(value, source=self.made[key], dims=tuple(dims), pad=(0, 0, 0, 0))

    def _reduced(self, value: Value) -> Value:
        """One number for each position (and each of the channel dimensions that are left)."""
        height, width, channels = self.map_of(value)
        left = channels_in(value.dims)
        key = value.source, "statistic", value.dims
        if key not in self.made:
            assert value.source is not None
            layer = Layer(f"{self.at}.reduce", "slice", (value.source,), height, width, left, channels)
            self.made[key] = self.add(layer)
        return replace(value, source=self.made[key], dims=numbered(value.dims), is_statistic=False)

    def rearranged(
        self, values: Sequence[Value], shape: Sequence[int], rows: Sequence[int], columns: Sequence[int] = ()
    ) -> Value:
        """Put down a rearrangement of some maps to an array that lies as given; all are needed whole."""
        dims, extents = laid_out(shape, rows, columns)
        sources = tuple(value.source for value in values)
        key = sources, tuple(value.dims for value in values), tuple(shape), tuple(rows), tuple(columns)
        if len(values) > 1 or key not in self.made:
            self.made[key] = self.moved(values, extents)
        return Value(tuple(shape), self.made[key], dims)

    def moved(self, values: Sequence[Value], extents: Shape) -> str:
        """Put down a layer with elements of some maps in any order; of what was moved before, it reads the origin."""
        sources: dict[str, None] = {}
        for value in values:
            if value.source is not None:
                sources |= dict.fromkeys(self._origins.get(value.source, (value.source,)))
        name = self.light("rearrange", f"{self.at}.order", tuple(sources), extents, tuple(range(len(sources))))
        if prod(extents) >= sum(prod(self.builder.shape(source)) for source in sources):
            self._origins[name] = tuple(sources)
        return name

    def conform(self, value: Value, rows: Sequence[int], columns: Sequence[int] = ()) -> Value:
        """Return the value with these dimensions along rows and columns, in order: as it lies, or rearranged."""
        value = self.settle(value)
        height, width, _ = self.map_of(value)
        others = [dim for i, dim in enumerate(value.dims) if i not in (*rows, *columns)]
        lies = all(is_channels(dim) for dim in others)
        for axis, members, extent in ((ROWS, rows, height), (COLUMNS, columns, width)):
            lies = lies and normal(atom for i in members for atom in value.dims[i]) == full(axis, extent)
        return value if lies else self.rearranged([value], value.shape, rows, columns)

    def chosen(self, value: Value, dim: int, kept: range) -> Value:
        """Return some steps of a dimension that runs along channels in pieces: a slice, for their order is free."""
        height, width, channels = self.map_of(value)
        left = channels // value.shape[dim] * len(kept)
        key = value.source, value.dims, dim, kept
        if key not in self.made:
            assert value.source is not None
            self.made[key] = self.add(Layer("", "slice", (value.source,), height, width, left, channels))
        dims = (*value.dims[:dim], full(CHANNELS, len(kept)), *value.dims[dim + 1 :])
        shape = (*value.shape[:dim], len(kept), *value.shape[dim + 1 :])
        return self.note_part(replace(value, shape=shape, source=self.made[key], dims=numbered(dims)), value, dim, kept)

    def cut(self, value: Value, dim: int, start: int, stop: int) -> Value:
        """Return steps start to stop of a dimension that is one atom of the channels: a slice."""
        (atom,) = value.dims[dim]
        height, width, channels = self.map_of(value)
        kept = stop - start
        left = channels // atom.extent * kept
        key = value.source, atom, start, stop
        if key not in self.made:
            assert value.source is not None
            self.made[key] = self.add(Layer("", "slice", (value.source,), height, width, left, channels))
            self.cuts[self.made[key]] = (atom.stride, atom.extent, start, stop)
        dims = list(value.dims)
        dims[dim] = (Atom(CHANNELS, atom.stride, kept),)
        shape = (*value.shape[:dim], kept, *value.shape[dim + 1 :])
        found = replace(value, shape=shape, source=self.made[key], dims=_closed(tuple(dims), atom, kept))
        return self.note_part(found, value, dim, range(start, stop))

    def whole_of(self, values: Sequence[Value], dim: int) -> Value | None:
        """Return what was cut along a dimension into these parts, each taken once; None where it was not.

        The order of channels is free, so that the parts together, or functions of them, are a function of the whole:
        halves that rotary embeddings swap, features of which some are turned and others are not. So are rows in order,
        of which some are turned; the last rows before the first are the whole rolled.
        """
        parts = [self._parts.get(value.source or "") for value in values]
        found = [part for part in parts if part is not None]
        if len(found) < len(values) or len({(whole.source, whole.dims, along) for whole, _, along, _ in found}) > 1:
            return None
        whole, _, along, _ = found[0]
        lies = all((value.shape, value.dims) == (cut.shape, cut.dims) for value, (_, cut, _, _) in zip(values, found))
        if not lies or (along != dim and whole.shape[dim] > 1):
            return None
        steps, every = [step for _, _, _, kept in found for step in kept], list(range(whole.shape[along]))
        steps = sorted(steps) if is_channels(whole.dims[along]) else steps
        rolled = turned(whole.dims[along], -steps[0]) if steps[0] else whole.dims[along]
        if rolled is None or steps != every[steps[0] :] + every[: steps[0]]:
            return None
        dims = [*whole.dims[:along], rolled, *whole.dims[along + 1 :]]
        order = [{along: dim, dim: along}.get(i, i) for i in range(whole.rank)]  # that dimension is elsewhere now
        return replace(whole, shape=tuple(whole.shape[i] for i in order), dims=tuple(dims[i] for i in order))

    def note_part(self, part: Value, whole: Value, dim: int, kept: range) -> Value:
        """Return a part of a map, noting which steps of which dimension it is."""
        assert part.source is not None
        self._parts[part.source] = whole, part, dim, kept
        return part

    def remember(self, value: Value, axis: int, pieces: tuple[Piece, ...]) -> None:
        """Note the pieces along a dimension that an array was put together from."""
        assert value.source is not None
        self._pieces[value.source] = value, axis, pieces

    def pieces_of(self, value: Value, axis: int) -> tuple[Piece, ...]:
        """Return the pieces along a dimension that an array was put together from, none where it was not."""
        whole, along, pieces = self._pieces.get(value.source or "", (None, -1, ()))
        return pieces if (whole, along) == (value, axis) else ()


def _closed(dims: Dims, cut: Atom, kept: int) -> Dims:
    """The dimensions after one atom of the channels shrank: the strides of those around it shrink with it."""
    found = []
    for dim in dims:
        atoms = []
        for atom in dim:
            if atom.axis == CHANNELS and atom.stride >= cut.stride * cut.extent:
                atom = Atom(CHANNELS, atom.stride // cut.extent * kept, atom.extent)
            atoms.append(atom)
        found.append(normal(atoms))
    return tuple(found)
