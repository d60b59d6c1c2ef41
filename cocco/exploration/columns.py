"""Columns: subgraphs that a search has met, and their neighbours, put together by a set partition (our choice).

A partition takes subgraphs that cover each layer once. Over the subgraphs at hand the cheapest choice is an integer
program, and the duals of its linear relaxation say what covering a layer is worth: a subgraph is worth its price where
it costs less than its layers. So the neighbours of subgraphs that are close to being worth it are priced, one layer
more with all that then lies between, or one layer less, round after round (column generation by local moves: no round
proves anything). At last the integer program picks, and choices that would run in a circle are cut off.

HiGHS solves both, through scipy (Huangfu and Hall, Math. Prog. Comp. 2018). Budgets count layers priced and nodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cocco.exploration.cycles import circle
from cocco.problem.genome import connected_parts, groups_of
from cocco.problem.problem import Problem
from cocco.search.genetic.repair import repair
from cocco.search.pricing.subgraphs import Spent, SubgraphCosts

if TYPE_CHECKING:
    from scipy.sparse import csc_array

MOST_LAYERS = 1500  #: of a problem; more make the linear programs slow
ACTIVE = 12_000  #: subgraphs of one linear program, beside as many as there are layers; our choices, as all that follow
ROUNDS = 16  #: that share the samples, at the least
CLOSE = 0.002  #: a subgraph is expanded that costs at most this share of the whole more than it is worth
PICKED = 8000  #: subgraphs of one integer program
NODES = 200  #: of the search tree of one integer program
CIRCLES = 12  #: integer programs at most, each with one circle more cut off

Group = tuple[int, ...]


class Chosen(NamedTuple):
    """Labels that are no worse than those given, the samples that it took, and whether the user stopped it."""

    labels: list[int]
    samples: int
    is_stopped: bool


def check_scipy() -> None:
    """Raise ValueError that names the extra where scipy is not installed."""
    try:
        import scipy.optimize  # noqa: F401
    except ImportError as error:
        raise ValueError(f"settings.columns needs {error.name}; pip install 'cocco[solvers]'") from error


def put_together(
    problem: Problem, labels: Sequence[int], others: Iterable[Sequence[int]], samples: int, costs: SubgraphCosts
) -> Chosen:
    """Return a partition for given hardware, after at most so many samples and a few layers.

    labels: of the best partition; others: of partitions whose subgraphs are taken, too. Samples are the layers priced
    over the layers of the problem, rounded up.
    """
    best = list(labels)
    costs.most_layers = costs.layers_priced + samples * problem.size
    before, is_stopped = costs.layers_priced, False
    try:
        columns = _Columns(problem, costs, [best, *others])
        columns.generate(samples * problem.size // ROUNDS)
        best = columns.choice(best)
    except KeyboardInterrupt:
        is_stopped = True
    except Spent:  # before all that was met had a price
        pass
    costs.most_layers = math.inf
    return Chosen(best, -(-(costs.layers_priced - before) // problem.size), is_stopped)


class _Columns:
    """Subgraphs that fit, with their prices."""

    def __init__(self, problem: Problem, costs: SubgraphCosts, partitions: Iterable[Sequence[int]]) -> None:
        self.problem, self.costs = problem, costs
        self.known: set[Group] = set()
        self.groups: list[Group] = []
        self.prices: list[float] = []
        self.worth = np.zeros(problem.size)  # of covering each layer
        self.value = math.inf  # of the last linear program
        self.basis = np.arange(0)  # columns that it takes
        self.expanded: set[Group] = set()
        self.up, self.down = _closures(problem)
        for v in range(problem.size):
            self._add((v,))
        for labels in partitions:
            for group in groups_of(labels):
                self._add(tuple(group))

    def generate(self, layers: int) -> None:
        """Price neighbours of what is nearly worth it, until the samples are spent or none is new."""
        try:
            while self._solve():
                excess = self._excess()
                most, is_new = self.costs.layers_priced + layers, False
                for i in np.argsort(excess, kind="stable"):
                    if excess[i] > CLOSE * self.value or self.costs.layers_priced > most:
                        break
                    if self.groups[i] not in self.expanded:
                        self.expanded.add(self.groups[i])
                        for group in self._neighbours(self.groups[i]):
                            is_new |= self._add(group)
                if not is_new:
                    return
        except Spent:
            self._solve()

    def choice(self, labels: list[int]) -> list[int]:
        """Return the labels of the cheapest partition that integer programs find, or those given."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        if self.value == math.inf:  # some layer does not run
            return labels
        self.costs.most_layers = math.inf  # what repair leaves may be new
        best, least = labels, self._cost(labels)
        excess = self._excess()
        near = np.argsort(excess, kind="stable")[:PICKED]
        near = near[excess[near] <= least - self.value + CLOSE * abs(least)]
        known = {group: i for i, group in enumerate(self.groups)}
        near = np.union1d(np.union1d(near, self.basis), [known[tuple(group)] for group in groups_of(labels)])
        groups, prices = [self.groups[i] for i in near], np.array([self.prices[i] for i in near])
        rules = [LinearConstraint(self._matrix(groups), 1, 1)]
        place = {group: i for i, group in enumerate(groups)}
        for _ in range(CIRCLES):
            found = milp(
                prices, integrality=np.ones(len(near)), bounds=Bounds(0, 1), constraints=rules,
                options={"node_limit": NODES, "mip_rel_gap": 0.0},
            )  # fmt: skip
            if found.x is None:
                break
            taken = [groups[i] for i in np.flatnonzero(found.x > 0.5)]
            names = [0] * self.problem.size
            for group in taken:
                for v in group:
                    names[v] = group[0]
            round_ = circle(self.problem, names)
            names = repair(self.problem, names)
            cost = self._cost(names)
            if cost < least:
                best, least = names, cost
            if not round_ or found.fun >= least:
                break
            row = np.zeros((1, len(near)))
            row[0, [place[group] for group in taken if group[0] in round_]] = 1
            rules.append(LinearConstraint(row, -np.inf, len(round_) - 1))
        return best

    def _solve(self) -> bool:
        """Find what covering each layer is worth, by the columns that were closest to being worth it; False: cannot."""
        from scipy.optimize import linprog

        chosen = np.arange(len(self.groups))
        if self.value < math.inf:
            near = np.argsort(self._excess(), kind="stable")[: ACTIVE + self.problem.size]
            chosen = np.union1d(near, self.basis)
        prices = np.array([self.prices[i] for i in chosen])
        matrix = self._matrix([self.groups[i] for i in chosen])
        found = linprog(prices, A_eq=matrix, b_eq=np.ones(self.problem.size), method="highs-ds")
        if found.status != 0:
            return False
        self.worth, self.value, self.basis = found.eqlin.marginals, found.fun, chosen[found.x > 0]
        return True

    def _excess(self) -> np.ndarray:
        """Return how much more than its layers are worth each column costs."""
        lengths = np.array([len(group) for group in self.groups])
        layers = np.fromiter((v for group in self.groups for v in group), np.int64, lengths.sum())
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        return np.array(self.prices) - np.add.reduceat(self.worth[layers], starts)

    def _matrix(self, groups: Sequence[Group]) -> csc_array:
        """Return which layers each of these columns covers."""
        from scipy.sparse import csc_array

        starts = np.concatenate(([0], np.cumsum([len(group) for group in groups])))
        layers = np.array([v for group in groups for v in group])
        return csc_array((np.ones(len(layers)), layers, starts), shape=(self.problem.size, len(groups)))

    def _cost(self, labels: Sequence[int]) -> float:
        cost = 0.0
        for group in groups_of(labels):
            cost += self.costs.costs(tuple(group))
        return cost

    def _add(self, group: Group) -> bool:
        """Take a subgraph that fits; return whether it is new."""
        if group in self.known:
            return False
        self.known.add(group)
        price = self.costs.costs(group) if len(group) == 1 or self.costs.may_fit(group) else math.inf
        if price == math.inf:
            return False
        self.groups.append(group)
        self.prices.append(price)
        return True

    def _neighbours(self, group: Group) -> Iterator[Group]:
        """Yield the subgraph with a layer beside it and all between, and without one at which it begins or ends."""
        problem, inside = self.problem, set(group)
        near = {w for v in group for w in (*problem.producers[v], *problem.consumers[v])} - inside
        for w in sorted(near):
            yield self._hull((*group, w))
        for v in group if len(group) > 1 else ():
            if inside.isdisjoint(problem.producers[v]) or inside.isdisjoint(problem.consumers[v]):
                for part in connected_parts(problem, [u for u in group if u != v]):
                    yield tuple(part)

    def _hull(self, group: Group) -> Group:
        above = below = 0
        for v in group:
            above, below = above | self.up[v], below | self.down[v]
        between, found = above & below, []
        while between:
            low = between & -between
            found.append(low.bit_length() - 1)
            between ^= low
        return tuple(found)


def _closures(problem: Problem) -> tuple[list[int], list[int]]:
    """Return per layer itself with all before it, and with all after it."""
    up, down = [1 << v for v in range(problem.size)], [1 << v for v in range(problem.size)]
    for v in range(problem.size):
        for p in problem.producers[v]:
            up[v] |= up[p]
    for v in reversed(range(problem.size)):
        for c in problem.consumers[v]:
            down[v] |= down[c]
    return up, down
