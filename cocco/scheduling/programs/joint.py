"""Residency first, addresses then: TIGHT or GAP, PACK, and a no-good cut where a packing is refuted.

Dropping the addresses relaxes the problem, so what TIGHT proves bounds every plan; if its stays find addresses, the
plan is the joint optimum. If they provably do not, that residency is forbidden and the bound stays right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from cocco.scheduling.graph import Graph
from cocco.scheduling.packing import How, Packed, Packer, Stay, pack, stays_of
from cocco.scheduling.plan import Plan, cost_of, plan_of_gaps, runs_of, trimmed
from cocco.scheduling.programs.gap import solve_gaps
from cocco.scheduling.programs.parts import parts_of, shape_of, translated, without_spills
from cocco.scheduling.programs.solver import SOLVER_LIMIT, has_cp_sat, is_over
from cocco.scheduling.programs.tight import Cut, PartAnswer, TightPart, solve_part
from cocco.scheduling.searches.beam import WIDTH
from cocco.scheduling.searches.fixed import STATES, fixed_order
from cocco.scheduling.searches.linear import linear

MAX_NO_GOODS = 20


class ScheduleLimits(NamedTuple):
    """What bounds a search. Counted, but for `deadline`, which makes an answer depend on the machine."""

    solver: float = SOLVER_LIMIT  #: deterministic time of CP-SAT, all calls of a question together
    states: int = STATES  #: of a step in our own search for a given order
    width: int = WIDTH  #: of the beam
    max_cuts: int = MAX_NO_GOODS
    deadline: float | None = None  #: by time.monotonic(): the solver stops then


DEFAULT = ScheduleLimits()


class Joint(NamedTuple):
    """A plan with addresses, and what is proved. `plan` is None where nothing was found."""

    status: Literal["optimal", "feasible", "gave_up"]
    plan: Plan | None
    addresses: dict[Stay, int]
    packing: How
    bound: int
    cuts: int = 0
    effort: float = 0.0  #: deterministic time of the solver


def placed(graph: Graph, plan: Plan, packed: Packed, bound: int, cuts: int = 0, effort: float = 0.0) -> Joint:
    """Return a plan that has its addresses; it is optimal where it costs no more than the bound."""
    cost = cost_of(graph, plan)
    status: Literal["optimal", "feasible"] = "optimal" if cost <= bound else "feasible"
    return Joint(status, plan, packed.addresses, packed.how, min(bound, cost), cuts, effort)


def without_packing(
    graph: Graph, plan: Plan, capacity: int, alignment: int, bound: int, cuts: int, effort: float
) -> Joint:
    """Return what the linear allocator makes of an order whose plan found no addresses: never hidden, never optimal."""
    found = [linear(graph, plan.order, capacity, each, alignment) for each in ("greedy", "belady")]
    known = [each for each in found if each is not None]
    if not known:
        return Joint("gave_up", None, {}, "none", bound, cuts, effort)
    best = min(known, key=lambda each: cost_of(graph, each.plan))
    return placed(graph, best.plan, Packed("packed", best.addresses, "none", ()), bound, cuts, effort)


def given_order(
    graph: Graph,
    order: Sequence[int],
    capacity: int,
    alignment: int = 1,
    limits: ScheduleLimits = DEFAULT,
    packer: Packer = pack,
) -> Joint:
    """Return the best plan of a given order: our own search, CP-SAT where that was cut off, PACK, cuts by CP-SAT."""
    first = fixed_order(graph, order, capacity, limits.states)
    plan: Plan | None = first.plan
    bound, effort = first.cost if first.is_optimal else 0, 0.0
    conflicts: list[tuple[Stay, ...]] = []
    for cuts in range(limits.max_cuts + 1):
        if (conflicts or not first.is_optimal) and has_cp_sat() and limits.solver > effort:
            found = solve_gaps(graph, order, capacity, limits.solver - effort, conflicts, plan, limits.deadline)
            effort += found.solved.effort
            bound, plan = max(bound, found.bound), found.plan or plan
        elif conflicts:
            break
        assert plan is not None
        packed = packer(graph, stays_of(graph, plan), capacity, alignment)
        if packed.status == "packed":
            return placed(graph, plan, packed, bound, cuts, effort)
        if packed.status == "gave_up":
            break
        conflicts.append(packed.conflict)
    assert plan is not None
    return without_packing(graph, plan, capacity, alignment, bound, len(conflicts), effort)


def tight(
    graph: Graph,
    capacity: int,
    alignment: int = 1,
    limits: ScheduleLimits = DEFAULT,
    hint: Plan | None = None,
    packer: Packer = pack,
) -> Joint:
    """Return the joint optimum of order, residency and addresses by TIGHT and PACK, or how far it came.

    hint: a plan to start from, and to fall back to where the solver finds none within its limit.
    """
    start = hint or plan_of_gaps(graph, range(len(graph)), set())
    parts = parts_of(graph, start.order)
    cuts: list[Cut] = []
    answers: dict[int, PartAnswer] = {}
    known: dict[object, tuple[TightPart, PartAnswer]] = {}
    effort = 0.0
    while True:
        for i, part in enumerate(parts):
            if i not in answers and not cuts:
                answer = without_spills(graph, part, capacity)
                twin = known.get(shape_of(graph, part)) if answer is None else None
                answer = translated(part, *twin) if twin else answer
                if answer is not None:
                    answers[i] = answer
            if i not in answers:
                left = max(0.0, limits.solver - effort)
                answers[i] = solve_part(graph, part, capacity, left, cuts, hint, limits.deadline)
                effort += answers[i].effort
                known[shape_of(graph, part)] = (part, answers[i])
        bound = sum(each.bound for each in answers.values())
        plan = assemble(graph, parts, [answers[i] for i in range(len(parts))], bool(cuts)) or hint
        if plan is None:
            return Joint("gave_up", None, {}, "none", bound, len(cuts), effort)
        packed = packer(graph, stays_of(graph, plan), capacity, alignment)
        if packed.status == "packed":
            return placed(graph, plan, packed, bound, len(cuts), effort)
        is_spent = effort >= limits.solver or is_over(limits.deadline)
        if packed.status == "gave_up" or len(cuts) == limits.max_cuts or is_spent:
            return without_packing(graph, plan, capacity, alignment, bound, len(cuts), effort)
        cuts.append(cut_of(graph, plan, packed.conflict))
        parts, answers = _touched(graph, parts, answers, cuts[-1], plan)


def assemble(graph: Graph, parts: Sequence[TightPart], answers: Sequence[PartAnswer], moves: bool) -> Plan | None:
    """Return the plan that the answers of all parts make, None where one has none.

    moves: keep retrievals of tensors that were there a step before; without cuts they are no use.
    """
    if any(answer.cost is None for answer in answers):
        return None
    steps: list[list[int]] = [[] for _ in range(len(graph))]
    for answer in answers:
        for a, resident in answer.resident.items():
            steps[a] += resident
    moved = frozenset[tuple[int, int]]().union(*(answer.retrieved for answer in answers)) if moves else frozenset()
    order = tuple(o for answer in answers for o in answer.order)
    runs = tuple(runs_of(sorted(each), {t for b, t in moved if b == a}) for a, each in enumerate(steps))
    return trimmed(graph, Plan(order, runs))


def cut_of(graph: Graph, plan: Plan, conflict: Sequence[Stay]) -> Cut:
    """Return what forbids that these stays are all there again."""
    cells, moves, runs = set(), set(), set()
    for stay in conflict:
        if stay.is_weight:
            runs.add((stay.tensor, stay.first))
        else:
            cells |= {(stay.tensor, t) for t in range(stay.first, stay.last + 1)}
            moves |= {(stay.tensor, t) for t in range(stay.first + 1, stay.last + 1)}
    return Cut(frozenset(cells), frozenset(moves), frozenset(runs))


def _touched(
    graph: Graph, parts: list[TightPart], answers: dict[int, PartAnswer], cut: Cut, plan: Plan
) -> tuple[list[TightPart], dict[int, PartAnswer]]:
    """Return the parts and the answers that stand: the part that has all of a cut is solved again, else all as one."""
    steps = {t for _, t in cut.cells | cut.runs}
    for i, part in enumerate(parts):
        if part.start <= min(steps) and max(steps) < part.start + len(part.operators):
            return parts, {k: answer for k, answer in answers.items() if k != i}
    return [TightPart(plan.order)], {}
