"""Order, residency and addresses together: worked examples, golden values, and brute force on tiny graphs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workloads
from cocco.scheduling.graph import Graph, graph_of
from cocco.scheduling.packing import Packed, pack, schedule_of, stays_of
from cocco.scheduling.plan import Plan, cost_of, is_order, live_bytes, peak_of
from cocco.scheduling.programs.gap import solve_gaps
from cocco.scheduling.programs.joint import Joint, ScheduleLimits, given_order, tight
from cocco.scheduling.programs.paper import solve_paper
from cocco.scheduling.programs.windows import slide
from cocco.scheduling.schedule import schedule
from cocco.scheduling.searches.beam import beam
from cocco.scheduling.searches.fixed import fixed_order
from cocco.scheduling.searches.linear import linear
from cocco.scheduling.searches.peak import least_peak
from simulator.schedule.operators import operators_of
from simulator.schedule.replay import replay
from simulator.schedule.schedule import Operator
from tests.helpers.schedule_graphs import (
    encoder_stack,
    least_bytes,
    least_of_all,
    operators,
    orders,
    random_operators,
    skip_chain,
    two_branches,
)

FEW = settings(max_examples=40, deadline=None)
MANY = settings(max_examples=120, deadline=None)


def judged(graph: Graph, found: Joint, capacity: int) -> int:
    """Return the bytes that the simulator counts for a plan that breaks no rule."""
    assert found.plan is not None
    answer = replay(schedule_of(graph, found.plan, found.addresses), graph.operators, capacity, any(graph.has_copy))
    assert not answer.violations, answer.violations[0].message
    assert answer.offchip_bytes == cost_of(graph, found.plan)
    assert answer.peak_live_bytes == max(live_bytes(graph, found.plan))
    return answer.offchip_bytes


@pytest.mark.parametrize(("capacity", "bytes_"), [(9, 8), (10, 0)])
def test_skip_chain_by_hand(capacity: int, bytes_: int):
    """At 9, a leaves during c (b and c take 6, a 4) and returns: 4 + 4. At 10 all fits."""
    graph = graph_of(skip_chain())
    assert max(graph.need) == 9 and least_peak(graph) == (10, (0, 1, 2, 3, 4), True)
    for found in (given_order(graph, range(5), capacity), tight(graph, capacity)):
        assert (found.status, judged(graph, found, capacity)) == ("optimal", bytes_)


def test_two_branches_by_hand():
    """Default order: peak 11, 22 bytes at 6, 20 at 7. Best: r p1 p2 q1 q2 o with peak 7; at 6, r and p2 out and in."""
    graph = graph_of(two_branches())
    peak = least_peak(graph)
    assert (peak_of(graph, range(6)), peak.bytes, peak.is_proved, max(graph.need)) == (11, 7, True, 6)
    for capacity, free, fixed in ((6, 4, 22), (7, 0, 20)):
        assert judged(graph, tight(graph, capacity), capacity) == free
        assert judged(graph, given_order(graph, range(6), capacity), capacity) == fixed
        assert solve_paper(graph, capacity, 10).solved.cost == free
        assert beam(graph, capacity).cost == free and beam(graph, capacity).is_optimal


@pytest.mark.parametrize(
    ("version", "parameters", "minimum", "bytes_"),
    [("1", False, 2_408_448, 0), ("1", True, 2_409_472, 602_112), ("1.5", True, 2_484_736, 602_112)],
)
def test_resnet50_has_its_golden_values(version: str, parameters: bool, minimum: int, bytes_: int):
    graph = graph_of(operators_of(workloads.load("resnet50", version=version), parameters))
    assert (len(graph), max(graph.need)) == (73, minimum)
    found = tight(graph, minimum)
    assert (found.status, judged(graph, found, minimum)) == ("optimal", bytes_)
    own = beam(graph, minimum)
    assert (own.cost, own.is_optimal) == (bytes_, True)
    peak = least_peak(graph)
    assert peak.is_proved and judged(graph, tight(graph, peak.bytes), peak.bytes) == 0


def test_encoder_stack_has_its_golden_value():
    graph = graph_of(operators_of(encoder_stack()))
    assert (len(graph), sum(map(len, graph.reads)), max(graph.need)) == (79, 102, 327_680)
    found = tight(graph, 327_680)
    assert (found.status, judged(graph, found, 327_680)) == ("optimal", 786_432)


@MANY
@given(random_operators(), st.booleans())
def test_given_order_is_the_best_of_all_gaps(found: tuple[Operator, ...], has_copy: bool):
    """And the bound is reached wherever a packing exists; our own search and CP-SAT agree."""
    graph = graph_of(found, has_copy)
    capacity = max(graph.need)
    best = least_bytes(found, [each.name for each in found], capacity, has_copy)
    own = fixed_order(graph, range(len(graph)), capacity)
    assert (own.cost, own.is_optimal) == (best, True)
    assert cost_of(graph, own.plan) == best and max(live_bytes(graph, own.plan)) <= capacity
    assert solve_gaps(graph, range(len(graph)), capacity, 10).solved.status == "optimal"
    assert solve_gaps(graph, range(len(graph)), capacity, 10).bound == best


@settings(max_examples=15, deadline=None)
@given(random_operators(), st.booleans())
def test_paper_with_a_given_order_is_the_best_of_that_order(found: tuple[Operator, ...], has_copy: bool):
    """COSMA, Eqs. 16 and 17: every C is given. The order is the last one in which operands come first."""
    *_, names = orders(found)
    best = least_bytes(found, names, max(graph_of(found).need), has_copy)
    answer = schedule(found, "minimum", method="paper", order=names, input_has_host_copy=has_copy)
    assert answer.schedule is not None and answer.schedule.order == names
    assert (answer.status, answer.order_from, answer.offchip_bytes) == ("optimal", "file", best)


@FEW
@given(random_operators(), st.booleans(), st.integers(0, 4))
def test_free_order_paper_and_brute_force_agree(found: tuple[Operator, ...], has_copy: bool, more: int):
    graph = graph_of(found, has_copy)
    capacity = max(graph.need) + more
    best = least_of_all(found, capacity, has_copy)
    ours = tight(graph, capacity)
    assert ours.bound == best
    bytes_ = judged(graph, ours, capacity)
    if ours.status == "optimal":
        assert bytes_ == best
    paper = solve_paper(graph, capacity, 20)
    assert paper.solved.status == "optimal" and paper.plan is not None
    theirs = Joint("optimal", paper.plan, paper.addresses, "model", paper.bound)
    assert judged(graph, theirs, capacity) == paper.bound
    assert paper.bound == bytes_
    own = beam(graph, capacity)
    assert (own.cost, own.is_optimal) == (best, True)
    assert max(live_bytes(graph, own.plan)) <= capacity and cost_of(graph, own.plan) == best


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(random_operators(most=8), st.booleans(), st.integers(0, 4))
def test_eight_operators_agree_too(found: tuple[Operator, ...], has_copy: bool, more: int):
    graph = graph_of(found, has_copy)
    capacity = max(graph.need) + more
    best = least_of_all(found, capacity, has_copy)
    assert tight(graph, capacity).bound == solve_paper(graph, capacity, 30).bound == beam(graph, capacity).cost == best


@MANY
@given(random_operators())
def test_least_peak_is_that_of_the_best_order(found: tuple[Operator, ...]):
    graph = graph_of(found)
    index = {each.name: i for i, each in enumerate(found)}
    best = min(peak_of(graph, [index[name] for name in order]) for order in orders(found))
    peak = least_peak(graph)
    assert (peak.bytes, peak.is_proved) == (best, True)
    assert is_order(graph, peak.order) and peak_of(graph, peak.order) == best
    assert beam(graph, best).cost == 0
    cut_short = least_peak(graph, max_states=1, beam=1)
    assert cut_short.bytes >= best and is_order(graph, cut_short.order)


@FEW
@given(random_operators(), st.integers(2, 5), st.integers(0, 3))
def test_baselines_cost_no_less_and_sizes_scale(found: tuple[Operator, ...], factor: int, more: int):
    """Sizes times k give bytes times k; more memory never costs more; a baseline never beats the bound."""
    graph = graph_of(found)
    capacity = max(graph.need) + more
    ours = tight(graph, capacity)
    for replacement in ("belady", "greedy"):
        base = linear(graph, range(len(graph)), capacity, replacement)
        assert base is not None
        joint = Joint("feasible", base.plan, base.addresses, "none", 0)
        assert judged(graph, joint, capacity) >= judged(
            graph, given_order(graph, range(len(graph)), capacity), capacity
        )
        assert judged(graph, joint, capacity) >= ours.bound
    assert tight(graph, capacity + 1).bound <= ours.bound
    large = tuple(
        Operator(each.name, each.inputs, each.size * factor, each.parameters * factor, each.is_input) for each in found
    )
    assert tight(graph_of(large), capacity * factor).bound == factor * ours.bound


FRAGMENTED = [
    (0, 1, 3),
    (0, 3, 1),
    (1, 2, 2),
    (1, 4, 1),
    (2, 3, 1),
    (2, 5, 1),
    (3, 4, 2),
    (4, 5, 3),
]  #: allocation.md, 11.3


def test_pack_refuses_what_has_no_addresses():
    """Every step holds 4 bytes, but they do not fit in 4; in 5 they do."""
    sizes = [size for _, _, size in FRAGMENTED]
    graph = graph_of(tuple(Operator(f"b{i}", (), size) for i, size in enumerate(sizes)))
    plan = Plan(tuple(range(8)), tuple(((first, after - 1),) for first, after, _ in FRAGMENTED))
    stays = stays_of(graph, plan)
    refused = pack(graph, stays, 4)
    assert refused.status == "infeasible" and refused.conflict
    assert pack(graph, stays, 5).status == "packed"


def refusing(times: int):
    """Return a packer that calls the first plans infeasible, whatever they are."""
    calls = []

    def packer(graph, stays, capacity, alignment):
        calls.append(tuple(stays))
        if len(calls) <= times:
            return Packed("infeasible", {}, "none", tuple(stays))
        return pack(graph, stays, capacity, alignment)

    return packer, calls


def test_cut_loop_finds_the_other_optimal_plan():
    """Two branches at 6: p first or q first cost 4; the first is refused, so the other comes."""
    graph = graph_of(two_branches())
    packer, calls = refusing(1)
    found = tight(graph, 6, packer=packer)
    assert (found.status, found.cuts, judged(graph, found, 6)) == ("optimal", 1, 4)
    assert calls[0] != calls[1]


def test_cut_loop_reports_a_gap_or_a_worse_bound_where_there_is_no_other():
    """The skip chain at 10 has one order; without its only plan of 0 bytes the best moves x: 2 + 2."""
    graph = graph_of(skip_chain())
    packer, calls = refusing(1)
    found = tight(graph, 10, packer=packer)
    assert (found.status, found.cuts) == ("optimal", 1) and len(set(calls)) == 2
    assert judged(graph, found, 10) == found.bound == 4
    packer, _ = refusing(1)
    again = given_order(graph, range(5), 10, packer=packer)
    assert (again.status, again.cuts, judged(graph, again, 10), again.bound) == ("optimal", 1, 4, 4)


def test_after_the_last_cut_the_answer_is_feasible_and_never_called_optimal():
    """What stands in then is the linear allocator on the order that was found, and the bound says how far it is off."""
    graph = graph_of(operators_of(workloads.load("resnet50"), parameters=True))
    packer, calls = refusing(100)
    found = tight(graph, max(graph.need), packer=packer, limits=ScheduleLimits(max_cuts=1))
    assert (found.status, found.cuts, found.packing, len(calls)) == ("feasible", 1, "none", 2)
    assert judged(graph, found, max(graph.need)) > found.bound >= 602_112


def test_host_copy_of_an_input_saves_its_spill():
    """x is read at the start and at the end; between them nothing fits beside it: 2 x 3 bytes, or 3 with a copy."""
    found = operators({"x": (3, ""), "a": (2, "x"), "b": (5, "a"), "c": (1, "b"), "d": (1, ("c", "x"))})
    found = (Operator("x", (), 3, is_input=True), *found[1:])
    for has_copy, bytes_ in ((False, 6), (True, 3)):
        graph = graph_of(found, has_copy)
        for answer in (tight(graph, 7), given_order(graph, range(5), 7)):
            assert (answer.status, judged(graph, answer, 7)) == ("optimal", bytes_)
        assert solve_paper(graph, 7, 10).solved.cost == bytes_


def test_alignment_holds_for_every_address():
    graph = graph_of(two_branches())
    for found in (tight(graph, 16, alignment=4), given_order(graph, range(6), 16, alignment=4)):
        assert found.addresses and all(address % 4 == 0 for address in found.addresses.values())


def test_alignment_counts_in_the_minimum_and_from_there_on_every_method_has_a_plan():
    """At multiples of 4, b needs 4 + 5 bytes (not 8 + 3) and d needs 4 + 4 + 2; without alignment 8 are enough."""
    found = operators({"a": (5, ""), "b": (3, "a"), "c": (2, "b"), "d": (2, "bc")})
    below = schedule(found, 8, alignment=4)
    assert (below.status, below.largest, below.minimum_bytes) == ("infeasible", "d", 10)
    assert schedule(found, "minimum").scratchpad_bytes == 8
    for method in ("tight", "beam", "windows", "divide", "paper", "gap", "belady", "greedy"):
        answer = schedule(found, "minimum", method=method, alignment=4)
        assert answer.scratchpad_bytes == 10 and answer.replay is not None, method
        assert answer.offchip_bytes == 0 or method in ("belady", "greedy"), method


def test_operators_say_themselves_whether_parameters_are_in_the_scratchpad():
    assert not schedule(skip_chain(), "minimum").parameters
    with_weights = operators({"x": (2, ""), "a": (4, "x")}, {"a": 3})
    assert schedule(with_weights, "minimum").parameters


@given(random_operators(most=6), st.sampled_from((2, 4)))
@FEW
def test_the_aligned_minimum_is_enough_for_the_baselines(found: tuple[Operator, ...], alignment: int):
    for method in ("belady", "greedy", "gap"):
        assert schedule(found, "minimum", method=method, alignment=alignment).replay is not None


def test_after_a_deadline_the_solver_is_not_asked_again():
    """--seconds is for all calls together, not for each: no window is tried, and TIGHT keeps what it started from."""
    graph = graph_of(operators_of(encoder_stack(2)))
    capacity, order = max(graph.need), range(len(graph))
    start = fixed_order(graph, order, capacity).plan
    assert cost_of(graph, start)
    late, given_time = (slide(graph, start, capacity, 1.0, lambda plan: plan, deadline) for deadline in (0.0, None))
    assert (late.plan, late.windows) == (start, 0) and given_time.windows
    answer = tight(graph, capacity, limits=ScheduleLimits(deadline=0.0), hint=start)
    assert (answer.status, judged(graph, answer, capacity)) == ("feasible", cost_of(graph, start))
