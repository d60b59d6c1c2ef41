"""The layers of an imported graph while it is read, in topological order; `finish` makes the network.

What is put down late: a normalisation made of its pieces (when something reads it), padding (in the window that reads
it), the cut of a fused projection (as one projection for each part).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod

from workloads.errors import NetworkError
from workloads.importing.notes import weight_notes
from workloads.importing.values import Value
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
    positions,
    repeats_in,
)
from workloads.network.builder import Builder
from workloads.network.layer import Layer, Note
from workloads.network.network import Network
from workloads.network.ops import DENSE_OPS
from workloads.network.shapes import MAX_NAME, Shape

MAX_LAYERS = 2**16  #: our choice: far above any network we know

Cut = tuple[int, int, int, int]  #: stride and extent of a channel atom, and the first and last + 1 step that are kept


class Sketch:
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
        self.ends: list[str] = []  # layers that something beside the outputs needs: new rows of caches
        self._weights: dict[str, frozenset[str]] = {}  # layer -> matrices that it reads
        self._chosen: dict[str, None] = {}  # tables, of which a model input chooses rows
        self._read: Counter[str] = Counter()  # elements of stored matrices that are model inputs
        self.caches: set[str] = set()  # model inputs that hold the rows of earlier steps
        self.appended: set[str] = set()  # layers whose rows are appended to a cache
        self._cuts: dict[str, Cut] = {}
        self._parts: dict[str, tuple[Value, Value, int, range]] = {}  # slices: of what, as what, along, which steps
        self._names: Counter[str] = Counter()

    # names, inputs, layers

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
            self._weights[name] = frozenset(weights.origins & self.matrices.keys())
        return name

    def choose_from(self, table: Value) -> None:
        """Account for stored tables whose rows an input chooses: they are not loaded."""
        self._chosen |= dict.fromkeys(sorted(table.origins & self.matrices.keys()))

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
                self._read[origin] += size_of(value)
        return self.made[key]

    def is_stored(self, value: Value) -> bool:
        """Whether a constant is made of stored or given tensors that are no smaller: it is read as it lies."""
        return value.is_constant and sum(self.sizes.get(name, 0) for name in value.origins) >= size_of(value) > 0

    def map_of(self, value: Value) -> Shape:
        """Return (height, width, channels) of the map that holds a value."""
        assert value.source is not None
        height, width, channels = self.builder.shape(value.source)
        return height + (self.builder.shape(value.above)[0] if value.above else 0), width, channels

    def light(self, op: str, name: str, inputs: tuple[str, ...], shape: Shape, whole: tuple[int, ...] = ()) -> str:
        """Put down an element-wise layer or a rearrangement."""
        return self.add(Layer(name, op, inputs, *shape, shape[2], whole=whole))

    # what is put down late

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
        ends = (full(ROWS, height + top + bottom), full(COLUMNS, width + left + right))
        dims = value.dims[:2] + ends[: value.rank - 2]
        return replace(value, source=self.made[key], dims=dims, pad=(0, 0, 0, 0))

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
        sources = tuple(dict.fromkeys(value.source for value in values if value.source is not None))
        key = sources, tuple(value.dims for value in values), tuple(shape), tuple(rows), tuple(columns)
        if len(values) > 1 or key not in self.made:
            name = f"{self.at}.order"
            self.made[key] = self.light("rearrange", name, sources, extents, tuple(range(len(sources))))
        return Value(tuple(shape), self.made[key], dims)

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
        found = replace(value, shape=shape, source=self.made[key], dims=numbered(dims))
        self._parts[self.made[key]] = value, found, dim, kept
        return found

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
            self._cuts[self.made[key]] = (atom.stride, atom.extent, start, stop)
        dims = list(value.dims)
        dims[dim] = (Atom(CHANNELS, atom.stride, kept),)
        shape = (*value.shape[:dim], kept, *value.shape[dim + 1 :])
        found = replace(value, shape=shape, source=self.made[key], dims=_closed(tuple(dims), atom, kept))
        self._parts[self.made[key]] = value, found, dim, range(start, stop)
        return found

    def whole_of(self, values: Sequence[Value], dim: int) -> Value | None:
        """Return what was cut along a dimension into these parts, each taken once, in any order; None where it was not.

        The order of channels is free, so that the parts together, or functions of them, are a function of the whole:
        halves that rotary embeddings swap, features of which some are turned and others are not.
        """
        parts = [self._parts.get(value.source or "") for value in values]
        found = [part for part in parts if part is not None]
        if len(found) < len(values) or len({(whole.source, whole.dims, along) for whole, _, along, _ in found}) > 1:
            return None
        whole, _, along, _ = found[0]
        steps = sorted(step for _, _, _, kept in found for step in kept)
        lies = all((value.shape, value.dims) == (cut.shape, cut.dims) for value, (_, cut, _, _) in zip(values, found))
        return whole if lies and along == dim and steps == list(range(whole.shape[dim])) else None

    # the network

    def finish(self, outputs: Iterable[Value]) -> Network:
        """Return the network of what the outputs need; raises NetworkError where that is nothing."""
        ends = [(value if value.above else self.settle(value)).source for value in outputs if not value.is_constant]
        wanted = {name for name in ends if name is not None} | set(self.ends)
        wanted_ends = set(wanted)
        for layer in reversed(self.layers):
            if layer.name in wanted:
                wanted.update(layer.inputs)
        kept = [layer for layer in self.layers if layer.name in wanted]
        uses = {layer.name: (layer.parameters, self._weights.get(layer.name, frozenset())) for layer in kept}
        layers = self._split(kept, wanted_ends)
        if not layers:
            raise NetworkError("has no layers between its inputs and its outputs")
        read = {name for layer in layers for name in layer.inputs}
        builder = Builder(self.builder.name)
        for name in self.inputs:
            if name in read:
                builder.input(name, *self.builder.shape(name), kind="cache" if name in self.caches else "input")
        for layer in layers:
            builder.append(replace(layer, appended=layer.name in self.appended))
        unread = self.caches - read
        self.notes = [note for note in self.notes if note.how != "cache" or note.node not in unread]
        notes = [*self.notes, *weight_notes(self.matrices, uses, self._chosen, self._read)]
        return replace(builder.build(), notes=tuple(notes))

    def _split(self, layers: list[Layer], ends: set[str]) -> list[Layer]:
        """One layer for each part of a fused projection: of a dense layer that slices read, each channel once."""
        readers: dict[str, list[Layer]] = {layer.name: [] for layer in layers}
        for layer in layers:
            for name in dict.fromkeys(layer.inputs):
                if name in readers:
                    readers[name].append(layer)
        parts: dict[str, Layer] = {}
        found = []
        for layer in layers:
            layer = parts.get(layer.name, layer)
            mine = readers[layer.name]
            is_plain = layer.op in DENSE_OPS and layer.groups == 1 and layer.name not in ends
            if is_plain and self._covers(mine):
                parts |= {cut.name: replace(layer, name=cut.name, channels=cut.channels) for cut in mine}
            else:
                found.append(layer)
        return found

    def _covers(self, readers: list[Layer]) -> bool:
        """Whether slices of one atom of the channels take each of its steps once."""
        cuts = [self._cuts.get(reader.name) for reader in readers]
        found = sorted(cut for cut in cuts if cut is not None)
        if not found or len(found) < len(readers) or len({cut[:2] for cut in found}) > 1:
            return False
        ends = [0, *(cut[3] for cut in found)]
        return all(cut[2] == end for cut, end in zip(found, ends)) and ends[-1] == found[0][1]


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


def position_dims(value: Value) -> list[int]:
    """Return the dimensions of a value that run along rows or columns."""
    return [i for i, dim in enumerate(value.dims) if positions(dim)]


def size_of(value: Value) -> int:
    """Return the number of elements."""
    return prod(value.shape)
