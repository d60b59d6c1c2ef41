"""Attentions with their projections: what runs is what is counted and claimed, and one byte less fails."""

from __future__ import annotations

import random
from functools import partial

import pytest

import workloads
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.common.plan import LayerPlan
from simulator.execution.layer.heads import value as page
from simulator.execution.layer.heads.counted import count_heads
from simulator.execution.layer.heads.found import find_heads
from simulator.execution.layer.heads.scaled import run_heads_scaled
from simulator.execution.layer.heads.value import run_heads
from simulator.model.layer.cheapest import Room, plans_of
from simulator.model.nests.heads import projected_attentions
from simulator.model.subgraph.subgraph import Geometry
from simulator.technology import Technology
from tests.helpers.layer_plans import claim_of, loops_of, runs_as_counted
from tests.helpers.parts import first_of
from tests.helpers.random_heads import random_heads, random_question
from workloads import NetworkError

CLAIMED = (
    "activation_bytes", "weight_bytes", "ema_weight_bytes", "ema_input_bytes", "ema_output_bytes",
    "global_buffer_bytes", "weight_buffer_bytes", "global_written_bytes",
)  # fmt: skip


def some_plans(rng, layer, most=4):
    """Return some of the plans that fit in some memory."""
    room = Room(int(10 ** rng.uniform(2.3, 4.3)), rng.choice((None, None, 300, 2000)))
    plans = list(dict.fromkeys(plans_of(layer, room, rng.choice(("bands", "all")))))
    return rng.sample(plans, min(most, len(plans)))


def odd_plan(rng, layer):
    """Return loops that nobody would choose."""
    length, width = layer.rows.windows, layer.heads.operands[0].width
    mode, tile = rng.choice(("whole", "ring")), (rng.randint(1, length + 1), 1)
    apart, kept = (rng.randint(1, 4), rng.randint(0, length)) if mode == "ring" else (1, 0)
    chunk = rng.choice((tile[0], length, rng.randint(1, length)))
    return LayerPlan("HP", mode, tile, apart, chunk, 1, rng.randint(1, 2 * width), 1, kept)


@pytest.mark.parametrize("seed", first_of(range(250), 80))
def test_heads_run_as_the_closed_forms_say(seed):
    rng = random.Random(seed)
    network, nest, layer, batch, lies = random_question(rng)
    operations = batch * sum(network.layers[v].macs + network.layers[v].light_ops for v in nest.layers)
    for plan in some_plans(rng, layer):
        loops, rooms = loops_of(plan), (plan.activation_bytes, plan.weight_bytes)
        found = run_heads(network, nest.layers, loops, rooms, batch, lies=lies)
        assert found == count_heads(network, nest.layers, loops, batch, lies=lies)
        assert found.operations == operations
        for name in CLAIMED:
            assert getattr(found, name) == getattr(claim_of(plan), name), (name, plan)
        for less in ((rooms[0] - 1, rooms[1]), (rooms[0], rooms[1] - 1)):
            with pytest.raises(Miss):
                run_heads(network, nest.layers, loops, less, batch, lies=lies)


def test_any_loops_run_as_they_are_counted():
    """Or neither runs: weights of queries that do not stay from band to band."""
    ran = 0
    for seed in range(300):
        rng = random.Random(seed)
        network, nest, layer, batch, lies = random_question(rng)
        plan = odd_plan(rng, layer)
        asked = network, nest.layers, plan
        ran += runs_as_counted(
            partial(count_heads, *asked, batch, lies=lies), partial(run_heads, *asked, batch=batch, lies=lies)
        )
    assert ran > 150


@pytest.mark.parametrize(
    "bits",
    [{"activations": 16}, {"weights": 4}, {"cache": 16}, {"activations": 16, "cache": 4, "weights": 8}],
    ids=lambda bits: "-".join(f"{name}{size}" for name, size in bits.items()),
)
def test_bits_are_counted_as_they_are_claimed(bits):
    compared = 0
    for seed in range(60):
        rng = random.Random(seed)
        network = random_heads(rng).retyped(bits)
        try:
            Geometry(network)
        except NetworkError:
            continue
        for nest in projected_attentions(network):
            for plan in some_plans(rng, nest.loops(network, 2, Technology(), None)):
                count = count_heads(network, nest.layers, loops_of(plan), 2)
                assert [getattr(count, name) for name in CLAIMED] == [getattr(claim_of(plan), name) for name in CLAIMED]
                compared += 1
    assert compared > 100


def test_a_block_of_gpt_is_counted_by_hand():
    """512 rows of 768, 12 heads of 64: x 393,216, three projections 1,769,472 and the context 393,216, once each.

    In 487 KB, one query after the other: x, 3 x 512 x 64 of a head, 512 scores, 64 outputs, and 768 x 8 weights.
    """
    network = workloads.load("gpt")
    layers = [network.index[f"l1_{part}"] for part in ("q", "k", "v", "scores", "softmax", "context")]
    found = count_heads(network, layers, LayerPlan("HP", "whole", (1, 1), chunk=512, inner=8))
    assert (found.ema_weight_bytes, found.ema_input_bytes, found.ema_output_bytes) == (1_769_472, 393_216, 393_216)
    assert found.activation_bytes == 393_216 + 3 * 512 * 64 + 512 + 64 and found.weight_bytes == 768 * 8
    passing = count_heads(network, layers, LayerPlan("HP", "ring", (64, 1), 1, 512, 1, 64, 1, 0))
    assert passing.ema_input_bytes == 12 * 393_216 and passing.weight_bytes == 3 * 768 * 64


def break_after(monkeypatch, name, change):
    """Change what a method of a sample gives."""
    real = getattr(page._Sample, name)
    monkeypatch.setattr(page._Sample, name, lambda self, *given: change(real(self, *given)))


@pytest.mark.parametrize("mode", ["whole", "ring"])
def test_wrong_values_are_found(monkeypatch, mode):
    """Products of other weights than the head's: the context differs."""
    network = random_heads(random.Random(3))
    nest = next(iter(projected_attentions(network)))
    plan = LayerPlan("HP", mode, (2, 1), chunk=100, inner=100)
    run_heads(network, nest.layers, plan, (10**9, 10**9))
    break_after(monkeypatch, "_load", lambda weights: weights + 1)
    with pytest.raises(Miss, match="differs from"):
        run_heads(network, nest.layers, plan, (10**9, 10**9))


def test_rows_that_were_dropped_are_missed(monkeypatch):
    network = random_heads(random.Random(3))
    nest = next(iter(projected_attentions(network)))
    monkeypatch.setattr(page._Region, "put", lambda self, first, rows: None)
    with pytest.raises(Miss, match="is not there"):
        run_heads(network, nest.layers, LayerPlan("HP", "whole", (2, 1), chunk=100, inner=100), (10**9, 10**9))


def test_what_is_no_attention_with_projections_is_refused():
    network = workloads.load("gpt")

    def ids(*parts):
        return [network.index[f"l1_{part}"] for part in parts]

    attention = ("scores", "softmax", "context")
    for parts in (
        ("q", "k", "v"), attention, ("q", *attention), ("q", "k", "v", *attention[:2]),
        ("q", "k", "v", *attention, "out"), ("q", "k", *attention, "ffn1"),
    ):  # fmt: skip
        with pytest.raises(Miss):
            find_heads(network, ids(*parts))
    assert find_heads(network, ids("q", "k", "v", *attention)).sources == (network.index["tokens"],)
    for plan in (
        LayerPlan("TB", "whole", (1, 1)),
        LayerPlan("HP", "block", (1, 1)),
        LayerPlan("HP", "whole", (1, 1), apart=2, chunk=512, inner=64),
        LayerPlan("HP", "whole", (1, 1), chunk=512, inner=64, kept=3),
        LayerPlan("HP", "ring", (1, 1), chunk=1, inner=64),
        LayerPlan("HP", "whole", (1, 1), chunk=1, inner=8),
    ):
        with pytest.raises(Miss):
            count_heads(network, ids("q", "k", "v", *attention), plan)


@pytest.mark.parametrize(
    ("name", "step"),
    [("gpt", {}), ("transformer", {}), ("llama3_8b", {"layers": 1}), ("vit_b16", {})],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_large_heads_run_smaller(name, step):
    """Attentions of a sequence and over another, and of shared heads of keys: some plans of each memory."""
    network, rng = workloads.load(name, **step), random.Random(name)
    for nest in [*projected_attentions(network)][-3:]:
        layer = nest.loops(network, 1, Technology(), None)
        source = frozenset(nest.sources[:1])
        for size in (300, 2000, 20000):
            plans = plans_of(layer, Room(size << 10, None), "bands")
            for plan in rng.sample(plans, min(4, len(plans))):
                lies = Lies(source, source, None, source) if rng.random() < 0.3 else NOTHING_STAYS
                run_heads_scaled(network, nest.layers, loops_of(plan), lies=lies)
    assert run_heads_scaled(network, nest.layers, LayerPlan("HP", "whole", (1, 1), chunk=10**4, inner=128))


def test_small_heads_run_as_they_are():
    for seed in range(20):
        network, nest, layer, batch, lies = random_question(random.Random(seed))
        for plan in plans_of(layer, Room(4000, None), "bands")[:2]:
            assert not run_heads_scaled(network, nest.layers, loops_of(plan), batch, lies=lies)
