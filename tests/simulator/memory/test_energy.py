"""Energy on hardware with tables: by hand, as a sum over steps, as executed, and equal in both engines."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

import workloads
from cocco.effort.settings import Settings
from cocco.problem.problem import Problem, over_space
from cocco.problem.space import SeparateBuffers, SharedBuffer
from cocco.search.genetic.engine import FastEngine, ReferenceEngine
from cocco.search.genetic.population import Population
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator, KiB, MiB, Partition, Technology, evaluate, least_capacity
from simulator.execution.verify import verify
from simulator.memory.reading import find_table
from simulator.memory.sram import Sram
from simulator.memory.table import SramRow, SramTable
from simulator.model.layer.cheapest import cheapest_plan, plans_of
from simulator.model.layer.goal import Goal, Room, energy_of
from simulator.model.layer.loops import loop_layer
from tests.helpers.parts import each_seed
from tests.helpers.random_layers import random_layer, random_reduction
from tests.helpers.random_problems import random_problem
from tests.helpers.random_tables import with_tables
from tests.helpers.same_prices import assert_same_prices

HP = Sram(find_table("cacti7_22nm_hp"))
ON_HP = Technology(activation_sram=HP, weight_sram=HP)


def in_energy(problem: Problem, seed: int) -> Problem:
    """Return the problem on the same hardware with tables, in energy."""
    found = with_tables(problem, seed)
    return replace(found, objective=replace(found.objective, metric="energy"))


def test_leakage_is_power_times_latency_by_hand():
    """2 cores of 85 mW over 1,000 cycles at 2 GHz: 170 mW x 500 ns = 85,000 pJ."""
    flat = tuple(SramRow(size, 1.0, 2.0, 85.0, 0.5) for size in (1, 2**30))
    sram = Sram(SramTable("flat", flat))
    technology = Technology(clock_ghz=2.0, activation_sram=sram, weight_sram=sram)
    chip = Accelerator(shared_buffer=2**20, cores=2, technology=technology)
    slots = 1000 * chip.dram_bytes_per_cycle
    assert chip.static_pj_per_slot[0] * slots == pytest.approx(85_000)
    assert chip.static_pj_per_slot[1:] == (0.0, 0.0, 0.0)
    assert chip.leakage_mw == 170.0 and chip.area_mm2 == 1.0
    apart = Accelerator(global_buffer=2**19, weight_buffer=2**19, cores=2, technology=technology)
    assert sum(apart.static_pj_per_slot[:2]) * slots == pytest.approx(170_000) and apart.area_mm2 == 2.0


def test_reads_writes_and_leakage_of_a_layer_by_hand():
    """A copy of 8 bytes by a 1x1 pool: 8 come in and 8 are made (written), 8 read for it and 8 on the way out."""
    b = workloads.Builder("one")
    b.maxpool("a", b.input("x", 1, 1, 8), 1, 1)
    flat = tuple(SramRow(size, 1.0, 10.0, 160.0, 0.5) for size in (1, 2**30))
    chip = Accelerator(
        shared_buffer=2**20,
        technology=Technology(
            activation_sram=Sram(SramTable("flat", flat)), weight_sram=Sram(SramTable("flat", flat)),
            dram_background_mw=16.0, operation_pj=0.0,
        ),
    )  # fmt: skip
    network = b.build()
    found = evaluate(network, Partition.layerwise(network), chip)
    parts = found.energy_breakdown
    assert parts is not None and parts.global_buffer == 16 * 1.0 + 16 * 10.0
    assert parts.leakage == pytest.approx(160.0 * found.latency_cycles)
    assert parts.dram_background == pytest.approx(16.0 * found.latency_cycles)
    assert found.energy_pj == pytest.approx(1600 + 176 + 176 * found.latency_cycles)


@pytest.mark.parametrize("name", ["resnet50", "gpt"])
def test_leakage_is_a_sum_over_the_steps_and_is_judged(name):
    network = workloads.load(name)
    chip = Accelerator(shared_buffer=1 * MiB, technology=ON_HP)
    plan = Partition.layerwise(network)
    found = evaluate(network, plan, chip)
    assert found.energy_breakdown is not None and found.energy_breakdown.leakage
    steps = [cost.energy_breakdown.leakage for cost in found.subgraphs]
    assert sum(steps) == pytest.approx(found.energy_breakdown.leakage, rel=1e-12)
    assert found.energy_breakdown.leakage == pytest.approx(chip.leakage_mw * found.latency_cycles)
    content = found.to_json()["subgraphs"][0]["energy_breakdown"]
    assert set(content) == {"dram", "global_buffer", "weight_buffer", "compute", "crossbar", "leakage"}
    execution = verify(network, plan, chip)
    assert execution.verified and execution.check("energy_pj").status == "equal"
    assert execution.check("global_written_bytes").status == "equal"
    assert all(execution.check("energy_leakage_pj", step).status == "equal" for step in (None, 0, len(steps) - 1))


def test_without_a_table_nothing_is_said_of_leakage():
    network = workloads.load("vgg16")
    found = evaluate(network, Partition.layerwise(network), Accelerator(shared_buffer=1 * MiB)).to_json()
    assert "leakage" not in found["subgraphs"][0]["energy_breakdown"]
    assert not {"activation_sram", "dram_kind", "dram_background_mw"} & set(found["accelerator"]["technology"])


def test_a_table_of_the_formula_prices_as_the_formula():
    network = workloads.load("resnet50")
    rows = tuple(
        SramRow(size, *[Technology().sram_pj_per_byte(size)] * 2, 0.0, Technology().sram_area_mm2(size))
        for size in (256 * KiB, 512 * KiB, 1024 * KiB)
    )
    sram = Sram(SramTable("formula", rows))
    chip = Accelerator(shared_buffer=512 * KiB)
    plan = Partition.layerwise(network)
    plain = evaluate(network, plan, chip)
    priced = evaluate(network, plan, replace(chip, technology=Technology(activation_sram=sram, weight_sram=sram)))
    assert priced.energy_pj == plain.energy_pj and priced.accelerator.area_mm2 == chip.area_mm2


@each_seed(30, 60)
def test_the_cheapest_order_is_the_cheapest_of_all(seed):
    """Leakage and dear writes move the choice; brute force over all plans that are tried."""
    rng = random.Random(seed)
    layer = loop_layer(rng.choice((random_layer, random_reduction))(rng), 0, rng.choice((1, 2)))
    room = Room(int(2 ** rng.uniform(6, 15)), rng.choice((None, int(2 ** rng.uniform(5, 14)))))
    pj = [rng.choice((0.0, 0.5, 1.0, 7.0)) for _ in range(5)]
    goal = Goal("energy", *pj, static=rng.choice((0.0, 3.0)), cycles=rng.choice((0, 1000)))
    plan = cheapest_plan(layer, room, goal)
    energies = [
        energy_of(goal, each.totals, max(goal.cycles, each.ema_bytes), 0) for each in plans_of(layer, room, "bands")
    ]
    assert (plan is None) == (not energies)
    if plan is not None:
        assert energy_of(goal, plan.totals, max(goal.cycles, plan.ema_bytes), 0) == min(energies)


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@each_seed(75, 150)
def test_both_engines_choose_the_same_order(seed):
    from cocco.search.kernel._model import LoopLayers

    rng = random.Random(seed)
    layer = loop_layer(rng.choice((random_layer, random_reduction))(rng), 0, rng.choice((1, 2, 3)))
    room = Room(int(2 ** rng.uniform(5, 16)), rng.choice((None, int(2 ** rng.uniform(5, 15)))))
    pj = [rng.choice((0.0, 0.5, 1.0, 1.0, rng.uniform(0, 9))) for _ in range(5)]
    goal = Goal(rng.choice(("ema", "energy")), *pj, rng.choice((0.0, 2.5)), rng.choice((0, 10**4)))
    assert LoopLayers([layer]).cheapest(0, *room, *goal) == cheapest_plan(layer, room, goal)


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@each_seed(30, 60)
def test_both_engines_price_tables_alike(seed):
    assert_same_prices(in_energy(random_problem(seed), seed))


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@pytest.mark.parametrize("seed", range(20))
def test_both_engines_search_tables_alike(seed):
    assert_same_generations(in_energy(random_problem(seed), seed), 40)


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@pytest.mark.parametrize("cores", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_both_engines_choose_memory_alike(cores):
    """Two generations over the paper's shared candidates, and over separate ones with a table for weights only."""
    network = workloads.load("vgg16")
    shared = over_space(network, SharedBuffer(), technology=ON_HP, metric="energy", cores=cores)
    apart = over_space(network, SeparateBuffers(), technology=Technology(weight_sram=HP), metric="energy", cores=cores)
    for problem in (shared, apart):
        assert_same_generations(problem, 20)


def assert_same_generations(problem: Problem, samples: int) -> None:
    """Both engines make the same founders and children at the same costs."""
    settings = Settings(population=samples // 2, elite=2)
    parents = Population.empty(0, problem.size)
    slow, fast = ReferenceEngine(problem, settings), FastEngine(problem, settings)
    for generation in range(2):
        expected, found = (each.breed(7, generation, parents, (), samples // 2) for each in (slow, fast))
        for field in Population._fields:
            assert np.array_equal(getattr(found, field), getattr(expected, field)), (generation, field)
        parents = found.by_cost()


def test_the_least_capacity_does_not_depend_on_a_table():
    network = workloads.load("vgg16")
    plan = Partition.layerwise(network)
    assert least_capacity(network, plan, technology=ON_HP) == least_capacity(network, plan)
