"""Certificates with kept tensors: below every plan by brute force, in every memory, and no step is worth more."""

from __future__ import annotations

import math
from itertools import combinations, product

import pytest

pytest.importorskip("ortools")
pytest.importorskip("scipy")

import workloads
from cocco.bounds import certify
from cocco.bounds.certificate import _Solver
from cocco.bounds.components import components
from cocco.bounds.crossings import crossings, crossings_alone, tensors_of
from cocco.bounds.forced import Hulls
from cocco.bounds.joins import slacks_between
from cocco.bounds.kept import keep_question
from cocco.bounds.kept_bounds import KeptBounds
from cocco.bounds.oracle import Oracle
from cocco.bounds.staircase import Staircase, forced_step, no_limit
from cocco.problem.genome import connected_parts
from cocco.problem.problem import Problem, on_hardware, over_space
from cocco.problem.space import SharedBuffer
from cocco.search.keeping.question import KeptStep
from cocco.search.keeping.state import members
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from simulator.model.subgraph import COLUMNS, ROWS, Subgraph
from simulator.model.tiling import derive_tiles
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import chain, dag
from tests.helpers.small_spaces import cost_of, small_space, values_by_memory

SHORT = 2.0  #: deterministic time; far more than these take


@pytest.mark.parametrize(("room", "more"), [(2048, 0), (511, 1024)])
def test_a_tensor_crosses_where_no_step_can_hold_it(room: int, more: int):
    """Three 3x3 convolutions, the weights of two fit, and so does a map of 512 bytes whole: all crosses only once.

    With 1 byte less no step keeps that map: one is written and read, as with nothing kept.
    """
    problem = on_hardware(chain(3), Accelerator(global_buffer=room, weight_buffer=1152), metric="ema", keep="auto")
    assert certify(problem, range(3), SHORT).lower_bound == 1728 + 1024 + more


def test_what_a_layer_alone_moves_at_least_is_a_knapsack():
    """n3 reads n0, n1 and n2 and is an output: each of the three kept saves its loading, of 512 bytes."""
    problem = on_hardware(dag([[], [], [], [0, 1, 2]]), Accelerator(shared_buffer=65536), keep="auto")
    tensors = tensors_of(problem, may_keep=True)
    whole = tensors.whole[0]
    sizes = tensors.comes[0]
    assert crossings(tensors, (3,)) == 3 * sizes
    for kept in range(4):
        assert crossings_alone(tensors, 3, kept * whole) == (3 - kept) * sizes
        assert crossings_alone(tensors, 3, kept * whole + whole - 1) == (3 - kept) * sizes


def check_space(seed: int) -> tuple[int, int]:
    """Compare all memories of a random space with brute force; return how many there are, and bounds above the old."""
    problem = small_space(seed)
    if problem is None:
        return 0, 0
    values = values_by_memory(problem)
    costs = {memory: cost_of(problem, memory, value) for memory, value in values.items()}
    old, labels = KeptBounds(problem), list(range(problem.size))
    solver, stairs = _Solver(problem, labels), Staircase(problem)
    stairs.climb(math.inf, lambda: 20 - solver.spent, solver.certify, 12)
    for memory, bound in stairs.bound.items():
        assert old.cost(memory) * (1 - 1e-12) <= bound <= costs[memory] * (1 + 1e-12), (seed, memory)
    best = min(costs.values())
    if best < math.inf:
        assert certify(problem, labels, SHORT, best).lower_bound <= best * (1 + 1e-12), seed
    return len(costs), sum(stairs.bound[memory] > old.cost(memory) * (1 + 1e-9) for memory in costs)


def test_no_bound_is_above_the_cheapest_plan_in_any_memory():
    counts = [check_space(seed) for seed in range(30)]
    assert sum(count for count, _ in counts) > 60 and sum(better for _, better in counts) > 3


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_no_bound_is_above_the_cheapest_plan_on_thousands(part: int):
    for seed in range(50_000 + 300 * part, 50_300 + 300 * part):
        check_space(seed)


def steps_of(problem: Problem, group: tuple[int, ...]):
    """Yield every step of some layers of one network by what it keeps of what it touches, and what crosses for it."""
    tensors, question = tensors_of(problem, may_keep=True), keep_question(problem)
    reads = sorted({u for v in group for u in tensors.read[v]} - set(group))
    goes = [v for v in group if any(w not in group for w in tensors.readers[v])]
    for kept in product((False, True), repeat=len(reads) + len(goes)):
        chosen = dict(zip([*reads, *goes], kept))
        loaded = sum(1 << u for u in reads if not chosen[u])
        written = sum(1 << v for v in group if v in tensors.outputs or (v in goes and not chosen[v]))
        on_chip = sum(1 << u for u in chosen if chosen[u])
        size = sum(tensors.whole[u] for u in members(on_chip))
        if size <= question.room:
            crossing = sum(tensors.comes[u] for u in members(loaded)) + sum(tensors.goes[u] for u in members(written))
            yield KeptStep(group, on_chip, loaded, written, size, 0), crossing, question


def check_steps(seed: int) -> tuple[int, int]:
    """Return how many steps run, of several layers and of one, of which none crosses less than the bounds say."""
    problem = random_problem(seed, most_layers=5)
    if problem.size > 6:
        return 0, 0
    costs, tensors = SubgraphCosts(problem), tensors_of(problem, may_keep=True)
    hulls, room = Hulls(problem, costs), problem.accelerator.activation_capacity
    prices = {v: (seed * 31 + v * 17) % 7 * 40 - 20 for v in range(problem.size)}
    several = alone = 0
    for layers in components(problem, hulls):
        found = None if len(layers) == 1 else Oracle(problem, costs, hulls, tensors, layers).least(prices, SHORT)
        for size in range(1, len(layers) + 1):
            for group in combinations(layers, size):
                if len(connected_parts(problem, group)) > 1 or hulls.between(group).bit_count() != size:
                    continue
                for step, crossing, question in steps_of(problem, group):
                    if question.price(step) == math.inf:
                        continue
                    if size == 1:
                        assert crossing >= crossings_alone(tensors, group[0], room), (seed, step)
                        alone += 1
                    else:
                        assert found is not None
                        assert found.least <= crossing - sum(prices[v] for v in group), (seed, step)
                        several += 1
    return several, alone


def test_no_step_crosses_less_than_the_oracle_says():
    counts = [check_steps(seed) for seed in range(60)]
    assert all(sum(each) > 100 for each in zip(*counts))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_no_step_crosses_less_on_thousands(part: int):
    for seed in range(60_000 + 500 * part, 60_500 + 500 * part):
        check_steps(seed)


def check_joins(seed: int) -> int:
    """Return how many tensors of subgraphs were looked at that a reader behind a longer path reads, too."""
    problem = random_problem(seed, most_layers=8)
    slacks, geometry = slacks_between(problem), problem.rules[0].geometry
    looked_at = 0
    for u, v in slacks if problem.size <= 9 else ():
        others = [w for w in range(problem.size) if w not in (u, v)]
        for size in range(len(others) + 1):
            for more in combinations(others, size):
                group = tuple(sorted((u, v, *more)))
                hulls = Hulls(problem, SubgraphCosts(problem))
                if hulls.between(group).bit_count() != len(group):
                    continue
                for axis, slack in zip((ROWS, COLUMNS), slacks[u, v]):
                    for tile in (1, 2, 3):
                        tiles = derive_tiles(Subgraph(geometry, group), axis, tile)
                        if tiles is not None:
                            is_all = tiles[u].size >= geometry.extent[axis][u]
                            assert is_all or tiles[u].size - tiles[u].step >= slack, (seed, u, v, group)
                            looked_at += 1
    return looked_at


def test_forks_hold_what_their_branches_run_ahead():
    assert sum(check_joins(seed) for seed in range(80)) > 50


@pytest.mark.slow
def test_forks_hold_what_their_branches_run_ahead_on_thousands():
    assert sum(check_joins(seed) for seed in range(70_000, 72_000)) > 1_500


@pytest.mark.parametrize("keep", ["none", "auto"])
def test_bounds_of_memories_are_those_of_larger_ones_and_their_own_buffers(keep):
    """Each memory is at least as expensive as what it has by itself, and no less than one certificate says alone."""
    network = dag([[], [0], [0], [1, 2], [3], [4, 0]], kernel=3)
    problem = over_space(network, SharedBuffer(low=1024, high=2560, step=512), alpha=3.0, metric="ema", keep=keep)
    solver, stairs = _Solver(problem, list(range(6))), Staircase(problem)
    before = dict(stairs.bound)
    step = solver.certify((2,), (), SHORT)
    stairs.take((2,), step)
    for memory, bound in stairs.bound.items():
        crossing = step.traffic[0].weights + step.traffic[0].maps
        own = problem.accelerator_of(memory).buffer_bytes + 3.0 * crossing
        assert bound == (max(before[memory], own) if memory <= (2,) else before[memory])


def test_forced_crossings_by_memory_are_no_less_than_those_of_the_largest():
    problem = over_space(workloads.load("googlenet"))
    stairs = Staircase(problem)
    floor = stairs.least
    stairs.climb(math.inf, no_limit, lambda memory, *_: forced_step(problem, memory), 6)
    assert stairs.least > floor


def test_randwire_in_a_small_memory_has_a_bound_far_above_once():
    """192 KB: 5,727,339 bytes cross once, 1,070,160 more at least."""
    network = workloads.load("randwire_a")
    problem = on_hardware(network, Accelerator(shared_buffer=192 * 1024), metric="ema", keep="auto")
    found = certify(problem, range(problem.size), 1.0)
    assert 6_000_000 < found.lower_bound < 7_500_000 and found.method == "partition"
