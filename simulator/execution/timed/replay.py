"""Replays a run: what has come, what has computed, what has left and what is held at every moment.

Bytes that come are those needed first among those that exist; bytes that leave are those made first. So a run passes if
it can be executed at all. A byte takes its room when it has come; its room is free when it has left.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from simulator.execution.count.miss import Miss
from simulator.execution.timed.held_bytes import Room
from simulator.execution.timed.needs import Input, Needs, Output, Weights
from simulator.execution.timed.transfers import Transfer, read_run


class Kept(NamedTuple):
    """A tensor that is on chip, whole, from the first of these steps to the last."""

    first: int
    last: int
    size_bytes: int  #: of one core


class Stage(NamedTuple):
    """Operations that compute together: those before `operation` that are not over yet.

    made: the operations that are over then; more if the next ones take no time.
    """

    operation: int
    made: int
    begin: int
    end: int
    starts: Mapping[int, int]  #: of each layer


class Piece(NamedTuple):
    """Bytes of an item that cross in one go."""

    item: int
    start: int
    stop: int
    room_bytes: int


class Replay:
    """A run of steps, replayed; raises Miss at the first thing that cannot be.

    names: of the layers; ports: slots, and the bytes that may cross in them.
    """

    def __init__(
        self,
        steps: Sequence[Needs],
        kept: Sequence[Kept],
        names: Sequence[str],
        run: Iterable[Sequence[Any]],
        ports: tuple[int, int],
    ) -> None:
        self.steps, self.kept, self.names, self.ports = steps, kept, names, ports
        moved = read_run(run, len(steps))
        self.by_step = {kind: _by_step(each, len(steps)) for kind, each in moved.items()}
        self.end = max((each.stop for every in moved.values() for each in every), default=0)
        _check_order(moved["compute"])
        self.stages = [self._stages(i) for i in range(len(steps))]
        self.gone = [self._store(i) for i in range(len(steps))]
        self.stored = self._stored()
        self.inputs = [self._load_inputs(i) for i in range(len(steps))]
        self.weights = [self._load_weights(i) for i in range(len(steps))]
        self.coming = [self._coming(i) for i in range(len(steps))]
        for i in range(len(steps)):
            self._check_needs(i)

    # computing

    def _stages(self, i: int) -> list[Stage]:
        """Return the stages of a step: each layer computes as long as counted, in order."""
        slices, found = self.by_step["compute"][i], list[Stage]()
        slots = self._slots(i, slices)
        coming = iter(slices)
        for k in range(len(next(iter(slots.values()))) - 1):
            starts, stop = {}, 0
            for v, done in slots.items():
                if size := done[k + 1] - done[k]:
                    each = next(coming, None)
                    if each is None or (each.layer, each.stop - each.start) != (self.names[v], size):
                        wanted = f"{self.names[v]!r} computes {size} slots in operation {k}"
                        raise Miss(f"step {i}: {wanted}, the run has {each or 'nothing'}")
                    starts[v], stop = each.start, each.stop
            if starts:
                found.append(Stage(k + 1, k + 1, min(starts.values()), stop, starts))
            elif found:
                found[-1] = found[-1]._replace(made=k + 1)
        if left := next(coming, None):
            raise Miss(f"{left}: all has been computed")
        if not found:
            raise Miss(f"step {i}: nothing is computed")
        self._check_crossing(i, slices)
        return found

    def _slots(self, i: int, slices: Sequence[Transfer]) -> Mapping[int, Sequence[int]]:
        """Return how long each layer has computed after each operation; those of a nest share every operation."""
        needs = self.steps[i]
        if not needs.is_looped:
            return needs.slots
        (done,) = needs.slots.values()
        total = sum(each.stop - each.start for each in slices)
        if total != done[-1]:
            raise Miss(f"step {i} computes {total} slots, counted {done[-1]}")
        own = dict.fromkeys(needs.layers, 0)
        for each in slices:
            place = self.names.index(each.layer)
            if place not in own:
                raise Miss(f"{each}: no layer of this step")
            own[place] += each.stop - each.start
        return {v: [size * each // total for each in done] for v, size in own.items()}

    def _check_crossing(self, i: int, computing: Sequence[Transfer]) -> None:
        """What crosses for a layer does so while it computes, or until the next one begins.

        Where the first operation computes for less than a slot, it does so when the step before has computed.
        """
        crossing, needs = self.by_step["crossbar"][i], self.steps[i]
        size = sum(each.size_bytes for each in crossing)
        if size != needs.crossbar_bytes:
            raise Miss(f"step {i}: {size} bytes cross between cores, counted {needs.crossbar_bytes}")
        begins = [each.start for each in computing]
        if not any(done[1] for done in needs.slots.values()):
            begins.insert(0, self.by_step["compute"][i - 1][-1].stop if i else 0)
        crossed, passed = Counter[str](), Counter[str]()  # a byte of a layer may begin in one and end in the next
        for each in crossing:
            crossed[each.layer] += each.size_bytes
            passed[each.layer] += each.stop - each.start
            if crossed[each.layer] * self.ports[0] > passed[each.layer] * self.ports[1]:
                raise Miss(f"{each}: {each.size_bytes} bytes take longer")
            place = bisect_right(begins, each.start)
            if place == 0 or (place < len(begins) and each.stop > begins[place]):
                raise Miss(f"{each}: it crosses while another layer computes")

    def begin(self, step: int) -> int:
        """Return when a step begins to compute."""
        return self.stages[step][0].begin

    def finish(self, step: int) -> int:
        """Return when a step has computed."""
        return self.stages[step][-1].end

    def _place(self, step: int, operation: int) -> int:
        """Return the stage of an operation; the last where nothing computes any more, as for rows that nobody reads."""
        stages = self.stages[step]
        return min(bisect_left(stages, operation + 1, key=lambda each: each.operation), len(stages) - 1)

    def _made(self, step: int, operation: int) -> int:
        """Return when an operation has computed."""
        stages = self.stages[step]
        if operation + 1 < stages[0].operation:  # it takes no time: no layer has a whole slot of it
            return self.finish(step - 1) if step else 0
        place = bisect_left(stages, operation + 1, key=lambda each: each.made)
        return stages[min(place, len(stages) - 1)].end

    # transfers

    def _store(self, i: int) -> list[Piece]:
        """Return the pieces in which outputs leave; raises Miss if they leave before they are made."""
        items = self.steps[i].outputs
        found = list(_in_turn(self.by_step["outputs"][i], items, f"step {i}: outputs"))
        for each in found:
            made = self._made(i, items[each.item].operation)
            if each.start < made:
                raise Miss(f"step {i}: outputs leave from {each.start} on, and are made at {made}")
        return found

    def _stored(self) -> dict[int, list[tuple[int, int]]]:
        """Return by tensor how many rows have been stored and when, both growing."""
        found: dict[int, list[tuple[int, int]]] = {}
        for needs, gone in zip(self.steps, self.gone):
            ends, last = {each.item: each.stop for each in gone}, 0
            for n, item in enumerate(needs.outputs):
                last = ends.get(n, last)
                times = found.setdefault(item.tensor, [])
                rows, time = times[-1] if times else (0, 0)
                times.append((max(rows, item.rows), max(time, last)))
        return found

    def _there(self, item: Input) -> int:
        """Return when an input can be read from DRAM."""
        found = 0
        for tensor, rows in item.sources:
            if times := self.stored.get(tensor):
                place = bisect_left(times, rows, key=lambda each: each[0])
                found = max(found, times[min(place, len(times) - 1)][1])
        return found

    def _load_inputs(self, i: int) -> list[Piece]:
        """Return the pieces in which inputs come: of those that can be read, the ones that are needed first."""
        items = self.steps[i].inputs
        there = [self._there(each) for each in items]
        left = [each.size_bytes for each in items]
        first, found = 0, list[Piece]()
        for each in self.by_step["inputs"][i]:
            now, n = each.start, first
            while now < each.stop:
                while n < len(items) and (not left[n] or there[n] > each.start):
                    n += 1
                if n == len(items):
                    why = "before they have been stored" if any(left) else "more than counted"
                    raise Miss(f"{each}: {each.stop - now} bytes are read {why}")
                size = min(left[n], each.stop - now)
                found.append(Piece(n, now, now + size, _share(items[n], left[n], size)))
                left[n], now = left[n] - size, now + size
            while first < len(items) and not left[first]:
                first += 1
        if any(left):
            raise Miss(f"step {i}: {sum(left)} bytes of inputs are never loaded")
        return found

    def _load_weights(self, i: int) -> list[Piece]:
        """Return the pieces in which weights come: those of a layer in the order in which they are needed."""
        needs = self.steps[i]
        if needs.is_looped:
            return list(_in_turn(self.by_step["weights"][i], needs.weights, f"step {i}: weights"))
        found = []
        for v in needs.slots:
            own = [each for each in self.by_step["weights"][i] if each.layer == self.names[v]]
            places = [n for n, each in enumerate(needs.weights) if each.layer == v]
            turn = _in_turn(own, [needs.weights[n] for n in places], f"step {i}: weights of {self.names[v]!r}")
            found += [each._replace(item=places[each.item]) for each in turn]
        known = {self.names[v] for v in needs.slots}
        if odd := next((each for each in self.by_step["weights"][i] if each.layer not in known), None):
            raise Miss(f"{odd}: no layer of this step")
        return found

    def _coming(self, i: int) -> list[tuple[int, int]]:
        """Return operations, and when all has come that they and those before them need, both growing."""
        items, weights = self.steps[i].inputs, self.steps[i].weights
        found = [(items[each.item].operation, each.stop) for each in self.inputs[i]]
        found = sorted(found + [(weights[each.item].operation, each.stop) for each in self.weights[i]])
        return list(zip((operation for operation, _ in found), accumulate((stop for _, stop in found), max)))

    def _there_for(self, step: int, operation: int) -> int:
        """Return when all has come that an operation needs."""
        place = bisect_left(self.coming[step], (operation + 1,))
        return self.coming[step][place - 1][1] if place else 0

    def _check_needs(self, i: int) -> None:
        """Raise Miss if an operation begins before its inputs, or a layer before its weights.

        Outputs leave after both, also those of an operation that takes no time.
        """
        needs, stages = self.steps[i], self.stages[i]
        for each in self.inputs[i]:
            operation = needs.inputs[each.item].operation
            begin = stages[self._place(i, operation)].begin
            if each.stop > begin and operation < stages[-1].operation:
                raise Miss(f"step {i}: inputs come until {each.stop}, and their operation begins at {begin}")
        for each in self.weights[i]:
            item = needs.weights[each.item]
            place = self._place(i, item.operation)
            begin = stages[place].begin
            if not needs.is_looped:
                begin = next(each.starts[item.layer] for each in stages[place:] if item.layer in each.starts)
            if each.stop > begin:
                name = self.names[item.layer]
                raise Miss(f"step {i}: weights come until {each.stop}, and {name!r} begins at {begin}")
        for each in self.gone[i]:
            if each.start < (there := self._there_for(i, needs.outputs[each.item].operation)):
                raise Miss(f"step {i}: outputs leave from {each.start} on, and what makes them comes until {there}")

    # what is held

    def room(self, found: Room) -> Room:
        """Return what is held at each moment, added to what is given."""
        for each in self.kept:
            found.hold(self.begin(each.first), self.finish(each.last), each.size_bytes)
        for i, needs in enumerate(self.steps):
            found.hold(self.begin(i), self.finish(i), needs.activation_bytes)
            self._hold_inputs(i, found)
            self._hold_weights(i, found)
            self._hold_outputs(i, found)
        return found

    def _hold_inputs(self, i: int, room: Room) -> None:
        """Rows have their own room until their region has room for them: when the operations before have computed."""
        needs, stages = self.steps[i], self.stages[i]
        places = [self._place(i, needs.inputs[each.item].operation) for each in self.inputs[i]]
        first = sum(each.room_bytes for each, place in zip(self.inputs[i], places) if not place)
        for each, place in zip(self.inputs[i], places):
            size = each.room_bytes
            if not place and first > needs.activation_bytes:  # rows or columns that take turns
                size = size * needs.activation_bytes // first
            after = self._place(i, needs.inputs[each.item].since)
            room.load(each.start, each.stop, size, stages[after - 1].end if after else stages[0].begin)

    def _hold_weights(self, i: int, room: Room) -> None:
        """Weights have their room until the last operation that uses them has computed."""
        needs = self.steps[i]
        together: dict[int, list[Piece]] = {}
        for each in self.weights[i]:
            together.setdefault(self._place(i, needs.weights[each.item].operation), []).append(each)
        for pieces in together.values():
            # operations of one stage take turns in the same room
            most, sizes = 0, dict[int, int]()
            for each in pieces:
                sizes[each.item] = sizes.get(each.item, 0) + each.room_bytes
            alive: list[tuple[int, int]] = []
            for n in sorted(sizes):
                alive = [one for one in alive if one[0] >= needs.weights[n].operation]
                alive.append((needs.weights[n].last, sizes[n]))
                most = max(most, sum(size for _, size in alive))
            total = sum(sizes.values())
            for each in pieces:
                last = needs.weights[each.item].last
                until = max(self._made(i, last), min(self._there_for(i, last), self.finish(i)))
                room.load(each.start, each.stop, each.room_bytes * most // total if total else 0, until, True)

    def _hold_outputs(self, i: int, room: Room) -> None:
        """Rows have their own room from when their region is used again until they have left."""
        needs, stages = self.steps[i], self.stages[i]
        places = [self._place(i, needs.outputs[each.item].operation) for each in self.gone[i]]
        last = sum(each.room_bytes for each, place in zip(self.gone[i], places) if place == len(stages) - 1)
        for each, place in zip(self.gone[i], places):
            item, size = needs.outputs[each.item], each.room_bytes
            if place == len(stages) - 1 and last > needs.activation_bytes:  # rows or columns that take turns
                size = size * needs.activation_bytes // last
            if item.since is not None:
                since = self.finish(i if item.since < 0 else item.since)
            else:
                since = stages[place + 1].begin if place + 1 < len(stages) else self.finish(i)
            room.store(since, each.start, each.stop, size)


def _by_step(moved: Sequence[Transfer], steps: int) -> list[list[Transfer]]:
    found: list[list[Transfer]] = [[] for _ in range(steps)]
    for each in moved:
        found[each.step].append(each)
    return found


def _check_order(computing: Sequence[Transfer]) -> None:
    last = 0
    for each in computing:
        if each.step < last:
            raise Miss(f"{each}: it computes after step {last}")
        last = each.step


def _in_turn(moved: Sequence[Transfer], items: Sequence[Output] | Sequence[Weights], what: str) -> Iterator[Piece]:
    """Yield the pieces in which items cross one after the other; raises Miss unless all bytes cross once."""
    n, left = 0, items[0].size_bytes if items else 0
    for each in moved:
        now = each.start
        while now < each.stop:
            while n < len(items) and not left:
                n += 1
                left = items[n].size_bytes if n < len(items) else 0
            if n == len(items):
                raise Miss(f"{each}: {each.stop - now} bytes are more than counted")
            size = min(left, each.stop - now)
            yield Piece(n, now, now + size, _share(items[n], left, size))
            left, now = left - size, now + size
    missing = left + sum(each.size_bytes for each in items[n + 1 :])
    if missing:
        raise Miss(f"{what}: {missing} bytes never cross")


def _share(item: Input | Output | Weights, left: int, size: int) -> int:
    """Return the room of these bytes of an item, of which so many are left."""
    done = item.size_bytes - left
    first, stop = (item.room_bytes * each // item.size_bytes for each in (done, done + size))
    return stop - first
