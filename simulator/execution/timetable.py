"""When each tensor of a subgraph advances: derived from what the windows read, not from the formulas of tiling.py.

One elementary operation advances every tensor by its `advance`, the least that is a whole number of its updates.
Update i of a tensor starts at time (i - 1) / updates, in operations, and ends at element step * i + ahead; `ahead` is
as far as its consumers' windows reach. Where the first operation fits into the regions, it takes all that lies
before it, too; else the early updates run one by one (i <= 0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from simulator.model.subgraph import Subgraph


@dataclass(frozen=True)
class Event:
    """A tensor advances along one axis from element `start` to `stop`."""

    tensor: int
    start: int
    stop: int


@dataclass(frozen=True)
class Timetable:
    """The schedule of one axis: how far a tensor is after each update, and the order of the updates."""

    subgraph: Subgraph
    axis: int
    steps: dict[int, int]
    updates: dict[int, int]
    ahead: dict[int, int]
    starts_at: int | None  #: operation that takes everything before it, None if there is none

    def frontier(self, tensor: int, update: int, step: int) -> int:
        """Elements of the tensor that exist after its update with this number, with so many elements each."""
        extent = self.subgraph.geometry.extent[self.axis][tensor]
        return min(max(step * update + self.ahead[tensor], 0), extent)

    def events(self) -> list[Event]:
        """Return all updates in order: by start time, producers first. Every element is made exactly once."""
        rank = {u: i for i, u in enumerate(self.subgraph.inputs + self.subgraph.layers)}
        timed = []
        for u in self.subgraph.tensors:
            extent, step, updates = self.subgraph.geometry.extent[self.axis][u], self.steps[u], self.updates[u]
            update = 1 if self.starts_at == 1 else min(1, -(self.ahead[u] // step))
            done = 0
            while done < extent:
                stop = self.frontier(u, update, step)
                if stop > done:
                    timed.append((Fraction(update - 1, updates), rank[u], Event(u, done, stop)))
                    done = stop
                update += 1
        return [event for _, _, event in sorted(timed, key=lambda item: item[:2])]

    def operations(self) -> list[dict[int, tuple[int, int]]]:
        """Return per elementary operation, from the first with anything to do, each tensor's (start, stop)."""
        advance = {u: self.steps[u] * self.updates[u] for u in self.subgraph.tensors}
        index = 1 if self.starts_at == 1 else min(min(1, -(self.ahead[u] // advance[u])) for u in advance)
        done = dict.fromkeys(advance, 0)
        found = []
        while any(done[u] < self.subgraph.geometry.extent[self.axis][u] for u in advance):
            stops = {u: max(done[u], self.frontier(u, index, advance[u])) for u in advance}
            if stops != done:
                found.append({u: (done[u], stops[u]) for u in advance})
            done, index = stops, index + 1
        return found


def derive_timetable(
    subgraph: Subgraph, axis: int, steps: dict[int, int], room: dict[int, int], is_merged: bool
) -> Timetable:
    """Return the schedule of one axis. room: elements that each tensor's MAIN holds; is_merged: operations, not
    single updates, are what runs (rows under a loop over columns)."""
    updates = _updates(subgraph, axis, steps)
    ahead = _ahead(subgraph, axis, steps, updates)
    extent = subgraph.geometry.extent[axis]
    first = {u: steps[u] * (updates[u] if is_merged else 1) + ahead[u] for u in subgraph.tensors}
    fits = all(min(first[u], extent[u]) <= room[u] for u in subgraph.tensors if subgraph.readers[u])
    return Timetable(subgraph, axis, steps, updates, ahead, 1 if fits else None)


def _updates(subgraph: Subgraph, axis: int, steps: dict[int, int]) -> dict[int, int]:
    """Return updates per operation: positions move together along every edge that is read through a window."""
    stride, upsample = subgraph.geometry.stride[axis], subgraph.geometry.upsample[axis]
    links: dict[int, list[tuple[int, Fraction]]] = {u: [] for u in subgraph.tensors}
    for u, readers in subgraph.readers.items():
        for reader in readers:
            if reader.local:
                links[u].append((reader.layer, Fraction(upsample[reader.layer], stride[reader.layer])))
                links[reader.layer].append((u, Fraction(stride[reader.layer], upsample[reader.layer])))
    updates: dict[int, int] = {}
    for root in subgraph.tensors:
        if root in updates:
            continue
        position, queue = {root: Fraction(1)}, [root]
        for u in queue:
            for near, ratio in links[u]:
                if near not in position:
                    position[near] = position[u] * ratio
                    queue.append(near)
        counts = {u: position[u] / steps[u] for u in queue}
        scale = math.lcm(*[count.denominator for count in counts.values()])
        whole = {u: int(count * scale) for u, count in counts.items()}
        common = math.gcd(*whole.values())
        updates.update((u, count // common) for u, count in whole.items())
    return updates


def _ahead(subgraph: Subgraph, axis: int, steps: dict[int, int], updates: dict[int, int]) -> dict[int, int]:
    """Return how far each tensor must be beyond step * i after its update i, so that all windows are complete."""
    geometry = subgraph.geometry
    reach, stride, padding = geometry.reach[axis], geometry.stride[axis], geometry.padding[axis]
    upsample = geometry.upsample[axis]
    ahead: dict[int, int] = {}
    for u in subgraph.layers[::-1] + subgraph.inputs:
        wanted = []
        is_whole = any(reader.whole for reader in subgraph.readers[u])
        for v, local, _ in subgraph.readers[u]:
            if local:  # the last output of v's updates up to operation 1 reads this many elements of u
                last_output = steps[v] * updates[v] + ahead[v] - 1
                end = last_output * stride[v] - padding[v] + reach[v]  # on the map with its empty rows
                wanted.append(math.ceil(Fraction(end, upsample[v])) - steps[u] * updates[u])
            if is_whole:  # all of u by the time v's first update starts
                first = 1
                while steps[v] * (first - 1) + ahead[v] > 0:
                    first -= 1
                latest = math.floor(Fraction(first - 1, updates[v]) * updates[u]) + 1
                wanted.append(geometry.extent[axis][u] - steps[u] * latest)
        ahead[u] = max(wanted, default=0)
    return ahead
