"""A softmax over keys that come in blocks: a running maximum, the sum of powers, and the sums that the powers weight.

It uses two kinds of numbers. Residues modulo a prime are exact, so a run must give exactly what the whole row gives; a
power of a base stands in for e, as in statistics.py. Floats show that the recurrence is a real softmax.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from simulator.execution.layer.common.statistics import POWERS, PRIME

Values = np.ndarray  #: rows x keys of scores, keys x channels of values


class Numbers(NamedTuple):
    """The operations on numbers that a softmax needs."""

    score: Callable[[Values], Values]  #: a product of a query and a key as it is used
    power: Callable[[Values], Values]  #: e^-x of x >= 0
    reduce: Callable[[Values], Values]
    divide: Callable[[Values, Values], Values]


def _divided(sums: Values, total: Values) -> Values:
    inverse, base, left = np.ones_like(total), total % PRIME, PRIME - 2  # Fermat
    while left:
        inverse = inverse * base % PRIME if left & 1 else inverse
        base, left = base * base % PRIME, left >> 1
    return sums * inverse % PRIME


RESIDUES = Numbers(
    lambda scores: scores % len(POWERS), lambda x: POWERS[x], lambda values: values % PRIME, _divided
)  #: exact; of 0, which has no inverse, 0
FLOATS = Numbers(lambda scores: scores, lambda x: np.exp(-x), lambda values: values, lambda sums, total: sums / total)


class Running(NamedTuple):
    """The statistics and sums of each row of queries, over the keys so far."""

    most: Values  #: rows x 1
    total: Values  #: rows x 1, of powers
    sums: Values  #: rows x channels


def begun(numbers: Numbers, scores: Values, values: Values, seen: Values | bool = True) -> Running:
    """Return the statistics and sums of one block; seen: which of the scores count."""
    most = np.where(seen, scores, scores.min()).max(axis=1, keepdims=True)
    powers = np.where(seen, numbers.power(np.maximum(most - scores, 0)), 0)
    return Running(most, numbers.reduce(powers.sum(axis=1, keepdims=True)), numbers.reduce(powers @ values))


def together(numbers: Numbers, one: Running, other: Running) -> Running:
    """Return the two combined, each rescaled to the larger maximum."""
    most = np.maximum(one.most, other.most)
    scales = [numbers.power(most - each.most) for each in (one, other)]
    total, sums = (numbers.reduce(one[part] * scales[0] + other[part] * scales[1]) for part in (1, 2))
    return Running(most, total, sums)


def finished(numbers: Numbers, running: Running) -> Values:
    """Return the outputs: rows x channels.

    Examples
    --------
    >>> scores, values = np.array([[0.0, 1.0, 5.0]]), np.array([[1.0], [2.0], [3.0]])
    >>> parts = [begun(FLOATS, scores[:, i : i + 1], values[i : i + 1]) for i in range(3)]
    >>> found = finished(FLOATS, together(FLOATS, together(FLOATS, *parts[:2]), parts[2]))
    >>> bool(abs(found - np.exp(scores) @ values / np.exp(scores).sum()).max() < 1e-12)
    True
    """
    return numbers.divide(running.sums, running.total)
