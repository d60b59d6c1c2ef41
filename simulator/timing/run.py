"""Runs the subgraphs of a partition in order: DRAM and array stage by stage, working ahead if there is room."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from simulator.accelerator import Accelerator
from simulator.model.price import Price
from simulator.timing.channel import Channel, Slice, Weights
from simulator.timing.course import Course


class Room(NamedTuple):
    """How a subgraph may work ahead in the room that it leaves free, and the bytes of one core then left."""

    loads_ahead: bool  #: input rows of the next stage while one computes
    stores_behind: bool  #: output rows of the last stage while one computes
    chunks_ahead: bool  #: the next chunk of a streamed layer; all weights of a subgraph that fits
    reserved_bytes: int  #: for rows
    chunk_bytes: int  #: for the next chunk
    left_bytes: int  #: for the next subgraph's weights


def room_of(accelerator: Accelerator, price: Price, course: Course) -> Room:
    """Return how the free bytes of one core are used: input rows, output rows, the next chunk, the next weights."""
    held = price.kept_bytes + price.activation_bytes + price.weight_bytes * accelerator.is_shared
    free = accelerator.activation_capacity - held
    ahead = course.ahead_bytes if course.ahead_bytes <= free else 0
    behind = course.behind_bytes if course.behind_bytes <= free - ahead else 0
    left = free - ahead - behind if accelerator.is_shared else accelerator.weight_capacity - price.weight_bytes
    wanted = course.chunk_bytes or 0
    chunk = wanted if wanted <= left else 0
    return Room(
        ahead == course.ahead_bytes, behind == course.behind_bytes, chunk == wanted, ahead + behind, chunk, left - chunk
    )


class Run:
    """The run of a partition: its slices, and when each subgraph starts and ends, in slots.

    ahead: for each subgraph but the first, the weight bytes, over all cores, that have room before it starts.
    """

    def __init__(
        self, names: list[str], courses: Sequence[Course], rooms: Sequence[Room], ahead: Sequence[int]
    ) -> None:
        self.names = names
        self.channel = Channel(names)
        self.array: list[Slice] = []
        self.crossbar: list[Slice] = []
        self.spans: list[tuple[int, int]] = []
        weights = [Weights(i, course) for i, course in enumerate(courses)]
        for following, course, most in zip(weights[1:], courses[1:], ahead):
            following.room = 0 if course.chunk_bytes is not None else most
        for i, course in enumerate(courses):
            start = self.channel.now
            self._run(course, rooms[i], weights[i], weights[i + 1] if i + 1 < len(weights) else None)
            self.spans.append((start, self.channel.now))

    def _run(self, course: Course, room: Room, own: Weights, following: Weights | None) -> None:
        """Run the stages of a subgraph. The next input rows come before the output rows of the computing stage."""
        channel, stages = self.channel, course.stages
        channel.move("inputs", own.subgraph, stages[0].input_bytes)
        written = before = end = arrived = channel.now
        channel.need(own, 0)
        for k, stage in enumerate(stages):
            begin, end = self._compute(own, course, k, max(end, arrived, before if room.stores_behind else written))
            if k + 1 < len(stages):
                size = stages[k + 1].input_bytes
                channel.wait(begin, own, self._last(course, room, own, k - 1), following)
                if size and not room.loads_ahead:
                    channel.wait(end, own, self._last(course, room, own, k), following)
                channel.move("inputs", own.subgraph, size)
                arrived = channel.now if size else arrived
                if not room.chunks_ahead and own.allowed(k + 1):
                    channel.wait(end, own, k, following)
                channel.need(own, k + 1)
            channel.wait(end, own, self._last(course, room, own, k), following)
            channel.move("outputs", own.subgraph, stage.output_bytes)
            before, written = written, channel.now if stage.output_bytes else written

    def _compute(self, own: Weights, course: Course, stage: int, start: int) -> tuple[int, int]:
        """Compute the layers of a stage, each as soon as its weights are there; return the start and end times.

        A layer takes at least as long as its bytes take to cross between cores.
        """
        begin, now = None, start
        crossing = {v: moved for v, *moved in course.stages[stage].crossing}
        for v, slots in course.stages[stage].computing:
            now = max(now, own.ready.get((stage, v), 0))
            begin = now if begin is None else begin
            size, passing = crossing.get(v, (0, 0))
            if slots:
                self.array.append(Slice("compute", own.subgraph, self.names[v], now, now + slots, 0))
            if passing:
                self.crossbar.append(Slice("crossbar", own.subgraph, self.names[v], now, now + passing, size))
            now += max(slots, passing)
        return start if begin is None else begin, now

    @staticmethod
    def _last(course: Course, room: Room, own: Weights, begun: int) -> int:
        """Return the last stage whose weights may come while the channel is idle, once a stage has begun.

        All stages of a subgraph that fits; for a streamed layer the next chunk, if there is room for two.
        """
        if course.chunk_bytes is None:
            return len(course.stages)
        if not room.chunks_ahead:
            return begun
        place = bisect_right(own.stages, begun)
        return own.stages[place] if place < len(own.stages) else begun
