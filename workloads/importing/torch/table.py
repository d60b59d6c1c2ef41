"""The operators of torch.export that are understood, each as one of our families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workloads.errors import NetworkError
from workloads.importing.families import combining, moving, multiplying, sliding
from workloads.importing.families.moving import axis_of
from workloads.importing.families.sliding import Window
from workloads.importing.torch.call import Answer, TorchCall
from workloads.importing.values import Value, constant


def _pair(value: Any, rank: int) -> list[int]:
    numbers = [value] if isinstance(value, int) else list(value or [])
    return numbers * rank if len(numbers) == 1 else numbers


def _image(call: TorchCall, key: str = "input") -> tuple[Value, int]:
    """The map that is slid over, batch first, and how many dimensions it has beside batch and channels."""
    value = call.value(key if key in call.arguments else "self")
    return value, value.rank - 2


def _convolve(call: TorchCall) -> Answer:
    value, rank = _image(call)
    shape, groups, padding = call.value("weight").shape, call.get("groups", 1), call.get("padding", 0)
    stride, dilation = _pair(call.get("stride", 1), rank), _pair(call.get("dilation", 1), rank)
    if call.get("transposed", False) or "transpose" in call.op:
        sides = _pair(padding, rank)
        window = Window(shape[2:], stride, sides, sides, dilation)
        extra = _pair(call.get("output_padding", 0), rank)
        return sliding.spread(call.sketch, value, window, shape[1] * groups, groups, extra)
    if isinstance(padding, str):
        window = Window(shape[2:], stride, dilation=dilation, auto="upper" if padding == "same" else "")
    else:
        sides = _pair(padding, rank)
        window = Window(shape[2:], stride, sides, sides, dilation)
    return sliding.slide(call.sketch, "conv", value, window, shape[0], groups)


def _pool(op: str) -> Callable[[TorchCall], Answer]:
    def rule(call: TorchCall) -> Answer:
        value, rank = _image(call, "self")
        kernel, sides = _pair(call.get("kernel_size"), rank), _pair(call.get("padding", 0), rank)
        stride, dilation = _pair(call.get("stride"), rank) or kernel, _pair(call.get("dilation", 1), rank)
        window = Window(kernel, stride, sides, sides, dilation, ceil=bool(call.get("ceil_mode", False)))
        return sliding.slide(call.sketch, op, value, window)

    return rule


def _adaptive(op: str) -> Callable[[TorchCall], Answer]:
    def rule(call: TorchCall) -> Answer:
        value, rank = _image(call, "self")
        out = [
            extent if want is None else want
            for want, extent in zip(_pair(call.get("output_size"), rank), value.shape[2:])
        ]
        return sliding.adaptive_pool(call.sketch, op, value, out)

    return rule


def _linear(call: TorchCall) -> Answer:
    weight = call.value("weight")
    if not weight.is_constant:
        return multiplying.product(call.sketch, call.value("input"), multiplying.swapped(call.sketch, weight))
    return multiplying.linear(call.sketch, call.value("input"), weight.shape[0])


def _product(call: TorchCall) -> Answer:
    """matmul, mm, bmm; addmm and baddbmm with the sum."""
    first, second = (call.value(a if a in call.arguments else b) for a, b in (("mat1", "self"), ("mat2", "other")))
    if call.op == "baddbmm":
        first, second = call.value("batch1"), call.value("batch2")
    found = multiplying.product(call.sketch, first, second)
    if call.op in ("addmm", "baddbmm"):
        return combining.join(call.sketch, "add", [found, call.value("self")])
    return found


def _attend(call: TorchCall) -> Answer:
    """Scores, mask, softmax, context."""
    sketch = call.sketch
    query, key, value = (call.value(name) for name in ("query", "key", "value"))
    name = call.name
    sketch.at = f"{name}.scores"
    scores = multiplying.product(sketch, query, multiplying.swapped(sketch, key))
    mask = call.get("attn_mask")
    if isinstance(mask, Value):
        sketch.at = f"{name}.mask"
        scores = combining.join(sketch, "add", [scores, mask])
    sketch.at = f"{name}.softmax"
    weights = combining.softmax(sketch, scores, -1)
    sketch.at = f"{name}.context"
    return multiplying.product(sketch, weights, value)


def _join(op: str) -> Callable[[TorchCall], Answer]:
    return lambda call: combining.join(call.sketch, op, call.values())


def _activate(call: TorchCall) -> Answer:
    return combining.activate(next(value for value in call.values() if not value.is_constant), call.op == "exp")


def _normalise(call: TorchCall) -> Answer:
    value = call.value("input" if "input" in call.arguments else "self")
    if call.op in ("layer_norm", "native_layer_norm", "rms_norm"):
        axes: Sequence[int] = range(value.rank - len(call.get("normalized_shape")), value.rank)
    else:
        axes = range(2 if call.op == "instance_norm" else 1, value.rank)
    found = combining.normalise(call.sketch, value, axes)
    return [found, found, found] if call.op.startswith("native") else found


def _reduce(op: str) -> Callable[[TorchCall], Answer]:
    def rule(call: TorchCall) -> Answer:
        dim = call.get("dim")
        axes = None if dim is None or dim == [] else _pair(dim, 1)
        found = combining.reduce(call.sketch, call.value("self"), axes, bool(call.get("keepdim", False)), op)
        return [found, found] if call.op in ("max", "min") and axes is not None else found

    return rule


def _softmax(call: TorchCall) -> Answer:
    return combining.softmax(call.sketch, call.value("self"), call.get("dim", -1))


def _reshaped(call: TorchCall) -> Answer:
    """Everything that only gives the elements another shape: the trace says which."""
    return moving.reshape(call.sketch, call.value("self"), call.shape)


def _transpose(call: TorchCall) -> Answer:
    value = call.value("self")
    if call.op in ("permute", "movedim"):
        return moving.transpose(call.sketch, value, call.get("dims"))
    order = list(range(value.rank))
    i, j = (0, 1) if call.op == "t" else (axis_of(value, call.get(key)) for key in ("dim0", "dim1"))
    if value.rank > 1:
        order[i], order[j] = j, i
    return moving.transpose(call.sketch, value, order)


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
    value = call.sketch.settle(call.value("self"))
    along = [i for i, dim in enumerate(value.dims) if any(atom.axis != 2 for atom in dim)]
    moved = call.get("dims", call.get("dim"))
    axes = {axis_of(value, axis) for axis in _pair(moved, 1)} if moved is not None else set(range(value.rank))
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


def _resize(call: TorchCall) -> Answer:
    value = call.value("input" if "input" in call.arguments else "self")
    method = "nearest" if "nearest" in call.op else "cubic" if "cubic" in call.op else "linear"
    corners = bool(call.get("align_corners", False))
    return sliding.resize(call.sketch, value, call.shape[2:], method, corners)  # type: ignore[arg-type]


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
    if not indices.is_given:
        return constant(call.shape)
    return multiplying.embed(call.sketch, call.name, table, indices)


def _where(call: TorchCall) -> Answer:
    """A choice by a constant mask; chosen values that are constants fold."""
    if "condition" in call.arguments and not call.value("condition").is_constant:
        raise NetworkError("chooses by a map of the network")
    return combining.join(call.sketch, "add", call.values())


def _same(call: TorchCall) -> Answer:
    return next(value for value in call.values() if not value.is_constant)


def _lists(names: str, rule: Callable[[TorchCall], Answer]) -> dict[str, Callable[[TorchCall], Answer]]:
    return dict.fromkeys(names.split(), rule)


OPERATORS: dict[str, Callable[[TorchCall], Answer]] = {
    **_lists("conv1d conv2d convolution conv_transpose1d conv_transpose2d", _convolve),
    **_lists("max_pool1d max_pool2d", _pool("maxpool")), **_lists("avg_pool1d avg_pool2d", _pool("avgpool")),
    **_lists("adaptive_avg_pool1d adaptive_avg_pool2d", _adaptive("avgpool")),
    **_lists("adaptive_max_pool1d adaptive_max_pool2d", _adaptive("maxpool")),
    **_lists("linear", _linear), **_lists("matmul mm bmm addmm baddbmm", _product),
    **_lists("scaled_dot_product_attention", _attend),
    **_lists("add sub rsub maximum minimum logaddexp", _join("add")), **_lists("mul div pow", _join("mul")),
    **_lists("relu relu6 gelu silu sigmoid hardsigmoid hardswish hardtanh tanh elu celu selu leaky_relu prelu mish "
             "softplus softsign exp log sqrt rsqrt reciprocal abs neg sin cos erf clamp clamp_min clamp_max square "
             "batch_norm _native_batch_norm_legit_no_training logsigmoid log_sigmoid floor round", _activate),
    **_lists("dropout feature_dropout alpha_dropout contiguous clone alias detach to _to_copy type_as float half "
             "lift_fresh_copy identity bernoulli", _same),
    **_lists("layer_norm native_layer_norm rms_norm group_norm native_group_norm instance_norm", _normalise),
    **_lists("mean sum norm linalg_vector_norm std var", _reduce("avgpool")),
    **_lists("amax amin max min", _reduce("maxpool")), **_lists("softmax _softmax log_softmax _log_softmax", _softmax),
    **_lists("view reshape flatten unflatten squeeze unsqueeze _unsafe_view view_as reshape_as", _reshaped),
    **_lists("permute transpose t movedim", _transpose), **_lists("expand expand_as repeat", _expand),
    **_lists("cat concat concatenate", _concat), **_lists("stack", _stack), **_lists("slice narrow", _part),
    **_lists("split split_with_sizes chunk unbind", _parts), **_lists("select", _pick),
    **_lists("roll flip index index_select gather take_along_dim repeat_interleave", _reordered),
    **_lists("pad constant_pad_nd", _pad),
    **_lists("upsample_nearest1d upsample_nearest2d upsample_linear1d upsample_bilinear2d upsample_bicubic2d "
             "_upsample_nearest_exact2d", _resize),
    **_lists("pixel_shuffle pixel_unshuffle channel_shuffle", _shuffle), **_lists("embedding", _embed),
    **_lists("where masked_fill", _where),
}  # fmt: skip
