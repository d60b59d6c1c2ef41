"""How many bytes other kept tensors may take while a step runs, if the step's price depends on that.

A layer alone on one core takes the cheapest of all its loop orders that fit, so less room is never cheaper (checked in
8,415 steps of random networks at 13 rooms each: no exception). Elsewhere less room is occasionally cheaper (8 of 705
pairs of layers): a subgraph of several layers takes the largest tiles that fit, several cores share by what fits, and
loop orders may be chosen by another metric. Bounds then look at all rooms that are possible.
"""

from __future__ import annotations

from collections.abc import Iterable

from cocco.bounds.floors.layer_order import LayerOrder
from cocco.candidates.sets import members
from cocco.search.exact.question import KeepQuestion

MOST_SUMS = 16  #: sums that are looked at; our choice


def bytes_beside(question: KeepQuestion, order: LayerOrder, group: int, seen: int = 0) -> tuple[int, ...]:
    """Return all numbers of bytes that other tensors may take while a step runs, ascending; empty: too many.

    seen: tensors that are accounted for separately. The others may be made before the step, and not all their readers
    run before it.
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
    """Return the sums of all subsets, at most so many bytes, ascending; empty if there are more than MOST_SUMS.

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
