"""Scans: rows that go through a state which stays on chip, from the first row of a sample to its last."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import cocco
import workloads
from cocco.problem.problem import on_hardware
from simulator import Accelerator
from simulator.execution import verify
from simulator.execution.count.miss import Miss
from simulator.execution.layer import LayerPlan, count_layer, run_layer
from simulator.execution.layer.common.problem import Problem
from simulator.execution.layer.value.scan import scanned
from simulator.mapping import layer_cycles
from simulator.model.layer.cheapest import Goal, Room, cheapest_plan
from simulator.model.layer.least_room import can_run, needs
from simulator.model.layer.loops import loop_layer
from tests.helpers.command_line import assert_malformed
from tests.helpers.command_line import cocco as run
from tests.helpers.in_order import COUNTS, mamba
from tests.helpers.layer_plans import run_as_claimed, some_plans
from tests.helpers.parts import first_of
from tests.helpers.random_scans import random_scan, random_scans
from tests.helpers.same_prices import assert_same_prices
from workloads import Builder
from workloads.errors import NetworkError

PLAN = LayerPlan("CT", "ring", (1, 1), apart=24)


def test_weights_and_macs_by_hand():
    """24 channels with 4 numbers each: a row multiplies 96 of them three times, and each of 96 weights once."""
    (layer,) = mamba().layers
    assert (layer.weight_bytes, layer.macs, layer.light_ops) == (96, 6 * (3 * 96 + 96), 0)
    assert (layer.height, layer.channels, layer.in_channels) == (6, 24, 24 + 24 + 4 + 4)


def test_cycles_by_hand():
    """96 numbers on 16 PEs of 4 channels take two turns for each of three steps, as do 96 weights: 8 for each row.

    Sixteen heads of one weight take one turn; rows wait for each other.
    """
    assert layer_cycles(mamba().layers[0]) == 6 * (3 * 2 + 2)
    assert layer_cycles(mamba(weights=24).layers[0]) == 6 * (3 * 2 + 1)
    assert layer_cycles(mamba(weights=0).layers[0]) == 6 * 3 * 2


def test_loops_by_hand():
    """Held are a row of each operand (24, 24, 8, 8), its results (24), the state in sums of 4 bytes, and 96 weights.

    All operands and results cross once. The state is written by all rows but the last, and read by all but the first.
    """
    layer = loop_layer(mamba(), 0)
    plan = cheapest_plan(layer, Room(10**6, None), Goal("ema", 1.0, 0.0, 0.0))
    assert plan is not None and (plan.order, plan.tile) == ("CT", (1, 1))
    assert (plan.activation_bytes, plan.weight_bytes) == (24 + 24 + 8 + 8 + 24 + 4 * 96, 96)
    assert plan.totals[:3] == (96, 6 * 56, 6 * 24)
    assert plan.totals.global_buffer_bytes == 2 * 6 * 56 + 2 * 6 * 24 + 2 * 5 * 4 * 96
    assert plan.totals.weight_buffer_bytes == 96 + 6 * 96


def test_blocks_of_channels_by_hand():
    """A state of 384 bytes in 200: 8 of 24 channels at a time, with 8 of u and step, all of b and c, and 32 weights.

    Each of the three blocks reads b and c of all rows (4 and 4 bytes); all else crosses once, as in one block.
    """
    layer = loop_layer(mamba(), 0)
    assert [tuple(each) for each in needs(layer)] == [(5 * 8 + 4 * 32, 32)]
    goal = Goal("ema", 1.0, 0.0, 0.0)
    assert cheapest_plan(layer, Room(199, None), goal) is None
    plan = cheapest_plan(layer, Room(200, None), goal)
    assert plan is not None and (plan.order, plan.tile, plan.apart) == ("CT", (1, 1), 8)
    assert (plan.activation_bytes, plan.weight_bytes) == (168, 32)
    assert plan.totals[:3] == (96, 6 * (24 + 24) + 3 * 6 * (4 + 4), 6 * 24)
    assert plan.totals.global_buffer_bytes == 2 * (288 + 144) + 2 * 6 * 24 + 2 * 5 * 4 * 96
    assert plan.totals.weight_buffer_bytes == 96 + 6 * 96
    run_as_claimed(mamba(), plan, 1, COUNTS)
    wider = cheapest_plan(layer, Room(384, None), goal)
    assert wider is not None and (wider.apart, wider.totals.ema_input_bytes) == (16, 288 + 2 * 48)


def test_weights_of_heads_stay_for_all_blocks():
    """Three heads share a weight each: all three are held and come once, and each block reads them in each row."""
    plan = cheapest_plan(loop_layer(mamba(weights=3), 0), Room(171, None), Goal("ema", 1.0, 0.0, 0.0))
    assert plan is not None and (plan.apart, plan.weight_bytes, plan.totals.ema_weight_bytes) == (8, 3, 3)
    assert plan.totals.weight_buffer_bytes == 3 + 3 * 6 * 3
    run_as_claimed(mamba(weights=3), plan, 1, COUNTS)


def attended(problem: Problem) -> np.ndarray:
    """Return what a scan makes, as a product of positions: row t sees each row s with the decays in between."""
    layer, (u, step, b, c) = problem.layer, (problem.maps[each][:, :, :, 0] for each in problem.ids)
    decays, prime = problem.weights.reshape(layer.channels, -1), 65521
    found = np.zeros((problem.batch, layer.channels, layer.height, 1), dtype=np.int64)
    for sample, d, t in np.ndindex(found.shape[:3]):
        for s in range(t + 1):
            for n in range(decays.shape[1]):
                passed = sum(int(step[sample, d, r]) * int(decays[d, n]) % 128 for r in range(s + 1, t + 1))
                part = int(c[sample, n, t]) * int(b[sample, n, s]) * int(u[sample, d, s]) * pow(3, passed, prime)
                found[sample, d, t] = (found[sample, d, t] + part) % prime
    return found


def test_the_judge_computes_a_selective_state_space():
    problem = Problem(mamba(rows=5, channels=6, state=3), 0, 2, seed=1)
    assert (scanned(problem) == attended(problem)).all()
    assert len(np.unique(scanned(problem))) > 50


def check_loops(seed: int) -> int:
    """Run some plans of a layer with values and count them; return how many."""
    network, batch, plans = some_plans(seed, 6, random_scan)
    for plan in plans:
        run_as_claimed(network, plan, batch, COUNTS)
    return len(plans)


def test_loops_run_as_the_closed_forms_say():
    assert sum(map(check_loops, range(120))) > 100


@pytest.mark.slow
def test_many_loops_run_as_the_closed_forms_say():
    assert sum(map(check_loops, range(1_000, 6_000))) > 4_000


def test_a_plan_is_found_where_a_need_is_met_and_nowhere_else():
    for seed in range(40):
        rng = random.Random(seed)
        layer = loop_layer(random_scan(rng), 0, rng.choice((1, 2)))
        for activation, weights in needs(layer):
            for room in [Room(activation + i, weights + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]:
                plan = cheapest_plan(layer, room, Goal("ema", 1.0, 0.0, 0.0))
                assert (plan is not None) == can_run(layer, room), (seed, room)


@pytest.mark.parametrize("lie", [{"tile": (2, 1)}, {"order": "TC", "apart": 16}])
def test_loops_that_do_not_wait_for_the_state_are_refused(lie):
    with pytest.raises(Miss, match="reads the state that the row before leaves"):
        count_layer(mamba(), 0, PLAN._replace(**lie))
    with pytest.raises(Miss, match="reads the state that the row before leaves"):
        run_layer(mamba(), 0, PLAN._replace(**lie), (10**6, 10**6))


def test_without_room_for_the_state_or_the_weights_the_loops_miss():
    for plan, activation, weights in ((PLAN, 472, 96), (PLAN._replace(apart=8), 168, 32)):
        assert run_layer(mamba(), 0, plan, (activation, weights)).activation_bytes == activation
        for rooms in ((activation - 1, weights), (activation, weights - 1)):
            with pytest.raises(Miss):
                run_layer(mamba(), 0, plan, rooms)


def check_scans(seed: int) -> tuple[bool, bool, bool]:
    """Plan a sequence in a small memory and execute the plan.

    Returns whether it ran, whether a scan was held with other layers, and whether one ran in blocks of channels.
    """
    rng, network = random.Random(seed), random_scans(seed)
    size, metric = int(2 ** rng.uniform(8, 12)), rng.choice(("ema", "energy", "latency-sum"))
    chip = Accelerator(shared_buffer=size, batch=rng.choice((1, 1, 2, 3)))
    if rng.random() < 0.3:
        chip = Accelerator(global_buffer=size, weight_buffer=size, batch=chip.batch)
    keep = rng.choice(("auto", "none"))
    found = cocco.partition(network, chip, metric=metric, keep=keep)
    again = cocco.partition(network, chip, metric=metric, keep=keep, engine="reference")
    assert (found.cost, found.plans) == (again.cost, again.plans), seed
    assert_same_prices(on_hardware(network, chip, metric=metric))
    if not found.plans:
        return False, False, False
    verified = verify(network, found.plan, chip)
    assert verified.verified, (seed, [each for each in verified.checks if each.status == "different"])
    assert found.lower_bound is None or found.lower_bound <= found.cost
    channels = {layer.name: layer.channels for layer in network.layers if layer.op == "scan"}
    loops = [(price.layers[0], price.loops) for price in found.evaluation.subgraphs]
    blocks = [plan is not None and plan.apart < channels.get(name, 0) for name, plan in loops]
    return True, any(len(each) > 1 and channels.keys() & set(each) for each in found.plan.names), any(blocks)


def test_sequences_run_as_planned_and_both_engines_agree():
    counts = [check_scans(seed) for seed in range(25, 45)]
    assert all(sum(each) > least for each, least in zip(zip(*counts), (15, 8, 3)))


@pytest.mark.slow
def test_many_sequences_run_as_planned_and_both_engines_agree():
    counts = [check_scans(seed) for seed in range(1_000, 1_300)]
    assert all(sum(each) > least for each, least in zip(zip(*counts), (180, 100, 30)))


@pytest.mark.parametrize("seed", first_of(range(200, 240), 4))
def test_executed_latency_is_what_the_loops_take(seed):
    network, chip = random_scans(seed), Accelerator(shared_buffer=8192, batch=1 + seed % 2)
    found = cocco.partition(network, chip, metric="latency", samples=300)
    verified = verify(network, found.plan, chip)
    assert verified.check("latency_executed_cycles").status == "equal"


@pytest.mark.parametrize(
    "widths, state, weights, rule",
    [
        ((8, 8, 4, 4), 3, None, "'y' .scan. has b and c of 4 and 4 channels; they must be 3 for each"),
        ((8, 3, 4, 4), 4, None, "'y' .scan. has 3 gates or weights; they must be one for each of its 8"),
        ((8, 8, 4, 4), 4, 5, "'y' .scan. has 5 gates or weights"),
        ((8, 8), 4, None, "'y' .scan. has 2 inputs"),
        ((8, 4, 4), "4", None, "'y' .scan. has a state with size '4'; it must be an integer from 1"),
        ((8, 4, 4), 4, -1, "'y' .scan. has a state with weights -1"),
    ],
)
def test_malformed_scans_are_told_the_rule(widths, state, weights, rule):
    b = Builder("one")
    with pytest.raises(NetworkError, match=rule):
        b.scan("y", [b.input(f"x{i}", 6, 1, width) for i, width in enumerate(widths)], state, weights)


def test_only_sequences_of_equal_length_are_scanned():
    b = Builder("one")
    with pytest.raises(NetworkError, match="'y' .scan. must read sequences .width 1. of as many rows"):
        b.scan("y", [b.input("u", 6, 1, 8), b.input("b", 5, 1, 2), b.input("c", 6, 1, 2)], 2)


def test_a_file_keeps_a_scan(tmp_path):
    path = tmp_path / "one.json"
    workloads.save(mamba(weights=24), path)
    assert workloads.load(path).layers == mamba(weights=24).layers
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'"state": \[\s*4', '"state": [7', text), encoding="utf-8")
    assert_malformed(run("evaluate", path, "--partition", "layerwise", "--shared-buffer", "1MB"), ["'y'", "7"])


def test_a_network_with_a_scan_shrinks():
    b = Builder("rows")
    x = b.conv("mix", b.input("x", 16, 1, 8), 8, (3, 1), padding=(2, 0, 0, 0))
    b.scan("y", [x, b.fc("b", x, 4), b.fc("c", x, 4)], 4, 8)
    assert [layer.height for layer in workloads.shrink(b.build(), 4).layers] == [4] * 4
