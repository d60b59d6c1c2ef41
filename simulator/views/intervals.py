"""Kept intervals side by side: on which of a few rows each is drawn, so that none hides another."""

from __future__ import annotations

from collections.abc import Sequence


def rows_of(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the row of each (start, stop), the lowest that is free: where one ends, another may start.

    Examples
    --------
    >>> rows_of([(0, 4), (1, 2), (2, 6), (4, 5)])
    [0, 1, 1, 0]
    """
    found = [0] * len(spans)
    ends: list[int] = []  # per row
    for i in sorted(range(len(spans)), key=lambda i: (spans[i], i)):
        start, stop = spans[i]
        row = next((row for row, end in enumerate(ends) if end <= start), len(ends))
        if row == len(ends):
            ends.append(stop)
        ends[row] = stop
        found[i] = row
    return found
