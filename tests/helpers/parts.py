"""Many seeds as several cases of a slow test, each short enough to be drawn into a run of a few minutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from inspect import signature
from typing import Any

import pytest


def in_parts(first: int, end: int, seeds: int = 100) -> list[range]:
    """Return the numbers from `first` to `end` - 1 in ranges of so many."""
    return [range(low, min(low + seeds, end)) for low in range(first, end, seeds)]


def first_of(cases: Sequence[Any], few: int) -> list[Any]:
    """Return the cases of a test: the first few of them in every run, the others slow; a tuple is several arguments."""
    others = (case if isinstance(case, tuple) else (case,) for case in cases[few:])
    return [*cases[:few], *(pytest.param(*case, marks=pytest.mark.slow) for case in others)]


def few_seeds(few: int, seeds: int | Sequence[int]) -> pytest.MarkDecorator:
    """Parametrize `seeds` of a test: the first few in every run, in a slow case all of them, or all below a number.

    Where a test counts what they bring, its least count is a line from what the few bring to what all do.
    """
    every = range(seeds) if isinstance(seeds, int) else seeds
    return pytest.mark.parametrize("seeds", first_of([every[:few], every], 1))


def each_seed(few: int, seeds: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test of a `seed` for the first few in every run, in a slow case for all: a case for each takes time.

    What fails says its seed. What the test is given besides is the same for all seeds of a case.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def run(seeds: range, **others: Any) -> None:
            for seed in seeds:
                try:
                    test(seed=seed, **others)
                except Exception as error:
                    error.add_note(f"seed {seed}")
                    raise

        asked = signature(test)
        names = [each.replace(name="seeds") if each.name == "seed" else each for each in asked.parameters.values()]
        update_wrapper(run, test).__signature__ = asked.replace(parameters=names)  # type: ignore[attr-defined]
        del run.__wrapped__  # type: ignore[attr-defined]
        return few_seeds(few, seeds)(run)

    return decorate


def over_seeds(check: Callable[[int], object], first: int, end: int, seeds: int = 100) -> Callable[[range], None]:
    """Return a slow test that calls a check with the numbers from `first` to `end` - 1, so many in each case."""

    @pytest.mark.slow
    @pytest.mark.parametrize("seeds", in_parts(first, end, seeds))
    def test(seeds: range) -> None:
        for seed in seeds:
            check(seed)

    return test
