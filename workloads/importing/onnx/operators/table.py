"""The operators of ONNX that are understood, each as one of our families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from workloads.errors import NetworkError, shown
from workloads.importing.families import attending, combining, moving, multiplying, recurrent, sliding
from workloads.importing.families.einsum import einsum
from workloads.importing.families.moving import axis_of
from workloads.importing.onnx.operators import moving as onnx_moving
from workloads.importing.onnx.operators.call import Answer, Call
from workloads.importing.onnx.operators.quantized import QUANTIZED
from workloads.importing.onnx.operators.windows import SLIDING
from workloads.importing.values import Value, constant, derived, size_of
from workloads.network.layers.windows import Method

ACTIVATIONS = (
    "Abs Acos Acosh Asin Asinh Atan Atanh BatchNormalization BitShift Ceil Celu Clip Cos Cosh DequantizeLinear Elu Erf "
    "Exp FastGelu FakeQuantize Floor Gelu HardSigmoid HardSwish ImageScaler LeakyRelu Log Mish Neg PRelu QuickGelu "
    "QuantizeLinear Reciprocal Relu Round Scale Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan "
    "Tanh ThresholdedRelu"
).split()
CONTROL_FLOW = ("If", "Loop", "Scan", "SequenceMap")


def attend(call: Call) -> Answer:
    """Queries, keys and values with heads, or with heads still to be split; mask; earlier keys and values."""
    query, key, value = (call.value(i) for i in range(3))
    is_flat = query.rank == 3
    if is_flat:
        heads, shared = call.integer("q_num_heads", 0), call.integer("kv_num_heads", 0)
        query = attending.by_heads(call.sketch, query, heads)
        key, value = (attending.by_heads(call.sketch, each, shared) for each in (key, value))
    if query.rank != 4:
        raise NetworkError(f"attends with queries of {query.rank} dimensions; 3 and 4 are known")
    query, key, value = (_map(call, each) for each in (query, key, value))
    key = attending.appended(call.sketch, call.optional(4), key)
    value = attending.appended(call.sketch, call.optional(5), value)
    found = attending.attend(call.sketch, query, key, value, call.optional(3))
    found = attending.joined_heads(call.sketch, found) if is_flat else found
    return [found, key, value][: max(1, len(call.outputs))]


def _map(call: Call, value: Value) -> Value:
    return call.sketch.fed(value) if value.is_constant else value


def _gemm(call: Call) -> Answer:
    first, second = call.value(0), call.value(1)
    if first.rank != 2 or second.rank != 2:
        raise NetworkError(f"multiplies arrays of {first.rank} and {second.rank} dimensions; both need 2")
    if call.integer("transA", 0):
        first = multiplying.swapped(call.sketch, first)
    if call.integer("transB", 0):
        second = multiplying.swapped(call.sketch, second)
    found = multiplying.product(call.sketch, first, second)
    bias = call.optional(2)
    return found if bias is None else combining.join(call.sketch, "add", [found, bias])


def _product(call: Call) -> Answer:
    """MatMul; a vector is a matrix of one row or column that is left out again."""
    first, second = (_turned(call, call.value(i), side) for i, side in enumerate("AB"))
    if first.rank == 1 and second.rank == 2:
        found = multiplying.product(call.sketch, moving.reshape(call.sketch, first, (1, *first.shape)), second)
        return moving.reshape(call.sketch, found, found.shape[1:])
    if second.rank == 1 and first.rank > 1:
        found = multiplying.product(call.sketch, first, moving.reshape(call.sketch, second, (*second.shape, 1)))
        return moving.reshape(call.sketch, found, found.shape[:-1])
    return multiplying.product(call.sketch, first, second)


def _turned(call: Call, value: Value, side: str) -> Value:
    """An operand as FusedMatMul takes it: its batch behind its rows, its rows and columns swapped."""
    if value.rank > 1 and call.integer(f"transBatch{side}", 0):
        value = moving.transpose(call.sketch, value, (*range(1, value.rank - 1), 0, value.rank - 1))
    is_turned = value.rank > 1 and call.integer(f"trans{side}", 0)
    return multiplying.swapped(call.sketch, value) if is_turned else value


def _by_letters(call: Call) -> Answer:
    return einsum(call.sketch, call.text("equation", ""), call.present())


def _recur(call: Call) -> Answer:
    """LSTM, GRU, RNN of one layer: X [steps, 1, features], W and R by direction; Y [steps, directions, 1, hidden]."""
    value, weights, states = (call.value(i) for i in range(3))
    if call.op == "DynamicQuantizeLSTM":  # [directions, features, gates x hidden]
        weights, states = (multiplying.swapped(call.sketch, each) for each in (weights, states))
    if value.rank != 3 or weights.rank != 3 or states.rank != 3 or call.integer("layout", 0):
        raise NetworkError("needs a sequence [steps, 1, features], and weights of 3 dimensions")
    hidden, both = states.shape[2], weights.shape[0]
    steps = value.shape[0]
    pairs = [(weights, states)] * both
    found = recurrent.stacked(call.sketch, value, call.op[-4:].lower(), hidden, [pairs], 0)
    split = moving.reshape(call.sketch, found, (steps, value.shape[1], both, hidden))
    every = moving.transpose(call.sketch, split, (0, 2, 1, 3))
    last = moving.pick(call.sketch, every, 0, steps - 1)
    return [every, last, last][: max(1, len(call.outputs))]


def _join(op: str) -> Callable[[Call], Answer]:
    return lambda call: combining.join(call.sketch, op, call.present())


def _activate(call: Call) -> Answer:
    return combining.activate(call.value(0), call.op == "Exp")


def _reduce(op: str) -> Callable[[Call], Answer]:
    def rule(call: Call) -> Answer:
        axes = call.axes()
        if axes == [] and call.integer("noop_with_empty_axes", 0):
            return call.value(0)
        return combining.reduce(call.sketch, call.value(0), axes or None, bool(call.integer("keepdims", 1)), op)

    return rule


def _softmax(call: Call) -> Answer:
    return combining.softmax(call.sketch, call.value(0), call.integer("axis", 1 if call.opset < 13 else -1))


def _layernorm(call: Call) -> Answer:
    value = call.value(0)
    first = axis_of(value, call.integer("axis", -1))
    return combining.normalise(call.sketch, value, range(first, value.rank))


def _instance_norm(call: Call) -> Answer:
    value = call.value(0)
    return combining.normalise(call.sketch, value, range(1 if call.op == "GroupNormalization" else 2, value.rank))


def _resize(call: Call) -> Answer:
    value = call.value(0)
    sizes = call.known(3) if call.op == "Resize" and call.opset > 10 else None
    sizes = _sized(call, value, sizes) if sizes else _scaled(call, value)
    if len(sizes) != value.rank or tuple(sizes[:2]) != value.shape[:2]:
        raise NetworkError(f"resizes {list(value.shape)} to {sizes}; batch and channels must stay")
    mode = call.text("mode", "nearest")
    if mode not in ("nearest", "linear", "cubic"):
        raise NetworkError(f"resizes by mode {mode!r}; known are nearest, linear, cubic")
    corners = call.text("coordinate_transformation_mode", "half_pixel") == "align_corners"
    method: Method = mode  # type: ignore[assignment]
    return sliding.resize(call.sketch, value, sizes[2:], method, corners)


def _by_axis(call: Call, rank: int, numbers: Sequence[float]) -> dict[int, float]:
    """The numbers by dimension: of those that `axes` names (Resize-18), or of all."""
    axes = call.integers("axes") or list(range(rank))
    if not all(-rank <= axis < rank for axis in axes) or len({axis % rank for axis in axes}) != len(numbers):
        raise NetworkError(f"has {len(numbers)} sizes or scales for the dimensions {shown(axes)} of {rank}")
    return {axis % rank: number for axis, number in zip(axes, numbers, strict=True)}


def _sized(call: Call, value: Value, sizes: Sequence[int]) -> list[int]:
    """The shape that sizes say; what keeps its ratio gets the least or the largest of the scales (Resize-18)."""
    wanted = {axis: int(size) for axis, size in _by_axis(call, value.rank, sizes).items()}
    policy = call.text("keep_aspect_ratio_policy", "stretch")
    if policy not in ("stretch", "not_larger", "not_smaller"):
        raise NetworkError(f"has keep_aspect_ratio_policy {shown(policy)}; known are stretch, not_larger, not_smaller")
    if policy != "stretch":
        scales = [Fraction(size, value.shape[axis]) for axis, size in wanted.items()]
        scale = min(scales) if policy == "not_larger" else max(scales)
        wanted = {axis: int(scale * value.shape[axis] + Fraction(1, 2)) for axis in wanted}
    return [wanted.get(axis, extent) for axis, extent in enumerate(value.shape)]


def _scaled(call: Call, value: Value) -> list[int]:
    """The shape that scales say: the product in single precision, as runtimes have it, rounded down."""
    if "scales" in call.attributes:
        scales = call.attributes["scales"]
    else:
        given = call.optional(2 if call.op == "Resize" and call.opset > 10 else 1)
        scales = None if given is None or given.data is None else given.data.reshape(-1).tolist()
    if type(scales) is not list or not scales or not all(0 < scale < 2**20 for scale in scales):
        raise NetworkError("needs known scales or sizes, one for each dimension")
    factors = _by_axis(call, value.rank, scales)
    return [int(np.float32(factors.get(axis, 1)) * np.float32(extent)) for axis, extent in enumerate(value.shape)]


def _where(call: Call) -> Answer:
    return combining.join(call.sketch, "add", [call.value(i) for i in range(3)])


def _shape(call: Call) -> Answer:
    shape = call.value(0).shape
    start, end = call.integer("start", 0), call.integer("end", len(shape))
    found = np.array(shape[start:end], dtype=np.int64)
    return constant(found.shape, found)


def _size(call: Call) -> Answer:
    return constant((), np.array(size_of(call.value(0)), dtype=np.int64))


def _constant(call: Call) -> Answer:
    for key, value in call.attributes.items():
        if isinstance(value, Value):
            return value
        if key.startswith("value_") and not isinstance(value, str):
            found = np.array(value)
            return constant(found.shape, found)
    return constant(())


def _fill(call: Call) -> Answer:
    return constant(tuple(call.numbers(0)))


def _same(call: Call) -> Answer:
    return call.value(0)


def _cast(call: Call) -> Answer:
    """Numbers of shapes stay what they are, but fractions are cut where they become integers."""
    value = call.value(0)
    if value.data is not None and value.data.dtype.kind == "f" and call.integer("to", 1) in (2, 3, 4, 5, 6, 7, 12, 13):
        return derived(value.shape, np.trunc(np.nan_to_num(value.data)).astype(np.int64), [value])
    return value


def _given(call: Call) -> Answer:
    """A test: a mask of constants, or a function of each element of maps."""
    return combining.join(call.sketch, "add", call.present())


OPERATORS: dict[str, Callable[[Call], Answer]] = {
    **onnx_moving.MOVING_OPERATORS,
    **QUANTIZED,
    **SLIDING,
    **dict.fromkeys(ACTIVATIONS, _activate),
    **dict.fromkeys(["Identity", "Dropout", "Trilu", "StopGradient", "CastLike"], _same),
    **dict.fromkeys(["Add", "Sub", "Sum", "Mean", "Max", "Min"], _join("add")),
    **dict.fromkeys(["Mul", "Div", "Pow", "Mod"], _join("mul")),
    **dict.fromkeys(["ReduceMean", "ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"],
                    _reduce("avgpool")),
    **dict.fromkeys(["ReduceMax", "ReduceMin"], _reduce("maxpool")),
    **dict.fromkeys(["LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization"], _layernorm),
    **dict.fromkeys(["InstanceNormalization", "GroupNormalization"], _instance_norm),
    **dict.fromkeys(["Softmax", "LogSoftmax"], _softmax),
    **dict.fromkeys(["Resize", "Upsample"], _resize),
    **dict.fromkeys(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or", "Not", "Xor", "IsNaN"],
                    _given),
    "FusedMatMul": _product, "FusedGemm": _gemm, "Gemm": _gemm, "Attention": attend,
    **dict.fromkeys(["LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"], _recur),
    "MatMul": _product, "Einsum": _by_letters,
    "LRN": lambda call: combining.local_normalisation(call.sketch, call.value(0)),
    "LpNormalization": lambda call: combining.normalise(call.sketch, call.value(0), [call.integer("axis", -1)]),
    "MeanVarianceNormalization":
        lambda call: combining.normalise(call.sketch, call.value(0), call.integers("axes") or [0, 2, 3]),
    "Cast": _cast, "Where": _where, "Shape": _shape, "Size": _size, "Constant": _constant,
    "ConstantOfShape": _fill,
}  # fmt: skip
