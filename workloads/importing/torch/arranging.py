"""The operators of torch.export that move elements, choose some, or make constants."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from workloads.errors import NetworkError
from workloads.importing.families import combining, moving, multiplying, sliding, writing
from workloads.importing.families.moving import axis_of
from workloads.importing.families.sliding import Sliding
from workloads.importing.torch.call import Answer, TorchCall, by_name
from workloads.importing.torch.weighted import pair
from workloads.importing.values import Value, constant, derived
from workloads.network.layers.layer import Note


def _reshaped(call: TorchCall) -> Answer:
    """Everything that only gives the elements another shape: the trace says which."""
    return moving.reshape(call.sketch, call.value("self"), call.shape)


def _transpose(call: TorchCall) -> Answer:
    return moving.transpose(call.sketch, call.value("self"), _order(call))


def _order(call: TorchCall) -> list[int]:
    """The dimensions of the argument in the order that the result has them."""
    value = call.value("self")
    order = list(range(value.rank))
    if call.op == "permute":
        return list(call.get("dims"))
    if call.op == "numpy_T":
        return order[::-1]
    if call.op == "movedim":
        pairs = zip(pair(call.get("destination"), 1), pair(call.get("source"), 1), strict=True)
        places = {axis_of(value, place): axis_of(value, axis) for place, axis in pairs}
        rest = iter([axis for axis in order if axis not in places.values()])
        return [places[place] if place in places else next(rest) for place in order]
    if value.rank > 1:
        first, second = call.get("dim0", call.get("axis0", -2)), call.get("dim1", call.get("axis1", -1))
        i, j = axis_of(value, first), axis_of(value, second)
        order[i], order[j] = j, i
    return order


def _expand(call: TorchCall) -> Answer:
    return moving.expand(call.sketch, call.value("self"), call.shape)


def _concat(call: TorchCall) -> Answer:
    return moving.concat(call.sketch, call.get("tensors"), call.get("dim", 0))


def _stack(call: TorchCall) -> Answer:
    values, dim = call.get("tensors"), call.get("dim", 0)
    dim = dim % (values[0].rank + 1)
    return moving.concat(call.sketch, [moving.unsqueeze(call.sketch, value, [dim]) for value in values], dim)


def _part(call: TorchCall) -> Answer:
    value = call.value("self")
    if call.op == "narrow":
        start = call.get("start")
        return moving.part(call.sketch, value, call.get("dim"), start, start + call.get("length"))
    axis = axis_of(value, call.get("dim", 0))
    stop = min(call.get("end", value.shape[axis]), 2**40)
    return moving.part(call.sketch, value, axis, call.get("start", 0), stop, call.get("step", 1))


def _parts(call: TorchCall) -> Answer:
    """split, split_with_sizes, chunk, unbind."""
    value, axis = call.value("self"), axis_of(call.value("self"), call.get("dim", 0))
    extent = value.shape[axis]
    if call.op == "unbind":
        return [moving.pick(call.sketch, value, axis, i) for i in range(extent)]
    if call.op == "tensor_split":
        ends = [0, *(call.get("indices") or []), extent]
        if not isinstance(call.get("indices"), list):
            raise NetworkError("is split into equal parts; places to split at are known")
        return [moving.part(call.sketch, value, axis, a, b) for a, b in zip(ends, ends[1:])]
    sizes = call.get("split_size", call.get("split_sizes"))
    if call.op == "chunk":
        sizes = -(-extent // call.get("chunks"))
    if isinstance(sizes, int):
        sizes = [min(sizes, extent - start) for start in range(0, extent, sizes)]
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [moving.part(call.sketch, value, axis, a, a + n) for a, n in zip(starts, sizes)]


def _pick(call: TorchCall) -> Answer:
    return moving.pick(call.sketch, call.value("self"), call.get("dim"), call.get("index"))


def _reordered(call: TorchCall) -> Answer:
    """roll, flip, gathers by constants: positions in another order are a rearrangement, channels are not."""
    value = call.value("self")
    places = [each for each in call.values() if not each.is_constant and each is not value]
    if places and value.is_constant:
        value = call.sketch.fed(value)
    call.sketch.orders += [each.source for each in places if each.source is not None]
    value = value if call.op == "repeat_interleave" and value.above else call.sketch.settle(value)
    along = [i for i, dim in enumerate(value.dims) if any(atom.axis != 2 for atom in dim)]
    moved = call.get("dims", call.get("dim"))
    if call.op == "repeat_interleave" and isinstance(call.get("repeats"), int) and moved is not None:
        axis, times = axis_of(value, moved), call.get("repeats")
        split = moving.unsqueeze(call.sketch, value, [axis + 1])
        wide = moving.expand(call.sketch, split, (*split.shape[: axis + 1], times, *split.shape[axis + 2 :]))
        return moving.reshape(call.sketch, wide, call.shape)
    if call.op == "roll" and moved:
        return moving.roll(call.sketch, value, pair(call.get("shifts"), 1), pair(moved, 1))
    axes = {axis_of(value, axis) for axis in pair(moved, 1)} if moved is not None else set(range(value.rank))
    if not axes & set(along) and call.shape == value.shape:
        return value
    if value.rank != len(call.shape):
        along = [i for i in range(len(call.shape) - 1) if call.shape[i] > 1]
    rows, columns = ([along[0]], [along[1]]) if len(along) == 2 else (along, [])
    return call.sketch.rearranged([value], call.shape, rows, columns)


def _pad(call: TorchCall) -> Answer:
    value, numbers = call.value("self"), list(call.get("pad"))
    before, after = [0] * value.rank, [0] * value.rank
    for i in range(len(numbers) // 2):
        before[-1 - i], after[-1 - i] = numbers[2 * i], numbers[2 * i + 1]
    return moving.pad(call.sketch, value, before, after)


def _shuffle(call: TorchCall) -> Answer:
    """pixel_shuffle, pixel_unshuffle, channel_shuffle: views, of which the last moves channels only."""
    value, sketch = call.value("self"), call.sketch
    if call.op == "channel_shuffle":
        return value
    batch, channels, height, width = value.shape
    if call.op == "pixel_shuffle":
        n = call.get("upscale_factor")
        split = moving.reshape(sketch, value, (batch, channels // n**2, n, n, height, width))
        return moving.reshape(sketch, moving.transpose(sketch, split, (0, 1, 4, 2, 5, 3)), call.shape)
    n = call.get("downscale_factor")
    split = moving.reshape(sketch, value, (batch, channels, height // n, n, width // n, n))
    return moving.reshape(sketch, moving.transpose(sketch, split, (0, 1, 3, 5, 2, 4)), call.shape)


def _embed(call: TorchCall) -> Answer:
    table, indices = call.value("weight"), call.value("indices")
    if indices.source is not None:  # a code book: which rows is computed
        call.sketch.ends.append(indices.source)
    elif not indices.is_given:
        return derived(call.shape, None, call.values())
    if indices.rank > 1 and indices.shape[0] > 1 and prod(indices.shape[1:]) > 1:  # tokens, or sequence first
        raise NetworkError(f"looks up tokens of batch {indices.shape[0]}; give examples of batch 1")
    return multiplying.embed(call.sketch, call.name, table, indices)


def _make(call: TorchCall) -> Answer:
    """Zeros, ones and the like: what is given says their shape only."""
    made = [constant(shape) for shape in call.shapes]
    return made if len(made) > 1 else made[0]


def _scan(call: TorchCall) -> Answer:
    """cumsum and the like: each element needs those before it; along channels they are next to it."""
    value, axis = call.value("self"), axis_of(call.value("self"), call.get("dim"))
    if all(atom.axis == 2 for atom in value.dims[axis]):
        return combining.local_normalisation(call.sketch, value)
    value = call.sketch.settle(value)
    along = [i for i, dim in enumerate(value.dims) if any(atom.axis != 2 for atom in dim)]
    return call.sketch.rearranged([value], call.shape, along)


def _unfold(call: TorchCall) -> Answer:
    """im2col, unfold, as_strided and fold: elements repeated or summed, window by window."""
    value = call.sketch.settle(call.value("self"))
    rank = len(call.shape)
    is_picture = rank == 4 and call.op != "as_strided"
    rows = [rank - 1] if call.op == "im2col" else [2] if is_picture else list(range(1, rank - 1))
    return call.sketch.rearranged([value], call.shape, rows, [3] if is_picture else [])


def _write(call: TorchCall) -> Answer:
    """What is written into a part of an array: a cache with its new rows, which are needed in addition."""
    sketch, values = call.sketch, call.values()
    if call.op == "copy":
        return moving.expand(sketch, call.value("src"), call.shape)
    target = call.value("self")
    if call.op == "index_copy" and target.source in sketch.caches and not call.value("source").is_constant:
        found = moving.overwrite(sketch, target, call.value("source"), call.get("dim"))
        if found is not None:
            return found
    maps = [sketch.settle(value) for value in values if not value.is_constant]
    if target.is_constant and sketch.is_stored(target):
        maps = [sketch.fed(target), *maps]
    elif not target.is_constant:
        sketch.ends += [value.source for value in maps[1:] if value.source is not None]
    along = [i for i in range(len(call.shape) - 1) if call.shape[i] > 1]
    return maps[0] if len(maps) == 1 and maps[0].shape == call.shape else sketch.rearranged(maps, call.shape, along)


def _fill(call: TorchCall) -> Answer:
    """One number everywhere: nothing is left of what was there."""
    number = call.get("value")
    is_map = isinstance(number, Value) and not number.is_constant
    return moving.expand(call.sketch, number, call.shape) if is_map else derived(call.shape, None, [])


def _write_part(call: TorchCall) -> Answer:
    """slice_scatter, select_scatter: an array with other elements at some steps of a dimension."""
    target, value = call.value("self"), call.value("src")
    axis = axis_of(target, call.get("dim", 0))
    extent = target.shape[axis]
    if call.op == "select_scatter":
        start = call.get("index") % extent
        return writing.write(call.sketch, target, axis, range(start, start + 1), moving.unsqueeze(
            call.sketch, value, [axis]
        ))  # fmt: skip
    kept = range(*slice(call.get("start"), call.get("end"), call.get("step", 1)).indices(extent))
    return writing.write(call.sketch, target, axis, kept, value)


def _bags(call: TorchCall) -> Answer:
    """embedding_bag: rows of a table that an input chooses, and the sum, mean or maximum of those of each bag."""
    table, indices, bags, sketch = call.value("weight"), call.value("indices"), call.shape[0], call.sketch
    if not indices.is_given:
        return [derived(shape, None, call.values()) for shape in call.shapes]
    if bags > 1 and not call.value("offsets").is_given:
        raise NetworkError(f"looks up bags of batch {bags}; give examples of batch 1")
    found = multiplying.embed(sketch, call.name, table, indices)
    weights = call.arguments.get("per_sample_weights")
    if isinstance(weights, Value):
        found = combining.join(sketch, "mul", [found, moving.unsqueeze(sketch, weights, [1])])
    if indices.shape[0] % bags:  # of bags whose extents are not known all rows may be needed
        found = sketch.rearranged([sketch.settle(found)], call.shape, [0])
    else:
        each, turned = (indices.shape[0] // bags,), multiplying.swapped(sketch, found)
        rows = moving.unsqueeze(sketch, turned, [0])
        pooled = sliding.slide(sketch, "maxpool" if call.get("mode", 0) == 2 else "avgpool", rows, Sliding(each, each))
        found = multiplying.swapped(sketch, moving.squeeze(sketch, pooled, [0]))
    if bags > 1:
        sketch.notes.append(Note(call.name, f"{bags} bags of {indices.shape[0]} rows", "bags"))
    return [found, *(constant(shape) for shape in call.shapes[1:])]


def _count(call: TorchCall) -> Answer:
    """How many elements there are of each kind: all of them are needed. Offsets of experts are made of it, unread."""
    return call.sketch.rearranged([call.sketch.settle(call.value("self"))], call.shape, [])


def _sample(call: TorchCall) -> Answer:
    """grid_sampler, roi_align: a map read at places that the network computes, or is given; any of it may be needed."""
    sketch, is_grid = call.sketch, "grid" in call.arguments
    maps = [sketch.settle(value) for value in call.values()[:2] if not value.is_constant]
    return sketch.rearranged(maps, call.shape, [2] if is_grid else [0, 2], [3])


def _rank_by(call: TorchCall) -> Answer:
    """topk, sort, argmax and the like: the order of a row's elements, which lie side by side."""
    value = call.value("self")
    axis = axis_of(value, call.get("dim", -1))
    found = []
    for shape in call.shapes:
        kept = 1 if len(shape) < value.rank else shape[axis]
        found.append(moving.reshape(call.sketch, combining.ranked(call.sketch, value, axis, kept), shape))
    return found if len(found) > 1 else found[0]


ARRANGING: dict[str, Callable[[TorchCall], Answer]] = by_name({
    _reshaped: (
        "view _reshape_alias view_copy reshape flatten unflatten squeeze unsqueeze _unsafe_view view_as "
        "reshape_as"
    ),
    _transpose: "permute transpose t movedim swapaxes swapdims mT mH adjoint numpy_T",
    _expand: "expand expand_as repeat",
    _concat: "cat concat concatenate",
    _stack: "stack",
    _part: "slice narrow",
    _parts: "split split_with_sizes chunk unbind unsafe_split unsafe_chunk tensor_split",
    _pick: "select",
    _reordered: "roll flip index index_select gather take_along_dim repeat_interleave tril triu _unsafe_index",
    _pad: "pad constant_pad_nd",
    _shuffle: "pixel_shuffle pixel_unshuffle channel_shuffle",
    _embed: "embedding",
    _make: (
        "new_zeros new_ones new_full new_empty zeros_like ones_like full_like empty_like rand_like randn_like "
        "new_empty_strided zeros ones full empty arange randn rand scalar_tensor"
    ),
    _scan: "cumsum cumprod logcumsumexp",
    _unfold: "im2col unfold as_strided col2im",
    _write: (
        "copy index_copy index_put scatter scatter_add scatter_reduce index_add index_fill masked_scatter "
        "diagonal_scatter _unsafe_index_put"
    ),
    _fill: "fill zero",
    _write_part: "slice_scatter select_scatter",
    _bags: "embedding_bag _embedding_bag _embedding_bag_forward_only",
    _sample: "grid_sampler grid_sampler_2d roi_align",
    _count: "histc bincount nonzero",
    _rank_by: "topk sort argsort argmax argmin",
})  # fmt: skip
