"""How data show themselves: one line in a console, a table in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

NOTEBOOK_ROWS = 20  #: of a table in a notebook; our choice: it fits a screen


def changes(value: Any) -> str:
    """Return a dataclass as the call that makes it, without the fields that have their defaults."""
    shown = [
        f"{each.name}={found!r}" for each in fields(value) if (found := getattr(value, each.name)) != _default(each)
    ]
    return f"{type(value).__name__}({', '.join(shown)})"


def span(names: Sequence[str]) -> str:
    """Return some layers as text: a single one by name, more by the first, the last and how many there are."""
    return names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]} ({len(names)})"


def html(summary: str, frame: pandas.DataFrame) -> str:
    """Return what a notebook shows: a summary and a table, its middle left out where it is long."""
    from html import escape

    return f"<pre>{escape(summary)}</pre>\n{frame.to_html(max_rows=NOTEBOOK_ROWS, border=0)}"


def _default(each: Field[Any]) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()
