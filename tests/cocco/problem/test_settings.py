"""Hyper-parameters that are none, and the shares of the mutations."""

from __future__ import annotations

import pytest

from cocco.candidates.stream import ONE
from cocco.effort.settings import Settings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"population": 1}, "settings.population must be an integer from 2 to 1048576, got 1"),
        ({"population": 50.0}, "settings.population .* got 50.0"),
        ({"elite": 100}, "settings.elite must be below population=100, got 100"),
        ({"elite": -1}, "settings.elite must be an integer from 0"),
        ({"tournament": 0}, "settings.tournament must be an integer from 1"),
        ({"crossover": 1.5}, "settings.crossover must be a number from 0 to 1, got 1.5"),
        ({"merge": float("nan")}, "settings.merge must be a number from 0 to 1, got nan"),
        ({"again": 0.95}, "settings.again must be a number from 0 to 0.9, got 0.95"),
        (dict.fromkeys(("modify", "split", "merge", "shift"), 0), "modify, split, merge and shift must not all be 0"),
        ({"island": 2}, "settings.island must be a number from 0 to 1, got 2"),
        ({"islands": 0}, "settings.islands must be an integer from 1"),
        ({"polish": -0.1}, "settings.polish must be a number from 0 to 1, got -0.1"),
        ({"anneal": 1.1}, "settings.anneal must be a number from 0 to 1, got 1.1"),
        ({"price_memo": 0}, "settings.price_memo must be an integer from 1"),
        ({"uniform": 1}, "settings.uniform must be true or false, got 1"),
    ],
)
def test_settings_that_are_none(change, message):
    with pytest.raises(ValueError, match=message):
        Settings(**change)


def test_shares_divide_32_random_bits():
    """A fifth each with capacities; a quarter each without."""
    settings = Settings(modify=0.25, split=0.25, merge=0.25, shift=0.25, capacity=0.25)
    assert settings.shares(True) == tuple(round(ONE * fifths / 5) for fifths in (1, 2, 3, 4))
    assert settings.shares(False) == (ONE // 4, ONE // 2, 3 * ONE // 4, ONE)


def test_the_papers_algorithm_has_only_the_papers_mutations():
    """Modify, split and merge share the draws; one population, replaced as a whole, never starts anew (Sec. 4.4)."""
    paper = Settings.paper()
    assert paper.shares(False)[2:] == (ONE, ONE) and paper.uniform
    assert (paper.elite, paper.islands, paper.patience, paper.retries) == (0, 1, 0, 0)
    assert (paper.polish, paper.anneal, paper.seeds) == (0.0, 0.0, False)
