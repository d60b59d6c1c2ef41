"""Numbers that shapes are made of: what is computed from known constants, by the rules of ONNX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from workloads.errors import NetworkError
from workloads.importing.onnx.operators.call import Call
from workloads.importing.values import MAX_DATA, Value, broadcast, checked, constant

Array = np.ndarray


def evaluate(call: Call) -> Value | None:
    """Return the constant that a node makes of known constants, None where it is not one that shapes need."""
    rule = RULES.get(call.op)
    arrays = [value.data for value in call.present() if value.data is not None]
    if rule is None or len(arrays) < len(call.inputs) or any(value.is_given for value in call.present()):
        return None
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(rule(arrays, call.attributes))
    except _TooMany:
        return None
    return constant(found.shape, found)


class _TooMany(Exception):
    """A constant too large to keep: only its shape is kept."""


def _shape_of(array: Array) -> tuple[int, ...]:
    shape = checked(tuple(int(extent) for extent in array.reshape(-1)))
    if prod(shape) > MAX_DATA:
        raise _TooMany
    return shape


def _range(arrays: list[Array], _: Mapping[str, Any]) -> Array:
    start, stop, step = (array.reshape(-1)[0] for array in arrays)
    if step == 0 or not abs((float(stop) - float(start)) / float(step)) <= MAX_DATA:
        raise NetworkError(f"counts from {start} to {stop} by {step}")
    return np.arange(start, stop, step)


def _divide(arrays: list[Array], _: Mapping[str, Any]) -> Array:
    first, second = arrays
    if first.dtype.kind in "iu":
        if not np.all(second):
            raise NetworkError("divides by zero")
        return (np.abs(first) // np.abs(second) * np.sign(first) * np.sign(second)).astype(first.dtype)
    return np.divide(first, second)


def _pairwise(function: Callable[..., Array]) -> Callable[[list[Array], Mapping[str, Any]], Array]:
    def rule(arrays: list[Array], _: Mapping[str, Any]) -> Array:
        shape = broadcast([array.shape for array in arrays])
        if prod(shape) > MAX_DATA:
            raise _TooMany
        found = arrays[0]
        if len(arrays) == 1:
            return function(found)
        for array in arrays[1:]:
            found = function(found, array)
        return found

    return rule


def _reduce(function: Callable[..., Array]) -> Callable[[list[Array], Mapping[str, Any]], Array]:
    def rule(arrays: list[Array], attributes: Mapping[str, Any]) -> Array:
        given = arrays[1].tolist() if len(arrays) > 1 else attributes.get("axes")
        axes = None if not given else tuple(int(axis) for axis in given)
        return function(arrays[0], axis=axes, keepdims=bool(attributes.get("keepdims", 1)))

    return rule


def _gather(arrays: list[Array], attributes: Mapping[str, Any]) -> Array:
    if arrays[0].ndim == 0:
        raise NetworkError("gathers from a number")
    if arrays[1].size * max(1, arrays[0].size) > MAX_DATA**2:
        raise _TooMany
    return np.take(arrays[0], arrays[1].astype(np.int64), axis=int(attributes.get("axis", 0)))


def _fill(arrays: list[Array], attributes: Mapping[str, Any]) -> Array:
    value = attributes.get("value")
    filler = value.data.reshape(-1)[:1] if isinstance(value, Value) and value.data is not None else np.zeros(1)
    return np.full(_shape_of(arrays[0]), filler[0] if len(filler) else 0)


def _expand(arrays: list[Array], _: Mapping[str, Any]) -> Array:
    return np.broadcast_to(arrays[0], broadcast([arrays[0].shape, _shape_of(arrays[1])]))


def _tile(arrays: list[Array], _: Mapping[str, Any]) -> Array:
    times = [int(n) for n in arrays[1].reshape(-1)]
    if min(times, default=1) < 0:
        raise NetworkError(f"repeats a constant {times[:8]} times")
    if prod(times) * max(1, arrays[0].size) > MAX_DATA:
        raise _TooMany
    return np.tile(arrays[0], times)


def _trilu(arrays: list[Array], attributes: Mapping[str, Any]) -> Array:
    diagonal = int(arrays[1].reshape(-1)[0]) if len(arrays) > 1 else 0
    return (np.triu if attributes.get("upper", 1) else np.tril)(arrays[0], diagonal)


RULES: dict[str, Callable[[list[Array], Mapping[str, Any]], Any]] = {
    "Add": _pairwise(np.add), "Sub": _pairwise(np.subtract), "Mul": _pairwise(np.multiply), "Div": _divide,
    "Mod": _pairwise(np.mod), "Min": _pairwise(np.minimum), "Max": _pairwise(np.maximum),
    "Equal": _pairwise(np.equal), "Less": _pairwise(np.less), "Greater": _pairwise(np.greater),
    "LessOrEqual": _pairwise(np.less_equal), "GreaterOrEqual": _pairwise(np.greater_equal),
    "And": _pairwise(np.logical_and), "Or": _pairwise(np.logical_or), "Not": _pairwise(np.logical_not),
    "Neg": _pairwise(np.negative), "Abs": _pairwise(np.abs), "Floor": _pairwise(np.floor), "Ceil": _pairwise(np.ceil),
    "Round": _pairwise(np.round), "Sqrt": _pairwise(np.sqrt),
    "ReduceProd": _reduce(np.prod), "ReduceSum": _reduce(np.sum), "ReduceMax": _reduce(np.max),
    "ReduceMin": _reduce(np.min),
    "Where": lambda arrays, _: np.where(*arrays), "Range": _range, "Gather": _gather, "ConstantOfShape": _fill,
    "Expand": _expand, "Tile": _tile, "Trilu": _trilu,
}  # fmt: skip
