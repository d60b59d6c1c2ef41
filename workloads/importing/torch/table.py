"""The operators of torch.export that are understood, each as one of our families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from workloads.errors import NetworkError
from workloads.importing import views
from workloads.importing.families import combining, sliding
from workloads.importing.torch.arranging import ARRANGING
from workloads.importing.torch.call import Answer, TorchCall, by_name
from workloads.importing.torch.weighted import WEIGHTED, pair
from workloads.importing.views import normal


def _join(op: str) -> Callable[[TorchCall], Answer]:
    return lambda call: combining.join(call.sketch, op, call.values())


def _activate(call: TorchCall) -> Answer:
    return combining.activate(next(value for value in call.values() if not value.is_constant), call.op == "exp")


def _normalise(call: TorchCall) -> Answer:
    value = call.value("input" if "input" in call.arguments else "self")
    if call.op in ("layer_norm", "native_layer_norm", "rms_norm", "_fused_rms_norm"):
        axes: Sequence[int] = range(value.rank - len(call.get("normalized_shape")), value.rank)
    else:
        axes = range(2 if call.op == "instance_norm" else 1, value.rank)
    found = combining.normalise(call.sketch, value, axes)
    return [found] * len(call.shapes) if len(call.shapes) > 1 else found


def _reduce(op: str) -> Callable[[TorchCall], Answer]:
    def rule(call: TorchCall) -> Answer:
        if "other" in call.arguments:  # the larger of two
            return combining.join(call.sketch, "add", call.values())
        dim = call.get("dim")
        axes = None if dim is None or dim == [] else pair(dim, 1)
        found = combining.reduce(call.sketch, call.value("self"), axes, bool(call.get("keepdim", False)), op)
        return [found] * len(call.shapes) if len(call.shapes) > 1 else found

    return rule


def _softmax(call: TorchCall) -> Answer:
    return combining.softmax(call.sketch, call.value("self"), call.get("dim", -1))


def _where(call: TorchCall) -> Answer:
    """A choice by a mask, element by element: of what is chosen, and of the mask where the network makes it."""
    return combining.join(call.sketch, "add", call.values())


def _same(call: TorchCall) -> Answer:
    return call.values()[0]


def _resize(call: TorchCall) -> Answer:
    value = call.value("input" if "input" in call.arguments else "self")
    method = "nearest" if "nearest" in call.op else "cubic" if "cubic" in call.op else "linear"
    corners = bool(call.get("align_corners", False))
    return sliding.resize(call.sketch, value, call.shape[2:], method, corners)  # type: ignore[arg-type]


def _complex(call: TorchCall) -> Answer:
    """Pairs of numbers as complex ones: they go on lying side by side, and only the shape has half as many."""
    value = call.value("self")
    return replace(value, shape=call.shape, dims=(*value.dims[:-2], normal([*value.dims[-2], *value.dims[-1]])))


def _real(call: TorchCall) -> Answer:
    """Complex numbers as the pairs that they are."""
    value = call.value("self")
    dims = views.reshape(value.dims, call.shape)
    if dims is None:
        raise NetworkError("has complex numbers that were moved apart")
    return replace(value, shape=call.shape, dims=dims)


def _fourier(call: TorchCall) -> Answer:
    raise NetworkError(
        "is a Fourier transform, whose butterflies are no layer; write it as products with its matrix (the transform "
        "of torch.eye(n), its real and its imaginary part), which cost more"
    )


FOURIER = [f"fft_{way}{kind}fft{axes}" for way in ("", "i") for kind in ("", "r", "h") for axes in ("", "2", "n")]
OPERATORS: dict[str, Callable[[TorchCall], Answer]] = WEIGHTED | ARRANGING | by_name({
    _join("add"): (
        "add sub rsub maximum minimum logaddexp eq ne lt le gt ge logical_and logical_or logical_xor bitwise_and "
        "bitwise_or isclose fmod remainder floor_divide atan2"
    ),
    _join("mul"): "mul div pow",
    _activate: (
        "relu relu6 gelu silu sigmoid hardsigmoid hardswish hardtanh tanh elu celu selu leaky_relu prelu mish "
        "softplus softsign exp log sqrt rsqrt reciprocal abs neg sin cos erf clamp clamp_min clamp_max square "
        "batch_norm _native_batch_norm_legit_no_training logsigmoid log_sigmoid floor round ceil trunc sign isnan "
        "isinf logical_not bitwise_not nan_to_num threshold hardshrink softshrink expm1 log1p log2 log10 exp2 "
        "cosh sinh atan erfc sinc"
    ),
    _same: (
        "dropout feature_dropout alpha_dropout contiguous clone alias detach to _to_copy type_as float half "
        "lift_fresh_copy identity bernoulli conj real lift positive"
    ),
    _normalise: "layer_norm native_layer_norm rms_norm _fused_rms_norm group_norm native_group_norm instance_norm",
    _reduce("avgpool"): (
        "mean sum norm linalg_vector_norm std var var_mean std_mean logsumexp prod any all count_nonzero"
    ),
    _reduce("maxpool"): "amax amin max min",
    _softmax: "softmax _softmax log_softmax _log_softmax",
    _resize: (
        "upsample_nearest1d upsample_nearest2d upsample_linear1d upsample_bilinear2d upsample_bicubic2d "
        "_upsample_nearest_exact2d"
    ),
    _where: "where masked_fill",
    _complex: "view_as_complex",
    _fourier: " ".join([*FOURIER, "_fft_r2c", "_fft_c2r", "_fft_c2c", "stft", "istft"]),
    _real: "view_as_real",
})  # fmt: skip
