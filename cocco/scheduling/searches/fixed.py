"""GAP for a given order by our own search, exact unless a limit is reached: no solver is needed.

Between two uses of a tensor lies a gap, and the tensor is there throughout or not at all (leaving for a part costs the
same and frees less). Keep everything; where a step does not fit, branch over the smallest sets of idle tensors that
leave. What remains of the past is who is away and who has a copy on the host, so equal states merge: dynamic
programming over the steps, a few states each (our choice; the paper gives its ILP, Eqs. 16 and 17, to a solver).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cocco.candidates.sets import bits, members
from cocco.scheduling.graph import Graph
from cocco.scheduling.plan import Plan, plan_of_gaps, uses_of
from cocco.scheduling.searches.drops import Drops

STATES = 2_000  #: of a step, before the cheapest are kept alone; our choice

State = tuple[int, int]  #: tensors that are away, tensors with a copy that may still save a spill


class Fixed(NamedTuple):
    """The residency found for a given order."""

    plan: Plan
    cost: int
    is_optimal: bool  #: for this order


class StepMasks(NamedTuple):
    """What each step of an order does to the tensors, as masks."""

    live: list[int]  #: made before and used at the step or later
    later: list[int]  #: with a gap that begins at the step or later
    gap: list[dict[int, int]]  #: idle tensor -> which of its gaps the step lies in


class DropTrail(NamedTuple):
    """What was dropped on the way to a state: (step, mask), newest first."""

    step: int
    mask: int
    before: DropTrail | None


Layer = dict[State, tuple[int, DropTrail | None]]  #: state -> least cost and how


def steps_of(graph: Graph, order: Sequence[int]) -> StepMasks:
    """Return what is live and idle at each step."""
    count = len(order)
    live, later = [0] * count, [0] * count
    gap: list[dict[int, int]] = [{} for _ in order]
    for a, uses in enumerate(uses_of(graph, order)):
        bit = 1 << a
        for step in range(uses[0] + 1, uses[-1] + 1):
            live[step] |= bit
        starts = [k for k in range(len(uses) - 1) if uses[k + 1] > uses[k] + 1]
        for k in starts:
            for step in range(uses[k] + 1, uses[k + 1]):
                gap[step][a] = k
        if starts:
            for step in range(uses[starts[-1]] + 1):
                later[step] |= bit
    return StepMasks(live, later, gap)


def fixed_order(graph: Graph, order: Sequence[int], capacity: int, states: int = STATES) -> Fixed:
    """Return the best residency for an order in a scratchpad of at least M_R bytes.

    states: the most that are kept of a step; beyond, the cheapest go on and the answer is no longer proved.
    """
    steps, drops = steps_of(graph, order), Drops(graph)
    layer: Layer = {(0, 0): (0, None)}
    is_optimal = True
    for step, o in enumerate(order):
        following: Layer = {}
        room = capacity - graph.size[o] - graph.weight[o]
        for state, cost, trail in _run(graph, steps, drops, step, o, room, layer):
            known = following.get(state)
            if known is None or cost < known[0]:
                following[state] = (cost, trail)
        if len(following) > states:
            cheapest = sorted(following.items(), key=lambda item: (item[1][0], item[0]))
            following, is_optimal = dict(cheapest[:states]), False
        layer = following
    cost, last = min(layer.values(), key=lambda each: each[0])
    dropped = set()
    while last is not None:
        dropped |= {(a, steps.gap[last.step][a]) for a in members(last.mask)}
        last = last.before
    return Fixed(plan_of_gaps(graph, order, dropped), cost, is_optimal and drops.is_complete)


def _run(
    graph: Graph, steps: StepMasks, drops: Drops, step: int, o: int, room: int, layer: Layer
) -> Iterator[tuple[State, int, DropTrail | None]]:
    """Yield every state after a step, with its cost and its trail; room: bytes for tensors that were there before."""
    reads, live, later = graph.read_mask[o], steps.live[step], steps.later[step]
    open_gaps = bits(steps.gap[step])
    for (away, copied), (cost, trail) in layer.items():
        away &= ~reads
        over = drops.bytes_of(live & ~away) - room
        for mask in drops.choices(live & ~away & ~reads, over) if over > 0 else (0,):
            now_away = away | mask
            kept = (copied | mask) & (later | open_gaps & ~now_away)
            price = drops.price(mask, copied | graph.copied) if mask else 0
            yield (now_away & live, kept), cost + price, DropTrail(step, mask, trail) if mask else trail
