"""The operators of torch.export with weights or windows: convolutions, pools, products, attention, recurrent layers."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from workloads.errors import NetworkError
from workloads.importing.families import attending, clips, combining, multiplying, recurrent, scanning, sliding
from workloads.importing.families.einsum import einsum
from workloads.importing.families.sliding import Sliding
from workloads.importing.torch.call import Answer, TorchCall
from workloads.importing.values import Value

CONVOLUTIONS = (
    "conv1d conv2d conv3d convolution conv_transpose1d conv_transpose2d conv_depthwise3d _convolution"
).split()
PRODUCTS = "matmul mm bmm".split()


def has_weights_of_its_own(call: TorchCall) -> bool:
    """Whether a node whose operands are all constants is a layer: weights are not folded with what they meet."""
    matrices = call.sketch.matrices.keys()

    def is_matrix(key: str) -> bool:
        value = call.arguments.get(key)
        return isinstance(value, Value) and bool(value.origins & matrices) and not value.is_given

    if "embedding" in call.op:
        return call.value("indices").is_given
    if call.op in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        return True
    if call.op == "linear" or call.op in CONVOLUTIONS:
        return is_matrix("weight")
    if call.op == "addmm":
        return is_matrix("mat2")
    is_given = any(value.is_given for value in call.values())
    if call.op == "einsum":
        return is_given and any(value.origins & matrices and not value.is_given for value in call.values())
    return call.op in PRODUCTS and is_given and (is_matrix("other") or is_matrix("mat2"))


def pair(value: Any, rank: int) -> list[int]:
    """Return a number for each dimension."""
    numbers = [value] if isinstance(value, int) else list(value or [])
    return numbers * rank if len(numbers) == 1 else numbers


def image(call: TorchCall, key: str = "input") -> tuple[Value, int]:
    """Return the map that is slid over, batch first, and how many dimensions it has besides batch and channels."""
    value = call.value(key if key in call.arguments else "self")
    return value, value.rank - 2


def _convolve(call: TorchCall) -> Answer:
    value, rank = image(call)
    weight = call.value("weight")
    shape, groups, padding = weight.shape, call.get("groups", 1), call.get("padding", 0)
    stride, dilation = pair(call.get("stride", 1), rank), pair(call.get("dilation", 1), rank)
    is_transposed = call.get("transposed", False) or "transpose" in call.op
    if not weight.is_constant:
        if is_transposed:
            raise NetworkError("has a kernel that the network computes, and is transposed; only plain ones are known")
        return multiplying.windowed(call.sketch, value, weight, groups, prod(shape[2:]), call.shape)
    if rank == 3:
        if is_transposed:
            raise NetworkError("is a transposed convolution over time; plain ones are known")
        sides = _sides(padding, shape[2:], dilation)
        return clips.slide_clip(
            call.sketch, "conv", value, shape[2:], stride, sides, dilation, shape[0], groups, weight
        )
    if is_transposed:
        sides = pair(padding, rank)
        window = Sliding(shape[2:], stride, sides, sides, dilation)
        extra = pair(call.get("output_padding", 0), rank)
        return sliding.spread(call.sketch, value, window, shape[1] * groups, groups, extra, (), weight)
    if isinstance(padding, str):
        window = Sliding(shape[2:], stride, dilation=dilation, auto="upper" if padding == "same" else "")
    else:
        sides = pair(padding, rank)
        window = Sliding(shape[2:], stride, sides, sides, dilation)
    return sliding.slide(call.sketch, "conv", value, window, shape[0], groups, weight)


def _sides(padding: Any, kernel: tuple[int, ...], dilation: list[int]) -> list[int]:
    """The padding of a clip's window on both sides."""
    if not isinstance(padding, str):
        return pair(padding, len(kernel))
    total = [(extent - 1) * apart if padding == "same" else 0 for extent, apart in zip(kernel, dilation)]
    if any(each % 2 for each in total):
        raise NetworkError(f"has a kernel of {list(kernel)} with padding {padding!r}, which is not even")
    return [each // 2 for each in total]


def _pool(op: str) -> Callable[[TorchCall], Answer]:
    def rule(call: TorchCall) -> Answer:
        value, rank = image(call, "self")
        kernel, sides = pair(call.get("kernel_size"), rank), pair(call.get("padding", 0), rank)
        stride, dilation = pair(call.get("stride"), rank) or kernel, pair(call.get("dilation", 1), rank)
        is_ceil = bool(call.get("ceil_mode", False))
        if rank == 3:
            found = clips.slide_clip(call.sketch, op, value, kernel, stride, sides, dilation)
        else:
            window = Sliding(kernel, stride, sides, sides, dilation, ceil=is_ceil)
            found = sliding.slide(call.sketch, op, value, window)
        return [found, found] if "with_indices" in call.op else found

    return rule


def _adaptive(op: str) -> Callable[[TorchCall], Answer]:
    def rule(call: TorchCall) -> Answer:
        value, rank = image(call, "self")
        out = [
            extent if want is None else want
            for want, extent in zip(pair(call.get("output_size"), rank), value.shape[2:])
        ]
        adapt = clips.adaptive_pool_clip if rank == 3 else sliding.adaptive_pool
        found = adapt(call.sketch, op, value, out)
        return [found, found] if op == "maxpool" else found

    return rule


def _linear(call: TorchCall) -> Answer:
    weight = call.value("weight")
    if not weight.is_constant:
        return multiplying.product(call.sketch, call.value("input"), multiplying.swapped(call.sketch, weight))
    return multiplying.linear(call.sketch, call.value("input"), weight.shape[0], weight)


def _product(call: TorchCall) -> Answer:
    """matmul, mm, bmm; addmm and baddbmm with the sum."""
    names = {"addmm": ("mat1", "mat2"), "baddbmm": ("batch1", "batch2")}.get(call.op)
    if names is None:
        names = "self", "mat2" if "mat2" in call.arguments else "other"
    first, second = (call.value(name) for name in names)
    found = _vectors(call, first, second)
    if call.op in ("addmm", "baddbmm") and call.get("beta", 1) != 0:
        return combining.join(call.sketch, "add", [found, call.value("self")])
    return found


def _by_letters(call: TorchCall) -> Answer:
    return einsum(call.sketch, call.get("equation"), call.get("tensors"))


def _by_expert(call: TorchCall) -> Answer:
    """Rows sorted by expert with the weights of theirs; offsets that the network computes say whose is which."""
    first = call.value("input" if "input" in call.arguments else "self")
    weights = call.value("weight" if "weight" in call.arguments else "mat2")
    if first.rank != 2 or weights.rank != 3 or not weights.is_constant or first.is_constant:
        raise NetworkError(f"multiplies {list(first.shape)} with {list(weights.shape)} group by group")
    return multiplying.by_expert(call.sketch, first, weights)


def _vectors(call: TorchCall, first: Value, second: Value) -> Value:
    """The product; a vector is a matrix of one row or column, which is left out again."""
    from workloads.importing.families.moving import reshape

    sketch = call.sketch
    if first.is_constant and second.is_constant:
        first, second = (sketch.fed(each) if each.is_given else each for each in (first, second))
    if first.rank == 1 and second.rank > 1:
        first = reshape(sketch, first, (1, *first.shape))
    if second.rank == 1 and first.rank > 1:
        second = reshape(sketch, second, (*second.shape, 1))
    return reshape(sketch, multiplying.product(sketch, first, second), call.shape)


def _attend(call: TorchCall) -> Answer:
    """Scores, mask, softmax, context."""
    query, key, value = (call.value(name) for name in ("query", "key", "value"))
    mask = call.get("attn_mask")
    query, key, value = (
        call.sketch.fed(each) if each.is_constant else each for each in (query, key, value)
    )  # fmt: skip
    found = attending.attend(call.sketch, query, key, value, mask if isinstance(mask, Value) else None)
    return [found] + [_rest(shape) for shape in call.shapes[1:]] if len(call.shapes) > 1 else found


def _rest(shape: tuple[int, ...]) -> Value:
    return Value(shape)


def _recur(call: TorchCall) -> Answer:
    """lstm, gru, rnn: weights of each layer and direction, the states of all steps and the last one."""
    params, is_biased = call.get("params"), bool(call.get("has_biases", True))
    count, both = call.get("num_layers"), 2 if call.get("bidirectional", False) else 1
    step = len(params) // (count * both)
    if step not in ((4,) if is_biased else (2,)):
        raise NetworkError(f"has {step} weights for each layer; projected states are not known")
    pairs = [params[i : i + 2] for i in range(0, len(params), step)]
    layers = [pairs[i * both : (i + 1) * both] for i in range(count)]
    hidden = pairs[0][1].shape[1]
    value = call.value("input")
    value = call.sketch.fed(value) if value.is_constant else value
    steps = 1 if call.get("batch_first", False) and value.rank == 3 else 0
    found = recurrent.stacked(call.sketch, value, call.op.split("_")[0], hidden, layers, steps)
    return [found, *(_last(call, found, shape) for shape in call.shapes[1:])]


def _scan(call: TorchCall) -> Answer:
    """scan (torch/graph/scans.py): one layer, with the decays of each row made of its gates and these weights."""
    inputs, weights = [call.value("u"), *call.get("gates", []), call.value("b"), call.value("c")], call.get("weights")
    return scanning.scan(call.sketch, inputs, inputs[-1].shape[-1], weights)


def _last(call: TorchCall, states: Value, shape: tuple[int, ...]) -> Value:
    """The last state of each layer: a part of the states, where it has that many."""
    from workloads.importing.families.moving import part, reshape
    from workloads.importing.values import size_of

    axis = 1 if call.get("batch_first", False) else 0
    axis = axis if states.rank == 3 else 0
    last = part(call.sketch, states, axis, states.shape[axis] - 1, states.shape[axis])
    fits = size_of(last) == prod(shape)
    return reshape(call.sketch, last, shape) if fits else call.sketch.rearranged([last], shape, [])


WEIGHTED: dict[str, Callable[[TorchCall], Answer]] = {
    **dict.fromkeys(CONVOLUTIONS, _convolve),
    **dict.fromkeys("max_pool1d max_pool2d max_pool3d max_pool2d_with_indices max_pool3d_with_indices "
                    "max_pool1d_with_indices".split(), _pool("maxpool")),
    **dict.fromkeys("avg_pool1d avg_pool2d avg_pool3d".split(), _pool("avgpool")),
    **dict.fromkeys("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d".split(), _adaptive("avgpool")),
    **dict.fromkeys("adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d".split(), _adaptive("maxpool")),
    "linear": _linear, "einsum": _by_letters, **dict.fromkeys([*PRODUCTS, "addmm", "baddbmm"], _product),
    "_grouped_mm": _by_expert, "grouped_mm_fallback": _by_expert, "grouped_mm": _by_expert,
    "scaled_dot_product_attention": _attend, "scan": _scan,
    **dict.fromkeys(("lstm", "gru", "rnn_tanh", "rnn_relu"), _recur),
}  # fmt: skip
