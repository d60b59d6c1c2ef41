"""What a layer alone pays at least, whatever it keeps and in whatever loop order: a knapsack of the whole buffer."""

from __future__ import annotations

from cocco.bounds.crossings import Tensors
from cocco.bounds.kept_alone import Alone
from cocco.bounds.tolls import Pairs, Taken, Tolls, due

MOST_SUMS = 2048  #: sums of bytes that are looked at before fractions are taken; our choice


def least_alone(
    tensors: Tensors, pairs: Pairs, tolls: Tolls, v: int, alone: Alone, before: int
) -> tuple[int, frozenset[int]]:  # fmt: skip
    """Return the bytes that a layer alone pays at least, and what it keeps of what it saves by that.

    alone: what it moves beyond, and the bytes that it may keep. before: the layers that ran before it.
    """
    room, saved = alone.room, dict[int, int]()
    for i in due(tensors, pairs, Taken((v,), frozenset(), before))[0]:
        u = pairs.pairs[i][0]
        saved[u] = saved.get(u, 0) + tolls.shares[i]
    for u in tensors.read[v]:
        saved[u] = saved.get(u, 0) + tolls.loads[u]
    items = sorted(
        [(u, tensors.whole[u], worth) for u, worth in saved.items() if worth > 0 and tensors.whole[u] <= room]
    )
    best: list[tuple[int, int, int]] = [(0, 0, 0)]  # bytes, saved, kept: more bytes save more
    for u, size, worth in items:
        more = [(taken + size, so_far + worth, kept | 1 << u) for taken, so_far, kept in best if taken + size <= room]
        best = _front(best, more)
        if len(best) > MOST_SUMS:
            least, which = _fractions(items, room, sum(saved.values()))
            return least + alone.extra(0), which
    least, kept = min([(alone.extra(taken) - so_far, kept) for taken, so_far, kept in best])
    return sum(saved.values()) + least, frozenset([u for u, _, _ in items if kept >> u & 1])


def _front(one: list[tuple[int, int, int]], other: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return those that save more than all that take no more bytes."""
    found: list[tuple[int, int, int]] = []
    for each in sorted([*one, *other], key=lambda each: (each[0], -each[1])):
        if not found or each[1] > found[-1][1]:
            found.append(each)
    return found


def _fractions(items: list[tuple[int, int, int]], room: int, total: int) -> tuple[int, frozenset[int]]:
    """Return the same where the last one may fit in part."""
    kept, left = list[int](), room
    for u, size, worth in sorted(items, key=lambda item: -item[2] / max(1, item[1])):
        if size > left:
            return total - -(-worth * left // size), frozenset(kept)
        total, left = total - worth, left - size
        kept.append(u)
    return total, frozenset(kept)
