"""Gradient-boosted regression trees, small: squared loss, complete trees, splits at quantiles; numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

DEPTH = 3  #: of a tree; our choice
RATE = 0.1  #: share of a tree's answer that is taken; our choice
BINS = 16  #: quantiles of a feature at which a node may be split; our choice
LEAST_IN_LEAF = 5  #: samples of a leaf; our choice


@dataclass(frozen=True)
class Forest:
    """Trees of one depth: inner nodes 0, 1, ... row by row, node n has 2 n + 1 on its left and 2 n + 2 on its right."""

    base: float  #: what the trees are added to
    feature: Ints  #: (trees, 2^depth - 1): which one an inner node asks for
    threshold: Floats  #: of the same shape; above it to the right, infinite where a node is not split
    value: Floats  #: (trees, 2^depth): of the leaves

    def predict(self, samples: Floats) -> Floats:
        """Return a number for each row of features."""
        trees = np.arange(len(self.feature))
        node = np.zeros((len(samples), len(trees)), dtype=np.int64)
        inner = self.feature.shape[1]
        while (node < inner).all() and node.size:
            asked = np.take_along_axis(samples, self.feature[trees, node], axis=1)
            node = 2 * node + 1 + (asked > self.threshold[trees, node])
        return np.asarray(self.base + self.value[trees, node - inner].sum(axis=1))

    def to_json(self) -> dict[str, Any]:
        """Return plain data; `from_json` reads it, infinity as null."""
        return {
            "base": self.base,
            "feature": self.feature.tolist(),
            "threshold": [[None if np.isinf(x) else x for x in row] for row in self.threshold.tolist()],
            "value": self.value.tolist(),
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> Forest:
        threshold = [[np.inf if x is None else x for x in row] for row in data["threshold"]]
        return Forest(data["base"], np.array(data["feature"]), np.array(threshold), np.array(data["value"]))


def fit(samples: Floats, scores: Floats, trees: int, depth: int = DEPTH) -> Forest:
    """Return the trees that predict the scores: each is fitted to what those before it leave. No randomness.

    >>> x = np.arange(20.0)[:, None]
    >>> [round(float(y), 3) for y in fit(x, (x[:, 0] > 9) * 8.0, trees=100).predict(np.array([[2.0], [15.0]]))]
    [0.0, 8.0]
    """
    cuts = [np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1)[1:-1])) for column in samples.T]
    bins = np.stack([np.searchsorted(cut, column) for cut, column in zip(cuts, samples.T)], axis=1)
    base = float(scores.mean())
    left = scores - base
    found = []
    for _ in range(trees):
        feature, threshold, value, leaf = _tree(bins, cuts, left, depth)
        left = left - RATE * value[leaf]
        found.append((feature, threshold, RATE * value))
    return Forest(base, *(np.array(column) for column in zip(*found)))


def _tree(bins: Ints, cuts: Sequence[Floats], left: Floats, depth: int) -> tuple[Ints, Floats, Floats, Ints]:
    """Return features, thresholds and leaves' values of one tree, and the leaf of each sample."""
    inner = 2**depth - 1
    feature, threshold = np.zeros(inner, dtype=np.int64), np.full(inner, np.inf)
    node = np.zeros(len(left), dtype=np.int64)
    for n in range(inner):
        members = np.flatnonzero(node == n)
        is_right = np.zeros(len(members), dtype=bool)
        split = _best_split(bins[members], cuts, left[members])
        if split is not None:
            feature[n], cut = split
            threshold[n] = cuts[feature[n]][cut]
            is_right = bins[members, feature[n]] > cut
        node[members] = 2 * n + 1 + is_right
    leaf = node - inner
    count = np.bincount(leaf, minlength=inner + 1)
    return feature, threshold, np.bincount(leaf, left, inner + 1) / np.maximum(count, 1), leaf


def _best_split(bins: Ints, cuts: Sequence[Floats], left: Floats) -> tuple[int, int] | None:
    """Return the feature and the cut that lower the squared error most, or None where none does."""
    best, found = 1e-9, None
    total, count = left.sum(), len(left)
    for f, cut in enumerate(cuts):
        below = np.cumsum(np.bincount(bins[:, f], minlength=len(cut) + 1))[:-1]
        sums = np.cumsum(np.bincount(bins[:, f], left, len(cut) + 1))[:-1]
        is_allowed = (below >= LEAST_IN_LEAF) & (count - below >= LEAST_IN_LEAF)
        if not is_allowed.any():
            continue
        above = np.maximum(count - below, 1)
        gain = sums**2 / np.maximum(below, 1) + (total - sums) ** 2 / above - total**2 / count
        place = int(np.where(is_allowed, gain, -1).argmax())
        if gain[place] > best:
            best, found = gain[place], (f, place)
    return found
