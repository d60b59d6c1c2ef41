"""Many seeds as several cases of a slow test, each short enough to be drawn into a run of a few minutes."""

from __future__ import annotations

from collections.abc import Callable

import pytest


def in_parts(first: int, end: int, seeds: int = 100) -> list[range]:
    """Return the numbers from `first` to `end` - 1 in ranges of so many."""
    return [range(low, min(low + seeds, end)) for low in range(first, end, seeds)]


def over_seeds(check: Callable[[int], object], first: int, end: int, seeds: int = 100) -> Callable[[range], None]:
    """Return a slow test that calls a check with the numbers from `first` to `end` - 1, so many in each case."""

    @pytest.mark.slow
    @pytest.mark.parametrize("seeds", in_parts(first, end, seeds))
    def test(seeds: range) -> None:
        for seed in seeds:
            check(seed)

    return test
