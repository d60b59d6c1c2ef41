"""What a step holds on chip, as constraints of its model: weights, regions, activation and kept tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from cocco.bounds.floors.forced import least_weights
from cocco.bounds.parts.crossings import Tensors
from cocco.bounds.parts.joins import slacks_between
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import SubgraphCosts

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

Term = tuple[int, "cp_model.IntVar"]


class Room(NamedTuple):
    """The variables of a step: its layers, the tensors that come in, and those that are kept meanwhile."""

    model: cp_model.CpModel
    inside: dict[int, cp_model.IntVar]
    arriving: dict[int, cp_model.IntVar]
    kept: dict[int, cp_model.IntVar]

    def of_several(self, problem: Problem, costs: SubgraphCosts, tensors: Tensors) -> None:
        """Add the weights, the regions and the activation of one core, of a step of several layers."""
        model, machine, weights = self.model, problem.accelerator, least_weights(problem)
        if machine.max_regions is not None:
            model.add(sum(self.inside.values()) + sum(self.arriving.values()) <= machine.max_regions)
        self._add(problem, [(weights[v], x) for v, x in self.inside.items()], self._held(costs, tensors))

    def of_one(self, tensors: Tensors, most_bytes: int) -> None:
        """Add the kept tensors of a step of one layer: in some loop order the rest takes next to nothing."""
        _add_at_most(self.model, [(tensors.whole[u], x) for u, x in self.kept.items()], most_bytes)

    def _add(self, problem: Problem, weights: list[Term], held: list[Term]) -> None:
        """Add that bytes of weights of all cores and of the activation of one fit."""
        model, machine = self.model, problem.accelerator
        if machine.is_shared:
            per_core = [(machine.cores * size, x) for size, x in held]
            _add_at_most(model, weights + per_core, machine.cores * machine.activation_capacity)
        else:
            _add_at_most(model, weights, machine.cores * machine.weight_capacity)
            _add_at_most(model, held, machine.activation_capacity)

    def _held(self, costs: SubgraphCosts, tensors: Tensors) -> list[Term]:
        """Return bytes and variables that add up to no more than what S holds (SubgraphCosts.least_activation).

        A tensor of S or in(S) holds what a reader in S asks of it by itself, at steps of 1: the most of all readers
        there, as a sum of increments, each of which a reader that asks for that much switches on. A kept one lies there
        whole, also where S does not touch it.
        """
        model, held, slacks = self.model, list[Term](), slacks_between(costs.problem)
        for u in sorted({*self.inside, *self.arriving, *self.kept}):
            present = [x for x in (self.inside.get(u), self.arriving.get(u)) if x is not None]
            if not present:
                held.append((tensors.whole[u], self.kept[u]))
                continue
            asked = [(costs.bytes_for(u, v), [self.inside[v]]) for v in tensors.readers[u] if v in self.inside]
            if u in self.inside:
                joined = [(v, slacks[u, v]) for v in tensors.readers[u] if v in self.inside and (u, v) in slacks]
                asked += [(costs.bytes_for(u, v, slack), [self.inside[u], self.inside[v]]) for v, slack in joined]
            least = costs.bytes_for(u, None)
            if u in self.kept:
                here = model.new_bool_var("")
                for x in (*present, self.kept[u]):
                    model.add_implication(x, here)
                present = [here]
            held += [(least, x) for x in present]  # a tensor that comes in is not in S
            level = least
            for size in sorted({size for size, _ in asked if size > least}):
                enough = model.new_bool_var("")
                for each, where in asked:
                    if each >= size:
                        model.add_bool_or([*[~x for x in where], enough])
                if u in self.kept:
                    model.add_implication(self.kept[u], enough)
                held.append((size - level, enough))
                level = size
            if u in self.kept:
                held.append((max(0, tensors.whole[u] - level), self.kept[u]))
        return held


def _add_at_most(model: cp_model.CpModel, terms: Sequence[Term], capacity: int) -> None:
    """Add that the terms sum up to at most the capacity, unless they always do (either may be beyond 64 bits)."""
    if sum([size for size, _ in terms]) > capacity:
        model.add(sum([size * x for size, x in terms]) <= capacity)
