"""Compares what a file claims with what was recomputed, and names the first difference with both values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cocco.candidates.rounding import SAME
from cocco.output.folders.written.about import About, version
from workloads.errors import FileFormatError, shown

NOT_DERIVED = ...  #: in the place of a value: what no plan says again


class Comparer:
    """A walk over the claims: counts the numbers that were compared, and collects the names of the others."""

    def __init__(self, path: Path, about: About) -> None:
        self.path, self.numbers, self.records = path, 0, dict[str, None]()
        made, here = about.versions.get("cocco"), version("cocco")
        self.version = (
            ""
            if made == here
            else f" (written by version {made}, this is {here}; its partition file alone may be named)"
        )

    def compare(self, claimed: Any, right: Any, where: str = "", name: str = "") -> None:
        """Compare a value and everything inside; where: its place in messages, name: the same without positions."""
        if isinstance(claimed, dict) and (right is NOT_DERIVED or isinstance(right, dict)):
            inside = {} if right is NOT_DERIVED else right
            for key, value in claimed.items():
                self.compare(value, inside.get(key, NOT_DERIVED), f"{where}: {key}" if where else key,
                             f"{name}: {key}" if name else key)  # fmt: skip
        elif isinstance(claimed, list) and (right is NOT_DERIVED or isinstance(right, (list, tuple))):
            inner = [NOT_DERIVED] * len(claimed) if right is NOT_DERIVED else list(right)
            if len(inner) != len(claimed):
                self._fail(f"{where}: has {len(claimed)} elements, worked out again {len(inner)}")
            for at, (value, other) in enumerate(zip(claimed, inner)):
                self.compare(value, other, f"{where} {at}", name)
        elif right is NOT_DERIVED:
            if _is_number(claimed):
                self.records[name] = None
        elif _is_number(claimed) and _is_number(right):
            self.numbers += 1
            is_whole = isinstance(claimed, int) and isinstance(right, int)
            if claimed != right and (is_whole or abs(claimed - right) > SAME * abs(right)):
                self._fail(f"{where} is {claimed!r}, worked out again {right!r}")
        elif claimed != right:
            self._fail(f"{where} is {shown(claimed)}, worked out again {shown(right)}")

    def _fail(self, message: str) -> None:
        raise FileFormatError(f"{self.path}: {message}{self.version}")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
