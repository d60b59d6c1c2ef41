"""The kept intervals that make given steps in a given order cheapest: a dynamic program over the steps.

Kept tensors save DRAM bytes, but a step may cost more next to them: less room means smaller tiles, or a loop order that
reads again. So each step is priced as it runs, in the metric of the question, and the states are those of the exact
search (exact.py) with the subgraphs fixed. Within a step, before it is priced, ways are ranked by what crosses DRAM.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cocco.candidates.sets import bits
from cocco.search.exact.question import Group, KeepQuestion, KeptStep
from cocco.search.exact.route import spans_beyond
from simulator.partition.intervals import Span, Uses
from workloads.network.network import Network

SPREAD = 8  #: times as many while a step drops tensors one after the other; our choice: the paper's networks have 4
WIDTH = 500  #: states that go on, at most; our choice: exact on narrow networks, at most some seconds on the wide ones


class PricedChoice(NamedTuple):
    """The cheapest intervals that were found."""

    spans: tuple[Span, ...]  #: (tensor, first step, last step), ascending
    cost: float
    exact: bool  #: whether no choice of intervals costs less


class Trail(NamedTuple):
    """What was kept beyond each step so far, the last step first."""

    kept: int  #: a bit per tensor
    before: Trail | None


class _Way(NamedTuple):
    """What is kept, and the cost of the way so far; sets of tensors are integers with a bit for each."""

    unwritten: int  #: kept, without a copy in DRAM
    written: int  #: kept, with a copy in DRAM
    bytes: int  #: kept
    value: float  #: of the steps that have run
    pending: float  #: what crosses DRAM in the step that is to run, at least
    held: int  #: kept bytes, summed over the steps so far
    loaded: int  #: by the step that is to run
    stored: int
    trail: Trail

    @property
    def kept(self) -> int:
        """The tensors that are kept."""
        return self.unwritten | self.written

    @property
    def cost(self) -> tuple[float, int]:
        """The sort key of ways: smaller is better."""
        return self.value + self.pending, self.held


def priced_intervals(question: KeepQuestion, groups: Sequence[Group], width: int | None = WIDTH) -> PricedChoice | None:
    """Return the cheapest intervals for subgraphs in execution order; None if none was found with which all run.

    width: the most states to continue with; None: all, so the answer is exact.
    """
    table = _Table(question, groups)
    ways, exact = [_Way(0, 0, 0, 0.0, 0.0, 0, 0, 0, Trail(0, None))], True
    for step in range(len(groups)):
        for expand, tensors in ((table.load, table.read[step]), (table.make, table.made[step])):
            for tensor in tensors:
                ways, all_left = narrow(list(expand(step, tensor, ways)), width)
                exact &= all_left
        ways = list(table.run(step, ways))
        for tensor in table.read[step]:
            ways, all_left = narrow(list(table.let_go(step, tensor, ways)), width and SPREAD * width)
            exact &= all_left
        ways, all_left = narrow(_distinct(ways), width)
        exact &= all_left
        if not ways:
            return None
        ways = [way._replace(trail=Trail(way.kept, way.trail)) for way in ways]
    (last,) = ways
    beyond, trail = list[int](), last.trail
    while trail.before is not None:
        beyond.append(trail.kept)
        trail = trail.before
    return PricedChoice(spans_beyond(reversed(beyond)), last.value, exact)


class _Table:
    """The question in the form that steps need; every method of a step maps ways to ways."""

    def __init__(self, question: KeepQuestion, groups: Sequence[Group]) -> None:
        self.question, self.groups = question, groups
        self.made, self.read = made_and_read(question.network, groups)
        self.touched = [bits(both[0] + both[1]) for both in zip(self.made, self.read)]
        is_output = question.network.is_output
        self.outputs = [bits(v for v in group if is_output[v]) for group in groups]
        self.reads: dict[int, list[int]] = {}
        for step, tensors in enumerate(self.read):
            for tensor in tensors:
                self.reads.setdefault(tensor, []).append(step)
        self.layers = [bits(group) for group in groups]
        self.last = [bits(u for u in read if self.reads[u][-1] == i) for i, read in enumerate(self.read)]
        self.room = [question.room + question.most_handed(layers) for layers in self.layers]
        self.prices: dict[KeptStep, float] = {}

    def load(self, step: int, tensor: int, ways: Iterable[_Way]) -> Iterator[_Way]:
        """Read a tensor: from the chip, or from DRAM, and then it may stay."""
        bit, whole, crossing = self._of(tensor)
        is_read_later = self.reads[tensor][-1] > step
        for way in ways:
            if way.kept & bit:
                yield way
                continue
            loaded = way._replace(loaded=way.loaded | bit, pending=way.pending + crossing)
            yield loaded
            if is_read_later and way.bytes + whole <= self.room[step]:
                yield loaded._replace(written=way.written | bit, bytes=way.bytes + whole)

    def make(self, step: int, tensor: int, ways: Iterable[_Way]) -> Iterator[_Way]:
        """Make a tensor that is read later: write it, keep it until its last reader, or, with several, both.

        A tensor that must be written in any case is written, or both.
        """
        bit, whole, crossing = self._of(tensor)
        for way in ways:
            stored = way._replace(stored=way.stored | bit, pending=way.pending + crossing)
            yield stored
            is_output = self.question.network.is_output[tensor]
            if way.bytes + whole <= self.room[step]:
                if not is_output:
                    yield way._replace(unwritten=way.unwritten | bit, bytes=way.bytes + whole)
                if is_output or len(self.reads[tensor]) > 1:
                    yield stored._replace(written=way.written | bit, bytes=way.bytes + whole)

    def run(self, step: int, ways: Iterable[_Way]) -> Iterator[_Way]:
        """Run a step next to the kept tensors; ways in which it does not fit end."""
        touched = self.touched[step]
        for way in ways:
            last = self.last[step] & way.trail.kept & ~way.loaded
            handed = self.question.handed(self.layers[step], way.kept, last)
            price = self._price(
                KeptStep(
                    self.groups[step], way.kept & touched, way.loaded, way.stored | self.outputs[step],
                    way.bytes - handed, (way.kept & ~touched).bit_count(), handed,
                )
            )  # fmt: skip
            if price < math.inf:
                yield way._replace(value=way.value + price, pending=0.0, held=way.held + way.bytes, loaded=0, stored=0)

    def let_go(self, step: int, tensor: int, ways: Iterable[_Way]) -> Iterator[_Way]:
        """Drop a tensor that was kept until here: always after its last reader, else or not if DRAM has it."""
        bit, whole, _ = self._of(tensor)
        is_read_later = self.reads[tensor][-1] > step
        for way in ways:
            if not way.trail.kept & bit:  # read from DRAM by this step
                yield way
                continue
            if not is_read_later or way.written & bit:
                yield way._replace(
                    unwritten=way.unwritten & ~bit, written=way.written & ~bit, bytes=way.bytes - whole
                )  # fmt: skip
            if is_read_later:
                yield way

    def _of(self, tensor: int) -> tuple[int, int, float]:
        """Return the bit of a tensor, its bytes while it is kept, and the least cost of a DRAM crossing."""
        return 1 << tensor, self.question.whole[tensor], self.question.crossing_floor[tensor]

    def _price(self, step: KeptStep) -> float:
        if step not in self.prices:
            self.prices[step] = self.question.price(step)
        return self.prices[step]


def _distinct(ways: Iterable[_Way]) -> list[_Way]:
    """Return the best way for each set of kept tensors; of equal ones the first."""
    best: dict[tuple[int, int], _Way] = {}
    for way in ways:
        key = way.unwritten, way.written
        if key not in best or way.cost < best[key].cost:
            best[key] = way
    return list(best.values())


def made_and_read(
    network: Network, subgraphs: Sequence[Sequence[int]]
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """Return per step the tensors that it makes and a later step reads, and those that it reads from elsewhere."""
    uses = Uses(network, subgraphs)
    made: list[list[int]] = [[] for _ in subgraphs]
    read: list[list[int]] = [[] for _ in subgraphs]
    for tensor in range(len(network.tensors)):
        steps = uses.reads(tensor)
        maker = uses.made(tensor)
        if steps and maker is not None:
            made[maker].append(tensor)
        for step in steps:
            read[step].append(tensor)
    return tuple(map(tuple, made)), tuple(map(tuple, read))


def narrow(states: list[_Way], width: int | None) -> tuple[list[_Way], bool]:
    """Return at most `width` states, in their order, and whether these are all; of equals the first stay.

    Chosen by cost alone, a beam dies of states that keep too much: a kept tensor has already saved its write, but takes
    room later. So half of the places go to different amounts of kept bytes (our choice, from trials): the range from
    nothing to the most is divided into as many equal parts, and the best state of each part stays. The state with
    nothing kept always stays: from it the partition runs as without kept tensors.
    """
    if width is None or len(states) <= width:
        return states, True
    order = sorted(range(len(states)), key=lambda i: states[i].cost)
    chosen = {i for i in order if not states[i].kept}
    chosen.update(_first(order, chosen, (width + 1) // 2))
    parts = width - len(chosen)
    if parts > 0:
        most = max(state.bytes for state in states)
        best: dict[int, int] = {}
        for i in order:
            if i not in chosen:
                best.setdefault(states[i].bytes * parts // (most + 1), i)
        chosen.update(best.values())
    chosen.update(_first(order, chosen, width))
    return [states[i] for i in sorted(chosen)], False


def _first(order: list[int], chosen: set[int], count: int) -> list[int]:
    """Return the first positions not chosen yet, as many as fill up the chosen ones to `count`."""
    return [i for i in order if i not in chosen][: max(0, count - len(chosen))]
