"""Products: of a map with weights (each position, or the map flattened), and of two maps (attention)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from workloads.errors import NetworkError
from workloads.importing.families.moving import reshape, transpose
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value, broadcast, derived
from workloads.importing.views import (
    CHANNELS,
    ROWS,
    Dim,
    Dims,
    channels_in,
    full,
    is_channels,
    numbered,
    positions,
    repeats_in,
    without_repeats,
)
from workloads.network.layers.layer import Layer, Note
from workloads.network.layers.shapes import MAX_EXTENT
from workloads.network.layers.types import Experts


def linear(
    sketch: Sketch, value: Value, features: int, weights: Value | None = None, experts: Experts | None = None
) -> Value:
    """Return the product of the last dimension with weights to this many features; a constant is a model input."""
    if value.rank == 0:
        raise NetworkError("multiplies a number with a matrix")
    value = sketch.settle(sketch.fed(value) if value.is_constant else value)
    shape = (*value.shape[:-1], features)
    height, width, channels = sketch.map_of(value)
    *others, last = value.dims
    if all(not dim for dim in others) and (height, width) != (1, 1) and value.shape[-1] == height * width * channels:
        kernel, extents = (height, width), (1, 1)
    else:
        if not is_channels(last) or any(atom.axis == CHANNELS for dim in others for atom in dim):
            along = [i for i in range(value.rank - 1) if value.shape[i] > 1]
            value = sketch.rearranged([value], value.shape, along)
            height, width, channels = sketch.map_of(value)
            *others, last = value.dims
        kernel, extents = (1, 1), (height, width)
    assert value.source is not None
    layer = Layer("", "fc", (value.source,), *extents, features, channels, kernel, experts=experts)
    name = sketch.dense(layer, weights)
    return Value(shape, name, (*others, full(CHANNELS, features)))


def product(sketch: Sketch, first: Value, second: Value) -> Value:
    """Return the matrix product of two arrays, by batch; vectors are not understood."""
    if min(first.rank, second.rank) < 2:
        if first.rank >= 1 and not first.is_constant and second.is_constant and second.rank == 1:
            raise NetworkError("multiplies with a vector")
        raise NetworkError(f"multiplies arrays of {first.rank} and {second.rank} dimensions; both need 2 at least")
    if first.shape[-1] != second.shape[-2]:
        raise NetworkError(f"multiplies {list(first.shape)} with {list(second.shape)}")
    batch = broadcast([first.shape[:-2], second.shape[:-2]])
    shape = (*batch, first.shape[-2], second.shape[-1])
    if first.is_constant and second.is_constant:
        if not _meets_weights(sketch, first, second):
            return derived(shape, None, [first, second])
        first, second = (sketch.fed(each) if each.is_given else each for each in (first, second))
    if second.is_constant and prod(second.shape[:-2]) == 1:
        return linear(sketch, first, second.shape[-1], second)
    if first.is_constant and prod(first.shape[:-2]) == 1:
        turned = linear(sketch, swapped(sketch, second), first.shape[-2], first)
        return swapped(sketch, turned)
    if second.is_constant:
        return _by_batch(sketch, first, second, shape)
    if first.is_constant:
        return swapped(sketch, _by_batch(sketch, swapped(sketch, second), swapped(sketch, first), _turned(shape)))
    return _of_maps(sketch, sketch.settle(first), sketch.put_down(second), batch, shape)


def _meets_weights(sketch: Sketch, first: Value, second: Value) -> bool:
    """Whether stored weights meet what is given: a layer, for weights are not folded with what they meet."""
    given, others = ([each for each in (first, second) if each.is_given == is_given] for is_given in (True, False))
    return len(given) == 1 and bool(others[0].origins & sketch.matrices.keys())


def _turned(shape: Sequence[int]) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2])


def _by_batch(sketch: Sketch, value: Value, weights: Value, shape: tuple[int, ...]) -> Value:
    """Products with weights of their own for each batch: groups of channels, or features of one common operand."""
    batch, (inner, features) = shape[:-2], weights.shape[-2:]
    count, rank = prod(batch), len(shape)
    value = _padded_rank(sketch.settle(value), rank)
    if prod(weights.shape[:-2]) == count and prod(value.shape[:-2]) == 1:  # experts that all see the same rows
        found = linear(sketch, reshape(sketch, value, value.shape[-2:]), count * features, weights)
        split = reshape(sketch, found, (value.shape[-2], *batch, features))
        return transpose(sketch, split, (*range(1, rank - 1), 0, rank - 1))
    if value.shape[:-2] != batch or not _is_heads(value) or not is_channels(value.dims[-1]) or _mixed(value.dims[-2]):
        value = sketch.rearranged([value], (*batch, *value.shape[-2:]), [rank - 2])
    height, width, channels = sketch.map_of(value)
    assert value.source is not None and channels == count * inner
    name = sketch.dense(
        Layer("", "conv", (value.source,), height, width, count * features, channels, groups=count), weights
    )
    return Value(shape, name, _product_dims(value, shape))


def by_expert(sketch: Sketch, value: Value, weights: Value) -> Value:
    """Return rows [rows, inner], each multiplied with the weights of one of several experts [experts, inner, features].

    Our choice: each row takes one expert, routed uniformly, whatever the other rows of its token take.
    """
    (rows, inner), (count, _, features) = value.shape, weights.shape
    found = linear(sketch, value, features, weights, Experts(count, 1))
    used = Experts(count, 1).in_use(rows)
    note = Note(found.source or "", f"{used} of {count} experts", "experts", (count - used) * inner * features)
    sketch.notes.append(note)
    return found


def windowed(sketch: Sketch, value: Value, weights: Value, groups: int, taps: int, shape: tuple[int, ...]) -> Value:
    """Return a convolution [1, C, ...] to `shape` whose kernel [features, C / groups, ...] the network computes.

    The windows of the map are laid out, and multiplied with the kernel group by group: a matrix product.
    """
    features, positions_made, inner = shape[1] // groups, prod(shape[2:]), value.shape[1] // groups * taps
    value = sketch.settle(sketch.fed(value, [2], [3][: value.rank - 3]) if value.is_constant else value)
    if taps == 1 and value.shape[2:] == shape[2:]:
        split = reshape(sketch, value, (groups, inner, positions_made))
        rows = transpose(sketch, split, (0, 2, 1))
    else:
        rows = sketch.rearranged([value], (groups, positions_made, inner), [1])
    kernel = transpose(sketch, reshape(sketch, weights, (groups, features, inner)), (0, 2, 1))
    made = transpose(sketch, product(sketch, rows, kernel), (0, 2, 1))
    return reshape(sketch, made, shape)


def swapped(sketch: Sketch, value: Value) -> Value:
    """Return the value with its last two dimensions swapped."""
    return transpose(sketch, value, (*range(value.rank - 2), value.rank - 1, value.rank - 2))


def _of_maps(sketch: Sketch, first: Value, second: Value, batch: Sequence[int], shape: tuple[int, ...]) -> Value:
    """Heads are channels of both; a row of the first is a position, and the second is needed whole.

    The second may have fewer heads, which are repeated, and may be a cache with new rows below it.
    """
    heads, rank = prod(batch), len(shape)
    first, second = _padded_rank(first, rank), _padded_rank(second, rank)
    blocks = _blocks(sketch, first, second, batch)
    if blocks > 1:
        height, width, inner = sketch.map_of(first)
        assert first.source is not None and second.source is not None
        heads //= blocks
        name = sketch.add(Layer(
            "", "matmul", (first.source, second.source), height, width, heads * shape[-1], inner, groups=heads,
            whole=(1,), operand_heads=heads * blocks,
        ))  # fmt: skip
        return Value(shape, name, _product_dims(first, shape))
    if not _lies_first(first, batch) or _is_softmax(sketch, first):  # no softmax follows along the second's positions
        turned = swapped(sketch, second), swapped(sketch, first)
        if _lies_first(turned[0], batch) and _own_heads(sketch, turned[1]) == heads and not second.above:
            return swapped(sketch, _of_maps(sketch, *turned, batch, _turned(shape)))
    if not _lies_first(first, batch):
        wanted = (*batch, *first.shape[-2:])
        first = sketch.rearranged([first], wanted, [rank - 2])
    own = _own_heads(sketch, second)
    if not own or heads % own:
        second, own = sketch.settle(second), heads
        if second.shape[:-2] != batch or not _own_heads(sketch, second):
            is_turned = is_channels(second.dims[-2]) and not is_channels(second.dims[-1])  # keys: rows stay rows
            second = sketch.rearranged([second], (*batch, *second.shape[-2:]), [rank - 1 if is_turned else rank - 2])
    height, width, inner = sketch.map_of(first)
    assert first.source is not None and second.source is not None
    sources = (first.source, *((second.above,) if second.above else ()), second.source)
    name = sketch.add(Layer(
        "", "matmul", sources, height, width, heads * shape[-1], inner, groups=heads,
        whole=tuple(range(1, len(sources))), operand_heads=0 if own == heads else own,
    ))  # fmt: skip
    return Value(shape, name, _product_dims(first, shape))


def _blocks(sketch: Sketch, first: Value, second: Value, batch: Sequence[int]) -> int:
    """In how many blocks the positions of both operands are (windows, rows, columns), 1 where they do not lie so.

    A row of a block meets the rows of its own block. Which positions are a block is a matter of addresses.
    """
    counts, heads = set(), set()
    for value in (first, second):
        outer, (rows, columns) = value.dims[:-2], value.dims[-2:]
        if value.shape[:-2] != tuple(batch) or value.above or repeats_in(value.dims):
            return 1
        is_turned = value is second and is_channels(rows) and not is_channels(columns)
        if not is_channels(rows if is_turned else columns) or _mixed(columns if is_turned else rows):
            return 1
        counts.add(tuple(atom.extent for dim in outer for atom in positions(dim)))
        heads.add(channels_in(outer))
    blocks = prod(counts.pop())
    fits = not counts and len(heads) == 1 and blocks * heads.pop() == prod(batch)
    widest = max(sketch.map_of(value)[2] for value in (first, second))
    return blocks if fits and blocks * widest <= MAX_EXTENT else 1


def _lies_first(value: Value, batch: Sequence[int]) -> bool:
    """Whether an array is the first operand of a product as it lies: rows are positions, heads and columns channels."""
    is_split = value.shape[:-2] == tuple(batch) and _is_heads(value) and not repeats_in(value.dims)
    return is_split and is_channels(value.dims[-1]) and not _mixed(value.dims[-2])


def _is_softmax(sketch: Sketch, value: Value) -> bool:
    return any(layer.name == value.source and layer.op == "softmax" for layer in reversed(sketch.layers))


def _own_heads(sketch: Sketch, value: Value) -> int:
    """How many heads the second operand of a product has, repeats left out; 0 where it does not lie as one."""
    rows, columns = value.dims[-2:]
    is_turned = is_channels(rows) and not _mixed(columns)
    if not is_turned and not (is_channels(columns) and not _mixed(rows)):
        return 0
    over = columns if is_turned else rows
    if repeats_in((rows, columns)) or (value.above and over != full(ROWS, sketch.map_of(value)[0])):
        return 0
    heads = without_repeats(value.dims[:-2])
    return channels_in(heads) if all(map(is_channels, heads)) else 0


def _product_dims(first: Value, shape: tuple[int, ...]) -> Dims:
    """The product lies as its first operand, with other channels in the last dimension."""
    return numbered((*first.dims[:-1], full(CHANNELS, shape[-1])))


def _padded_rank(value: Value, rank: int) -> Value:
    more = rank - value.rank
    return replace(value, shape=(1,) * more + value.shape, dims=((),) * more + value.dims)


def _is_heads(value: Value) -> bool:
    return all(is_channels(dim) for dim in value.dims[:-2])


def _mixed(dim: Dim) -> bool:
    """Whether a dimension has channels in it, not positions only."""
    return len(positions(dim)) < len(dim)


def embed(sketch: Sketch, name: str, table: Value, indices: Value) -> Value:
    """Return the rows of a table that a model input chooses: a model input, for the table is not loaded."""
    shape = (*indices.shape, *table.shape[1:])
    sketch.choose_from(table)
    along = [i for i in range(len(shape) - 1) if shape[i] > 1]
    return sketch.input(name, shape, along)
