"""One call of a torch.export graph: its arguments by name, and the kinds of answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from workloads.errors import NetworkError, shown
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value

Answer = Value | list[Value]


@dataclass(frozen=True)
class TorchCall:
    """One node: its operator, its arguments by name, and the shape of what it makes."""

    sketch: Sketch
    op: str
    name: str
    arguments: Mapping[str, Any]
    shape: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...] = ()  #: of all that it makes

    def value(self, key: str) -> Value:
        """Return an argument that is an array."""
        found = self.arguments.get(key)
        if not isinstance(found, Value):
            raise NetworkError(f"has {key} {shown(found)}; it must be an array")
        return found

    def get(self, key: str, default: Any = None) -> Any:
        """Return any argument, the default where it is left out or None."""
        found = self.arguments.get(key)
        return default if found is None else found

    def values(self) -> list[Value]:
        """Return all arguments that are arrays, those in lists too."""
        found: list[Value] = []
        for each in self.arguments.values():
            if isinstance(each, Value):
                found.append(each)
            elif isinstance(each, (list, tuple)):
                found += [one for one in each if isinstance(one, Value)]
        return found


def by_name(operators: Mapping[Callable[[TorchCall], Answer], str]) -> dict[str, Callable[[TorchCall], Answer]]:
    """Return what reads each operator by its name; operators: the names, as words, of those that a function reads."""
    return {name: rule for rule, names in operators.items() for name in names.split()}
