"""One node of an ONNX graph as its operator sees it: inputs, attributes, and the numbers that shapes need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workloads.errors import NetworkError, shown
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value

Answer = Value | list[Value]


@dataclass(frozen=True)
class Call:
    """A node: its inputs (None where left out), its attributes as plain Python values, the names of its outputs."""

    sketch: Sketch
    op: str
    name: str
    inputs: Sequence[Value | None]
    attributes: Mapping[str, Any]
    outputs: Sequence[str]
    opset: int

    def value(self, position: int) -> Value:
        """Return an input that must be there."""
        value = self.optional(position)
        if value is None:
            raise NetworkError(f"has no input {position}")
        return value

    def optional(self, position: int) -> Value | None:
        """Return an input, None where it is left out."""
        return self.inputs[position] if position < len(self.inputs) else None

    def present(self) -> list[Value]:
        """Return all inputs that are not left out."""
        return [value for value in self.inputs if value is not None]

    def numbers(self, position: int) -> list[int]:
        """Return an input that is a short list of known integers."""
        found = self.known(position)
        if found is None:
            raise NetworkError(f"has no input {position}")
        return found

    def known(self, position: int) -> list[int] | None:
        """Return an input that is a list of known integers, None where it is left out."""
        value = self.optional(position)
        if value is None or value.shape == (0,):
            return None if value is None else []
        if value.data is None:
            why = "lie in external data, which is not read; save tensors of up to 1 KB in the file itself"
            why = why if value.name in self.sketch.outside else "are not known; export fixed shapes"
            raise NetworkError(f"needs the numbers of its input {position}, which {why}")
        return [_whole(number) for number in value.data.reshape(-1).tolist()]

    def integer(self, key: str, default: int) -> int:
        """Return an attribute that is an integer."""
        value = self.attributes.get(key, default)
        if type(value) is not int:
            raise NetworkError(f"has {key} {shown(value)}; it must be an integer")
        return value

    def integers(self, key: str) -> list[int]:
        """Return an attribute that is a list of integers, empty where it is not there."""
        value = self.attributes.get(key, [])
        if type(value) is not list or not all(type(number) is int for number in value):
            raise NetworkError(f"has {key} {shown(value)}; it must be a list of integers")
        return value

    def text(self, key: str, default: str) -> str:
        """Return an attribute that is a text."""
        value = self.attributes.get(key, default)
        if type(value) is not str:
            raise NetworkError(f"has {key} {shown(value)}; it must be a text")
        return value

    def axes(self, position: int = 1) -> list[int] | None:
        """Return the dimensions that an attribute or an input names, None where neither does."""
        if "axes" in self.attributes:
            return self.integers("axes")
        return self.known(position)


def _whole(number: Any) -> int:
    if isinstance(number, (int, float)) and -(2**63) <= number < 2**63:
        return int(number)
    raise NetworkError(f"needs a whole number; found {shown(number)}")
