"""How many bytes other tensors may take that are kept while a step runs, where its price depends on them.

A layer alone on one core takes the cheapest of all its loop orders that fit, so less room is never cheaper (searched in
8,415 steps of random networks at 13 rooms each: no exception). A subgraph of several layers takes the largest tiles
that fit, several cores share by what fits, and where loop orders are chosen by another metric that one decides: there
less room is now and then cheaper (8 of 705 pairs of layers). Bounds then look at all rooms that there may be.
"""

from __future__ import annotations

from collections.abc import Iterable

from cocco.bounds.layer_order import LayerOrder
from cocco.search.keeping.question import KeepQuestion
from cocco.search.keeping.state import members

MOST_SUMS = 16  #: sums that are looked at; our choice


def bytes_beside(question: KeepQuestion, order: LayerOrder, group: int, seen: int = 0) -> tuple[int, ...]:
    """Return all bytes that other tensors may take while a step runs, ascending; empty: too many to look at.

    seen: tensors that are accounted for otherwise. Others are made before or beside the step, and not all their readers
    are before it.
    """
    if question.more_room_pays and not group & (group - 1):
        return (0,)
    before = after = touched = 0
    for v in members(group):
        before, after = before | order.up[v], after | order.down[v]
        touched |= order.reads[v] | 1 << v
    mine = seen | touched | after & (1 << order.count) - 1
    others = members((1 << len(order.readers)) - 1 & ~mine)
    sizes = [question.whole[u] for u in others if order.readers[u] & ~(before & ~group)]
    return sums_of(sizes, question.room)


def sums_of(sizes: Iterable[int], most_bytes: int) -> tuple[int, ...]:
    """Return every sum of some of these, at most so many bytes, ascending; empty: more than MOST_SUMS.

    Examples
    --------
    >>> sums_of([4, 4, 6], 11)
    (0, 4, 6, 8, 10)
    """
    found = {0}
    for size in sizes:
        found |= {each + size for each in found if each + size <= most_bytes}
        if len(found) > MOST_SUMS:
            return ()
    return tuple(sorted(found))
