"""What a step holds on chip, as constraints of its model: weights, regions, activation and kept tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from cocco.bounds.floors.forced import least_weights
from cocco.bounds.parts.crossings import Tensors
from cocco.bounds.parts.joins import slacks_between
from cocco.bounds.prices.oracle_leads import add_leads
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import NOTHING, Asked, Step, SubgraphCosts

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

MOST_STEPS = 6  #: of one tensor that are told apart; our choice: more than networks of strides of 2 have

Term = tuple[int, "cp_model.IntVar"]


class Room(NamedTuple):
    """The variables of a step: its layers, the tensors that come in, and those that are kept meanwhile."""

    model: cp_model.CpModel
    inside: dict[int, cp_model.IntVar]
    arriving: dict[int, cp_model.IntVar]
    kept: dict[int, cp_model.IntVar]

    def of_several(
        self, problem: Problem, costs: SubgraphCosts, tensors: Tensors, is_apart: bool, has_leads: bool
    ) -> None:
        """Add the weights, the regions and the activation of one core, of a step of several layers.

        is_apart: all layers may run in groups of channels, one after the other; else one of S may not, so all is held.
        """
        model, machine = self.model, problem.accelerator
        weights = least_weights(problem) if is_apart else problem.brought_bytes
        if machine.max_regions is not None:
            model.add(sum(self.inside.values()) + sum(self.arriving.values()) <= machine.max_regions)
        held = self._held(costs, tensors, is_apart, has_leads and not is_apart)
        self._add(problem, [(weights[v], x) for v, x in self.inside.items()], held)

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

    def _held(self, costs: SubgraphCosts, tensors: Tensors, is_apart: bool, has_leads: bool) -> list[Term]:
        """Return bytes and variables that add up to no more than what S holds (SubgraphCosts.least_activation).

        A tensor of S or in(S) holds what one reader in S asks of it beyond a step that another one asks for: the most
        of all, as a sum of increments. A kept one lies there whole, also where S does not touch it.
        """
        model, held, steps = self.model, list[Term](), self._steps(costs)
        slacks, most_asked = {} if has_leads else slacks_between(costs.problem), dict[int, Asked]()
        for u in sorted({*self.inside, *self.arriving, *self.kept}):
            present = [x for x in (self.inside.get(u), self.arriving.get(u)) if x is not None]
            if not present:
                held.append((tensors.whole[u], self.kept[u]))
                continue
            asked: list[tuple[int, list[cp_model.IntVar]]] = []
            levels, most = [((1, 1), []), *steps.get(u, {}).items()], NOTHING
            for v in tensors.readers[u]:
                groups = costs.most_groups[v] if is_apart else 1
                for w, more in costs.asked_by(v, (1, 1)) if v in self.inside else ():
                    for (rows, columns), when in levels if w == u else ():
                        step = max(rows, more[0]), max(columns, more[1])
                        size = costs.bytes_of(u, (*step, *more[2:]), groups)
                        asked.append((size, [self.inside[v], *when]))
                        if u in self.inside and (u, v) in slacks:
                            slack = max(slacks[u, v][0], more[2]), max(slacks[u, v][1], more[3])
                            size = costs.bytes_of(u, (*step, *slack, more[4]), groups)
                            asked.append((size, [self.inside[u], self.inside[v], *when]))
                        a, b, c, d, is_whole = most
                        most = max(a, step[0]), max(b, step[1]), max(c, more[2]), max(d, more[3]), is_whole or more[4]
            most_asked[u] = most
            least = costs.bytes_of(u, NOTHING, costs.touched_by[u] if is_apart else 1)
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
        return held + (add_leads(model, self.inside, self.kept, costs, most_asked) if has_leads else [])

    def _steps(self, costs: SubgraphCosts) -> dict[int, dict[Step, list[cp_model.IntVar]]]:
        """Return, per tensor, steps beyond one row and column, with a variable that is true if S asks for that much."""
        found: dict[int, dict[Step, list[cp_model.IntVar]]] = {}
        for v in sorted(self.inside, reverse=True):
            for step, enough in [((1, 1), []), *found.get(v, {}).items()]:
                for u, (rows, columns, _, _, is_whole) in costs.asked_by(v, step):
                    if is_whole:
                        rows, columns = costs.whole_step(u)
                    if (rows, columns) == (1, 1):
                        continue
                    levels = found.setdefault(u, {})
                    if (rows, columns) not in levels and len(levels) == MOST_STEPS:
                        continue
                    if (rows, columns) not in levels:
                        levels[rows, columns] = [self.model.new_bool_var("")]
                    self.model.add_bool_or([~self.inside[v], *[~x for x in enough], *levels[rows, columns]])
        return found


def _add_at_most(model: cp_model.CpModel, terms: Sequence[Term], capacity: int) -> None:
    """Add that the terms sum up to at most the capacity, unless they always do (either may be beyond 64 bits)."""
    if sum([size for size, _ in terms]) > capacity:
        model.add(sum([size * x for size, x in terms]) <= capacity)
