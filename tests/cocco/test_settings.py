"""Hyper-parameters that are none, and the shares of the mutations."""

from __future__ import annotations

import pytest

from cocco.search.settings import Settings
from cocco.search.stream import ONE


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
        ({"modify": 0, "split": 0, "merge": 0}, "settings.modify, split and merge must not all be 0"),
        ({"price_memo": 0}, "settings.price_memo must be an integer from 1"),
    ],
)
def test_settings_that_are_none(change, message):
    with pytest.raises(ValueError, match=message):
        Settings(**change)


def test_shares_divide_32_random_bits():
    """0.25, 0.25, 0.25 and 0.25 with capacities; a third each without."""
    settings = Settings(modify=0.25, split=0.25, merge=0.25, capacity=0.25)
    assert settings.shares(True) == (ONE // 4, ONE // 2, 3 * ONE // 4)
    assert settings.shares(False) == (round(ONE / 3), round(2 * ONE / 3), ONE)
