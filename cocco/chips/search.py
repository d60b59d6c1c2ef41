"""The search over machines and memories: best first by their bounds, until none is below the best answer.

A pair of a machine and a memory is looked at in four steps, each only when its bound is the least of all: what no plan
undercuts; the least of its class (classes.py); its own least; and its answer, with addresses and within the limits. All
that is never reached is ruled out by its bound.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple, Protocol

from cocco.candidates.rounding import SAME, SUMMED
from cocco.chips.axes import Chip
from cocco.chips.classes import Asked, Classes, Sizes, memory_of, standing, stripped
from cocco.chips.question import ChipQuestion
from cocco.effort.budgets import CHIPS_TOTAL
from cocco.effort.stages import tell
from cocco.exploration.memories.solved import Memories
from simulator.accelerator import Accelerator, Machine
from simulator.evaluation import Evaluation
from simulator.partition.partition import Partition

FLOOR, CLASS, OWN, DONE = range(4)  #: how much is known of a pair
ANSWERS = 24  #: pairs that are answered in full, which takes seconds each; our choice
UNPROVEN = 2  #: answers that are not proved, after which the search ends: each takes up to a minute; our choice
SEARCHED, NEAR = 3, 0.01  #: pairs that are answered though their exact search gave up: more only where more than this
#: share of the cost may be saved; our choice: each takes 10 to 60 s of the Transformer
TIES = 8  #: pairs that are answered because they may cost as little as the best; our choice


class Answer(NamedTuple):
    """A plan of each network on a machine, within the limits, as the simulator judges it."""

    cost: float
    plans: tuple[Partition, ...]
    evaluations: tuple[Evaluation, ...]
    least: float  #: in the metric of plans: no plan within the limits there has less
    placed: bool | None  #: whether all of it has addresses; None where that was not asked

    def beats(self, other: Answer) -> bool:
        """Return whether it costs less; of near ties the one of less energy, then EMA, then a smaller chip."""
        if abs(self.cost - other.cost) > SAME * other.cost:
            return self.cost < other.cost
        return self._rest() < other._rest()

    def _rest(self) -> tuple[float, float, float]:
        found = self.evaluations
        area = found[0].accelerator.chip_area.total
        return sum(each.energy_pj for each in found), sum(each.ema_bytes for each in found), area


class Answering(Protocol):
    """Answers pairs in full."""

    def __call__(self, accelerator: Accelerator, plans: tuple[Partition, ...] | None) -> Answer | str | None:
        """Return the best plans on an accelerator, from plans that are known; the limit that none keeps; or neither."""

    def settled(self, accelerator: Accelerator, answer: Answer) -> Answer:
        """Return an answer, or plans that cost as little there and take less energy."""

    def promising(self, chip: Chip, memories: Sequence[Sizes]) -> tuple[Sizes, tuple[Partition, ...]] | None:
        """Return one of these memories of a machine, with plans, that a search finds; None where it finds none."""

    def priced(self, accelerator: Accelerator, plans: Sequence[Partition]) -> Answer | None:
        """Return plans as they are on a chip; None where they break a limit."""

    def improved(self, accelerator: Accelerator, plans: tuple[Partition, ...], samples: int) -> Answer | None:
        """Return the best that a search from plans finds on a chip, without a proof; None where all break a limit."""


@dataclass(eq=False)
class Pair:
    """A machine with a memory. bound: a cost that no plan undercuts."""

    chip: int
    sizes: Sizes
    accelerator: Accelerator
    fixed: float  #: of the cost, whatever the plans
    scale: float  #: of the cost per unit of the metric
    bound: float
    step: int = FLOOR
    plans: tuple[Partition, ...] | None = None  #: the best known
    answer: Answer | None = None
    why: str = ""  #: what rules it out, beside its bound
    is_open: bool = False  #: whether it was given up

    def cost(self, value: float) -> float:
        """Return the cost of a value of the metric."""
        return self.fixed + self.scale * value


@dataclass
class Search:
    """All pairs of a question; run() raises their bounds."""

    question: ChipQuestion
    asked: Asked
    chips: Sequence[Chip]
    classes: Classes
    answered: Answering
    pairs: list[Pair] = field(default_factory=list)
    best: Pair | None = None
    answers: int = 0
    searched: int = 0  #: of them, those whose exact search gave up
    unproven: int = 0  #: of them, those that may not be the least of their pairs
    is_stopped: bool = False

    def __post_init__(self) -> None:
        self._own: dict[int, Memories] = {}
        self._classes = [self.classes.of(chip.machine) for chip in self.chips]
        self._cycles: dict[int, list[tuple[int, int]]] = {}
        self.most = int(CHIPS_TOTAL * self.asked.times)

    @property
    def least(self) -> float:
        """The cost of the best answer."""
        return math.inf if self.best is None or self.best.answer is None else self.best.answer.cost

    @property
    def open(self) -> list[Pair]:
        """The pairs that may still hold a better answer."""
        return list(filter(self.is_left, self.pairs))

    def is_left(self, pair: Pair) -> bool:
        """Return whether a pair may still hold a better answer."""
        return not pair.why and pair is not self.best and pair.bound < self._below

    @property
    def bound(self) -> float:
        """A cost that no plan of any pair undercuts."""
        own = math.inf if self.best is None else self.best.bound
        return min([own, self.least, *(each.bound for each in self.open)])

    @property
    def _below(self) -> float:
        return self.least * (1 - SAME)

    def begin(self) -> None:
        """Make all pairs, each with what no plan undercuts."""
        self.pairs = [pair for i, chip in enumerate(self.chips) for pair in self._pairs(i, chip)]

    def run(self) -> None:
        """Look at pairs, the least bound first, until no bound is below the best answer."""
        try:
            self.begin()
            heap = [(pair.bound, n) for n, pair in enumerate(self.pairs) if not pair.why]
            heapq.heapify(heap)
            looks = 0
            while heap and heap[0][0] < self._below and self.unproven < UNPROVEN:
                _, n = heapq.heappop(heap)
                pair = self.pairs[n]
                if pair.step == DONE:  # it was answered in place of another
                    continue
                looks += 1
                tell("chips", looks, len(self.pairs), "looks at pairs", best=self.least, bound=pair.bound)
                self.classes.ahead(self._likely(pair, heap))
                self._look(pair)
                if pair.step != DONE and not pair.why and not pair.is_open:
                    heapq.heappush(heap, (pair.bound, n))
            if self.best is not None and self.best.step != DONE:
                self._answer(self.best)
            if self.best is not None and self.best.answer is not None:
                self.best.answer = self.answered.settled(self.best.accelerator, self.best.answer)
            self._break_ties([self.pairs[n] for _, n in heapq.nsmallest(TIES, heap)])
        except KeyboardInterrupt:
            self.is_stopped = True

    def _likely(self, pair: Pair, heap: Sequence[tuple[float, int]]) -> Iterator[tuple[Machine, Sizes]]:
        """Yield the classes and memories that are to be solved if pairs are looked at in the order of their bounds."""
        met = set[tuple[Machine, Sizes]]()
        for each in [pair, *(self.pairs[n] for _, n in sorted(heap))]:
            key = self._classes[each.chip], each.sizes
            known = self.classes.solved.get(key)
            if each.step == FLOOR and key not in met and (known is None or not known.is_full):
                met.add(key)
                yield key
            elif each is pair:
                return

    def _break_ties(self, pairs: Sequence[Pair]) -> None:
        """Answer pairs that may cost as little as the best, by its plans where these do."""
        for pair in pairs:
            is_near = pair.step != DONE and not pair.why and pair.bound <= self.least * (1 + SAME)
            if self.best is None or self.unproven or not is_near:
                continue
            assert self.best.answer is not None, "it is the best"
            if self._runs(self.best, pair):
                self._price(pair, self.best.answer)
            if pair.answer is None or pair.answer.cost > self.least * (1 + SAME):
                self._answer(pair)

    def _pairs(self, i: int, chip: Chip) -> list[Pair]:
        found = []
        for sizes in product(*chip.buffers.values()):
            accelerator = chip.machine.with_buffers(**dict(zip(chip.buffers, sizes)))
            fixed, scale = self.question.fixed(accelerator), self.question.scale(accelerator)
            pair = Pair(i, sizes, accelerator, fixed, scale, fixed, why=self.question.why_not(accelerator))
            if not pair.why:
                floor = self.classes.floor(self._classes[i], sizes)
                self._raise(pair, floor.value)
                pair.why = pair.why or self.question.late(accelerator, self.cycles(pair))
            found.append(pair)
        return found

    def cycles(self, pair: Pair) -> list[float]:
        """Return, by network, cycles that no plan undercuts."""
        return [each / pair.accelerator.rate.per_cycle for each in self._slots(pair)]

    def _slots(self, pair: Pair) -> list[int]:
        """Return, by network, slots that no plan undercuts."""
        i, rate = pair.chip, pair.accelerator.rate
        if i not in self._cycles:
            self._cycles[i] = self.classes.cycles(self.chips[i].machine)
        moved = self.classes.floor(self._classes[i], pair.sizes).ema_bytes
        return [max(rate.slots(cycles), ema) for (cycles, _), ema in zip(self._cycles[i], moved)]

    def _raise(self, pair: Pair, value: float) -> None:
        """Raise a bound by what no plan of the class undercuts, and what takes energy in the time of any plan."""
        if self.asked.metric == "energy" and value < math.inf:
            slots, idle = self._slots(pair), [each for _, each in self._cycles[pair.chip]]
            machine = self.question.judging(pair.accelerator)
            for weight, *each in zip(self.question.weights, slots, idle):
                value += weight * standing(machine, *each)
        pair.bound = max(pair.bound, pair.cost(value) * (1 - SUMMED))
        pair.why = pair.why or self.question.exceeded(pair.accelerator, value * (1 - SUMMED))

    def _look(self, pair: Pair) -> None:
        """Take the next step with a pair."""
        if pair.step == FLOOR and self.question.asks_values:
            before = self.classes.solved.get((self._classes[pair.chip], pair.sizes))
            if before is None and self.classes.steps >= self.most:
                pair.step = OWN
                return
            found = self.classes.solve(self._classes[pair.chip], pair.sizes)
            pair.step, pair.plans = CLASS, found.plans
            if found.value == math.inf:
                pair.why = "memory"
            else:
                self._raise(pair, found.value)
        elif (
            pair.step == CLASS
            and not self.question.is_of_chip
            and self._classes[pair.chip] != self.chips[pair.chip].machine
        ):
            self._solve(pair)
        else:
            self._answer(pair)

    def _solve(self, pair: Pair) -> None:
        """Find the least of a pair itself, where its class does not settle it."""
        table = self._table(pair.chip)
        memory = memory_of(table.problem, pair.sizes)
        size = table.problem.objective.buffer_bytes(pair.accelerator)
        pair.step = OWN
        if pair.plans is not None:
            judge = self.question.judging(pair.accelerator)
            value = table.problem.objective.judged(table.problem.evaluations(pair.plans, judge))
            if pair.cost(value) <= pair.bound * (1 + SAME):
                return  # the plan of the class is the least here, too
        if self.classes.steps >= self.most:
            return
        found = table.solve(memory, self.asked.steps())
        self.classes.steps += found.steps
        if found.best is not None:
            pair.plans = found.best.plans
            pair.bound = max(pair.bound, pair.cost(found.best.value) * (1 - SUMMED))
        elif found.is_decided:
            pair.why = "memory"
        else:
            pair.bound = max(pair.bound, pair.cost(max(0.0, found.bound - size)))

    def _table(self, i: int) -> Memories:
        if i not in self._own:
            chip = self.chips[i]
            problem = self.asked.problem(self.question.judging(chip.machine), chip.buffers)
            self._own[i] = Memories(problem, self.asked.engine)
        return self._own[i]

    def _answer(self, pair: Pair) -> None:
        """Find the answer of a pair, with addresses and within the limits."""
        is_near = self.searched >= SEARCHED and pair.plans is None and self.bound >= self.least * (1 - NEAR)
        if self.answers == ANSWERS or is_near:
            pair.is_open = True
            return
        self.answers += 1
        self.searched += pair.plans is None
        pair = self._promising(pair)
        found = self.answered(pair.accelerator, pair.plans)
        pair.step = DONE
        if isinstance(found, str):
            pair.why = found
            return
        if found is None:
            pair.is_open = True
            return
        self.take(pair, found)
        pair.bound = max(pair.bound, min(found.cost, pair.cost(found.least)))
        if found.cost > pair.bound * (1 + SAME):
            self.unproven += 1
            self._offer(pair, found)

    def _promising(self, pair: Pair) -> Pair:
        """Return the pair to answer in place of one whose bound is no guide to it: of the best plans that are known.

        Where none are known, the memory of the same machine that a search finds.
        """
        best = self.best
        if self.unproven and best is not None and best.answer is not None and best.step != DONE:
            other, plans = best, best.answer.plans
        elif pair.plans is None and not self.unproven and pair.bound < self._below:
            left = [each for each in self.pairs if each.chip == pair.chip and not each.why and each.step != DONE]
            found = self.answered.promising(self.chips[pair.chip], [each.sizes for each in left])
            if found is None:
                return pair
            sizes, plans = found
            other = next(each for each in left if each.sizes == sizes)
        else:
            return pair
        pair.step = OWN
        other.plans = plans
        return other

    def take(self, pair: Pair, found: Answer) -> None:
        """Keep an answer of a pair, as the best of all if it is."""
        pair.answer = found
        known = None if self.best is None else self.best.answer
        if known is None or found.beats(known):
            self.best = pair

    def _offer(self, pair: Pair, found: Answer) -> None:
        """Price plans that are not proved on each machine that runs them, in its least memory that may be better."""
        met = {pair.chip}
        for each in self.pairs:
            if each.chip not in met and self.is_left(each) and each.answer is None and self._runs(pair, each):
                met.add(each.chip)
                self._price(each, found)

    def _runs(self, pair: Pair, other: Pair) -> bool:
        """Return whether all plans of a pair run on another one: they move the same bytes, and have as much room."""
        one, two = (stripped(self.chips[each.chip].machine, "ema") for each in (pair, other))
        return one == two and all(own <= size for own, size in zip(pair.sizes, other.sizes))

    def _price(self, pair: Pair, found: Answer) -> None:
        own = self.answered.priced(pair.accelerator, found.plans)
        if own is not None:
            self.take(pair, own._replace(placed=found.placed))
