"""Evaluation: the cost of a genome by the simulator's rules, with in-situ split (Cocco, Sec. 4.4.4).

The same subgraphs come up many times in a search, so models and prices are kept, each in a bounded memo that forgets
the least recently used. A memo changes the time and never the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from cocco.candidates.genome import Genome, connected_parts, groups_of
from cocco.candidates.stream import Stream
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.keeping.genome import Decoder
from cocco.search.kernel.compiled import Compiled, first_of
from simulator.accelerator import Accelerator
from simulator.model.cost import Totals, total
from simulator.model.kept import Kept
from simulator.model.pricing import Price, SubgraphModel
from simulator.model.subgraph.regions import Region, Tiling
from simulator.model.subgraph.tiles import TileShape

Group = tuple[int, ...]  # layers of a subgraph, ascending ids of the union


class Sample(NamedTuple):
    """A priced genome: after in-situ split, so every subgraph fits."""

    genome: Genome
    value: float  #: Formula 1
    cost: float  #: Formula 2, or Formula 1 where the hardware is given


class LeanModel(SubgraphModel):
    """A subgraph that keeps only its needs and its last tiling, since a search holds thousands of models."""

    _last: tuple[TileShape, tuple[Tiling, dict[int, Region]] | None] = ((0, 0), None)

    def tiling(self, tile: TileShape) -> tuple[Tiling, dict[int, Region]] | None:
        """The execution scheme and the regions of one sample for such output tiles, None without a solution."""
        if self._last[0] != tile:
            self._last = (tile, self.ways[0].derive(tile))
        return self._last[1]


class Pricer:
    """Prices the genomes of one problem. engine: "fast" asks the compiled twin for the price of a subgraph."""

    def __init__(
        self, problem: Problem, model_memo: int = 4096, price_memo: int = 65536, engine: EngineName = "reference"
    ) -> None:
        self.problem = problem
        self.model = lru_cache(model_memo)(self._model)
        self._twin = Compiled(problem) if engine == "fast" else None
        price = self._price if self._twin is None else first_of(self._price_compiled, self._price)
        self.price = lru_cache(price_memo)(price)
        self.machine = lru_cache(price_memo)(problem.accelerator_of)
        self._decoder = Decoder(problem, model_memo, price_memo, self._step_model)
        self._beside_kept = self._kept if self._twin is None else first_of(self._kept_compiled, self._kept)

    def evaluate(self, genome: Genome, stream: Stream) -> Sample:
        """Return the price of a valid genome; what does not fit is split, and the split genome replaces it.

        A subgraph that does not fit is cut at a random point of its topological order, each half into its
        connected parts, until everything fits; single layers always do. The quotient stays acyclic: edges between
        the new parts lead from the first half to the second only, and a longer cycle would have been one before.
        """
        machine = self.machine(genome.capacities)
        genome, totals = self._fit(genome, machine, stream)
        if totals is None:
            return Sample(genome, math.inf, math.inf)
        if self._decoder.keeps:
            return self._beside_kept(genome, machine)
        value = self.problem.objective.value(totals, machine)
        return Sample(genome, value, self.problem.objective.cost(value, machine))

    def _fit(self, genome: Genome, machine: Accelerator, stream: Stream) -> tuple[Genome, list[Totals] | None]:
        """Return the genome of subgraphs that fit and the totals per network, None if a layer cannot run."""
        activations = machine.activation_capacity
        weights = 0 if machine.is_shared else machine.weight_capacity  # 0: not looked at
        rows: list[list[Totals]] = [[] for _ in self.problem.networks]
        labels = genome.labels
        todo = groups_of(labels)[::-1]
        while todo:
            group = todo.pop()
            row = self.price(tuple(group), activations, weights)
            if row is not None:
                rows[self.problem.network_of[group[0]]].append(row)
                continue
            if len(group) == 1:
                return Genome(labels, genome.capacities), None
            labels = labels.copy()
            todo += self._cut(labels, group, stream)[::-1]
        return Genome(labels, genome.capacities), [Totals(*map(sum, zip(*each))) for each in rows]

    def _kept(self, genome: Genome, machine: Accelerator) -> Sample:
        """Return the price of a genome that fits, with what it keeps on chip."""
        totals = [each.totals for each in self._decoder.decode(genome.labels, machine)]
        value = self.problem.objective.value([each for each in totals if each is not None], machine)
        return Sample(genome, value, self.problem.objective.cost(value, machine))

    def _kept_compiled(self, genome: Genome, machine: Accelerator) -> Sample:
        assert self._twin is not None
        value, cost = self._twin.value(genome.labels, genome.capacities)
        return Sample(genome, value, cost)

    def _cut(self, labels: list[int], group: Sequence[int], stream: Stream) -> list[list[int]]:
        """Cut the group at a random point, name the parts in the labels, and return them in order."""
        cut = 1 + stream.below(len(group) - 1)
        parts = connected_parts(self.problem, group[:cut]) + connected_parts(self.problem, group[cut:])
        for part in parts:
            for v in part:
                labels[v] = part[0]
        return parts

    def _model(self, group: Group) -> SubgraphModel:
        i = self.problem.network_of[group[0]]
        offset = self.problem.offsets[i]
        return LeanModel(self.problem.rules[i], [v - offset for v in group])

    def _step_model(self, i: int, layers: Group, kept: Kept | None) -> SubgraphModel:
        return LeanModel(self.problem.rules[i], layers, kept)

    def _price_compiled(self, group: Group, activations: int, weights: int) -> Totals | None:
        assert self._twin is not None
        row = self._twin.price(group, activations, weights)
        return None if row is None else Totals(*row)

    def _price(self, group: Group, activations: int, weights: int) -> Totals | None:
        """Return what the subgraph adds to the totals; None if it does not fit.

        Weights that exceed the memory are detected before a model is made of the layers, which takes far longer, unless
        they need not all be held.
        """
        problem = self.problem
        rules, offset = problem.rules[problem.network_of[group[0]]], problem.offsets[problem.network_of[group[0]]]
        need = -(-problem.weights_of(group) // problem.accelerator.cores)
        if len(group) > 1 and need > (weights or activations):
            local = tuple(v - offset for v in group)
            if local not in rules.nests and any(rules.units[v] == 1 for v in local):
                return None
        answer = self.model(group).price(activations, weights)
        return total([answer], problem.accelerator) if isinstance(answer, Price) else None
