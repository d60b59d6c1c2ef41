"""Scans among other layers: held with them, row by row, and alone with results where an operand lay."""

from __future__ import annotations

import random

import pytest

import cocco
from cocco.allocation.address_map import map_of
from cocco.problem.problem import on_hardware
from simulator import Accelerator, Partition
from simulator.execution import verify
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.count.scheme import derive_scheme
from simulator.execution.judge import judge
from simulator.execution.value.arithmetic import Arithmetic
from simulator.execution.value.executor import Execution
from simulator.model import rules as rules_of_model
from simulator.model.buffer_plan import make_plan
from simulator.model.priced import price_partition
from tests.helpers.every_plan import optimum
from tests.helpers.parts import few_seeds, in_parts
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_scans import random_scans
from workloads import Builder


def gated():
    """Six rows of u, b and c with two numbers for each of 8 channels, and what is made of them: 16 and 64 weights."""
    b = Builder("two")
    parts = [b.input("u", 6, 1, 8), b.input("b", 6, 1, 2), b.input("c", 6, 1, 2)]
    b.fc("out", b.scan("y", parts, 2), 8)
    return b.build()


def price_of(size: int):
    network = gated()
    return price_partition(network, Partition.from_ids(network, [[0, 1]], "ema"), Accelerator(shared_buffer=size))


def test_all_rows_at_once_by_hand():
    """Five maps of 6 rows in words of 8, and 2 x 8 sums of 4 bytes; one update reads no state and leaves none."""
    (price,) = price_of(10**6).prices
    assert (price.activation_bytes, price.weight_bytes) == (5 * 6 * 8 + 64, 80)
    assert (price.ema_input_bytes, price.ema_output_bytes, price.ema_weight_bytes) == (72, 48, 80)
    assert price.global_buffer_bytes == 72 + 48 + 2 * 48 + (72 + 48)
    assert price.weight_buffer_bytes == 80 + 80


def test_row_after_row_by_hand():
    """Five rows of 8 bytes and the state, which five of six updates leave for the next."""
    (price,) = price_of(5 * 8 + 64 + 80).prices
    assert price.activation_bytes == 5 * 8 + 64
    assert price.global_buffer_bytes == 72 + 48 + 2 * 48 + (72 + 48) + 2 * 5 * 64
    assert price.global_written_bytes == 72 + 2 * 48 + 5 * 64
    assert price.weight_buffer_bytes == 80 + 6 * 80
    assert not price_of(5 * 8 + 64 + 79).fits


@pytest.mark.parametrize("lie", [{"activation_bytes": -64}, {"global_buffer_bytes": -64}, {"global_written_bytes": 64}])
def test_the_judge_counts_the_state(lie):
    found = price_of(184)
    (price,) = found.prices
    wrong = price._replace(**{name: getattr(price, name) + more for name, more in lie.items()})
    assert not judge(found.network, found.accelerator, found.partition, [price])[1]
    assert next(iter(lie)) in judge(found.network, found.accelerator, found.partition, [wrong])[1]
    assert "activations take" in judge(found.network, Accelerator(shared_buffer=103), found.partition, [price])[1]


class Forgetful(Arithmetic):
    """Rows that leave no state."""

    def block(self, v, rows, columns, read, whole, *_):  # type: ignore[no-untyped-def]
        return super().block(v, rows, columns, read, whole)


@pytest.mark.parametrize("rows", [1, 6])
def test_a_row_needs_the_state_of_the_row_before(rows):
    network = gated()
    part = Part(network, (0, 1))
    scheme = derive_scheme(part, (rows, 1), 1)
    for kind in (Arithmetic, Forgetful):
        arithmetic = kind(network, 2)
        execution = Execution(part, scheme.steps, scheme.cells, arithmetic, arithmetic.model_inputs())
        if kind is Forgetful and rows == 1:
            with pytest.raises(Miss, match="'y .state.': a reader wants .0:1, 0:1., but"):
                execution.run()
        else:
            execution.run()


def test_what_lies_on_the_state_overwrites_it():
    """At its own address all runs; a row of b on the last bytes behind the rows of y changes the state."""
    found = price_of(184)
    (memory,) = map_of(make_plan(found)).memories
    addresses, y = dict(memory.addresses), memory.addresses["0/y/main"]
    for place, verified in ((addresses["0/b/main"], True), (y + 8 + 56, False)):
        moved = {memory.memory: addresses | {"0/b/main": place}}
        assert verify(found.network, found.partition, found.accelerator, addresses=moved).verified == verified


def in_places(rows: int = 6, widths: tuple[int, ...] = (8, 8, 8)):
    """Return a scan of u, a step for each channel, b and c, which a layer before makes; y is read by one behind."""
    b = Builder("places")
    x = b.input("x", rows, 1, 8)
    u, step, both = (b.fc(name, x, width) for name, width in zip(("u", "step", "both"), widths))
    b.fc("out", b.scan("y", [u, step, both, both], 8), 8)
    return b.build()


def plan_in_places(network, keep):
    return Partition.from_groups(network, [[layer.name] for layer in network.layers], "ema", keep)


@pytest.mark.parametrize("keep, maps", [(["u", "step", "y"], 2), (["step", "y"], 1), (["both", "y"], 2), (["y"], 1)])
def test_results_lie_where_u_or_a_gate_lay_and_not_where_b_and_c_lie(keep, maps):
    """All maps have 6 rows of 8 channels; b and c, one map here, are needed by all channels of a row."""
    network = in_places()
    chip = Accelerator(shared_buffer=1024)
    found = price_partition(network, plan_in_places(network, keep), chip)
    assert found.prices[3].kept_bytes == maps * 6 * 8
    placed = map_of(make_plan(found))
    addresses = {each.memory: each.addresses for each in placed.memories}
    assert verify(network, found.partition, chip, addresses=addresses).verified


def test_a_row_that_is_needed_again_is_no_place(monkeypatch):
    network = in_places()
    honest, pair = rules_of_model.places_of, (network.index["both"], network.index["y"])

    def wrong(network, layers, nest=None):
        return (*honest(network, layers, nest), pair) if layers == pair[1:] else honest(network, layers, nest)

    monkeypatch.setattr(rules_of_model, "places_of", wrong)
    said = verify(network, plan_in_places(network, ["both", "y"]), Accelerator(shared_buffer=1024))
    assert not said.verified and "kept_bytes" in said.message


def check_random(seed: int) -> tuple[int, int, int]:
    """Run a random plan, where it fits at addresses, and in one byte less; return steps with a scan among others.

    And how many of them leave what a scan makes on chip; and scans alone with results in the place of an operand.
    """
    rng, network = random.Random(seed), random_scans(seed)
    chip = Accelerator(shared_buffer=rng.choice((1024, 4096, 10**6)), batch=rng.choice((1, 1, 2)))
    plan = random_kept_plan(network, seed)
    found = price_partition(network, plan, chip)
    if not found.fits:
        return 0, 0, 0
    placed = map_of(make_plan(found))
    addresses = {each.memory: each.addresses for each in placed.memories} if placed.fits else None
    said = verify(network, plan, chip, addresses=addresses, full=rng.random() < 0.3)
    assert said.verified, (seed, said.message)
    least = max(price.kept_bytes + price.activation_bytes + price.weight_bytes for price in found.prices)
    assert judge(network, Accelerator(shared_buffer=least - 1, batch=chip.batch), plan, found.prices)[1], seed
    scans = {v for v, layer in enumerate(network.layers) if layer.op == "scan"}
    held = [
        model.subgraph for model in found.models if len(model.subgraph.layers) > 1 and scans & {*model.subgraph.layers}
    ]
    pairs = [found.rules.handed(step.layers, step.touched, step.last) for step in found.steps]
    return len(held), sum(bool(scans & each.on_chip & {*each.layers}) for each in held), sum(
        pair is not None and pair[1] in scans and {pair[1]} == {*step.layers} for pair, step in zip(pairs, found.steps)
    )  # fmt: skip


@few_seeds(100, 200)
def test_random_plans_run_as_priced(seeds):
    held, kept, places = (sum(each) for each in zip(*map(check_random, seeds)))
    assert held > len(seeds) // 4 and kept > len(seeds) // 40 and places


@pytest.mark.slow
@pytest.mark.parametrize("seeds", in_parts(1_000, 4_000))
def test_many_random_plans_run_as_priced(seeds):
    assert all(sum(each) > 0 for each in zip(*map(check_random, seeds)))


@pytest.mark.parametrize("metric", ["ema", "energy"])
def test_no_partition_is_below_the_bound(metric):
    """Against all partitions, priced by the simulator."""
    tried = 0
    for seed in range(60):
        network, size = random_scans(seed), random.Random(seed).choice((512, 1024, 4096, 16384))
        if len(network.layers) > 6:
            continue
        problem = on_hardware(network, Accelerator(shared_buffer=size), metric=metric)
        best = optimum(problem, ())
        found = cocco.partition(network, problem.accelerator, metric=metric, keep="none")
        assert found.cost == best or (found.status == "infeasible" and best == float("inf")), seed
        assert found.lower_bound is None or found.lower_bound <= best, seed
        tried += best < float("inf")
    assert tried > 20


def block(rows: int, hidden: int):
    """Return a block of Mamba: projections of u and its gate, three taps, step, b and c, scan, gate, projection."""
    b, inner, rank = Builder("block"), 2 * hidden, hidden // 16
    x = b.input("x", rows, 1, hidden)
    u = b.conv("taps", b.fc("in", x, inner), inner, (4, 1), padding=(3, 0, 0, 0), groups=inner)
    step = b.fc("step", b.fc("low", u, rank), inner)
    y = b.scan("y", [u, step, b.fc("b", u, 16), b.fc("c", u, 16)], 16)
    b.add("out", [b.fc("back", b.mul("gated", [y, b.fc("gate", x, inner)]), hidden), x])
    return b.build()


def test_a_block_of_mamba_is_held_as_a_whole():
    """4 x 96 x 192 weights beside rows and a state of 192 x 16 sums."""
    network, chip = block(64, 96), Accelerator(shared_buffer=128 * 1024)
    found = cocco.partition(network, chip, metric="ema", keep="none")
    assert found.evaluation.ema_bytes == found.evaluation.compulsory_bytes
    assert any({"y", "gated", "step"} <= set(names) for names in found.plan.names)
    assert verify(network, found.plan, chip).verified


def test_a_block_of_mamba_whose_weights_do_not_fit_keeps_two_maps_in_the_place_of_three():
    """Of 1,536 channels u, its gate and what the scan makes; the projections' weights pass by."""
    network, chip = block(512, 768), Accelerator(shared_buffer=2**21)
    found = cocco.partition(network, chip, metric="ema", keep="auto", samples=300)
    assert found.evaluation.ema_bytes == found.evaluation.compulsory_bytes
    assert ("y",) in found.plan.names and verify(network, found.plan, chip).verified
