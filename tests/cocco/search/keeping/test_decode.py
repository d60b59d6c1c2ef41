"""Kept intervals for given steps: by hand, against every set of intervals of tiny problems, and as a beam."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

import workloads
from cocco.search.exact.state import START
from cocco.search.keeping.beam import narrow
from cocco.search.keeping.decode import choose_intervals
from cocco.search.keeping.problem import KeepProblem, Need, made_and_read
from simulator import Partition
from simulator.partition.intervals import Span
from simulator.partition.steps import steps_with
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_order
from tests.helpers.random_plans import random_plan


def nothing(step: int, kept: frozenset[int]) -> int:
    return 0


def residual(room: tuple[int, ...], **more) -> KeepProblem:
    """Tensor 0 is made in step 0 and read in 1 and 3; 1 is made in 1, read in 2; 2 is made in 2, read in 3."""
    return KeepProblem(((0,), (1,), (2,), ()), ((), (0,), (1,), (2, 0)), (4, 6, 4), (4, 6, 4), room, **more)


def test_with_room_for_all_nothing_crosses():
    """4 + 6 + 4 bytes are written once and read 2, 1 and 1 times: 32 bytes less."""
    found = choose_intervals(residual((14,) * 4), nothing)
    assert found is not None and found.exact
    assert (found.spans, found.saved_bytes) == (((0, 0, 3), (1, 1, 2), (2, 2, 3)), 32)


def test_what_cannot_stay_to_the_last_reader_may_stay_to_the_first():
    """Step 2 has room for 1 and 2 or 0 and 2. 1, 2 and 0 until step 1 save 12 + 8 + 4; 0 and 2 save 12 + 8."""
    found = choose_intervals(residual((10, 10, 10, 10)), nothing)
    assert found is not None
    assert (found.spans, found.saved_bytes) == (((0, 0, 1), (1, 1, 2), (2, 2, 3)), 24)


def test_a_tensor_that_is_stored_anyway_spares_its_reads_only():
    found = choose_intervals(residual((14,) * 4, stored=frozenset({0})), nothing)
    assert found is not None and found.saved_bytes == 28 and (0, 0, 3) in found.spans


def test_a_model_input_is_loaded_once_and_kept():
    """Read in steps 0, 1 and 3, and step 2 has no room: kept over 0 and 1."""
    problem = KeepProblem(((),) * 4, ((0,), (0,), (), (0,)), (5,), (5,), (5, 5, 4, 5))
    found = choose_intervals(problem, nothing)
    assert found is not None and (found.spans, found.saved_bytes) == (((0, 0, 1),), 5)


def test_a_kept_tensor_takes_no_regions_where_it_is_read():
    """The step needs 3 bytes for a tensor that comes from DRAM; kept, it takes 5 of 5 in their place."""
    problem = KeepProblem(((0,), ()), ((), (0,)), (5,), (5,), (5, 5))
    found = choose_intervals(problem, lambda step, kept: 0 if kept else 3)
    assert found is not None and found.spans == ((0, 0, 1),)
    found = choose_intervals(problem, lambda step, kept: 3)
    assert found is not None and (found.spans, found.saved_bytes) == ((), 0)


def test_regions_are_counted_for_what_a_step_does_not_touch():
    assert choose_intervals(residual((14,) * 4, spare=(0, 0, 1, 0)), nothing).saved_bytes == 32
    found = choose_intervals(residual((14,) * 4, spare=(0, 0, 0, 0)), nothing)
    assert found is not None and found.spans == ((0, 0, 1), (1, 1, 2), (2, 2, 3))


def test_steps_that_cannot_run_have_no_answer():
    assert choose_intervals(residual((14, 14, 1, 14)), lambda step, kept: 2) is None


def test_of_equal_savings_the_one_that_holds_less_is_taken():
    """0 is read in steps 0 and 2, 1 in steps 2 and 3, and there is room for one: 0 would stay over three steps."""
    problem = KeepProblem(((), (), (), ()), ((0,), (), (0, 1), (1,)), (4, 4), (4, 4), (4,) * 4)
    found = choose_intervals(problem, nothing)
    assert found is not None and (found.spans, found.saved_bytes) == (((1, 2, 3),), 4)


def random_problem(rng: random.Random) -> tuple[KeepProblem, Need]:
    """Return up to 6 steps and 5 tensors with arbitrary needs: more kept need not mean less."""
    steps, tensors = rng.randint(2, 6), rng.randint(1, 5)
    made: list[list[int]] = [[] for _ in range(steps)]
    read: list[list[int]] = [[] for _ in range(steps)]
    for tensor in range(tensors):
        maker = rng.randint(-1, steps - 2)
        later = range(maker + 1, steps)
        if maker >= 0:
            made[maker].append(tensor)
        for step in rng.sample(later, min(len(later), rng.randint(1, 3))):
            read[step].append(tensor)
    whole, moved = ([rng.randint(1, 9) for _ in range(tensors)] for _ in range(2))
    if rng.random() < 0.5:
        moved = whole
    room = tuple(rng.randint(4, 20) for _ in range(steps))
    table = {
        (step, frozenset(kept)): rng.randint(0, 5)
        for step in range(steps)
        for kept in _subsets(made[step] + read[step])
    }
    least = tuple(min(value for (at, _), value in table.items() if at == step) for step in range(steps))
    spare = tuple(rng.randint(0, 2) for _ in range(steps))
    stored = frozenset(tensor for tensor in range(tensors) if rng.random() < 0.2)
    problem = KeepProblem(
        tuple(map(tuple, made)), tuple(map(tuple, read)), tuple(whole), tuple(moved), room,
        rng.choice((None, least)), rng.choice((None, spare)), stored,
    )  # fmt: skip
    return problem, lambda step, kept: table[step, kept]


def _subsets(items: list[int]) -> Iterator[list[int]]:
    for picks in product((False, True), repeat=len(items)):
        yield [item for item, pick in zip(items, picks) if pick]


def intervals_of(problem: KeepProblem, tensor: int) -> list[tuple[Span, ...]]:
    """Return every set of intervals of one tensor that share no step."""
    places = [i for i in range(len(problem.made)) if tensor in problem.made[i] or tensor in problem.read[i]]
    spans = [(tensor, a, z) for a in places for z in places if a < z]
    return [
        chosen
        for chosen in map(tuple, _subsets(spans))  # type: ignore[arg-type]
        if all(one[2] < other[1] for one, other in zip(chosen, chosen[1:]))
    ]


def moved_by(problem: KeepProblem, need: Need, spans: tuple[Span, ...]) -> tuple[int, int] | None:
    """Return the bytes across DRAM and the kept bytes summed over the steps; None where a step does not fit."""
    moved = held = 0
    loads = set()
    for step, reads in enumerate(problem.read):
        kept = {tensor for tensor, a, z in spans if a <= step <= z}
        here = kept & {*reads, *problem.made[step]}
        size = sum(problem.whole[tensor] for tensor in kept)
        if size + need(step, frozenset(here)) > problem.room[step]:
            return None
        if problem.spare is not None and len(kept - here) > problem.spare[step]:
            return None
        held += size
        for tensor in reads:
            if not any(each == tensor and a < step <= z for each, a, z in spans):
                loads.add(tensor)
                moved += problem.moved[tensor]
    for made in problem.made:
        moved += sum(problem.moved[tensor] for tensor in made if tensor in loads or tensor in problem.stored)
    return moved, held


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 10**9))
def test_no_set_of_intervals_saves_more(seed):
    compare_with_all(seed)


def test_no_set_of_intervals_saves_more_in_a_thousand_problems():
    for seed in range(1000):
        compare_with_all(seed)


def compare_with_all(seed: int) -> None:
    problem, need = random_problem(random.Random(seed))
    choices = product(*(intervals_of(problem, tensor) for tensor in range(len(problem.whole))))
    found = choose_intervals(problem, need)
    costs = [moved_by(problem, need, tuple(span for spans in chosen for span in spans)) for chosen in choices]
    best = min((cost for cost in costs if cost is not None), default=None)
    if best is None:
        assert found is None
        return
    assert found is not None and found.exact
    without = sum(problem.moved[tensor] for both in (problem.made, problem.read) for step in both for tensor in step)
    assert moved_by(problem, need, found.spans) == best == (without - found.saved_bytes, best[1])
    for width in (1, 3):
        narrower = choose_intervals(problem, need, width)
        if narrower is not None:
            assert moved_by(problem, need, narrower.spans)[0] == without - narrower.saved_bytes
            assert narrower.saved_bytes <= found.saved_bytes
            assert not narrower.exact or narrower.saved_bytes == found.saved_bytes
        else:
            assert costs[0] is None  # with nothing kept it does not run


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_what_is_chosen_is_a_plan_and_crosses_dram_as_the_simulator_says(seed):
    network, rng = random_network(seed, most_layers=9, whole=True), random.Random(seed)
    order = random_order(network, random_plan(network, seed), rng)
    made, read = made_and_read(network, order)
    sizes = tuple(tensor.size_bytes for tensor in network.tensors)
    room = tuple(rng.randint(0, 2 * max(sizes)) for _ in order)
    found = choose_intervals(KeepProblem(made, read, sizes, sizes, room), nothing)
    assert found is not None
    plan = Partition.from_ids(network, order, keep=found.spans)
    crossings = [
        sum(sizes[u] for says in steps_with(network, order, spans) for u in (*says.loaded, *says.written))
        for spans in ((), found.spans)
    ]
    assert crossings[0] - crossings[1] == found.saved_bytes
    assert all(
        sum(sizes[each.tensor_id] for each in plan.keep if each.from_step <= step <= each.until_step) <= most
        for step, most in enumerate(room)
    )


def test_a_beam_leaves_the_state_with_nothing_kept_and_different_amounts():
    """10, 20, ... 100 bytes, the cheaper the more they keep. Nothing; the cheapest two; the best of each half."""
    states = [START._replace(written=1 << i, bytes=10 * i, moved=100 - i) for i in range(1, 11)]
    states.insert(3, START._replace(moved=100))
    left, all_left = narrow(states, 5)
    assert not all_left and [state.bytes for state in left] == [0, 50, 80, 90, 100]
    assert narrow(states, 11) == (states, True)


def test_a_narrow_beam_finds_most_on_a_wide_network():
    """RandWire, layer by layer, a shared megabyte of which each step needs a quarter."""
    network = workloads.load("randwire_a")
    made, read = made_and_read(network, [(v,) for v in range(len(network.layers))])
    sizes = tuple(tensor.size_bytes for tensor in network.tensors)
    problem = KeepProblem(made, read, sizes, sizes, (2**20 * 3 // 4,) * len(made))
    saved = [choose_intervals(problem, nothing, width).saved_bytes for width in (1, 8, 64)]
    assert saved[0] <= saved[1] <= saved[2] and saved[0] >= 0 and saved[2] > 0
