"""The least that a layer alone, or a nest, pays, whatever it keeps: a knapsack of the whole buffer."""

from __future__ import annotations

from cocco.bounds.parts.crossings import Tensors
from cocco.bounds.prices.layer_alone import Alone
from cocco.bounds.prices.tolls import Pairs, Taken, Tolls, due

MOST_SUMS = 2048  #: sums of bytes that are looked at before fractions are taken; our choice


def least_alone(
    tensors: Tensors, pairs: Pairs, tolls: Tolls, layers: tuple[int, ...], alone: Alone, before: int
) -> tuple[int, frozenset[int]]:  # fmt: skip
    """Return the least bytes that a layer alone, or a nest, pays, and which tensors it keeps to save the rest.

    alone: what it moves beyond its tensors once, and the bytes it may keep. before: the layers that ran before it.
    """
    room, saved = alone.room, dict[int, int]()
    shares, loaded = due(tensors, pairs, Taken(layers, frozenset(), before))
    for i in shares:
        u = pairs.pairs[i][0]
        saved[u] = saved.get(u, 0) + tolls.shares[i]
    for u in loaded:
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
    """Return the choices that save more than all others with no more bytes."""
    found: list[tuple[int, int, int]] = []
    for each in sorted([*one, *other], key=lambda each: (each[0], -each[1])):
        if not found or each[1] > found[-1][1]:
            found.append(each)
    return found


def _fractions(items: list[tuple[int, int, int]], room: int, total: int) -> tuple[int, frozenset[int]]:
    """Return the least payment and the tensors kept if the last tensor may be kept in part (fractional knapsack)."""
    kept, left = list[int](), room
    for u, size, worth in sorted(items, key=lambda item: -item[2] / max(1, item[1])):
        if size > left:
            return total - -(-worth * left // size), frozenset(kept)
        total, left = total - worth, left - size
        kept.append(u)
    return total, frozenset(kept)
