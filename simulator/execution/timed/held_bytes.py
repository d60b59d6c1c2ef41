"""The bytes that a core holds at each moment of a run, byte by byte as they come and leave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple


class _Crossing(NamedTuple):
    """Bytes that take their room, or give it back, while they cross."""

    start: int
    stop: int
    whole: int  #: how long all of them would cross
    room_bytes: int
    is_weights: bool
    leaves: bool

    def moved(self, time: int) -> int:
        """Return the room taken until a time, or still taken."""
        done = self.room_bytes * (time - self.start) // self.whole
        return self.room_bytes - done if self.leaves else done


class Room:
    """What is held: changes at moments, and what is crossing meanwhile; one thing crosses at a time."""

    def __init__(self) -> None:
        self.changes: dict[int, list[int]] = defaultdict(lambda: [0, 0])  #: activations, weights
        self.crossing: list[_Crossing] = []

    def hold(self, start: int, stop: int, size: int, is_weights: bool = False) -> None:
        """Hold bytes from one moment to another."""
        if start < stop and size:
            self.changes[start][is_weights] += size
            self.changes[stop][is_weights] -= size

    def load(self, start: int, stop: int, size: int, until: int, is_weights: bool = False) -> None:
        """Hold bytes as they come, up to a moment."""
        end = min(stop, until)
        if start < end and size:
            self.crossing.append(_Crossing(start, end, stop - start, size, is_weights, False))
            self.hold(end, until, size, is_weights)

    def store(self, since: int, start: int, stop: int, size: int) -> None:
        """Hold bytes from a moment on until they leave."""
        self.hold(since, start, size)
        begin = max(since, start)
        if begin < stop and size:  # what has left before is not held
            size -= size * (begin - start) // (stop - start)
            self.crossing.append(_Crossing(begin, stop, stop - begin, size, False, True))

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        """Yield (time, activations, weights): before and after each change, and when a crossing begins or ends."""
        times = sorted({*self.changes, *(each.start for each in self.crossing), *(each.stop for each in self.crossing)})
        crossing, now, held = iter(sorted(self.crossing)), None, [0, 0]
        coming = next(crossing, None)
        for time in times:
            if now is not None:
                yield time, *_with(held, now, time)
                if now.stop <= time:
                    now = None
            if time in self.changes:
                held = [a + b for a, b in zip(held, self.changes[time])]
            if coming is not None and coming.start == time:
                now, coming = coming, next(crossing, None)
            yield time, *_with(held, now, time)


def _with(held: list[int], crossing: _Crossing | None, time: int) -> tuple[int, int]:
    more = 0 if crossing is None else crossing.moved(time)
    return (held[0], held[1] + more) if crossing and crossing.is_weights else (held[0] + more, held[1])
