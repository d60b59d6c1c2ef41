"""Small lists of buffers, and the answer of trying every address of every buffer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from simulator.allocation.buffers import Buffer, live_intervals

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "allocation"  #: not part of the repository

TEN = [(0, 5, 2), (2, 4, 3), (3, 5, 1), (4, 5, 1), (4, 7, 2), (5, 6, 1), (6, 7, 4), (7, 10, 1), (7, 10, 2), (7, 10, 3)]
EIGHT = [(0, 1, 3), (0, 3, 1), (1, 2, 2), (1, 4, 1), (2, 3, 1), (2, 5, 1), (3, 4, 2), (4, 5, 3)]


def named(rows: Sequence[tuple[int, int, int]]) -> list[Buffer]:
    """Return buffers b0, b1, ... of (lower, upper, size)."""
    return [Buffer(f"b{i}", *row) for i, row in enumerate(rows)]


@st.composite
def small_buffers(draw: st.DrawFn, most: int = 6) -> list[Buffer]:
    """Lists of a few buffers of 1 to 4 bytes; some with alignment, gaps and fixed offsets."""
    found = []
    for i in range(draw(st.integers(1, most))):
        lower, life = draw(st.integers(0, 6)), draw(st.integers(1, 5))
        alignment = draw(st.sampled_from([1, 1, 1, 2, 3]))
        offset = alignment * draw(st.integers(0, 2)) if draw(st.integers(0, 7)) == 0 else None
        gaps = ((lower + 1, lower + life - 1),) if life > 2 and draw(st.booleans()) else ()
        found.append(Buffer(f"b{i}", lower, lower + life, draw(st.integers(1, 4)), alignment, offset, gaps))
    return found


def random_buffers(seed: int, count: int, plain: bool = False) -> list[Buffer]:
    """Return larger ones, reproducible from a seed."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        lower, life, kind = int(rng.integers(0, 4 * count)), int(rng.integers(1, count)), int(rng.integers(0, 8))
        alignment = 4 if kind == 1 and not plain else 1
        offset = 4 * int(rng.integers(0, 30)) if kind == 2 and not plain else None
        gaps = ((lower + life // 3, lower + life // 2),) if kind == 3 and life > 5 and not plain else ()
        found.append(Buffer(f"b{i}", lower, lower + life, int(rng.integers(1, 40)), alignment, offset, gaps))
    return found


def fits_somehow(buffers: Sequence[Buffer], capacity: int) -> bool:
    """Return whether any addresses are right, by trying all whole numbers."""
    steps = [{step for a, b in live_intervals(each) for step in range(a, b)} for each in buffers]
    clashes = [[j for j in range(i) if steps[i] & steps[j]] for i in range(len(buffers))]
    address: list[int] = []

    def place(i: int) -> bool:
        if i == len(buffers):
            return True
        one = buffers[i]
        for at in range(0, capacity - one.size + 1, one.alignment):
            if one.offset is not None and at != one.offset:
                continue
            if all(at + one.size <= address[j] or address[j] + buffers[j].size <= at for j in clashes[i]):
                address.append(at)
                if place(i + 1):
                    return True
                address.pop()
        return False

    return place(0)


def least_height_somehow(buffers: Sequence[Buffer]) -> int | None:
    """Return the least height; None if fixed buffers collide."""
    most = sum(each.size + each.alignment for each in buffers) + max(each.offset or 0 for each in buffers)
    return next((height for height in range(1, most + 1) if fits_somehow(buffers, height)), None)
