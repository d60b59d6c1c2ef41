"""What a schedule claims: proofs only where nothing was cut off, no effort beyond the limit, windows priced right."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocco.scheduling.budgets import budgets_of
from cocco.scheduling.graph import Graph, graph_of
from cocco.scheduling.packing import Packed, pack, stays_of
from cocco.scheduling.plan import cost_of, live_bytes, plan_of_gaps, uses_of
from cocco.scheduling.programs import joint
from cocco.scheduling.programs.gap import solve_gaps
from cocco.scheduling.programs.joint import ScheduleLimits, cut_of, given_order, placed, tight
from cocco.scheduling.programs.paper import solve_paper
from cocco.scheduling.programs.parts import narrow_steps, parts_of, shape_of, single_cuts, without_spills
from cocco.scheduling.programs.solver import round_up
from cocco.scheduling.programs.tight import Cut, TightPart, solve_part
from cocco.scheduling.programs.windows import bounds_of, divide, improved, part_of, replaced, slide
from cocco.scheduling.schedule import checked, schedule
from cocco.scheduling.searches import beam as beams
from cocco.scheduling.searches import fixed as fixes
from cocco.scheduling.searches.beam import BeamPlan, beam
from cocco.scheduling.searches.drops import Drops
from cocco.scheduling.searches.fixed import fixed_order
from cocco.scheduling.searches.linear import linear
from simulator.schedule.operators import operators_of
from simulator.schedule.replay import Operator
from tests.helpers.schedule_graphs import (
    encoder_stack,
    least_bytes,
    least_of_all,
    operators,
    random_operators,
    skip_chain,
    two_branches,
)

FEW = settings(max_examples=40, deadline=None)
NONE_LEFT = 1e-9  #: deterministic time: too little for anything


def idle_three() -> tuple[Operator, ...]:
    """a (2), b (3) and c (4) lie idle while m (8) is made from s (1); the last operator reads them again.

    At 13 bytes 5 of these 9 must go: c and b, c and a, or, at the least cost of 10, b and a.
    """
    nodes = {"a": (2, ""), "b": (3, ""), "c": (4, ""), "s": (1, ""), "m": (8, "s"), "n": (1, "m"), "z": (1, "abcn")}
    return operators(nodes)


def test_choices_that_are_cut_off_are_no_proof():
    graph = graph_of(idle_three())
    few, enough = Drops(graph, most=2), Drops(graph)
    assert (len(few.choices(0b111, 5)), few.is_complete) == (2, False)
    assert (sorted(enough.choices(0b111, 5)), enough.is_complete) == ([0b011, 0b101, 0b110], True)


def test_search_whose_choices_or_states_are_cut_off_does_not_call_its_answer_optimal(monkeypatch: pytest.MonkeyPatch):
    graph, order = graph_of(idle_three()), range(7)
    assert fixed_order(graph, order, 13)[1:] == (10, True)
    assert fixed_order(graph, order, 13, states=1)[1:] == (10, False)
    branches = graph_of(two_branches())
    assert beam(branches, 6)[1:] == (4, True) and not beam(branches, 6, width=1).is_optimal
    monkeypatch.setattr(fixes, "Drops", partial(Drops, most=1))
    monkeypatch.setattr(beams, "Drops", partial(Drops, most=1))
    assert fixed_order(graph, order, 13)[1:] == (14, False)
    assert not beam(branches, 6).is_optimal


@FEW
@given(random_operators(), st.integers(1, 2))
def test_searches_with_few_states_claim_no_more_than_is_true(found: tuple[Operator, ...], few: int):
    """One or two states a step: whatever calls itself optimal, or bounds, holds against brute force."""
    graph, names = graph_of(found), [each.name for each in found]
    capacity = max(graph.need)
    best, least = least_bytes(found, names, capacity), least_of_all(found, capacity)
    assert best is not None and least is not None
    own, free = fixed_order(graph, range(len(graph)), capacity, few), beam(graph, capacity, few)
    assert own.cost >= best and (not own.is_optimal or own.cost == best)
    assert free.cost >= least and (not free.is_optimal or free.cost == least)
    given_ = given_order(graph, range(len(graph)), capacity, limits=ScheduleLimits(solver=0.0, states=few))
    assert given_.plan is not None and given_.bound <= best
    assert given_.status != "optimal" or cost_of(graph, given_.plan) == best


def test_order_whose_search_was_cut_off_has_no_bound_without_a_solver():
    graph = graph_of(idle_three())
    found = given_order(graph, range(7), 13, limits=ScheduleLimits(solver=0.0, states=1))
    assert (found.status, found.bound) == ("feasible", 0)
    found = given_order(graph, range(7), 13, limits=ScheduleLimits(solver=0.0))
    assert (found.status, found.bound) == ("optimal", 10)


def test_plan_is_optimal_only_where_it_costs_no_more_than_the_bound():
    """The skip chain at 9 costs 8; a bound of 7 proves nothing, one of 8 does, and no bound is above the cost."""
    graph = graph_of(skip_chain())
    plan = fixed_order(graph, range(5), 9).plan
    packed = Packed("packed", {}, "greedy", ())
    ends = [(each.status, each.bound) for each in (placed(graph, plan, packed, bound) for bound in (7, 8, 9))]
    assert ends == [("feasible", 7), ("optimal", 8), ("optimal", 8)]


def test_bound_of_an_order_is_none_of_a_free_one():
    """Two branches at 6: the default order is proved to cost 22 with one state; a free order costs 4."""
    found = schedule(two_branches(), 6, method="beam", width=1)
    assert found.lower_bound_bytes == 2 and found.status == "feasible"  # 2: the least peak is 7, one byte too many
    assert schedule(two_branches(), 6, method="beam").lower_bound_bytes == 4


def test_solver_without_time_leaves_the_windows_open_and_stops(monkeypatch: pytest.MonkeyPatch):
    """The first window or segment spends what was given; it is not proved, and there is no second one."""
    monkeypatch.setattr("cocco.scheduling.programs.windows.LONGEST", 8)
    graph = graph_of(operators_of(encoder_stack(2)))
    capacity = max(graph.need)
    start = fixed_order(graph, range(len(graph)), capacity).plan
    assert len(bounds_of(graph, start.order)) > 1
    for found in (
        slide(graph, start, capacity, NONE_LEFT, lambda plan: plan),
        divide(graph, start, capacity, NONE_LEFT),
    ):
        assert (found.windows, found.proved) == (1, 0)
    found = slide(graph, start, capacity, 100.0, lambda plan: plan)
    assert found.windows == found.proved > 1


def test_tight_without_time_keeps_the_hint_and_its_cuts_stay_within_the_limit():
    graph = graph_of(operators_of(encoder_stack(2)))
    capacity = max(graph.need)
    start = fixed_order(graph, range(len(graph)), capacity).plan
    calls = []

    def refuse(graph, stays, capacity, alignment):
        calls.append(stays)
        return Packed("infeasible", {}, "none", tuple(stays))

    found = tight(graph, capacity, limits=ScheduleLimits(solver=NONE_LEFT), hint=start, packer=refuse)
    assert (found.status, found.cuts, len(calls)) == ("feasible", 0, 1)


@FEW
@given(random_operators(), st.integers(0, 3), st.data())
def test_window_solved_anew_costs_what_the_solver_says(found: tuple[Operator, ...], more: int, data: st.DataObject):
    """What is retrieved outside the window [start, stop) and not right after it, and the spills of that, stay paid.

    So the new plan costs these and the answer of the window, fits, and is no dearer than the old one.
    """
    graph = graph_of(found, data.draw(st.booleans()))
    capacity = max(graph.need) + more
    plan = fixed_order(graph, range(len(graph)), capacity).plan
    start = data.draw(st.integers(0, len(graph) - 1))
    stop = data.draw(st.integers(start + 1, len(graph)))
    outside = 0
    for a, runs in enumerate(plan.runs):
        others = [first for first, _ in runs[1:] if not start <= first <= stop]
        outside += graph.size[a] * (len(others) + (bool(others) and not graph.has_copy[a]))
    answer = solve_part(graph, part_of(graph, plan, start, stop), capacity, 10.0)
    assert answer.status == "optimal" and answer.cost is not None
    changed = replaced(graph, plan, start, stop, answer)
    assert cost_of(graph, changed) == outside + answer.cost <= cost_of(graph, plan)
    assert max(live_bytes(graph, changed)) <= capacity


def test_tensors_around_a_window_by_hand():
    """The skip chain at 9: a is away during c (step 3) and back for d (step 4).

    Of the window of c alone, b is there before and after nothing reads it; a is not there before (it left behind b),
    and comes back right after, within what the window decides. c leaves the window for d.
    """
    graph = graph_of(skip_chain())
    plan = plan_of_gaps(graph, range(5), {(1, 1)})
    assert plan.runs[1] == ((1, 2), (4, 4))
    assert part_of(graph, plan, 3, 4) == TightPart((3,), 3, frozenset({1, 2}), frozenset({1, 3}), frozenset())
    assert part_of(graph, plan, 0, 3).paid == {1} and part_of(graph, plan, 4, 5).paid == frozenset()


def test_parts_of_other_weights_or_copies_are_other_questions():
    """x -> a -> b -> c: every operator is a cut; the parts of a and c differ in their parameters, or in a copy."""
    chain = operators({"x": (2, ""), "a": (2, "x"), "b": (2, "a"), "c": (2, "b")}, {"a": 3})
    graph = graph_of(chain)
    assert single_cuts(graph) == (0, 1, 2, 3)
    of_x, of_a, of_b, of_c = (shape_of(graph, part) for part in parts_of(graph, range(4)))
    assert of_b == of_c and len({of_x, of_a, of_b}) == 3
    plain = graph_of(operators({"x": (2, ""), "y": (2, "")}))
    copied = Graph(plain.operators, plain.size, plain.weight, plain.reads, (True, False))
    first, second = TightPart((0,)), TightPart((1,))
    assert shape_of(plain, first) == shape_of(plain, second)
    assert shape_of(copied, first) != shape_of(copied, second)


def test_tensor_that_is_read_behind_a_cut_makes_it_none():
    """x is read by a and c, so only x itself and c, behind which nothing is left, cut the chain x -> a -> b -> c."""
    assert single_cuts(graph_of(operators({"x": (1, ""), "a": (1, "x"), "b": (1, "a"), "c": (1, "bx")}))) == (0, 3)


def test_narrow_steps_have_two_live_tensors_at_most():
    """Behind a, b and c one to three of them are still read: at the third step they are too many."""
    graph = graph_of(operators({"a": (1, ""), "b": (1, ""), "c": (1, ""), "d": (1, "abc"), "e": (1, "d")}))
    assert narrow_steps(graph, range(5)) == (0, 1, 3, 4)


def test_part_without_spills_must_fit_to_the_byte():
    graph = graph_of(skip_chain())
    part = TightPart(tuple(range(5)))
    assert without_spills(graph, part, 9) is None
    answer = without_spills(graph, part, 10)
    assert answer is not None and (answer.cost, answer.bound) == (0, 0)


def test_refused_stays_end_where_their_tensor_leaves():
    """One stay of a over its uses at 1, 2 and 4 is refused: it leaves in one of its two gaps, right behind a too."""
    graph = graph_of(skip_chain())
    uses = uses_of(graph, range(5))
    plan = plan_of_gaps(graph, range(5), set())
    (refused,) = [stay for stay in stays_of(graph, plan) if stay.tensor == 1]
    assert uses[1] == [1, 2, 4] and (refused.first, refused.last) == (1, 4)
    found = solve_gaps(graph, range(5), 100, 10, [(refused,)])
    assert (found.solved.status, found.bound) == ("optimal", 8)
    (short,) = [stay for stay in stays_of(graph, plan) if stay.tensor == 3]
    assert solve_gaps(graph, range(5), 100, 10, [(short,)]).bound == 6
    cut = cut_of(graph, plan, [refused])
    assert cut.cells == {(1, t) for t in range(1, 5)} and cut.moves == {(1, t) for t in range(2, 5)}


def test_refusal_without_a_proof_is_left_open(monkeypatch: pytest.MonkeyPatch):
    """The allocator gives up, first by search, then by CP-SAT: the stays are not called infeasible."""
    graph = graph_of(skip_chain())
    stays = stays_of(graph, plan_of_gaps(graph, range(5), set()))
    whole = pack(graph, stays, 10)
    assert whole.status == "packed"

    def gives_up(buffers, capacity, *_, **__):
        from cocco.allocation.allocate import allocate

        return replace(allocate(buffers, capacity), status="gave_up", allocation=None)

    monkeypatch.setattr("cocco.scheduling.packing.allocate", gives_up)
    assert pack(graph, stays, 10) == Packed("gave_up", {}, "none", ())


@pytest.mark.parametrize(
    ("bound", "whole"),
    [(0.0, 0), (2.9999999, 3), (3.0, 3), (3.0000001, 3), (3.1, 4), (float("inf"), 0), (float("-inf"), 0)],
)
def test_bounds_of_a_solver_are_rounded_up_but_for_its_tolerance(bound: float, whole: int):
    assert round_up(bound) == whole


def test_baseline_is_optimal_only_where_nothing_moves():
    """Two branches in the default order cost 20 bytes at 7, which some method could undercut, and none at 11."""
    for method in ("belady", "greedy"):
        assert schedule(two_branches(), 7, method=method).status == "feasible"
        assert schedule(two_branches(), 11, method=method).status == "optimal"


def test_program_that_the_solver_did_not_close_is_feasible(monkeypatch: pytest.MonkeyPatch):
    def cut_off(*asked):
        found = solve_paper(*asked)
        return found._replace(solved=found.solved._replace(status="feasible"))

    assert schedule(two_branches(), 6, method="paper").status == "optimal"
    monkeypatch.setattr(import_module("cocco.scheduling.methods"), "solve_paper", cut_off)
    assert schedule(two_branches(), 6, method="paper").status == "feasible"


def test_schedule_from_a_file_is_optimal_only_where_nothing_moves():
    network = encoder_stack(1, 8)
    for budget, status in (("minimum", "feasible"), ("peak", "optimal")):
        made = schedule(network, budget, method="gap").schedule
        assert made is not None
        answer = checked(network, budget, made)
        assert (answer.status, bool(answer.offchip_bytes)) == (status, status == "feasible")


def test_furthest_used_tensor_leaves_first():
    """c (4) does not fit beside a and b (2 each) in 7; a is read at the next step, b later, so b goes and returns."""
    graph = graph_of(operators({"a": (2, ""), "b": (2, ""), "c": (4, ""), "d": (1, "ca"), "e": (1, "db")}))
    found = linear(graph, range(5), 7, "belady")
    assert found is not None
    assert found.plan.runs[:2] == (((0, 3),), ((1, 1), (4, 4))) and cost_of(graph, found.plan) == 4


@pytest.mark.parametrize(("has_copy", "stays", "bytes_"), [(False, [2, 2], 10), (True, [2, 1], 3)])
def test_greedy_replacement_moves_the_fewest_bytes(has_copy: bool, stays: list[int], bytes_: int):
    """c (3) takes the place of b for 4 bytes rather than that of a for 6, and when b returns, a must go, too.

    Where the host has a copy of a, that costs 3 bytes only, and b stays.
    """
    chain = operators({"a": (3, ""), "b": (2, ""), "c": (3, ""), "d": (1, "cb"), "e": (1, "da")})
    graph = graph_of((replace(chain[0], is_input=True), *chain[1:]), has_copy)
    found = linear(graph, range(5), 7, "greedy")
    assert found is not None and cost_of(graph, found.plan) == bytes_
    assert [len(runs) for runs in found.plan.runs[:2]] == stays


def test_cut_across_two_parts_makes_them_one():
    """Steps 1 and 2 lie in different parts; steps 2 and 3 are in the second alone, whose answer goes."""
    graph = graph_of(skip_chain())
    plan = plan_of_gaps(graph, range(5), set())
    parts = [TightPart((0, 1)), TightPart((2, 3, 4), 2)]
    answers = {i: solve_part(graph, part, 100, 10.0) for i, part in enumerate(parts)}
    across, inside = (Cut(frozenset({(1, t), (1, t + 1)}), frozenset(), frozenset()) for t in (1, 2))
    assert joint._touched(graph, parts, answers, across, plan) == ([TightPart(plan.order)], {})
    assert joint._touched(graph, parts, answers, inside, plan) == (parts, {0: answers[0]})


def refusing(times: int):
    """Return a packer that refuses so many plans, whatever they are."""
    left = [times]

    def packer(graph, stays, capacity, alignment):
        left[0] -= 1
        if left[0] >= 0:
            return Packed("infeasible", {}, "none", tuple(stays))
        return pack(graph, stays, capacity, alignment)

    return packer


def test_calls_of_the_solver_share_one_limit(monkeypatch: pytest.MonkeyPatch):
    """Ten units in all, of which each call takes four: the second is given six, the third two."""
    given_: list[float] = []

    def gaps(*asked):
        given_.append(asked[3])
        found = solve_gaps(*asked)
        return found._replace(solved=found.solved._replace(effort=4.0))

    def part(*asked):
        given_.append(asked[3])
        return solve_part(*asked)._replace(effort=4.0)

    monkeypatch.setattr(joint, "solve_gaps", gaps)
    monkeypatch.setattr(joint, "solve_part", part)
    graph, limits = graph_of(skip_chain()), ScheduleLimits(solver=10.0)
    given_order(graph, range(5), 12, limits=limits, packer=refusing(3))
    assert given_ == [10.0, 6.0, 2.0]
    given_.clear()
    chained = graph_of(idle_three())
    tight(chained, 13, limits=limits, packer=refusing(100))
    assert given_ == [10.0, 6.0, 2.0]


def test_peak_is_never_below_the_aligned_minimum():
    """a needs 3 + 3 bytes, 7 at multiples of 4; without spilling 6 bytes are live at most."""
    graph = graph_of(operators({"x": (3, ""), "a": (3, "x")}))
    assert budgets_of(graph)[:3] == (6, 1, 6) and budgets_of(graph, 4)[:3] == (7, 1, 7)
    assert budgets_of(graph, 4).half == 7


def test_window_that_would_cost_more_is_left_as_it_was():
    """All of the skip chain stays in 10 bytes; solved for 9, which costs 8, it is no better."""
    graph = graph_of(skip_chain())
    plan = plan_of_gaps(graph, range(5), set())
    kept, answer = improved(graph, plan, (0, 5), 9, 10.0, None)
    assert (kept, answer.cost) == (plan, 8)
    better, answer = improved(graph, plan_of_gaps(graph, range(5), {(1, 1)}), (0, 5), 10, 10.0, None)
    assert (cost_of(graph, better), answer.cost) == (0, 0)


def test_beam_that_was_cut_off_does_not_prove_the_plan_of_another(monkeypatch: pytest.MonkeyPatch):
    """The beam finds 30 bytes, unproved; the plan of a given order, of which no more is known, costs less."""
    real = import_module("cocco.scheduling.methods")
    monkeypatch.setattr(real, "beam", lambda *_: BeamPlan(plan_of_gaps(graph, range(6), set()), 30, False))
    graph = graph_of(two_branches())
    found = schedule(two_branches(), 6, method="beam")
    assert found.status == "feasible" and found.lower_bound_bytes == 2  # that of any order: the least peak is 7
