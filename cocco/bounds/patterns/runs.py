"""How the layers of a pattern may run next, and the least cost of a step of several (cocco.bounds.patterns.tables)."""

from __future__ import annotations

from typing import NamedTuple

from cocco.bounds.floors.layer_order import LayerOrder
from cocco.candidates.sets import members
from cocco.effort.budgets import LOOK_STEPS, PRICE_STEPS
from cocco.search.exact.question import KeepQuestion, sets_of_siblings


class TooManyStepsError(Exception):
    """A pattern has more steps than it may take."""


class Budget:
    """Steps that one pattern may take."""

    def __init__(self, most: int) -> None:
        self.most, self.steps = most, 0

    def must_have(self, steps: int) -> None:
        """Raise TooManyStepsError if so many more steps would be too many."""
        if self.steps + steps > self.most:
            self.count(self.most + 1 - self.steps)

    def count(self, steps: int) -> None:
        """Take so many steps, or raise TooManyStepsError."""
        self.steps += steps
        if self.steps > self.most:
            raise TooManyStepsError


class Run(NamedTuple):
    """A set of layers that may run next, with what does not depend on the tensors kept."""

    layers: int
    inputs: int  #: tensors that it reads from elsewhere
    reads: int  #: those of the pattern
    floor: float  #: of its layers
    held: int  #: bytes at least with nothing kept, of several layers
    more: dict[int, int]  #: what a tensor of the pattern takes more where it is kept
    of_tensor: dict[int, int]  #: the part of `held` of each tensor that it makes or reads


class Runs:
    """Finds which layers may run next: those of a pattern and late ones."""

    def __init__(self, question: KeepQuestion, order: LayerOrder, layers: int, late: int, tensors: int, budget: Budget):
        self.question, self.order, self.layers, self.tensors, self.budget = question, order, layers, tensors, budget
        self.siblings = sets_of_siblings(question)
        self.linked = self._linked(layers | late)
        self.found: dict[tuple[int, int], list[Run]] = {}
        self.known: dict[int, Run | None] = {}
        self.costs: dict[tuple[int, int, int], float] = {}

    def _linked(self, shown: int) -> list[int]:
        """Return per layer those linked to it in one step: its readers, its siblings, or through layers outside."""
        order, layers, linked = self.order, self.layers, [0] * self.order.count
        every = (1 << order.count) - 1
        for v in members(shown):
            seen, stack = 1 << v, [v]
            while stack:
                u = stack.pop()
                near = (order.readers[u] | self.siblings[u] | order.reads[u] & every) & ~seen
                if u == v:
                    near &= order.readers[u] | self.siblings[u] | ~layers
                for w in members(near):
                    if u == v and order.readers[v] >> w & 1 and shown >> w & 1:
                        linked[v] |= 1 << w  # whether they fit is checked later
                    if not self._may_share(u, w):
                        continue
                    seen |= 1 << w
                    linked[v] |= 1 << w & shown
                    if not layers >> w & 1:
                        stack.append(w)
        return linked

    def _may_share(self, u: int, v: int) -> bool:
        return self.question.may_fit(tuple(members(self.order.between((u, v)))))

    def after(self, executed: int, active: int) -> list[Run]:
        """Return the sets of active layers that may run together in the next step."""
        if (executed, active) in self.found:
            return self.found[executed, active]
        left = active & ~executed
        found, seen = list[Run](), set[int]()
        stack = self._starts(left)
        while stack:
            group = stack.pop()
            if group in seen:
                continue
            seen.add(group)
            self.budget.count(1)
            run = self._known(group)
            if run is None:
                continue
            found.append(run)
            near = 0
            for v in members(group):
                near |= self.linked[v]
            for w in members(near & ~group & left):
                stack.append(group | self.order.up[w] & left)
        self.found[executed, active] = found
        return found

    def _starts(self, left: int) -> list[int]:
        """Return, for each layer left, the set of it and all left before it, if these may run together.

        If they may not, neither may the set of any layer after it, so those are skipped.
        """
        starts, rest = list[int](), left
        while rest:
            low = rest & -rest
            v = low.bit_length() - 1
            group, rest = self.order.up[v] & left, rest ^ low
            if self._known(group) is None:
                self.budget.count(1)
                rest &= ~self.order.down[v]
            else:
                starts.append(group)
        return starts

    def _known(self, group: int) -> Run | None:
        """Return how a group may run, computed once."""
        if group not in self.known:
            self.budget.count(LOOK_STEPS)
            self.known[group] = self._run(group)
        return self.known[group]

    def _run(self, group: int) -> Run | None:
        question, layers = self.question, self.order.between(members(group))
        if layers & (layers - 1) and not question.may_fit(tuple(members(layers))):
            return None
        reads, floor = 0, 0.0
        for v in members(group):
            reads |= self.order.reads[v]
            if self.layers >> v & 1:
                floor += question.layer_floor[v]
        weights, held = question.least_held(tuple(members(group)))
        more = {u: question.whole[u] - held.get(u, 0) for u in members((group | reads) & self.tensors)}
        return Run(
            group, reads & ~group, reads & ~group & self.tensors, floor, weights + sum(held.values()), more, held
        )

    def cost(self, run: Run, kept: int, need: int) -> float:
        """Return the least cost of the layers of a run that is held; inf if it has several layers and no room for them.

        kept: tensors of the pattern that are kept meanwhile; need: the least bytes of these and of the run. The rest is
        the room of each layer in addition to the least that its own tensors take.
        """
        inside = self.question.inside
        if inside is None or not run.layers & (run.layers - 1):
            return run.floor
        kept &= bits_of(run.more)
        key = run.layers, kept, need
        if key not in self.costs:
            self.budget.count(PRICE_STEPS)
            self.costs[key] = 0.0
            for v in members(run.layers & self.layers):
                touched = (self.order.reads[v] | 1 << v) & ~kept
                room = self.question.room - need + sum([run.of_tensor.get(u, 0) for u in members(touched)])
                self.costs[key] += max(self.question.layer_floor[v], inside(v, room, kept))
        return self.costs[key]


def bits_of(tensors: dict[int, int]) -> int:
    """Return the keys as a set."""
    return sum([1 << u for u in tensors])
