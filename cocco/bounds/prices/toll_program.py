"""Prices of layers and tolls of tensors, from a linear program over the steps found so far (cocco.bounds.prices.tolls).

Columns are the prices, the shares and the prices of loading. A row for each step says that its layers are worth no more
than it pays, and a row for each tensor that its tolls stay within their budget. The answer is sought in a box around
the last good one, which keeps it from jumping. Nothing here needs to be exact: the oracle says what prices prove.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cocco.bounds.parts.crossings import Tensors
from cocco.bounds.prices.layer_alone import Alone
from cocco.bounds.prices.tolls import Pairs, Taken, Tolls, due

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

NEAR = 1e-6  #: by which a toll may be short of a whole byte and still count as one


class Point(NamedTuple):
    """Prices of layers, in whole bytes, and tolls."""

    prices: np.ndarray
    tolls: Tolls
    is_plain: bool = False  #: whether the tolls are plain ones

    @property
    def worth(self) -> int:
        """All prices together."""
        return int(self.prices.sum())


def between(one: Point, other: Point, share: float) -> Point:
    """Return a point between two others, rounded down: constraints that both satisfy hold there as well."""

    def mixed(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> np.ndarray:
        return np.floor((1 - share) * np.asarray(a) + share * np.asarray(b))

    tolls = [list(map(int, mixed(*both))) for both in zip(one.tolls, other.tolls)]
    return Point(mixed(one.prices, other.prices), Tolls(*tolls))


class TollProgram:
    """The linear program."""

    def __init__(self, tensors: Tensors, pairs: Pairs, alone: Mapping[tuple[int, ...], Alone]) -> None:
        self.tensors, self.pairs, self.alone = tensors, pairs, alone
        self.count, self.shared = len(tensors.read), len(pairs.pairs)
        self.loaded = [u for u in pairs.budgets if tensors.comes[u]]
        self.place = {u: self.count + self.shared + i for i, u in enumerate(self.loaded)}
        self.width = self.count + self.shared + len(self.loaded)
        bytes_of = [max(1, *both) for both in zip(tensors.comes, tensors.goes)]
        near = [sum([bytes_of[u] for u in {v, *tensors.read[v]}]) for v in range(self.count)]
        self.scale = np.array(
            near + [bytes_of[u] for u, _ in pairs.pairs] + [bytes_of[u] for u in self.loaded], dtype=float
        )
        self.most = 4.0 * sum(bytes_of)
        self.known: dict[tuple[int, ...], Taken] = {}  # by the columns of their rows
        self.row_of: dict[tuple[int, ...], int] = {}
        self.at: list[int] = []  # columns of the rows, one after the other
        self.value: list[float] = []
        self.ends: list[int] = [0]
        self.right: list[float] = []
        self._made: csr_matrix | None = None
        for u, places in pairs.of_tensor.items():
            columns = [self.count + i for i in places] + [self.place[u]] * (u in self.place)
            self._add_row(columns, [1.0] * len(columns), pairs.budgets[u])

    def add(self, step: Taken) -> bool:
        """Add a step; return whether it is new or moves less beyond its tolls than known before."""
        shares, loaded = due(self.tensors, self.pairs, step)
        columns = [*step.layers, *[self.count + i for i in shares]]
        columns += [self.place[u] for u in loaded if u in self.place]
        key, beyond = tuple(columns), self._beyond(step)
        if key in self.known:
            row = self.row_of[key]
            is_less = beyond < self.right[row]
            if is_less:
                self.known[key], self.right[row] = step, beyond
            return is_less
        self.known[key], self.row_of[key] = step, len(self.right)
        self._add_row(columns, [1.0] * len(step.layers) + [-1.0] * (len(columns) - len(step.layers)), beyond)
        return True

    def _beyond(self, step: Taken) -> int:
        """Return the bytes that a step moves beyond what its tolls pay for."""
        if step.layers not in self.alone:
            return 0
        return self.alone[step.layers].extra(sum([self.tensors.whole[u] for u in step.kept]))

    def best(self, centre: Point, width: float) -> tuple[Point, float]:
        """Return whole prices and tolls near a point that satisfy all rows up to rounding, and their sum."""
        from scipy.optimize import linprog

        middle = self._flat(centre)
        low = np.maximum(middle - width * self.scale, [-self.most] * self.count + [0.0] * (self.width - self.count))
        high = middle + width * self.scale
        high[self.count + self.shared :] = [self.tensors.comes[u] for u in self.loaded]
        goal = np.zeros(self.width)
        goal[: self.count] = -1
        answer = linprog(goal, self._matrix(), self.right, bounds=np.stack([low, high], 1), method="highs-ds")
        if answer.status:
            return centre, float(centre.prices.sum())
        return self._point(answer.x), float(-answer.fun)

    def repaired(self, point: Point) -> Point:
        """Return lower prices, at which no known step is worth more than it pays."""
        flat, start = self._flat(point), len(self.pairs.of_tensor)
        matrix = self._matrix()[start:]
        over = matrix @ flat - self.right[start:]
        prices = point.prices.copy()
        for row in np.flatnonzero(over > NEAR):
            entries = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
            layers = entries[entries < self.count]
            worth = point.prices[layers].sum()
            ratio = (worth - over[row]) / worth if worth > 0 else 1.0
            prices[layers] = np.where(
                point.prices[layers] > 0, np.minimum(prices[layers], point.prices[layers] * ratio), prices[layers]
            )
        return Point(np.floor(prices + NEAR), point.tolls)

    def _add_row(self, columns: list[int], values: list[float], right: float) -> None:
        self.at += columns
        self.value += values
        self.ends.append(len(self.at))
        self.right.append(right)

    def _matrix(self) -> csr_matrix:
        from scipy.sparse import csr_matrix

        if self._made is None or self._made.shape[0] < len(self.right):
            self._made = csr_matrix((self.value, self.at, self.ends), shape=(len(self.right), self.width))
        return self._made

    def _flat(self, point: Point) -> np.ndarray:
        loads = [point.tolls.loads[u] for u in self.loaded]
        return np.concatenate([point.prices, point.tolls.shares, loads]).astype(float)

    def _point(self, flat: np.ndarray) -> Point:
        """Round down, so that budgets hold."""
        down = np.floor(flat + NEAR).astype(int)
        loads = [0] * len(self.tensors.comes)
        for u in self.loaded:
            loads[u] = int(down[self.place[u]])
        shares = [max(0, int(each)) for each in down[self.count : self.count + self.shared]]
        return Point(down[: self.count].astype(float), Tolls(shares, loads))
