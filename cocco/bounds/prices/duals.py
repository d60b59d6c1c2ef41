"""Prices of layers for the set-partition bound: from a linear program, with steps that stay bounded.

With few sets, the prices of the linear program are a corner far from the answer. The level method (Lemarechal,
Nemirovskii, Nesterov, 1995, "New variants of bundle methods") takes the point nearest to the last good one whose sum
reaches a level between what is proven and what the program promises. Nothing here needs to be exact: for any prices,
the oracle says what they prove.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np

from cocco.effort.budgets import PROJECTED

ITERATIONS = 20  #: of the projection, per set; our choice: a few times what it takes


class Columns:
    """Sets of layers that may run, each once, with the bytes that cross for them."""

    def __init__(self, layers: Sequence[int]) -> None:
        self._position = {v: i for i, v in enumerate(layers)}
        self._known: dict[tuple[int, ...], int] = {}
        self._rows: list[np.ndarray] = []
        self._costs: list[int] = []
        self._made = np.zeros((0, len(self._position)))
        self.changes = 0  #: sets that were new or crossed less than was known
        self.time = 0.0  #: of projections, as deterministic time

    @property
    def count(self) -> int:
        """Number of sets."""
        return len(self._rows)

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """The sets of more than one layer."""
        return [group for group in self._known if len(group) > 1]

    def add(self, group: tuple[int, ...], crossings: int) -> bool:
        """Add a set; return whether it is new or has fewer crossings than known before."""
        if group in self._known:
            at = self._known[group]
            is_less = crossings < self._costs[at]
            self._costs[at] = min(crossings, self._costs[at])
            self.changes += is_less
            return is_less
        self.changes += 1
        self._known[group] = len(self._rows)
        row = np.zeros(len(self._position))
        row[[self._position[v] for v in group]] = 1
        self._rows.append(row)
        self._costs.append(crossings)
        return True

    def drop(self, groups: Container[tuple[int, ...]]) -> None:
        """Forget some sets."""
        left = [(group, self._costs[at], self._rows[at]) for group, at in self._known.items() if group not in groups]
        self._known = {group: i for i, (group, _, _) in enumerate(left)}
        self._costs, self._rows = [cost for _, cost, _ in left], [row for _, _, row in left]
        self._made = np.zeros((0, len(self._position)))
        self.changes += 1

    def _matrix(self) -> np.ndarray:
        """Return a matrix with a row for each set, rebuilt if there are new ones."""
        if len(self._made) < len(self._rows):
            self._made = np.vstack([self._made, *self._rows[len(self._made) :]])
        return self._made

    def most(self) -> float:
        """Return the largest sum of prices for which no known set is worth more than its crossings."""
        from scipy.optimize import linprog

        matrix = self._matrix()
        answer = linprog(-np.ones(matrix.shape[1]), matrix, self._costs, bounds=(None, None), method="highs")
        return float(-answer.fun) if answer.status == 0 else 0.0

    def nearest(self, prices: np.ndarray, level: float) -> np.ndarray:
        """Return the prices nearest to these that respect all known sets and sum up to the level.

        Least distance programming by non-negative least squares (Lawson and Hanson, 1974, chapter 23).
        """
        from scipy.optimize import nnls

        matrix, costs = self._matrix(), np.array(self._costs, dtype=float)
        count = matrix.shape[1]
        scale = max(1.0, costs.max())
        left = np.vstack([-matrix, np.ones((1, count))])
        right = np.append(matrix @ prices - costs, level - prices.sum()) / scale
        lengths = np.sqrt(left.sum(axis=1) ** 2 / np.abs(left).sum(axis=1))  # entries are 0, 1 or -1
        left, right = left / lengths[:, None], right / lengths
        goal = np.zeros(count + 1)
        goal[count] = 1
        system = np.vstack([left.T, right[None, :]])
        try:
            factors, _ = nnls(system, goal, maxiter=ITERATIONS * system.shape[1])
        except RuntimeError:  # too many iterations
            self.time += PROJECTED * system.size * ITERATIONS * system.shape[1]
            return prices
        self.time += PROJECTED * system.size * np.count_nonzero(factors)
        rest = system @ factors - goal
        if abs(rest[count]) < 1e-12:  # no such prices: the level is too high
            return prices
        return np.asarray(prices - rest[:count] / rest[count] * scale)

    def repaired(self, prices: np.ndarray) -> np.ndarray:
        """Return lower prices for which no known set is worth more than its crossings.

        Each layer's price is scaled by the least ratio of the sets that are worth too much. A set that was worth w
        at positive prices p and negative ones -m is then worth at most c/w p - m <= c, as m >= c/w m.
        """
        matrix, costs = self._matrix(), np.array(self._costs, dtype=float)
        worth = matrix @ prices
        ratios = np.ones(len(prices))
        for row in np.flatnonzero(worth > costs):
            members = matrix[row] > 0
            ratios[members] = np.minimum(ratios[members], costs[row] / worth[row])
        return np.where(prices > 0, prices * ratios, prices)
