"""Our numbers beside the paper's: ours, the paper's, and the relative difference."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.sweep.points import Point


def with_paper(row: Point, paper: Mapping[str, float | None]) -> Point:
    """Return the row with `paper_<name>` and `<name>_difference` behind each column that the paper has too.

    The difference is ours / paper - 1; both are None where the paper's text has no number.
    """
    found: Point = {}
    for name, value in row.items():
        found[name] = value
        if name in paper:
            found[f"paper_{name}"] = paper[name]
            found[f"{name}_difference"] = difference(value, paper[name])
    return found


def difference(ours: float | None, paper: float | None) -> float | None:
    """Return ours / paper - 1, None where either is missing."""
    return None if ours is None or not paper else ours / paper - 1
