"""Tensors and attributes of an ONNX file as values: shapes always, numbers where they are few and in this file."""

from __future__ import annotations

import ntpath
import posixpath
from math import prod
from typing import Any

from workloads.errors import NetworkError, one_line, shown
from workloads.importing.values import MAX_DATA, Value, constant

EXTERNAL = 1


def tensor_value(tensor: Any) -> Value:
    """A stored tensor: its shape, and its numbers where they are few and in this file."""
    shape = tuple(tensor.dims)
    name = shown(tensor.name)
    try:
        value = constant(shape)
        if tensor.data_location == EXTERNAL:
            _check_external(tensor)
        elif 0 <= prod(shape) <= MAX_DATA:
            value = constant(shape, _numbers(tensor))
    except NetworkError as error:
        raise NetworkError(f"initialiser {name}: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise NetworkError(f"initialiser {name} is malformed: {one_line(error)}") from None
    return value


def _numbers(tensor: Any) -> Any:
    """The numbers of a tensor, None where the file leaves them out."""
    from onnx import numpy_helper

    fields = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
    if not any(len(getattr(tensor, field)) for field in fields) or tensor.data_type == 8:
        return None
    return numpy_helper.to_array(tensor)


def _check_external(tensor: Any) -> None:
    """Raise NetworkError where external data would lie outside the model's folder; nothing is read in any case."""
    for entry in tensor.external_data:
        if entry.key == "location":
            parts = entry.value.replace("\\", "/").split("/")
            if ".." in parts or posixpath.isabs(entry.value) or ntpath.isabs(entry.value) or ":" in entry.value:
                raise NetworkError(f"has its data in {shown(entry.value)}, which leaves the folder of the model")


def attribute_value(attribute: Any) -> Any:
    """An attribute as a plain value; what has no plain form is None."""
    kind = attribute.type
    if kind == 1:
        return attribute.f
    if kind == 2:
        return attribute.i
    if kind == 3:
        return attribute.s.decode("utf-8", "replace")
    if kind == 4:
        return tensor_value(attribute.t)
    if kind in (6, 7):
        return list(attribute.floats if kind == 6 else attribute.ints)
    return None
