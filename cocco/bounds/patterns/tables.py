"""Bound the remaining cost by tables of smaller problems: additive pattern databases for the search with kept tensors.

A pattern is a set of layers, L, and the tensors, U, that only they make and read (or only read, for model inputs);
tensors written in any case, such as rows of a cache, are excluded. Every plan runs L in some steps: a step S appears as
T = S and L, the layers of S that are in L, at a cost that S never undercuts:

    the floors of the layers of T, and one crossing of DRAM for each tensor of U that S loads or writes

Tensors of U are kept as in the plan. A step needs room for them, and if it is held also for the least that T and what T
reads hold. A single layer that lacks this room, or a nest, runs at its own price, with tensors outside U lying
anywhere. Where T is part of a nest with layers outside L, it needs no more room, and costs no less than its floors.
Layers outside L may run at any time, join T where they fit, and take no room. So the cheapest way of the pattern from a
state is a lower bound for the rest of any plan there, and patterns that share no layers may be added up (Felner, Korf
and Hanan, "Additive Pattern Database Heuristics", JAIR 2004).

A network is wide for the search if layers can run long before or after others, as the keys and values of the
Transformer's decoder can. In the first pattern no layer is unordered against more than MOST_FREE others; the next
pattern is taken from the layers left. A layer outside L that only layers of L read is *late*: it joins the problem once
its trigger has run, a layer of L shortly before its first reader. By then it may have run or not, and its output may
lie anywhere, free of charge. Until then it may read anything, and only pays for what stays on chip. Its floor is not
part of the pattern.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain, product

from cocco.bounds.floors.layer_order import LayerOrder
from cocco.bounds.patterns.alone import EXACT, HELD, LOOSE, Alone
from cocco.bounds.patterns.runs import Budget, Run, Runs, TooManyStepsError
from cocco.candidates.rounding import SUMMED
from cocco.candidates.sets import members
from cocco.effort.budgets import PATTERN_STEPS, smaller
from cocco.search.exact.question import KeepQuestion, Pattern
from cocco.search.kernel.compiled import first_of

MOST_FREE = 8  #: layers of a pattern that may run before or after one of it; our choice
LEAST_LAYERS = 4  #: of a pattern; our choice
MOST_PATTERNS = 2  #: our choice
SPARE_BITS = 4  #: a state takes some 2 ** SPARE_BITS steps; our choice


NOTHING = 0, 0, 0, 0, 0, 0
State = tuple[int, int, int]  # layers that have run, tensors kept unwritten, kept and written


#: What may become of a tensor in a step: kept from here on unwritten or written, stored, loaded, the bytes that it
#: takes more so, and a late layer that has run by then. Plain, as most of the time goes by here.
_Choice = tuple[int, int, int, int, int, int]


Twin = Callable[["Small"], dict[State, float]]  #: what is left from each state of a pattern


def patterns_of(
    question: KeepQuestion, is_whole: bool, most_steps: int = PATTERN_STEPS, twin: Twin | None = None
) -> tuple[tuple[Pattern, ...], int]:
    """Return patterns that share no layers, and the steps taken; is_whole: costs are whole numbers.

    twin: the compiled engine's function, which gives the same answer in as many steps.
    """
    order, found, steps = LayerOrder(question), list[Pattern](), 0
    most_steps = smaller(most_steps, order.count) if most_steps > 0 else most_steps
    left = (1 << order.count) - 1
    while len(found) < MOST_PATTERNS and left:
        layers = order.narrow(left, MOST_FREE)
        if layers.bit_count() < LEAST_LAYERS:
            break
        left &= ~layers
        for late in dict.fromkeys((order.late(layers, left, MOST_FREE), ())):
            budget = Budget((most_steps - steps) // (1 + bool(late)))
            small = Small(question, order, layers, late, is_whole, budget)
            if small.most_kept() >= budget.most.bit_length() - SPARE_BITS:
                continue
            try:
                found.append(small.pattern(twin))
            except TooManyStepsError:
                steps += budget.steps
                continue
            steps += budget.steps
            for _, each in late:
                left &= ~each
            break
    return tuple(found), min(steps, most_steps)


def left_of(small: Small) -> dict[State, float]:
    """Return the remaining cost from each state of a pattern; steps counted before are not counted again."""
    small.forget()
    return small.left()


class Small:
    """The problem of the layers of a pattern; late layers appear when their trigger has run."""

    def __init__(
        self, question: KeepQuestion, order: LayerOrder, layers: int, late: tuple[tuple[int, int], ...], is_whole: bool,
        budget: Budget,
    ) -> None:  # fmt: skip
        self.question, self.order, self.layers, self.late, self.is_whole = question, order, layers, late, is_whole
        self.budget = budget
        network, self.every_late = question.network, 0
        for _, each in late:
            self.every_late |= each
        every = layers | self.every_late
        self.outputs = sum(1 << v for v in range(order.count) if network.is_output[v])
        self.tensors = sum(
            1 << u
            for u, readers in enumerate(order.readers)
            if readers and not readers & ~every and (u >= order.count or (every & ~self.outputs) >> u & 1)
        )
        self.loose = [u for u in members(self.tensors) if order.readers[u] & self.every_late]
        self.forget()

    def forget(self) -> None:
        """Start again with no prices remembered and no steps counted."""
        question, order, layers, budget = self.question, self.order, self.layers, self.budget
        budget.steps = 0
        self.runs = Runs(question, order, layers, self.every_late, self.tensors, budget)
        self.alone = Alone(question, order, layers, self.outputs, budget)

    def most_kept(self) -> int:
        """Return the most tensors that fit into half of the room at any time, with layers run in order of their ids.

        Each may be kept there or not, so the pattern has some 2 ** most_kept states.
        """
        most, whole, executed = 0, self.question.whole, 0
        for v in members(self.layers):
            executed |= 1 << v
            left, count = self.question.room // 2, 0
            for size in sorted(whole[u] for u in members(self.tensors & executed) if self.order.readers[u] & ~executed):
                left -= size
                count += left >= 0
            most = max(most, count)
        return most

    def pattern(self, twin: Twin | None = None) -> Pattern:
        """Return the pattern: the remaining cost of all reachable states, computed from the last one back."""
        left = (first_of(twin, left_of) if twin else left_of)(self)
        if not self.is_whole:  # another order of summation
            left = {state: (1 - SUMMED) * least for state, least in left.items()}
        return Pattern(self.layers, self.tensors, self.late, left)

    def left(self) -> dict[State, float]:
        """Return the remaining cost from each state that can be reached."""
        ways: dict[State, dict[State, float]] = {}
        stack: list[State] = [(0, 0, 0)]
        while stack:
            state = stack.pop()
            if state in ways:
                continue
            found = ways[state] = dict[State, float]()
            for there, cost in chain(self._meanwhile(state), self._ways(state)):
                self.budget.count(1)
                if cost < found.get(there, math.inf):
                    found[there] = cost
                    if there not in ways:
                        stack.append(there)
        return self._left(ways)

    def _left(self, ways: dict[State, dict[State, float]]) -> dict[State, float]:
        """Return the remaining cost from each state, the last states first."""
        by_layers: dict[int, list[State]] = {}
        for state in ways:
            by_layers.setdefault(state[0], []).append(state)
        left: dict[State, float] = {}
        for executed in sorted(by_layers, key=lambda each: (-each.bit_count(), each)):
            is_last = not self.layers & ~executed
            for state in by_layers[executed]:
                left[state] = 0.0 if is_last else math.inf
            is_less = True
            while is_less:
                is_less = False
                for state in by_layers[executed]:
                    least = left[state]
                    for there, cost in ways[state].items():
                        least = min(least, cost + left[there])
                    is_less |= least < left[state]
                    left[state] = least
        return left

    def active(self, executed: int) -> int:
        """Return the layers that belong to the problem: those of the pattern and late ones whose trigger has run."""
        active = self.layers
        for trigger, late in self.late:
            if executed >> trigger & 1:
                active |= late
        return active

    def _meanwhile(self, state: State) -> Iterator[tuple[State, float]]:
        """Yield the states after late layers, not yet part of the problem, have used tensors that they read."""
        executed, unwritten, written = state
        hidden = self.every_late & ~self.active(executed)
        for u in self.loose:
            bit = 1 << u
            if self.order.readers[u] & hidden and (u >= self.order.count or executed & bit):
                if (unwritten | written) & bit:
                    yield (executed, unwritten & ~bit, written & ~bit), 0.0
                else:
                    yield (executed, unwritten, written | bit), self.question.crossing_floor[u]

    def _ways(self, state: State) -> Iterator[tuple[State, float]]:
        """Yield every state after one more step, and the least that the step costs."""
        executed, unwritten, written = state
        kept, active, question = unwritten | written, self.active(executed), self.question
        hidden, whole, readers = self.every_late & ~active, question.whole, self.order.readers
        seen, room, count = self.tensors & ~hidden, question.room, self.budget.count
        loose_room = room + max(map(question.most_handed, question.places), default=0)
        for run in self.runs.after(executed, active):
            after, reads, makes = executed | run.layers, run.reads & ~hidden, run.layers & self.tensors
            elsewhere = sum([whole[u] for u in members(kept & ~makes & ~reads)])
            size = run.held + elsewhere + sum([run.more[u] for u in members(kept & reads)])
            choices: list[list[_Choice]] = []
            for u in members(makes):
                bit, later = 1 << u, (readers[u] & ~after).bit_count()
                if later:
                    is_twice = [(0, bit, bit, 0, run.more[u], 0)] if later > 1 else []
                    inside = [] if readers[u] & ~after & ~hidden else [NOTHING]
                    is_kept = (bit, 0, 0, 0, run.more[u], 0)
                    choices.append([*inside, (0, 0, bit, 0, 0, 0), is_kept, *is_twice])
            drops = last = 0
            for u in members(reads):
                bit, later = 1 << u, readers[u] & ~after
                if not kept & bit:
                    stays = [(0, bit, 0, bit, run.more[u], 0)] if later else []
                    choices.append([(0, 0, 0, bit, 0, 0), *stays])
                elif not later:
                    last |= bit
                elif written & bit:
                    drops |= bit
            touched, runs_alone = kept & (reads | makes), self.alone.runs_alone(run.layers, active)
            streams = self.alone.streams(run.layers, active)
            inside_counts = question.inside is not None and bool(run.layers & (run.layers - 1))
            for u in members(hidden & self.active(after)):  # appears: run or not, and anywhere
                bit, later = 1 << u, readers[u] & ~after
                here = [NOTHING] if later == readers[u] else []
                here.append((0, 0, 0, 0, 0, bit))
                if later:
                    takes = run.more.get(u, whole[u])
                    here += [(bit, 0, 0, 0, takes, bit), (0, bit, 0, 0, takes, bit)]
                choices.append(here)
            for chosen in product(*choices):
                count(1)
                new_unwritten = new_written = stored = loaded = appeared = 0
                need = size
                for to_keep, to_copy, stores, loads, more, runs in chosen:
                    new_unwritten |= to_keep
                    new_written |= to_copy
                    stored |= stores
                    loaded |= loads
                    appeared |= runs
                    need += more
                new = new_unwritten | new_written
                fits = need <= room
                if not fits and (
                    streams == HELD or streams == LOOSE and self._kept(run, kept & reads | new, need) > loose_room
                ):
                    continue
                least, is_asked = math.inf, runs_alone or streams == EXACT and (not fits or inside_counts)
                if is_asked and self.alone.others(run.layers, seen):
                    beside = elsewhere + sum([whole[u] for u in members(new & appeared & ~run.inputs)])
                    least = self.alone.least(run.layers, seen, touched | new & ~appeared, loaded, stored, beside)
                else:
                    is_asked = False
                if is_asked and (runs_alone or not fits):
                    cost = least
                else:
                    is_held = fits and streams != LOOSE and (is_asked or not inside_counts or streams == HELD)
                    cost = self.runs.cost(run, kept | new, need) if is_held else run.floor
                    for u in members(stored | loaded):
                        cost += question.crossing_floor[u]
                    cost = min(cost, least)
                if cost == math.inf:
                    continue
                to_unwritten, to_written = (unwritten | new_unwritten) & ~last, (written | new_written) & ~last
                subset = 0
                while True:
                    there = after | appeared, to_unwritten, to_written & ~subset
                    if appeared:
                        yield from self._appeared(there, appeared, cost)
                    else:
                        yield there, cost
                    if subset == drops:
                        break
                    subset = (subset - drops) & drops

    def _kept(self, run: Run, touched: int, need: int) -> int:
        """Return the bytes that are kept while a run needs so many; touched: those that are kept of what it touches."""
        return need - run.held + sum([run.of_tensor.get(u, 0) for u in members(touched)])

    def _appeared(self, state: State, appeared: int, cost: float) -> Iterator[tuple[State, float]]:
        """Yield the states after late layers may have run in the step itself and used what they read."""
        found = [(state, cost)]
        for u in self.loose:
            bit = 1 << u
            if self.order.readers[u] & appeared and (u >= self.order.count or state[0] & bit):
                self.budget.must_have(len(found))  # each is a way, which is counted
                is_left = self.order.readers[u] & ~state[0]
                more = []
                for (executed, unwritten, written), paid in found:
                    more.append(((executed, unwritten & ~bit, written & ~bit), paid))
                    if is_left:
                        more.append(((executed, unwritten, written), paid))
                        if not (unwritten | written) & bit:
                            more.append(((executed, unwritten, written | bit), paid + self.question.crossing_floor[u]))
                found = more
        yield from found
