"""What is left at least, by tables of smaller problems: additive pattern databases for the search with kept tensors.

A pattern is some of the layers, L, and the tensors, U, that only they make and read (or that only they read, of model
inputs); none that is written whoever reads it, as rows of a cache are. Every plan runs L in some steps: the step S
appears as T = S and L, at a cost that S undercuts nowhere:

    the floors of the layers of T, and one crossing of DRAM for each tensor of U that S loads or writes

What is kept of U is as in the plan. A step needs room for that, and if it has several layers for the least that T and
what T reads hold besides; a single layer that has not that much room runs alone, and then at its price, in which
tensors outside U may lie anywhere. Layers outside L may run at any time, join T where they fit beside it, and take no
room. So the cheapest way of the pattern from a state undercuts what is left of any plan there, and patterns that share
no layers may be added up (Felner, Korf and Hanan, "Additive Pattern Database Heuristics", JAIR 2004).

What makes a network wide for the search are layers that can run long before or after others, as the keys and values of
the Transformer's decoder can. The first pattern has no layer that is free against more than MOST_FREE of it, the next
one is of those left. A layer outside that only layers of L read is *late*: it belongs to the problem once its trigger
has run, a layer of L not long before the first that reads it. It then may have run or not, and its output may lie
anywhere, free of charge; until then it may read what it likes, and only pays for what stays on chip. Its floor is not
part of the pattern.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, product
from typing import NamedTuple

from cocco.bounds.layer_order import LayerOrder
from cocco.search.keeping.question import KeepQuestion, KeptStep, Pattern
from cocco.search.keeping.state import members
from cocco.search.keeping.window import LOOK_STEPS, PRICE_STEPS

MOST_FREE = 8  #: layers of a pattern that may run before or after one of it; our choice
LEAST_LAYERS = 4  #: of a pattern; our choice
MOST_PATTERNS = 2  #: our choice
ROUNDING = 1e-12  #: relative; above what the order of summation can change
PATTERN_STEPS = 2_000_000  #: ways to run a step that all patterns of a network may look at; our choice


State = tuple[int, int, int]  # layers that have run, tensors kept unwritten, kept and written


class _Choice(NamedTuple):
    """What may become of a tensor in a step."""

    unwritten: int  #: kept from here on, in one of the two ways
    written: int
    stored: int
    loaded: int
    more: int  #: bytes that it takes more so
    run: int = 0  #: a late layer that has run by then


class TooManyStepsError(Exception):
    """A pattern has more steps than it may take."""


def patterns_of(
    question: KeepQuestion, is_whole: bool, most_steps: int = PATTERN_STEPS
) -> tuple[tuple[Pattern, ...], int]:
    """Return patterns that share nothing, and the steps that it took; is_whole: costs are whole numbers."""
    order, found, steps = LayerOrder(question), list[Pattern](), 0
    left = (1 << len(question.network.layers)) - 1
    while len(found) < MOST_PATTERNS and left:
        layers = order.narrow(left, MOST_FREE)
        if layers.bit_count() < LEAST_LAYERS:
            break
        left &= ~layers
        for late in dict.fromkeys((order.late(layers, left, MOST_FREE), ())):
            small = _Small(question, order, layers, late, is_whole, (most_steps - steps) // (1 + bool(late)))
            try:
                found.append(small.pattern())
            except TooManyStepsError:
                steps += small.steps
                continue
            steps += small.steps
            for _, each in late:
                left &= ~each
            break
    return tuple(found), min(steps, most_steps)


class _Run(NamedTuple):
    """How some layers may run next, whatever is kept."""

    layers: int
    reads: int  #: tensors of the pattern that come from before
    floor: float  #: of its layers
    held: int  #: bytes at least with nothing kept, of several layers
    more: dict[int, int]  #: what a tensor of the pattern takes more where it is kept


class _Small:
    """The problem of some layers; late ones appear when their trigger has run."""

    def __init__(
        self, question: KeepQuestion, order: LayerOrder, layers: int, late: tuple[tuple[int, int], ...], is_whole: bool,
        most_steps: int,
    ) -> None:  # fmt: skip
        self.question, self.order, self.layers, self.late, self.is_whole = question, order, layers, late, is_whole
        self.most_steps, self.steps = most_steps, 0
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
        self.linked = self._linked()
        self.runs: dict[tuple[int, int], list[_Run]] = {}
        self.known: dict[int, _Run | None] = {}
        self.alone: dict[tuple[int, int, int, int, int], float] = {}

    def pattern(self) -> Pattern:
        """Return the pattern: all states that can be reached, and from the last one back what is left."""
        ways: dict[State, dict[State, float]] = {}
        stack: list[State] = [(0, 0, 0)]
        while stack:
            state = stack.pop()
            if state in ways:
                continue
            found = ways[state] = dict[State, float]()
            for there, cost in chain(self._meanwhile(state), self._ways(state)):
                if cost < found.get(there, math.inf):
                    found[there] = cost
                    if there not in ways:
                        stack.append(there)
        return Pattern(self.layers, self.tensors, self.late, self._left(ways))

    def _left(self, ways: dict[State, dict[State, float]]) -> dict[State, float]:
        """Return what is left from each state, the last ones first."""
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
        if self.is_whole:
            return left
        return {state: (1 - ROUNDING) * least for state, least in left.items()}  # another order of summation

    def _active(self, executed: int) -> int:
        """Return the layers that are looked at."""
        active = self.layers
        for trigger, late in self.late:
            if executed >> trigger & 1:
                active |= late
        return active

    def _meanwhile(self, state: State) -> Iterator[tuple[State, float]]:
        """Yield what late layers may do to tensors that they read before they are looked at."""
        executed, unwritten, written = state
        hidden = self.every_late & ~self._active(executed)
        for u in self.loose:
            bit = 1 << u
            if self.order.readers[u] & hidden and (u >= self.order.count or executed & bit):
                if (unwritten | written) & bit:
                    yield (executed, unwritten & ~bit, written & ~bit), 0.0
                else:
                    yield (executed, unwritten, written | bit), self.question.crossing_floor[u]

    def _linked(self) -> list[int]:
        """Return per layer those that may run in one step with it: readers, and by way of layers outside."""
        order, layers, linked = self.order, self.layers, [0] * self.order.count
        every, shown = (1 << order.count) - 1, self.layers | self.every_late
        for v in members(shown):
            seen, stack = 1 << v, [v]
            while stack:
                u = stack.pop()
                near = (order.readers[u] | order.reads[u] & every) & ~seen
                if u == v:
                    near &= order.readers[u] | ~layers
                for w in members(near):
                    if u == v and order.readers[v] >> w & 1 and shown >> w & 1:
                        linked[v] |= 1 << w  # whether they fit is asked for later
                    if not self._may_share(u, w):
                        continue
                    seen |= 1 << w
                    linked[v] |= 1 << w & shown
                    if not layers >> w & 1:
                        stack.append(w)
        return linked

    def _may_share(self, u: int, v: int) -> bool:
        return self.question.may_fit(tuple(members(self.order.hull(1 << u | 1 << v))))

    def _runs(self, executed: int, active: int) -> list[_Run]:
        """Return what layers may run next together."""
        if (executed, active) in self.runs:
            return self.runs[executed, active]
        left = active & ~executed
        found, seen = list[_Run](), set[int]()
        stack = [self.order.up[v] & left for v in members(left)]
        while stack:
            group = stack.pop()
            if group in seen:
                continue
            seen.add(group)
            self._count(1)
            if group not in self.known:
                self._count(LOOK_STEPS)
                self.known[group] = self._run(group)
            run = self.known[group]
            if run is None:
                continue
            found.append(run)
            near = 0
            for v in members(group):
                near |= self.linked[v]
            for w in members(near & ~group & left):
                stack.append(group | self.order.up[w] & left)
        self.runs[executed, active] = found
        return found

    def _run(self, group: int) -> _Run | None:
        question, layers = self.question, self.order.hull(group)
        if layers & (layers - 1) and not question.may_fit(tuple(members(layers))):
            return None
        reads, floor = 0, 0.0
        for v in members(group):
            reads |= self.order.reads[v]
            if self.layers >> v & 1:
                floor += question.layer_floor[v]
        weights, held = question.least_held(tuple(members(group)))
        more = {u: question.whole[u] - held.get(u, 0) for u in members((group | reads) & self.tensors)}
        return _Run(group, reads & ~group & self.tensors, floor, weights + sum(held.values()), more)

    def _ways(self, state: State) -> Iterator[tuple[State, float]]:
        """Yield every state after one more step, and what it costs at least."""
        executed, unwritten, written = state
        kept, active, question = unwritten | written, self._active(executed), self.question
        hidden, whole, readers = self.every_late & ~active, question.whole, self.order.readers
        for run in self._runs(executed, active):
            after, reads, makes = executed | run.layers, run.reads & ~hidden, run.layers & self.tensors
            elsewhere = sum([whole[u] for u in members(kept & ~makes & ~reads)])
            size = run.held + elsewhere + sum([run.more[u] for u in members(kept & reads)])
            choices: list[list[_Choice]] = []
            for u in members(makes):
                bit, later = 1 << u, (readers[u] & ~after).bit_count()
                if later:
                    is_twice = [_Choice(0, bit, bit, 0, run.more[u])] if later > 1 else []
                    inside = [] if readers[u] & ~after & ~hidden else [_Choice(0, 0, 0, 0, 0)]
                    is_kept = _Choice(bit, 0, 0, 0, run.more[u])
                    choices.append([*inside, _Choice(0, 0, bit, 0, 0), is_kept, *is_twice])
            drops = last = 0
            for u in members(reads):
                bit, later = 1 << u, readers[u] & ~after
                if not kept & bit:
                    stays = [_Choice(0, bit, 0, bit, run.more[u])] if later else []
                    choices.append([_Choice(0, 0, 0, bit, 0), *stays])
                elif not later:
                    last |= bit
                elif written & bit:
                    drops |= bit
            touched = kept & (reads | makes)
            for u in members(hidden & self._active(after)):  # appears: run or not, and anywhere
                bit, later = 1 << u, readers[u] & ~after
                here = [_Choice(0, 0, 0, 0, 0)] if later == readers[u] else []
                here.append(_Choice(0, 0, 0, 0, 0, bit))
                if later:
                    takes = run.more.get(u, whole[u])
                    here += [_Choice(bit, 0, 0, 0, takes, bit), _Choice(0, bit, 0, 0, takes, bit)]
                choices.append(here)
            for chosen in product(*choices):
                self._count(1)
                new_unwritten = new_written = stored = loaded = appeared = 0
                need = size
                for each in chosen:
                    new_unwritten, new_written = new_unwritten | each.unwritten, new_written | each.written
                    stored, loaded, appeared = stored | each.stored, loaded | each.loaded, appeared | each.run
                    need += each.more
                if need <= question.room:
                    cost = run.floor
                    for u in members(stored | loaded):
                        cost += question.crossing_floor[u]
                elif run.layers & (run.layers - 1):
                    continue
                else:
                    new = new_unwritten | new_written
                    v = run.layers.bit_length() - 1
                    beside = elsewhere + sum([whole[u] for u in members(new & appeared & ~self.order.reads[v])])
                    cost = self._alone(v, touched | new & ~appeared, loaded, stored, beside)
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

    def _appeared(self, state: State, appeared: int, cost: float) -> Iterator[tuple[State, float]]:
        """Yield a state with all that late layers may have done to what they read, if they ran in the step itself."""
        found = [(state, cost)]
        for u in self.loose:
            bit = 1 << u
            if self.order.readers[u] & appeared and (u >= self.order.count or state[0] & bit):
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

    def _alone(self, v: int, on_chip: int, loaded: int, stored: int, elsewhere: int) -> float:
        """Return the least that a layer alone costs beside its crossings outside U, which may lie anywhere."""
        key = v, on_chip, loaded, stored, elsewhere
        if key not in self.alone:
            self.alone[key] = self._least_alone(*key)
        return self.alone[key]

    def _least_alone(self, v: int, on_chip: int, loaded: int, stored: int, elsewhere: int) -> float:
        question, least, own = self.question, math.inf, 1 << v
        size = elsewhere + sum([question.whole[u] for u in members(on_chip)])
        known = on_chip | loaded | stored
        always = own & self.outputs  # written, and not beside its floor
        makes = own if not always or self.order.readers[v] else 0
        free = list(members((self.order.reads[v] | makes) & ~known))
        for ways in product([(0, 1), (1, 0), (1, 1)], repeat=len(free)):  # kept, crosses
            self._count(PRICE_STEPS)
            kept, moved, bytes_kept = on_chip, 0, size
            for u, (is_kept, is_moved) in zip(free, ways):
                kept, moved = kept | is_kept << u, moved | is_moved << u
                bytes_kept += question.whole[u] * is_kept
            if bytes_kept > question.room:
                continue
            writes = stored | moved & own | always
            price = question.price(KeptStep((v,), kept, loaded | moved & ~own, writes, bytes_kept, 0))
            for u in members(moved & ~always):
                price -= question.crossing_floor[u]
            if not self.layers >> v & 1:
                price -= question.layer_floor[v]
            least = min(least, price)
        return least

    def _count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.most_steps:
            raise TooManyStepsError
