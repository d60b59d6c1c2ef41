"""The front: against brute force, the same bytes from both engines, the simulator's prices, bad input at the door."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cocco
from cocco.effort.settings import Settings
from cocco.exploration.memories.solved import Memories, Solved
from cocco.problem.criteria import CRITERIA, MEMORY
from cocco.problem.dominance import front_of, hypervolume
from cocco.problem.plane import Plane
from cocco.search.genetic.engine import FastEngine, ReferenceEngine
from cocco.search.genetic.nsga import survivors
from cocco.search.genetic.population import Population
from cocco.search.kernel.choice import has_kernel
from simulator.accelerator import Accelerator
from simulator.evaluation import evaluate
from tests.helpers.every_plan import Plan, everything
from tests.helpers.parts import each_seed, first_of
from tests.helpers.random_problems import random_twin
from tests.helpers.search_graphs import BRANCHES, SPACE, TWO, chain, criterion, dag, diamond

SPACES = {"shared": SPACE, "separate": TWO}


@cache
def plans_of_branches(space: str) -> list[Plan]:
    """Return all plans of one network in the memories of SPACE or of TWO."""
    return everything([BRANCHES], SPACES[space])


def true_front(plans, value) -> list[tuple[float, ...]]:
    """Return the non-dominated values, by comparing all with all."""
    values = sorted({value(plan) for plan in plans})
    return [v for v in values if not any(w != v and all(a <= b for a, b in zip(w, v)) for w in values)]


def assert_fronts_equal(front, expected):
    found = [point.values for point in front.found]
    assert len(found) == len(expected) > 0
    assert np.allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("space", "objectives"),
    first_of(
        [
            ("shared", ("area", "latency-sum")), ("separate", ("capacity", "energy")),
            ("shared", ("energy", "latency-sum", "capacity", "ema")), ("separate", ("ema", "latency-sum")),
            ("separate", ("area", "latency-sum")), ("shared", ("capacity", "energy")),
            ("separate", ("energy", "latency-sum", "capacity", "ema")), ("shared", ("ema", "latency-sum")),
        ],
        4,
    ),
)  # fmt: skip
def test_true_front_of_a_tiny_network_is_found(objectives, space):
    expected = true_front(plans_of_branches(space), lambda plan: tuple(criterion(name, plan) for name in objectives))
    settings = Settings(population=50, elite=10)
    front = cocco.pareto(
        BRANCHES, space=SPACES[space], objectives=objectives, samples=2500, settings=settings, keep="none"
    )
    assert_fronts_equal(front, expected)
    assert front.status == "feasible" and front.samples <= 2500


def test_true_front_of_two_networks_with_weights_is_found():
    networks, weights = [chain(3), diamond()], [3.0, 0.5]
    plans = everything(networks, SPACE)
    names = ("capacity", "bandwidth")
    expected = true_front(plans, lambda plan: tuple(criterion(name, plan, weights) for name in names))
    front = cocco.pareto(networks, space=SPACE, objectives=names, samples=3000, weights=weights, keep="none")
    assert_fronts_equal(front, expected)


@pytest.mark.parametrize("space", SPACES)
def test_enumeration_proves_the_true_front(space):
    expected = true_front(plans_of_branches(space), lambda p: (criterion("capacity", p), criterion("ema", p)))
    front = cocco.pareto(BRANCHES, space=SPACES[space], objectives=("capacity", "ema"), method="exact", keep="none")
    assert front.status == "optimal"
    assert_fronts_equal(front, expected)


def test_points_are_not_dominated_and_are_what_the_simulator_says():
    network = chain(6)
    front = cocco.pareto(network, space=SPACE, samples=800, objectives=("capacity", "energy", "latency-sum"))
    for point in front.found:
        judged = evaluate(network, point.plans[0], point.accelerator)
        assert point.values == (point.accelerator.shared_buffer, judged.energy_pj, judged.latency_cycles)
        others = front.points[["capacity_bytes", "energy_pj", "latency_cycles"]].to_numpy()
        assert not ((others <= point.values).all(axis=1) & (others < point.values).any(axis=1)).any()
    assert front.front["energy_pj"].tolist() == [point.values[1] for point in front.found]


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@pytest.mark.parametrize("objectives", [("capacity", "energy"), ("latency-sum", "ema", "area")], ids="-".join)
@pytest.mark.parametrize("samples", first_of([150, 400], 1))
def test_both_engines_give_the_same_bytes(samples, objectives):
    networks = [chain(6), dag([[], [0], [0], [1, 2], [2], [3, 4]], "other", kernel=3)]
    settings = Settings(population=30, elite=10)
    question = {"space": TWO, "objectives": objectives, "samples": samples, "seed": 5, "settings": settings}
    slow, fast, threads = (
        cocco.pareto(networks, engine=engine, threads=count, **question, keep="none")
        for engine, count in (("reference", 1), ("fast", 1), ("fast", 3))
    )
    assert slow.engine == "reference" and fast.engine == "fast"
    assert json.dumps(slow.to_json()) == json.dumps(fast.to_json()) == json.dumps(threads.to_json())
    assert slow.points.equals(fast.points) and slow.points.equals(threads.points)


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@each_seed(20, 24)
def test_both_engines_price_the_same_genomes_alike(seed):
    """What does not fit into the smallest memory is split by the same random numbers."""
    problem, settings = random_twin(seed), Settings(population=24, elite=3)
    slow, fast = ReferenceEngine(problem, settings), FastEngine(problem, settings)
    genomes = slow.breed(seed, 0, Population.empty(0, problem.size), (), 20)
    smallest = np.zeros_like(genomes.capacities)
    for capacities in (genomes.capacities, smallest):
        expected, found = slow.price(genomes.labels, capacities), fast.price(genomes.labels, capacities)
        for field in Population._fields:
            assert np.array_equal(getattr(found, field), getattr(expected, field)), field
    assert np.array_equal(fast.price(genomes.labels, genomes.capacities).value, genomes.value)


@pytest.mark.parametrize("skipped", [0, 4])
def test_one_memory_that_is_not_solved_leaves_the_whole_front_unproven(monkeypatch, skipped):
    """The largest one need not be: its bound is no less than what a smaller one costs."""
    solve = Memories.solve

    def gives_up(self, memory, most, below):
        return Solved(None, False, 0) if memory == (skipped,) else solve(self, memory, most, below)

    assert cocco.pareto(chain(4), space=SPACE, method="exact", keep="none").status == "optimal"
    monkeypatch.setattr(Memories, "solve", gives_up)
    assert cocco.pareto(chain(4), space=SPACE, method="exact", keep="none").status == "gave_up"


def test_a_price_that_the_simulator_does_not_confirm_is_an_error(monkeypatch):
    judged = Plane.judged
    monkeypatch.setattr(
        Plane, "judged", lambda self, found: tuple(value * (1 + 1e-12) for value in judged(self, found))
    )
    with pytest.raises(RuntimeError, match=r"the search priced its winner at .*, the simulator at"):
        cocco.pareto(chain(4), space=SPACE, samples=100)


@pytest.mark.parametrize("samples", [1, 2, 40])
def test_few_samples_are_a_front_too(samples):
    front = cocco.pareto(chain(5), space=SPACE, samples=samples, keep="none")
    assert 1 <= len(front.found) <= samples and front.samples <= samples


def test_ctrl_c_ends_with_the_front_so_far():
    def stop(done, total, points):
        assert total == 5000 and points >= 1
        if done > 300:
            raise KeyboardInterrupt

    with pytest.raises(cocco.Interrupted) as stopped:
        cocco.pareto(chain(6), space=SPACE, samples=5000, progress=stop)
    front = stopped.value.result
    assert front.status == "stopped" and 300 < front.samples < 1000 and front.found


def test_json_has_units_and_a_partition_per_network():
    one = cocco.pareto(chain(3), space=TWO, samples=60).to_json()
    assert one["objectives"] == ["capacity", "energy"] and one["networks"] == ["chain"]
    first = one["front"][0]
    assert first["capacity_bytes"] == first["global_buffer_bytes"] + first["weight_buffer_bytes"]
    assert sorted(name for group in first["partition"] for name in group) == ["n0", "n1", "n2"]
    two = cocco.pareto([chain(3), diamond()], space=SPACE, samples=60).to_json()
    assert two["front"][0]["partitions"].keys() == {"chain", "diamond"}


@pytest.mark.parametrize(
    ("objectives", "words"),
    [
        (("capacity",), "objectives must be two or more, got 1: capacity"),
        ((), "objectives must be two or more, got 0: none"),
        (("energy", "energy"), "objectives must differ, got 'energy' twice"),
        (("energy", "speed"), "objectives must be among capacity, .*, got 'speed'"),
        (("area", "capacity"), "objectives must have one that a partition decides .*, got area, capacity"),
        ("energy", "objectives must be a sequence of names, got 'energy'"),
    ],
)
def test_malformed_objectives_are_named(objectives, words):
    with pytest.raises(ValueError, match=words):
        cocco.pareto(chain(3), space=SPACE, objectives=objectives)


def test_enumeration_needs_one_criterion_of_the_partition():
    for objectives in (("ema", "latency-sum"), ("capacity", "energy", "latency-sum")):
        with pytest.raises(ValueError, match="method 'exact' needs two objectives, one of them capacity or area"):
            cocco.pareto(chain(3), space=SPACE, objectives=objectives, method="exact")


def test_hypervolume_by_hand():
    """Steps at (1, 3), (2, 1) below (4, 4): 3 x 1 + 2 x 2 = 7; what is beyond the corner counts for nothing."""
    values = np.array([[2, 1], [1, 3], [3, 3], [5, 0], [0, 9]])
    assert hypervolume(values, (4, 4)) == (4 - 1) * (4 - 3) + (4 - 2) * (3 - 1) == 7
    assert hypervolume(values[3:], (4, 4)) == 0


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=14))
def test_front_of_three_columns_is_what_brute_force_finds(rows):
    def is_beaten(i):
        return any(
            all(a <= b for a, b in zip(other, rows[i])) and (other != rows[i] or j < i) for j, other in enumerate(rows)
        )

    expected = sorted((i for i in range(len(rows)) if not is_beaten(i)), key=lambda i: rows[i])
    assert front_of(np.array(rows, dtype=float)).tolist() == expected


def test_survivors_stand_by_front_then_by_crowding():
    """Front 1: (0, 9), (1, 5), (2, 4), (9, 0), the ends before the middle; (9, 9) is beaten, the copy is dropped."""
    values = np.array([[9.0, 9], [1, 5], [0, 9], [9, 0], [2, 4], [1, 5]])
    order = survivors(values, 5)
    assert set(order[:2]) == {2, 3} and set(order[2:4]) == {1, 4} and order[4:] == [0]
    assert set(survivors(values, 2)) == {2, 3}


def test_area_is_of_all_cores_and_capacity_of_one():
    front = cocco.pareto(chain(3), space=SPACE, samples=60, objectives=("area", "capacity", "ema"), cores=2)
    point = front.found[0]
    assert isinstance(point.accelerator, Accelerator) and set(MEMORY) < set(CRITERIA)
    assert point.values[0] == pytest.approx(2 * 1.2 * point.values[1] / 2**20)
