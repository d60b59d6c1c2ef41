"""Judges where a run says that everything lies: each byte has a place while it is needed, and nothing else lies there.

It takes what must be held, and when, from the replay; of the run only which rooms there are said to be.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from simulator.execution.count.miss import Miss
from simulator.execution.timed.held_bytes import Room
from simulator.execution.timed.replay import Replay
from simulator.execution.timed.transfers import KINDS


class Claim(NamedTuple):
    """A room as it is claimed: bytes [address, address + size_bytes) of a memory, in slots [start, stop)."""

    memory: str
    kind: str  #: kept, region, weights, inputs, outputs
    step: int
    name: str
    start: int
    stop: int
    size_bytes: int
    address: int

    def __str__(self) -> str:
        name = f" of {self.name!r}" if self.name else ""
        return f"step {self.step}: {self.kind}{name} at {self.address} from {self.start} to {self.stop}"


class _Need(NamedTuple):
    """Bytes that come in [start, stop), and stay until a moment."""

    start: int
    stop: int
    size_bytes: int
    until: int


class Needed(Room):
    """What the replay holds of each kind that comes or leaves; outputs with time reversed, so that they come, too."""

    def __init__(self) -> None:
        super().__init__()
        self.needs: dict[str, list[_Need]] = {kind: [] for kind in KINDS[:3]}

    def load(self, start: int, stop: int, size: int, until: int, is_weights: bool = False) -> None:
        """Note bytes that come."""
        self.needs["weights" if is_weights else "inputs"].append(_Need(start, stop, size, until))

    def store(self, since: int, start: int, stop: int, size: int) -> None:
        """Note bytes that leave."""
        self.needs["outputs"].append(_Need(-stop, -start, size, -since))


def judge_places(
    replay: Replay, kept: Sequence[tuple[int, int]], places: Iterable[Sequence[Any]], capacities: Mapping[str, int]
) -> None:
    """Raise Miss unless every byte that a run holds lies in a claimed room, each within its memory and alone.

    kept: the tensor of each kept interval, and the place in this list of the result that takes its bytes over; -1:
    none. places: every room, as memory, kind, step, name, start, stop, bytes, address. capacities: bytes of one
    core.
    """
    claims = [Claim(*each) for each in places]
    for each in claims:
        if each.memory not in capacities or not 0 <= each.address <= capacities[each.memory] - each.size_bytes:
            raise Miss(f"{each}: {each.size_bytes} bytes are not in the {each.memory} memory")
    _check_apart(claims)
    _check_kept(replay, kept, claims)
    begins, ends = dict[int, int](), dict[int, int]()
    for i, needs in enumerate(replay.steps):
        begin, finish = replay.begin(i), replay.finish(i)
        own = [each for each in claims if each.kind == "region" and each.step == i]
        own = [each for each in own if each.start <= begin and finish <= each.stop]
        if sum(each.size_bytes for each in own) < needs.activation_bytes:
            raise Miss(
                f"step {i}: its regions of {needs.activation_bytes} bytes have no place from {begin} to {finish}"
            )
        own += [each for each in claims if each.kind == "kept" and each.step == i]
        # what comes for a region, or leaves it, may lie there from when it has its place
        begins[begin] = max((each.start for each in own), default=begin)
        ends[-finish] = -min((each.stop for each in own if each.kind == "region"), default=finish)
    found = Needed()
    replay.room(found)
    for kind, moments in (("inputs", begins), ("weights", {}), ("outputs", ends)):
        held = [each._replace(until=moments.get(each.until, each.until)) for each in found.needs[kind]]
        rooms = [(each.start, each.stop, each.size_bytes) for each in claims if each.kind == kind]
        rooms = [(-stop, -start, size) for start, stop, size in rooms] if kind == "outputs" else rooms
        _check_room(kind, [each for each in held if each.start < each.until], rooms)


def _check_apart(claims: Sequence[Claim]) -> None:
    """Raise Miss if two rooms share a byte at a time."""
    alive: dict[str, list[tuple[int, int, Claim]]] = {}
    for each in sorted(claims, key=lambda each: each.start):
        if each.start >= each.stop or not each.size_bytes:
            continue
        here = alive[each.memory] = [one for one in alive.get(each.memory, []) if one[2].stop > each.start]
        place = bisect_left(here, (each.address,))
        for low, high, other in here[max(0, place - 1) : place + 1]:
            if low < each.address + each.size_bytes and each.address < high:
                raise Miss(f"{each}: its bytes hold {other}")
        insort(here, (each.address, each.address + each.size_bytes, each))


def _check_kept(replay: Replay, kept: Sequence[tuple[int, int]], claims: Sequence[Claim]) -> None:
    """Raise Miss unless each kept tensor has one place all the time, and hands it over where it says so."""
    own = {(each.step, each.name): each for each in claims if each.kind == "kept"}
    found = [own.get((each.first, replay.names[u])) for each, (u, _) in zip(replay.kept, kept)]
    for each, claim, (u, heir) in zip(replay.kept, found, kept):
        begin, finish, name = replay.begin(each.first), replay.finish(each.last), replay.names[u]
        if claim is None or claim.size_bytes < each.size_bytes or claim.start > begin or claim.stop < finish:
            raise Miss(f"{name!r}: its {each.size_bytes} bytes have no place from {begin} to {finish}")
        taker = found[heir] if heir >= 0 else None
        if taker and (taker.address, taker.memory) != (claim.address, claim.memory):
            raise Miss(f"{name!r}: lies at {claim.address}, what takes its place at {taker.address}")


def _check_room(kind: str, needs: Sequence[_Need], rooms: Sequence[tuple[int, int, int]]) -> None:
    """Raise Miss unless each byte that comes has a room until it is released; each takes the one free first."""
    waiting, free = sorted(rooms), list[tuple[int, int, int]]()  #: stop, start, bytes left
    starts, n = [start for start, _, _ in waiting], 0
    for need in sorted(needs):
        cuts = [need.start, *starts[bisect_right(starts, need.start) : bisect_left(starts, need.stop)]]
        cuts = [*dict.fromkeys(cuts), max(need.stop, need.start + 1)]
        for start, stop in zip(cuts, cuts[1:]):
            while n < len(waiting) and waiting[n][0] <= start:
                insort(free, (waiting[n][1], waiting[n][0], waiting[n][2]))
                n += 1
            free = free[bisect_right(free, (start,)) :] if free and free[0][0] < start else free
            first, last = (need.size_bytes * (each - need.start) // (cuts[-1] - need.start) for each in (start, stop))
            left, at = last - first, bisect_left(free, (need.until,))
            while left and at < len(free):
                taken = min(left, free[at][2])
                left -= taken
                if taken == free[at][2]:
                    del free[at]
                else:
                    free[at] = (*free[at][:2], free[at][2] - taken)
            if left:
                moments = (-stop, -start) if kind == "outputs" else (start, stop)
                raise Miss(f"{kind} that cross from {moments[0]} to {moments[1]}: {left} bytes have no place")
