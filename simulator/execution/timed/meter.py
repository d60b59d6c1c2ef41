"""A chip that says step by step what the loops of a layer load, hold and store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from simulator.execution.count.layer_facts import bits_of, output_bits, row_bytes
from simulator.execution.layer.common.chip import Chip, Memory
from simulator.execution.layer.common.following import Following


class Step(NamedTuple):
    """A step of the loops: bytes that cross to DRAM, room in a core, and work in any unit."""

    input_bytes: int
    input_room: int
    weight_bytes: int  #: that are there until the next ones come
    staying_bytes: int  #: weights that are there until others stay
    work: int
    output_bytes: int
    output_room: int
    passing_bytes: int  #: what comes with the results and has no region
    turn: int = 0  #: how often the input has come whole; all of it has its room then


class Repeated(NamedTuple):
    """Steps that come again and again, in this order."""

    steps: Sequence[Step]
    times: int


class _Counted(Memory):
    """A memory that adds up what is held in it, by what it is for."""

    def __init__(self, name: str) -> None:
        super().__init__(name, float("inf"))
        self.inputs = self.results = 0

    def take(self, region: str, size: int) -> None:
        """Add this up."""
        if region in ("output", "sums", "scores", "statistics", "E", "D"):
            self.results += size * (region == "output")
        else:
            self.inputs += size

    def give(self, region: str, size: int) -> None:
        """Nothing is held."""


class Meter(Chip):
    """A chip whose counters are read after each step."""

    def __init__(self, word: int, has_results: bool = True, is_written: bool = True) -> None:
        super().__init__(word=word, has_results=has_results, is_written=is_written)
        self.activations = self.counted = _Counted("activation")
        self.staying = self.turn = self.passing = 0
        self._last = (0,) * 7

    def like(self) -> Meter:
        """Return this chip: parts run one after the other."""
        return self

    def stay(self) -> None:
        """Let all weights stay that have come since the last step."""
        self.staying = self.ema_weights - (self._last[2] - self._last[3])

    def pass_input(self, size: int) -> None:
        """Load what has no region: it takes as many bytes as come."""
        self.passing += size

    def pass_output(self, size: int) -> None:
        """Let something leave that has no region."""
        self.ema_outputs += size
        self.activations.hold("output", size)

    def step(self, work: int) -> Step:
        """Return what has moved since the last step."""
        counted = self.counted
        now = (
            self.ema_inputs, counted.inputs, self.ema_weights, self.staying, self.ema_outputs, counted.results,
            self.passing,
        )  # fmt: skip
        inputs, room, weights, staying, outputs, leaving, passing = (a - b for a, b in zip(now, self._last))
        self._last = now
        return Step(inputs, room, weights - staying, staying, work, outputs, leaving, passing, self.turn)


def follow(following: Following, meter: Meter, positions: int, channels: int) -> None:
    """Pass channels of these positions through the layers that follow: operands come, and maps between leave."""
    network = following.network
    for operand in following.operands:
        if operand.comes and not operand.is_gate:
            meter.pass_input(positions * row_bytes(channels, bits_of(network, operand.tensor)))
    for v in following.leaving:
        meter.pass_output(positions * row_bytes(channels, output_bits(network.layers[v])))


def count_of(steps: Iterable[Step | Repeated]) -> int:
    """Return how many steps there are."""
    return sum(len(each.steps) * each.times if isinstance(each, Repeated) else 1 for each in steps)


def together(steps: Iterable[Step | Repeated], count: int) -> Iterator[Step]:
    """Yield the steps, so many neighbouring ones as one."""
    held: list[Step] = []
    has = 0
    for each in steps:
        if isinstance(each, Repeated):
            for part, size in _parts(each, count - has, count):
                held.append(part)
                has += size
                if has == count:
                    yield _sum(held)
                    held, has = [], 0
            continue
        held.append(each)
        has += 1
        if has == count:
            yield _sum(held)
            held, has = [], 0
    if held:
        yield _sum(held)


def _parts(repeated: Repeated, first: int, count: int) -> Iterator[tuple[Step, int]]:
    """Yield the sums of so many steps, the first of fewer, and how many they are."""
    steps, times = repeated
    done, all_steps = list(accumulate(steps, added, initial=Step(*(0,) * len(Step._fields)))), len(steps) * times

    def upto(place: int) -> Step:
        rounds, rest = divmod(place, len(steps))
        return added(Step(*(rounds * each for each in done[-1])), done[rest])

    before = 0
    while before < all_steps:
        after = min(before + (count if before else first), all_steps)
        sums = (there - here for here, there in zip(upto(before), upto(after)))
        yield Step(*sums)._replace(turn=steps[before % len(steps)].turn), after - before
        before = after


def added(one: Step, other: Step) -> Step:
    """Return two steps as one."""
    return Step(*map(int.__add__, one, other))


def _sum(steps: list[Step]) -> Step:
    return Step(*map(sum, zip(*steps)))._replace(turn=steps[0].turn)
