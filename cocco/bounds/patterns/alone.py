"""The least that a step costs if all its layers belong to a pattern (cocco.bounds.patterns.tables)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from cocco.bounds.floors.elsewhere import bytes_beside
from cocco.bounds.floors.layer_order import LayerOrder
from cocco.bounds.patterns.runs import Budget
from cocco.candidates.sets import members
from cocco.effort.budgets import PRICE_STEPS
from cocco.search.exact.question import KeepQuestion, KeptStep, sets_of_siblings

MOST_TOUCHED = 4  #: tensors that a step of several layers makes or reads; our choice
HELD, EXACT, LOOSE = range(3)  #: what a step may be that is not held: nothing, just these layers, or more of them


class Alone:
    """Prices of such steps, without the cost of moving tensors outside the pattern; those may lie anywhere."""

    def __init__(self, question: KeepQuestion, order: LayerOrder, layers: int, outputs: int, budget: Budget) -> None:
        self.question, self.order, self.layers, self.outputs, self.budget = question, order, layers, outputs, budget
        self.siblings = sets_of_siblings(question)
        self.known: dict[tuple[int, ...], float] = {}
        self.prices: dict[KeptStep, float] = {}
        self.apart: dict[tuple[int, int], bool] = {}
        self.nests: dict[int, list[int]] = {1 << v: [] for v in range(order.count)}  # by layer
        for nest in question.nests:
            for v in members(nest):
                self.nests[1 << v].append(nest)
        self.streamed: dict[tuple[int, int], int] = {}
        self.beside: dict[tuple[int, int], tuple[int, ...]] = {}

    def runs_alone(self, group: int, shown: int) -> bool:
        """Return whether only the layers shown can join the group, which touches few tensors.

        Any other layer could join only together with one that is joined with the group and all layers between: that
        must not fit. Never where the memory stands for smaller ones and the group has several layers: the largest tile
        that fits is chosen, and a smaller one may cost less.
        """
        if (group, shown) not in self.apart:
            self.apart[group, shown] = self._runs_alone(group, shown)
        return self.apart[group, shown]

    def streams(self, group: int, shown: int) -> int:
        """Return what a step may be that is not held if it has these of the layers shown: HELD, EXACT, or LOOSE.

        A layer alone runs at its own price; so does a nest, unless it touches many tensors. Either may also be part of
        a larger nest, with layers that are not shown.
        """
        if (group, shown) not in self.streamed:
            self.streamed[group, shown] = self._streams(group, shown)
        return self.streamed[group, shown]

    def _streams(self, group: int, shown: int) -> int:
        nests, is_single = (
            [nest for nest in self.nests[group & -group] if nest & shown == group],
            not group & (group - 1),
        )
        if any(nest != group for nest in nests) or (nests and len(self.free(group, 0)) > MOST_TOUCHED):
            return LOOSE
        return EXACT if nests or is_single else HELD

    def _runs_alone(self, group: int, shown: int) -> bool:
        order, near = self.order, 0
        for v in members(group):
            near |= order.readers[v] | order.reads[v] | self.siblings[v]
        near &= ~shown & (1 << order.count) - 1
        if group & (group - 1) and (self.question.is_general or len(self.free(group, 0)) > MOST_TOUCHED):
            return False
        groups = (members(group | 1 << w) for w in members(near))
        return not any(self.question.may_fit(tuple(members(order.between(each)))) for each in groups)

    def others(self, group: int, seen: int) -> tuple[int, ...]:
        """Return every number of bytes that other tensors may occupy on chip while a step runs, ascending.

        Other tensors are those that the step does not touch and that are not in `seen`, the set of tensors accounted
        for separately. Empty where there are too many sums to look at (`bytes_beside`).
        """
        if (group, seen) not in self.beside:
            self.beside[group, seen] = bytes_beside(self.question, self.order, group, seen)
        return self.beside[group, seen]

    def least(self, group: int, seen: int, on_chip: int, loaded: int, stored: int, elsewhere: int) -> float:
        """Return the least that a step costs, given where those of the tensors in `seen` lie that it touches.

        elsewhere: bytes of other tensors in `seen` that are kept meanwhile.
        """
        key = group, seen, on_chip, loaded, stored, elsewhere
        if key not in self.known:
            self.known[key] = self._least(*key)
        return self.known[key]

    def free(self, group: int, known: int) -> list[int]:
        """Return the tensors that a step makes or reads, without those in `known`: these may lie anywhere."""
        reads, makes = 0, 0
        for v in members(group):
            reads |= self.order.reads[v]
            if self.order.readers[v] & ~group:
                makes |= 1 << v
        return list(members((reads & ~group | makes) & ~known))

    def _least(self, group: int, seen: int, on_chip: int, loaded: int, stored: int, elsewhere: int) -> float:
        question, least = self.question, math.inf
        size = elsewhere + sum([question.whole[u] for u in members(on_chip)])
        always = group & self.outputs  # written, as part of its floor
        free, layers = self.free(group, on_chip | loaded | stored), tuple(members(group))
        for more in self.others(group, seen):
            for kept, moved, bytes_kept in self._ways(free, size + more, question.room + question.most_handed(group)):
                writes = stored | moved & group | always
                there, comes = on_chip | kept, loaded | moved & ~group
                handed = question.handed(group, there, there & ~comes)
                step = KeptStep(layers, there, comes, writes, bytes_kept - handed, 0, handed)
                price = self._price(step)
                for u in members(moved & ~always):
                    price -= question.crossing_floor[u]
                for v in members(group & ~self.layers):
                    price -= question.layer_floor[v]
                least = min(least, price)
        return least

    def _ways(self, free: Sequence[int], size: int, room: int) -> Iterator[tuple[int, int, int]]:
        """Yield each choice for free tensors that fits: those kept, those that cross DRAM, and all bytes kept.

        Each tensor crosses, is kept, or both; the last one varies fastest. size: bytes of tensors that are kept anyway.
        """
        if size > room:
            return
        kept, moved = 0, sum([1 << u for u in free])
        while True:
            yield kept, moved, size
            for u in reversed(free):
                bit, whole = 1 << u, self.question.whole[u]
                if not kept & bit and size + whole <= room:
                    kept, moved, size = kept | bit, moved & ~bit, size + whole
                    break
                if kept & bit and not moved & bit:
                    moved |= bit
                    break
                if kept & bit:
                    kept, size = kept & ~bit, size - whole
            else:
                return

    def _price(self, step: KeptStep) -> float:
        self.budget.count(1)
        if step not in self.prices:
            self.budget.count(PRICE_STEPS)
            self.prices[step] = self.question.price(step)
        return self.prices[step]
