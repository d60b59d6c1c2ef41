"""Operators of quantized models under names of their own: layers as ever, whose scales and zero points fold."""

from __future__ import annotations

from collections.abc import Callable

from workloads.errors import NetworkError
from workloads.importing.families import combining, moving, multiplying, sliding
from workloads.importing.onnx.operators.call import Answer, Call
from workloads.importing.onnx.operators.windows import convolution, window
from workloads.importing.values import constant


def _scaled(call: Call) -> Answer:
    """DynamicQuantizeLinear: the numbers, their scale and their zero point."""
    return [call.value(0), constant(()), constant(())][: max(1, len(call.outputs))]


def _product(weights: int) -> Callable[[Call], Answer]:
    """MatMulInteger, QLinearMatMul: weights are the second or the fourth input."""
    return lambda call: multiplying.product(call.sketch, call.value(0), call.value(weights))


def _convolution(weights: int) -> Callable[[Call], Answer]:
    """ConvInteger, QLinearConv: weights are the second or the fourth input."""
    return lambda call: convolution(call, call.value(0), call.value(weights))


def _gemm(call: Call) -> Answer:
    """QGemm: first, scale, zero, second, ..."""
    first, second = call.value(0), call.value(3)
    if call.integer("transA", 0):
        first = multiplying.swapped(call.sketch, first)
    if call.integer("transB", 0):
        second = multiplying.swapped(call.sketch, second)
    return multiplying.product(call.sketch, first, second)


def _join(op: str) -> Callable[[Call], Answer]:
    """QLinearAdd, QLinearMul: each operand with its scale and zero point."""
    return lambda call: combining.join(call.sketch, op, [call.value(0), call.value(3)])


def _pool_all(call: Call) -> Answer:
    return sliding.pool_all(call.sketch, "avgpool", call.value(0))


def _pool(call: Call) -> Answer:
    return sliding.slide(call.sketch, "avgpool", call.value(0), window(call, []))


def _concat(call: Call) -> Answer:
    """QLinearConcat: scale and zero point of the result, then three inputs for each part."""
    parts = [call.value(i) for i in range(2, len(call.inputs), 3)]
    if not parts:
        raise NetworkError("joins nothing")
    return moving.concat(call.sketch, parts, call.integer("axis", 1))


def _softmax(call: Call) -> Answer:
    return combining.softmax(call.sketch, call.value(0), call.integer("axis", -1))


def _activate(call: Call) -> Answer:
    return combining.activate(call.value(0))


QUANTIZED: dict[str, Callable[[Call], Answer]] = {
    "DynamicQuantizeLinear": _scaled, "MatMulInteger": _product(1), "QLinearMatMul": _product(3),
    "ConvInteger": _convolution(1), "QLinearConv": _convolution(3), "QGemm": _gemm, "QLinearAdd": _join("add"),
    "QLinearMul": _join("mul"), "QLinearGlobalAveragePool": _pool_all, "QLinearAveragePool": _pool,
    "QLinearConcat": _concat, "QLinearSoftmax": _softmax, "QLinearSigmoid": _activate, "QLinearLeakyRelu": _activate,
    "DynamicQuantizeMatMul": _product(1), "MatMulIntegerToFloat": _product(1),
}  # fmt: skip
