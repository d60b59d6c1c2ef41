"""An address for all that a run holds: for tensors and regions first, then between them for what comes or leaves.

What comes ahead may lie anywhere, in as many parts as there are gaps; but what a later step holds there must not begin
before it is released. Where it finds no place, less may come ahead while that step runs (`Partition.ahead`).
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cocco.allocation.allocate import allocate
from simulator.model.buffer_plan import make_plan, weights_id
from simulator.model.price import Price
from simulator.model.priced import PricedPartition
from simulator.timing.rooms import PIECE_BYTES, Room, rooms_of
from simulator.timing.simulation import Simulation, simulate_priced

NEVER = 1 << 62
EXACT = 32  #: turns in which exactly so much less comes ahead as found no place; then twice as much in each; our choice


@dataclass(frozen=True)
class Places:
    """A run with the address of all that it holds, bytes of one core; missing: parts of rooms that found none."""

    run: Simulation
    placed: tuple[tuple[Room, int], ...]  #: rooms as they lie, a piece in one part or several; their first bytes
    missing: tuple[tuple[Room, int], ...] = ()  #: by time; bytes

    @property
    def pieces(self) -> int:
        """The number of rooms of what comes ahead or leaves."""
        return sum(not room.place for room, _ in self.placed)

    @property
    def missing_bytes(self) -> int:
        """How many bytes have none."""
        return sum(size for _, size in self.missing)

    @property
    def claims(self) -> list[tuple[object, ...]] | None:
        """Every room with its address, as its judge reads it; None if some have none."""
        return None if self.missing else [(*room[:7], address) for room, address in self.placed]

    def to_json(self) -> dict[str, int]:
        """Return what --json says under "places"."""
        return {"rooms": self.pieces, "most_bytes": PIECE_BYTES, "missing_bytes": self.missing_bytes}


def places_of(run: Simulation) -> Places | None:
    """Return where everything lies; None if there are no addresses even for tensors and regions."""
    addresses = _addresses(run.priced)
    return None if addresses is None else _places(run, addresses)


def placed_run(priced: PricedPartition) -> Places | None:
    """Return a run in which everything has an address, with less ahead where that takes it; None if there is none.

    Its plan says how much may come ahead.
    """
    addresses, turn = _addresses(priced), 0
    while addresses is not None:
        found = _places(simulate_priced(priced), addresses)
        if not found.missing:
            return found
        turn += 1
        ahead = list(priced.partition.ahead or [None] * len(priced.prices))
        for step, (level, missing) in _crowded(found).items():
            room = found.run.work.room[step]
            ahead[step] = max(0, min(level, room - (missing << max(0, turn - EXACT))))
        if tuple(ahead) == priced.partition.ahead:
            return None
        priced = replace(priced, partition=replace(priced.partition, ahead=tuple(ahead)))
    return None


def _addresses(priced: PricedPartition) -> dict[str, int] | None:
    """Return the addresses of kept tensors and regions, which live in whole steps."""
    plan = make_plan(priced)
    memory = next(iter(plan.buffers))
    weights = {weights_id(step) for step in range(len(plan.holdings))}
    buffers = [each for each in plan.buffers[memory] if each.id not in weights]
    found = allocate(buffers, plan.capacity(memory), explain=False).allocation
    return None if found is None else dict(found.addresses)


def _places(run: Simulation, addresses: Mapping[str, int]) -> Places:
    rooms, chip, placed, missing = rooms_of(run), run.accelerator, list[tuple[Room, int]](), list[tuple[Room, int]]()
    for memory in dict.fromkeys(room.memory for room in rooms):
        capacity = chip.weight_capacity if memory == "weight" else chip.activation_capacity
        own = [room for room in rooms if room.memory == memory]
        whole = [(room, addresses[room.place]) for room in own if room.place]
        pieces = sorted((each for each in own if not each.place), key=lambda each: (each.start, each.stop))
        found = _fill(whole, pieces, capacity)
        placed += whole + found[0]
        missing += found[1]
    return Places(run, tuple(placed), tuple(sorted(missing, key=lambda each: each[0].start)))


def _fill(
    whole: Sequence[tuple[Room, int]], pieces: Sequence[Room], capacity: int
) -> tuple[list[tuple[Room, int]], list[tuple[Room, int]]]:
    """Return pieces with addresses, and those for which bytes are missing: each goes where others begin first."""
    edges = sorted({0, capacity, *(end for room, at in whole for end in (at, at + room.size_bytes))})
    cells = []  # bytes of which all are taken at the same times
    for first, last in zip(edges, edges[1:]):
        lives = sorted((room.start, room.stop) for room, at in whole if at <= first < at + room.size_bytes)
        cells.append((first, last, [*(start for start, _ in lives), NEVER], [stop for _, stop in lives]))
    taken = list[tuple[int, int, int]]()  #: first byte, the one after the last, and when they are free again
    placed, missing = list[tuple[Room, int]](), list[tuple[Room, int]]()
    for piece in pieces:
        taken = [each for each in taken if each[2] > piece.start]
        left, parts = piece.size_bytes, list[tuple[int, int]]()
        open_cells = []
        for first, last, starts, stops in cells:
            following = starts[bisect_right(stops, piece.start)]
            if following >= piece.stop:
                open_cells.append((following, first, last))
        for _, first, last in sorted(open_cells):
            for start, stop in _gaps(first, last, taken):
                parts.append((start, min(stop, start + left)))
                left -= parts[-1][1] - start
                if not left:
                    break
            if not left:
                break
        if left:
            missing.append((piece, left))
            continue
        for start, stop in parts:
            insort(taken, (start, stop, piece.stop))
            placed.append((piece._replace(size_bytes=stop - start), start))
    return placed, missing


def _gaps(first: int, last: int, taken: Sequence[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Return what is free of some bytes, given what is taken by address."""
    found, at = list[tuple[int, int]](), first
    for start, stop, _ in taken:
        if start >= last:
            break
        if start > at:
            found.append((at, start))
        at = max(at, stop)
    return [*found, (at, last)] if at < last else found


def _crowded(found: Places) -> dict[int, tuple[int, int]]:
    """Return for each step in which pieces find no place how much lies ahead when the first does not, and its lack."""
    starts, prices = [start for start, _ in found.run.spans], found.run.priced.prices
    pieces = [(room, room.size_bytes) for room, _ in found.placed if not room.place]
    crowded = dict[int, tuple[int, int]]()
    for piece, lack in found.missing:
        step = bisect_right(starts, piece.start) - 1
        if step not in crowded:
            ahead = own = 0
            for room, size in pieces:
                if room.start <= piece.start < room.stop:
                    is_own = room.kind == "weights" and room.step == step
                    own, ahead = own + size * is_own, ahead + size * (not is_own)
            price = prices[step]
            assert isinstance(price, Price)
            crowded[step] = ahead + max(0, own - price.weight_bytes), lack
    return crowded
