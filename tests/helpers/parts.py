"""Many seeds as several cases of a slow test, each short enough to be drawn into a run of a few minutes."""

from __future__ import annotations


def in_parts(first: int, end: int, seeds: int = 100) -> list[range]:
    """Return the numbers from `first` to `end` - 1 in ranges of so many."""
    return [range(low, min(low + seeds, end)) for low in range(first, end, seeds)]
