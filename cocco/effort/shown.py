"""How an answer is shown: one line in a shell, a few in print, tables in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape
from typing import Any


class Shown(ABC):
    """Base class that shows the facts of an answer, and its rows if it has `to_frame`."""

    @abstractmethod
    def facts(self) -> dict[str, object]:
        """Return what a reader wants to know first, by name, in reading order."""

    def summary(self) -> str:
        """Return the facts, one per line."""
        facts = self.facts()
        width = max(map(len, facts))
        return "\n".join(f"{name:{width}}  {_text(value)}" for name, value in facts.items())

    def __repr__(self) -> str:
        facts = [(name, repr(value) if isinstance(value, str) else value) for name, value in self.facts().items()]
        return f"{type(self).__name__}({', '.join(f'{name}={_text(value)}' for name, value in facts)})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{name}</th><td>{escape(_text(value))}</td></tr>" for name, value in self.facts().items()
        )
        frame: Any = getattr(self, "to_frame", None)
        return f"<table>{rows}</table>" + (frame().to_html(index=False) if frame is not None else "")


def _text(value: object) -> str:
    """Return a value as text: numbers with six digits, whole ones in full."""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else f"{value:.6g}"
    return str(value)
