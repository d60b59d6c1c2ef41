"""The operators of ONNX with a window: convolutions and pools."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from workloads.errors import NetworkError, shown
from workloads.importing.families import clips, combining, multiplying, sliding
from workloads.importing.families.sliding import Sliding
from workloads.importing.onnx.operators.call import Answer, Call
from workloads.importing.values import Value


def _convolve(call: Call) -> Answer:
    return convolution(call, call.value(0), call.value(1))


def convolution(call: Call, value: Value, weights: Value) -> Value:
    """Return a convolution with weights of the file, or with a kernel that the network computes."""
    if weights.rank != value.rank or weights.rank < 3:
        raise NetworkError(f"needs weights of {value.rank} dimensions, 3 at least; {weights.rank} found")
    groups = call.integer("group", 1)
    if groups < 1 or value.shape[1] != weights.shape[1] * groups:
        raise NetworkError(f"has {value.shape[1]} channels and weights {list(weights.shape)} in {groups} groups")
    found = window(call, list(weights.shape[2:]))
    if not weights.is_constant:
        shape = (1, weights.shape[0], *(made for _, _, made in found.outputs(call.sketch.at, value.shape[2:])))
        return multiplying.windowed(call.sketch, value, weights, groups, prod(weights.shape[2:]), shape)
    if value.rank == 5:
        stride, sides, apart = _planes(found)
        return clips.slide_clip(
            call.sketch, "conv", value, found.kernel, stride, sides, apart, weights.shape[0], groups, weights
        )
    return sliding.slide(call.sketch, "conv", value, found, weights.shape[0], groups, weights)


def _planes(found: Sliding) -> tuple[list[int], list[int], list[int]]:
    """Strides, padding and distances of the taps of a window over time, rows and columns."""
    pairs = (found.stride, 1), (found.before, 0), (found.dilation, 1)
    stride, sides, apart = (list(each or [n] * 3) for each, n in pairs)
    if found.auto or list(found.after or [0] * 3) != sides:
        raise NetworkError("pads a clip unevenly")
    return stride, sides, apart


def _transposed(call: Call) -> Answer:
    value, weights = call.value(0), call.value(1)
    if weights.rank != value.rank or weights.rank < 3:
        raise NetworkError(f"needs weights of {value.rank} dimensions, 3 at least; {weights.rank} found")
    if not weights.is_constant:
        raise NetworkError("has a kernel that the network computes, and is transposed; only plain ones are known")
    groups = call.integer("group", 1)
    if groups < 1 or value.shape[1] != weights.shape[0]:
        raise NetworkError(f"has {value.shape[1]} channels and weights {list(weights.shape)}")
    found = window(call, list(weights.shape[2:]))
    channels, extra = weights.shape[1] * groups, call.integers("output_padding")
    return sliding.spread(call.sketch, value, found, channels, groups, extra, call.integers("output_shape"), weights)


def window(call: Call, default: list[int]) -> Sliding:
    """Return the window that the attributes say; its kernel is the default where there is one."""
    kernel = call.integers("kernel_shape") or default
    if default and kernel != default:
        raise NetworkError(f"has kernel_shape {shown(kernel)} and weights of {shown(default)}")
    pads, auto = call.integers("pads"), call.text("auto_pad", "NOTSET")
    names = {"NOTSET": "", "VALID": "", "SAME_UPPER": "upper", "SAME_LOWER": "lower", "": ""}
    if auto not in names:
        raise NetworkError(f"has auto_pad {auto!r}; known are NOTSET, VALID, SAME_UPPER, SAME_LOWER")
    half = len(pads) // 2
    return Sliding(
        kernel, call.integers("strides"), pads[:half], pads[half:], call.integers("dilations"), names[auto],
        bool(call.integer("ceil_mode", 0)),
    )  # fmt: skip


def _pool(op: str) -> Callable[[Call], Answer]:
    def rule(call: Call) -> Answer:
        value, found = call.value(0), window(call, [])
        if value.rank == 5 and not found.ceil:
            return clips.slide_clip(call.sketch, op, value, found.kernel, *_planes(found))
        return sliding.slide(call.sketch, op, value, found)

    return rule


def _pool_all(op: str) -> Callable[[Call], Answer]:
    return lambda call: sliding.pool_all(call.sketch, op, call.value(0))


def _fused(call: Call) -> Answer:
    """A convolution with its activation, and a map that is added before that (onnxruntime)."""
    found, beside = convolution(call, call.value(0), call.value(1)), call.optional(3)
    return found if beside is None else combining.join(call.sketch, "add", [found, beside])


SLIDING: dict[str, Callable[[Call], Answer]] = {
    "Conv": _convolve, "FusedConv": _fused, "ConvTranspose": _transposed,
    "MaxPool": _pool("maxpool"), "AveragePool": _pool("avgpool"), "LpPool": _pool("avgpool"),
    "GlobalAveragePool": _pool_all("avgpool"), "GlobalMaxPool": _pool_all("maxpool"),
}  # fmt: skip
