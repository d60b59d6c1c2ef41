"""Two statistics of each position, gathered piece by piece over its channels, and outputs of an element and both.

Integers stand for the real functions. A softmax has the running maximum m and the sum of b^(m - x), scaled anew where
the maximum grows, as an online softmax does with e^(x - m): residues of a prime, b^-1 stands for e. A norm has the sum
and the sum of squares.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

PRIME = 65521  #: the largest below 2**16
POWERS = np.array([pow(3, i, PRIME) for i in range(128)])  #: of b = 3
HIDDEN = -(10**6)  #: what stands where a mask hides a score: no part of a softmax, and 0 after it

Values = np.ndarray  #: int64: samples x channels x rows x columns


class Statistics(NamedTuple):
    """Of each position, over the channels that were there: samples x 1 x rows x columns."""

    first: Values  #: maximum, or sum
    second: Values  #: sum of powers, or of squares


def statistics_of(op: str, values: Values) -> Statistics:
    """Return the statistics of some channels.

    Examples
    --------
    >>> [int(each.item()) for each in statistics_of("softmax", np.array([5, 3, 4]).reshape(1, 3, 1, 1))]
    [5, 13]
    """
    if op == "softmax":
        most = values.max(axis=1, keepdims=True)
        return Statistics(most, _powers(most, values).sum(axis=1, keepdims=True) % PRIME)
    return Statistics(values.sum(axis=1, keepdims=True), (values**2).sum(axis=1, keepdims=True))


def together(op: str, one: Statistics, other: Statistics) -> Statistics:
    """Return the statistics of the channels of both.

    Examples
    --------
    >>> x = np.array([5, 3, 4]).reshape(1, 3, 1, 1)
    >>> found = together("softmax", statistics_of("softmax", x[:, 1:]), statistics_of("softmax", x[:, :1]))
    >>> [int(each.item()) for each in found]
    [5, 13]
    """
    if op != "softmax":
        return Statistics(one.first + other.first, one.second + other.second)
    most = np.maximum(one.first, other.first)
    powers = sum(each.second * _powers(most, each.first) for each in (one, other))
    return Statistics(most, powers % PRIME)


def normalized(op: str, values: Values, statistics: Statistics) -> Values:
    """Return the outputs of some channels: each of its element and the statistics of all channels."""
    first, second = statistics
    return _powers(first, values) * second % PRIME if op == "softmax" else values * first - second


def _powers(most: Values, values: Values) -> Values:
    return np.where(values == HIDDEN, 0, POWERS[np.where(values == HIDDEN, 0, most - values)])
