"""Recurrent layers: rows one after the other, each from the one before; as one nest of loops, held, and kept."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import cocco
import workloads
from cocco.problem.problem import on_hardware
from simulator import Accelerator, Partition, evaluate
from simulator.execution import verify
from simulator.execution.count.miss import Miss
from simulator.execution.layer import LayerPlan, count_layer, run_layer
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.value.dense import State
from simulator.mapping import layer_cycles
from simulator.model.layer.cheapest import Goal, Room, cheapest_plan, plans_of
from simulator.model.layer.least_room import can_run, needs
from simulator.model.layer.loops import loop_layer
from tests.helpers.command_line import assert_malformed
from tests.helpers.command_line import cocco as run
from tests.helpers.executions import execute
from tests.helpers.in_order import COUNTS, cell
from tests.helpers.layer_plans import run_as_claimed, some_plans
from tests.helpers.parts import first_of
from tests.helpers.random_recurrent import random_recurrent, random_sequence
from tests.helpers.same_prices import assert_same_prices
from workloads import Builder
from workloads.errors import NetworkError


def test_weights_and_macs_by_hand():
    """An LSTM of 16: each of 6 steps multiplies its state with 4 gates x 16 x 16 weights."""
    (layer,) = cell().layers
    assert (layer.weight_elements, layer.macs) == (4 * 16 * 16, 6 * 4 * 16 * 16)
    assert (layer.height, layer.channels) == (6, 16)


def test_rows_wait_for_each_other_in_the_array():
    """64 inputs and 16 outputs on 8 x 8 lanes of 4 x 4 PEs: 8 words of inputs on 4 PEs take each row two turns.

    8 inputs and 8 outputs take one PE; four rows would take one turn of four of them, but each waits for the last.
    """
    assert (layer_cycles(cell().layers[0]), layer_cycles(cell(8, 1, 8).layers[0])) == (12, 8)
    assert layer_cycles(replace(cell(8, 1, 8).layers[0], op="fc")) < 8
    for seed in range(40):
        layer = random_recurrent(random.Random(seed)).layers[0]
        row = replace(layer, op="fc", height=1)
        assert layer_cycles(layer) == layer.height * layer_cycles(row), seed


def test_loops_by_hand():
    """With all weights: 1,024 of them, a row of gates (64), its results and the row before (16 each).

    With those of 8 outputs: they pass again for each row; results of all outputs are held until the row is done.
    """
    layer = loop_layer(cell(), 0)
    plans = {plan.chunk: plan for plan in plans_of(layer, Room(10**6, None), "bands")}
    assert {(plan.order, plan.tile) for plan in plans.values()} == {("TK", (1, 1))}
    assert (plans[16].activation_bytes, plans[16].weight_bytes) == (64 + 16 + 16, 1024)
    assert plans[16].totals[:3] == (1024, 6 * 64, 6 * 16)
    assert [tuple(each) for each in needs(layer)] == [(64 + 16 + 16, 512)]
    passing = cheapest_plan(layer, Room(96, 512), Goal("ema", 1.0, 0.0, 0.0))
    assert passing is not None and passing.totals[:3] == (6 * 1024, 6 * 64, 6 * 16)


def check_loops(seed: int) -> set[str]:
    """Run some plans of a layer with values and count them; return their orders."""
    network, batch, plans = some_plans(seed, 6, random_recurrent)
    for plan in plans:
        run_as_claimed(network, plan, batch, COUNTS[2:] if plan.order == "TP" else COUNTS)
    return {plan.order for plan in plans}


def test_loops_run_as_the_closed_forms_say():
    assert set().union(*map(check_loops, range(60))) == {"TK", "TP"}


@pytest.mark.slow
def test_many_loops_run_as_the_closed_forms_say():
    assert set().union(*map(check_loops, range(100, 3_000))) == {"TK", "TP"}


def test_a_plan_is_found_where_a_need_is_met_and_nowhere_else():
    for seed in range(40):
        rng = random.Random(seed)
        layer = loop_layer(random_recurrent(rng), 0, rng.choice((1, 2)))
        for activation, weights in needs(layer):
            for room in [Room(activation + i, weights + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]:
                plan = cheapest_plan(layer, room, Goal("ema", 1.0, 0.0, 0.0))
                assert (plan is not None) == can_run(layer, room), (seed, room)


@pytest.mark.parametrize("plan", [LayerPlan("KT", "ring", (1, 1), chunk=16), LayerPlan("TK", "ring", (2, 1), chunk=16)])
def test_loops_that_do_not_wait_for_the_row_before_are_refused(plan):
    with pytest.raises(Miss, match="needs the row before each"):
        count_layer(cell(), 0, plan)
    with pytest.raises(Miss, match="needs the row before each"):
        run_layer(cell(), 0, plan, (10**6, 10**6))


def test_a_row_before_its_time_is_a_miss():
    state = State(Chip(word=8), 1, 16)
    state.read(range(1), range(1))
    with pytest.raises(Miss, match="before the row above"):
        state.read(range(1), range(1, 2))


def test_without_room_for_the_row_before_the_loops_miss():
    plan = LayerPlan("TK", "ring", (1, 1), chunk=16)
    assert run_layer(cell(), 0, plan, (96, 1024)).activation_bytes == 96
    with pytest.raises(Miss):
        run_layer(cell(), 0, plan, (95, 1024))


def test_held_the_row_before_still_lies_in_its_region():
    """One element less of the state's region, and the row before is gone; whatever the tile."""
    b = Builder("held")
    h = b.recurrent("h", b.conv("gates", b.input("x", 9, 1, 8), 16), 4)
    b.maxpool("pool", h, (3, 1), (2, 1))
    for tile in (1, 2, 4):
        execute(b.build(), tile)


def check_sequence(seed: int) -> tuple[bool, bool]:
    """Plan a sequence in a small memory and execute the plan; return whether it ran, and whether anything was held."""
    rng, network = random.Random(seed), random_sequence(seed)
    size, metric = int(2 ** rng.uniform(7, 12)), rng.choice(("ema", "energy", "latency-sum"))
    chip = Accelerator(shared_buffer=size, batch=rng.choice((1, 1, 2, 3)))
    if rng.random() < 0.3:
        chip = Accelerator(global_buffer=size, weight_buffer=size, batch=chip.batch)
    keep = rng.choice(("auto", "none"))
    found = cocco.partition(network, chip, metric=metric, keep=keep)
    again = cocco.partition(network, chip, metric=metric, keep=keep, engine="reference")
    assert (found.cost, found.plans) == (again.cost, again.plans), seed
    assert_same_prices(on_hardware(network, chip, metric=metric))
    if not found.plans:
        return False, False
    verified = verify(network, found.plan, chip)
    assert verified.verified, (seed, [each for each in verified.checks if each.status == "different"])
    return True, len(found.plan) < len(network.layers)


def test_sequences_run_as_planned_and_both_engines_agree():
    counts = [check_sequence(seed) for seed in range(30)]
    assert sum(ran for ran, _ in counts) > 20 and sum(held for _, held in counts) > 10


@pytest.mark.slow
def test_many_sequences_run_as_planned_and_both_engines_agree():
    counts = [check_sequence(seed) for seed in range(1_000, 1_400)]
    assert sum(ran for ran, _ in counts) > 250 and sum(held for _, held in counts) > 150


def test_an_epilogue_does_not_follow_a_recurrent_layer_in_its_loops():
    b = Builder("sum")
    x = b.input("x", 6, 1, 16)
    b.add("sum", [b.recurrent("h", b.conv("gates", x, 64), 16), x])
    network = b.build()
    found = evaluate(network, Partition.from_ids(network, [[0], [1, 2]]), Accelerator(shared_buffer=1100))
    assert not found.fits


def test_malformed_layers_are_told_the_rule(tmp_path):
    b = Builder("cell")
    with pytest.raises(NetworkError, match="'h' .recurrent. has in_channels 10; they must be a multiple of its 4"):
        b.recurrent("h", b.input("x", 6, 1, 10), 4)
    with pytest.raises(NetworkError, match="'h' .recurrent. has width 2.*must read one sequence"):
        b.recurrent("h", b.input("y", 6, 2, 8), 4)


def test_a_file_keeps_a_recurrent_layer(tmp_path):
    path = tmp_path / "cell.json"
    workloads.save(cell(), path)
    assert workloads.load(path).layers == cell().layers
    path.write_text(
        path.read_text(encoding="utf-8").replace('"in_channels": 64', '"in_channels": 60'), encoding="utf-8"
    )
    assert_malformed(run("evaluate", path, "--partition", "layerwise", "--shared-buffer", "1MB"), ["'h'", "60"])


@pytest.mark.parametrize("seed", first_of(range(200, 240), 4))
def test_executed_latency_is_what_the_loops_take(seed):
    network = random_sequence(seed)
    chip = Accelerator(shared_buffer=4096)
    found = cocco.partition(network, chip, metric="latency", samples=300)
    verified = verify(network, found.plan, chip)
    assert verified.check("latency_executed_cycles").status == "equal"
