"""When each tensor of a subgraph advances along one axis, derived from what the windows read.

One elementary operation advances every tensor by the least whole number of its updates. Update i of a tensor starts at
time (i - 1) / updates, in operations, and ends at element step * i + ahead; `ahead` is how far its consumers' windows
reach. If everything before the first operation fits into the regions together with it, that operation takes it all;
otherwise the early updates run one by one (i <= 0).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from simulator.execution.count.layer_facts import reach
from simulator.execution.count.miss import Miss, Span
from simulator.execution.count.part import Part


@dataclass(frozen=True)
class Event:
    """A tensor advances along one axis from element `start` to `stop`."""

    tensor: int
    start: int
    stop: int


@dataclass(frozen=True)
class Pace:
    """How each tensor advances along one axis: elements of an update, updates of an operation, how far it is ahead."""

    part: Part
    axis: int
    steps: Mapping[int, int]
    updates: Mapping[int, int]
    ahead: Mapping[int, int]

    def merged(self) -> Pace:
        """Return the pace at which all updates of an operation are one: rows under a loop over columns."""
        advance = {u: self.steps[u] * self.updates[u] for u in self.part.tensors}
        return replace(self, steps=advance, updates=dict.fromkeys(advance, 1))

    def frontier(self, tensor: int, update: int) -> int:
        """Elements of the tensor that exist after its update with this number."""
        return min(max(self._end(tensor, update), 0), self.part.extent[self.axis][tensor])

    def span(self, tensor: int) -> int:
        """Return the most elements between the oldest that a pending update reads and the newest.

        Found by sweeping a map without borders over one operation, right after each update.
        """
        if tensor in self.part.needed_whole:
            return self.part.extent[self.axis][tensor]
        worst = self.steps[tensor]
        for update in range(1, self.updates[tensor] + 1):
            for reading in self.part.readers[tensor]:
                v = reading.layer
                run = -(-(update - 1) * self.updates[v] // self.updates[tensor])  # updates of v that started before
                oldest = self.part.first(v, self.axis, self._end(v, run))
                worst = max(worst, self._end(tensor, update) - oldest)
        return worst

    def kept(self, tensor: int) -> int:
        """Return how many elements made by this and earlier operations the next one reads again."""
        ends = {u: self.steps[u] * self.updates[u] + self.ahead[u] for u in self.part.tensors}
        again = [self.part.first(each.layer, self.axis, ends[each.layer]) for each in self.part.readers[tensor]]
        return max(0, ends[tensor] - min(again, default=ends[tensor]))

    def events(self, room: Mapping[int, int]) -> list[Event]:
        """Return all updates in order: by start time, producers first. Every element is made exactly once.

        room: elements that each tensor's region holds along the axis.
        """
        return [event for _, event in self.timed(room)]

    def timed(self, room: Mapping[int, int]) -> list[tuple[int, Event]]:
        """Return the same, each with its start time; all of a time are one operation of a sweep over rows."""
        first = self._first_update(room)
        times = math.lcm(*self.updates.values())
        timed = []
        for rank, u in enumerate(self.part.tensors):
            update, done = min(1, -(self.ahead[u] // self.steps[u])) if first is None else first, 0
            while done < self.part.extent[self.axis][u]:
                stop = self.frontier(u, update)
                if stop > done:
                    timed.append(((update - 1) * times // self.updates[u], rank, Event(u, done, stop)))
                    done = stop
                update += 1
        return [(time, event) for time, _, event in sorted(timed, key=lambda item: item[:2])]

    def operations(self, room: Mapping[int, int]) -> list[dict[int, Span]]:
        """Return each tensor's (start, stop) per update of a merged pace, from the first that does anything."""
        first = self._first_update(room)
        tensors = self.part.tensors
        index = min(min(1, -(self.ahead[u] // self.steps[u])) for u in tensors) if first is None else first
        done = dict.fromkeys(tensors, 0)
        found = []
        while any(done[u] < self.part.extent[self.axis][u] for u in tensors):
            stops = {u: max(done[u], self.frontier(u, index)) for u in tensors}
            if stops != done:
                found.append({u: (done[u], stops[u]) for u in tensors})
            done, index = stops, index + 1
        return found

    def _end(self, tensor: int, update: int) -> int:
        return self.steps[tensor] * update + self.ahead[tensor]

    def _first_update(self, room: Mapping[int, int]) -> int | None:
        """Return 1 if the first update fits together with everything before it, else None."""
        extent = self.part.extent[self.axis]
        held = [u for u in self.part.tensors if self.part.readers[u]]
        return 1 if all(min(self._end(u, 1), extent[u]) <= room[u] for u in held) else None


def paper_span(part: Part, axis: int, steps: Mapping[int, int], tensor: int) -> int:
    """Return the elements that the windows of one update span, by the paper's rule (Cocco, Sec. 3.1, chi)."""
    if tensor in part.needed_whole:
        return part.extent[axis][tensor]
    layers = [part.network.layers[each.layer] for each in part.readers[tensor]]
    beyond = [-(-(reach(layer)[axis] - layer.stride[axis]) // layer.upsample[axis]) for layer in layers]
    return steps[tensor] + max([0, *beyond])


def derive_pace(part: Part, axis: int, steps: Mapping[int, int]) -> Pace:
    """Return how each tensor advances along one axis in updates of these numbers of elements."""
    updates = _updates(part, axis, steps)
    return Pace(part, axis, steps, updates, _ahead(part, axis, steps, updates))


def derive_steps(part: Part, axis: int, tile: int) -> dict[int, int]:
    """Return the elements of an update: for an output its tile, else the least with whole updates of all readers."""
    steps: dict[int, int] = {}
    for u in reversed(part.tensors):
        if u in part.needed_whole:
            steps[u] = part.extent[axis][u]
            continue
        layers = [(each.layer, part.network.layers[each.layer]) for each in part.readers[u]]
        asked = [Fraction(steps[v] * layer.stride[axis], layer.upsample[axis]).numerator for v, layer in layers]
        steps[u] = math.lcm(*asked) if asked else tile
    return steps


def _updates(part: Part, axis: int, steps: Mapping[int, int]) -> dict[int, int]:
    """Return updates per operation: positions move together along every edge that is read through a window."""
    links: dict[int, list[tuple[int, Fraction]]] = {u: [] for u in part.tensors}
    for v, readings in part.operands.items():
        layer = part.network.layers[v]
        for u in (reading.tensor for reading in readings if reading.local):
            links[u].append((v, Fraction(layer.upsample[axis], layer.stride[axis])))
            links[v].append((u, Fraction(layer.stride[axis], layer.upsample[axis])))
    updates: dict[int, int] = {}
    for root in part.tensors:
        if root in updates:
            continue
        position, queue = {root: Fraction(1)}, [root]
        for u in queue:
            for near, ratio in links[u]:
                if near not in position:
                    position[near] = position[u] * ratio
                    queue.append(near)
                elif position[near] != position[u] * ratio:
                    raise Miss(f"tensor {part.name(near)!r}: two paths to it have different strides")
        counts = {u: position[u] / steps[u] for u in queue}
        scale = math.lcm(*[count.denominator for count in counts.values()])
        whole = {u: int(count * scale) for u, count in counts.items()}
        common = math.gcd(*whole.values())
        updates.update((u, count // common) for u, count in whole.items())
    return updates


def _ahead(part: Part, axis: int, steps: Mapping[int, int], updates: Mapping[int, int]) -> dict[int, int]:
    """Return how far each tensor must be beyond step * i after its update i, so that all windows are complete."""
    ahead: dict[int, int] = {}
    for u in reversed(part.tensors):
        wanted = []
        for reading in part.readers[u]:
            v = reading.layer
            if reading.local:  # the windows of v's updates up to operation 1 end here
                wanted.append(part.end(v, axis, steps[v] * updates[v] + ahead[v]) - steps[u] * updates[u])
            if u in part.needed_whole:  # all of u by the time v's first update starts
                first = 1
                while steps[v] * (first - 1) + ahead[v] > 0:
                    first -= 1
                latest = math.floor(Fraction(first - 1, updates[v]) * updates[u]) + 1
                wanted.append(part.extent[axis][u] - steps[u] * latest)
        ahead[u] = max(wanted, default=0)
    return ahead
