"""Element-wise layers with values: channels outermost (CT) or tiles outermost (TC), with broadcast operands.

Softmax and norms also in two passes over the channels of a tile (TCC).
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from simulator.execution.count.miss import Miss
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.held import at, deliver
from simulator.execution.layer.common.plan import LayerPlan, channel_steps, cuts
from simulator.execution.layer.common.problem import Problem, Values, join
from simulator.execution.layer.common.statistics import normalized, statistics_of, together
from simulator.technology import SUM_BYTES

Key = tuple[int, range, range, range]  #: tensor, channels, rows, columns


def run_joined(
    problem: Problem, chip: Chip, plan: LayerPlan, output: Values, place: tuple[int, int] | None = None
) -> None:
    """Run samples one after the other, because nothing is shared. place: begins with the map where results lie."""
    for sample in range(problem.batch):
        run = _Joined(problem, chip, sample, output, place)
        {"CT": run.channels_outermost, "TC": run.tiles_outermost, "TCC": run.two_passes}[plan.order](plan)
        run.drop(lambda key: True)


class _Joined:
    """One sample: pieces of its operands that are in the buffer."""

    def __init__(
        self, problem: Problem, chip: Chip, sample: int, output: Values, place: tuple[int, int] | None
    ) -> None:
        self.problem, self.chip, self.output, self.place = problem, chip, output[sample], place
        self.values = {u: each[sample] for u, each in problem.maps.items()}
        self.whole = [u for u in self.values if problem.ids.index(u) in problem.layer.whole]
        self.held: dict[Key, Values] = {}

    def channels_outermost(self, plan: LayerPlan) -> None:
        """CT: these channels of a broadcast operand stay; one with a single channel stays."""
        for channels in cuts(self.problem.layer.channels, plan.apart):
            for u in self.whole:
                self.fetch(u, channels, *map(range, self.values[u].shape[1:]))
            for tile in self._tiles(plan):
                self.make(channels, *tile)
                self.drop(lambda key: key[0] not in self.whole)
            self.drop(self._has_channels)

    def tiles_outermost(self, plan: LayerPlan) -> None:
        """TC: broadcast operands stay in full; one with a single channel stays for a tile."""
        for u in self.whole:
            self.fetch(u, range(self.problem.layer.channels), *map(range, self.values[u].shape[1:]))
        for tile in self._tiles(plan):
            for channels in cuts(self.problem.layer.channels, plan.apart):
                self.make(channels, *tile)
                self.drop(lambda key: key[0] not in self.whole and self._has_channels(key))
            self.drop(lambda key: key[0] not in self.whole)

    def two_passes(self, plan: LayerPlan) -> None:
        """TCC: statistics of a tile from all its channels, then its outputs from these and the channels again."""
        op, kept, steps = self.problem.layer.op, *channel_steps(self.problem.layer.channels, plan)
        (u,) = self.values
        for tile in self._tiles(plan):
            room, statistics = 2 * SUM_BYTES * prod(map(len, tile)), None
            for channels in steps:
                found = statistics_of(op, self._piece(u, channels, *tile))
                self.chip.write(room)
                self.chip.global_buffer += 0 if statistics is None else room
                if statistics is None:
                    self.chip.activations.take("statistics", room)
                statistics = found if statistics is None else together(op, statistics, found)
                self.drop(lambda key: key[1].start >= kept)
            assert statistics is not None
            for channels in steps:
                values = self._piece(u, channels, *tile)
                self.chip.global_buffer += room
                self._deliver(channels, *tile, normalized(op, values, statistics))
                self.drop(lambda key: key[1].start >= kept)
            self.chip.activations.give("statistics", room)
            self.drop(lambda key: True)

    def _piece(self, u: int, channels: range, down: range, across: range) -> Values:
        """Return channels of a tile of the only operand, one sample."""
        self.fetch(u, channels, down, across)
        return self._read(u, channels, down, across)[None]

    def fetch(self, u: int, channels: range, down: range, across: range) -> None:
        """Bring channels of an operand in at some positions, unless they are there."""
        count = len(self.values[u])
        wanted = range(min(channels.start, count - 1), min(channels.stop, count))
        key = u, wanted, down, across
        if key not in self.held:
            if u not in self.problem.on_chip:
                self.chip.activations.take(f"operand {u}", self._bytes(key))
                self.chip.load_input(len(down) * len(across) * len(wanted))
            self.held[key] = self.values[u][at(wanted, down, across)]

    def drop(self, is_gone: Callable[[Key], bool]) -> None:
        """Give up pieces."""
        for key in [key for key in self.held if is_gone(key)]:
            if key[0] not in self.problem.on_chip:
                self.chip.activations.give(f"operand {key[0]}", self._bytes(key))
            del self.held[key]

    def make(self, channels: range, down: range, across: range) -> None:
        """Make channels of a tile."""
        for u in self.values:
            if u not in self.whole:
                self.fetch(u, channels, down, across)
        parts = {u: self._read(u, channels, down, across) for u in self.values}
        self._deliver(channels, down, across, join(self.problem.layer.op, [parts[u][None] for u in self.problem.ids]))

    def _deliver(self, channels: range, down: range, across: range, values: Values) -> None:
        self.chip.hold_results(len(down) * len(across) * self.chip.rounded(len(channels)))
        deliver(self.chip, self.output, (channels, down, across), values[0])
        if self.place is not None:
            self.values[self.place[0]][at(channels, down, across)] = values[0]

    def _read(self, u: int, channels: range, down: range, across: range) -> Values:
        shape, (count, rows, columns) = tuple(map(len, (channels, down, across))), self.values[u].shape
        down = down if rows == self.problem.layer.height else range(1)
        across = across if columns == self.problem.layer.width else range(1)
        wanted = channels if count > 1 else range(1)
        asked = wanted, down, across
        for (other, *spans), found in self.held.items():
            if other == u and all(a.start >= b.start and a.stop <= b.stop for a, b in zip(asked, spans)):
                part = found[tuple(slice(a.start - b.start, a.stop - b.start) for a, b in zip(asked, spans))]
                self.chip.global_buffer += part.size
                return np.broadcast_to(part, shape)
        raise Miss(f"tensor {self.problem.network.tensors[u].name!r}: {wanted}, {down}, {across} are not in the buffer")

    def _tiles(self, plan: LayerPlan) -> list[tuple[range, range]]:
        layer = self.problem.layer
        return [(d, a) for d in cuts(layer.height, plan.tile[0]) for a in cuts(layer.width, plan.tile[1])]

    def _has_channels(self, key: Key) -> bool:
        """Whether an operand has channels of its own in every step."""
        return len(self.values[key[0]]) > 1 or self.problem.layer.channels == 1

    def _bytes(self, key: Key) -> int:
        _, channels, down, across = key
        return len(down) * len(across) * self.chip.rounded(len(channels))
