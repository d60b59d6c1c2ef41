"""Attention in blocks: prices are what is counted and run, values a plain softmax, needs free of the length."""

from __future__ import annotations

import random

import numpy as np
import pytest

import workloads
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.execution import verify
from simulator.execution.count.miss import Miss
from simulator.execution.layer import LayerPlan, count_layer, run_layer, run_scaled
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.folded import folded
from simulator.execution.layer.common.held import LOST
from simulator.execution.layer.common.plan import key_blocks
from simulator.execution.layer.common.problem import Problem
from simulator.execution.layer.value import attention as page
from simulator.execution.layer.value.attention import attended, run_attention
from simulator.execution.layer.value.running import FLOATS
from simulator.mapping import Enumerate
from simulator.model.pricing import PricingRules, Shortage, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from tests.helpers.judged import judged_plan, layer_with_tensors_on_chip
from tests.helpers.layer_plans import random_lies, run_as_claimed, some_plans
from tests.helpers.parts import each_seed, first_of
from tests.helpers.random_attention import random_attention_in_blocks, random_decoder
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_plans import random_plan
from workloads import Builder, NetworkError
from workloads.network.layers.attention import steps_of


def odd_blocks(rng, layer):
    """Return loops of any sizes, some of them larger than the layer."""
    mode = rng.choice(("ring", "slide", "block"))
    width = layer.width if mode == "ring" else rng.randint(1, layer.width + 1)
    tile = rng.randint(1, layer.height * layer.groups // layer.second_heads + 1), width
    return LayerPlan("TB", mode, tile, slice=rng.randint(1, layer.keys + 3))


@pytest.mark.parametrize("seed", first_of(range(150), 50))
def test_attention_runs_as_the_closed_forms_say(seed):
    network, batch, plans = some_plans(seed, 4, random_attention_in_blocks)
    names = ("activation", "ema_input", "ema_output", "global_buffer", "global_written")
    layer = network.layers[0]
    for plan in plans:
        found = run_as_claimed(network, plan, batch, [f"{name}_bytes" for name in names])
        assert found.operations == batch * (layer.macs + layer.light_ops) + plan.totals.rescalings


def test_values_run_beside_rows_that_are_on_chip():
    """Queries, keys, values, caches of them or the output stay, and any loops: what runs is what is counted."""
    for seed in range(300):
        rng = random.Random(seed)
        network, batch = random_attention_in_blocks(rng), rng.choice((1, 2))
        plan, lies = odd_blocks(rng, network.layers[0]), random_lies(rng, network)
        count = count_layer(network, 0, plan, batch, 8, lies)
        assert run_layer(network, 0, plan, count[:2], batch, lies=lies) == count, (plan, lies)
        with pytest.raises(Miss):
            run_layer(network, 0, plan, (count[0] - 1, 0), batch, lies=lies)


@each_seed(40, 80)
def test_floats_in_blocks_are_a_plain_softmax(seed):
    """Heads of queries against those of the three layers, computed from all scores at once."""
    rng = random.Random(seed)
    network = random_attention_in_blocks(rng)
    plan = odd_blocks(rng, network.layers[0])
    network, v = folded(network, 0)
    problem = Problem(network, v, 1, seed)
    problem.maps = {u: np.random.default_rng(seed + u).normal(0, 2, each.shape) for u, each in problem.maps.items()}
    shape = (network.layers[v].channels, network.layers[v].height, network.layers[v].width)
    output = np.full((1, *shape), float(LOST))
    run_attention(problem, Chip(word=8), plan, output, FLOATS)
    layer = network.layers[v]
    assert np.abs(output - attended(problem, FLOATS)).max() < 1e-9
    query, keys, values = (problem.maps[u][0].reshape(len(problem.maps[u][0]), -1) for u in problem.ids)
    head, width = layer.groups - 1, layer.channels // layer.groups
    scores = np.split(query, layer.groups)[head].T @ np.split(keys, layer.groups)[head]
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    plain = powers / powers.sum(axis=1, keepdims=True) @ np.split(values, layer.groups)[head].T
    assert np.abs(output[0, head * width :].reshape(width, -1).T - plain).max() < 1e-6


@each_seed(75, 150)
def test_every_number_of_an_attention_is_what_is_counted(seed):
    rng = random.Random(seed)
    layer_with_tensors_on_chip(random_attention_in_blocks(rng), rng, 0.4, (1.8, 4.5))


@pytest.mark.parametrize("seed", first_of(range(40), 16))
def test_plans_of_decoder_layers_in_blocks_are_verified(seed):
    rng = random.Random(seed)
    network = random_decoder(rng, in_blocks=True)
    bits = rng.choice(({}, {}, {"cache": 4}, {"activations": 16}, {"cache": "fp8", "activations": "bf16"}))
    plan = random_kept_plan(network, seed) if seed % 2 else random_plan(network, seed)
    network = network.retyped(bits)
    chip = Accelerator(shared_buffer=rng.choice((512, 2048, 16384)), batch=rng.choice((1, 1, 3)))
    try:
        found = judged_plan(network, plan, chip)
    except NetworkError as error:
        assert "whole bytes" in str(error)
        return
    assert found is None or verify(network, plan, chip).verified


@pytest.mark.parametrize("name", ["gpt2", "llama3_8b"])
def test_the_need_does_not_depend_on_the_length(name):
    """A query of d, 8 keys and values, 8 scores, and sums of 4 d + 8: GPT-2 64 + 8 128 + 8 + 264 = 1,360 bytes."""
    needs = set()
    for length in (512, 2048, 8192):
        network = workloads.load(name, length=length, layers=1, attention="blocks")
        model = SubgraphModel(
            PricingRules(Geometry(network), Accelerator(shared_buffer=4096), "exact"), [network.index["l1_attention"]]
        )
        least = min(map(sum, model.loop_needs))
        needs.add(least)
        assert isinstance(model.price(least - 1, 0), Shortage) and not isinstance(model.price(least, 0), Shortage)
    assert needs == {1360 if name == "gpt2" else 2704}


def test_blocks_move_what_is_counted_by_hand():
    """Two heads of 8, 16 rows, 24 keys, 1 KB; tiles of 8 rows see blocks of 8 keys: all of K and V twice.

    Off chip 256 of queries, 2 tiles 768 of K and V, 256 of outputs. Scaled anew: 2 blocks, 16 rows, 2 heads of 8 + 1.
    """
    b = Builder("one")
    b.attention("n", b.input("q", 16, 1, 16), b.input("k", 24, 1, 16), b.input("v", 24, 1, 16), 2)
    found = count_layer(b.build(), 0, LayerPlan("TB", "ring", (8, 1), slice=8))
    assert (found.ema_input_bytes, found.ema_output_bytes) == (256 + 2 * 768, 256)
    assert found.activation_bytes == 8 * 8 + 2 * 8 * 8 + 8 * 8 + 8 * 4 * (8 + 2)
    assert found.operations == 2 * 16 * 24 * (8 + 1 + 8) + 2 * 2 * 16 * (8 + 1)
    one = count_layer(b.build(), 0, LayerPlan("TB", "ring", (8, 1), slice=24))
    assert one.ema_input_bytes == 256 + 768
    assert one.activation_bytes == 8 * 8 + 2 * 24 * 8 + 8 * 24 + 8 * 8


def test_each_tensor_has_the_region_of_its_block():
    """Queries of a tile, so many keys, values twice as wide; the output has scores, sums and statistics beside it."""
    b = Builder("one")
    b.attention("n", b.input("q", 16, 1, 16), b.input("k", 40, 1, 16), b.input("v", 40, 1, 32), 2)
    network = b.build()
    model = SubgraphModel(PricingRules(Geometry(network), Accelerator(shared_buffer=1000), "exact"), [0])
    price = model.price(1000, 0)
    assert price.loops.order == "TB" and price.loops.slice < 40
    rows, block = price.tile[0], price.loops.slice
    found = [region.main_bytes for region in model.residency(price).regions.values()]
    assert found == [rows * (block + 4 * (16 + 2)), rows * 8, block * 8, block * 16]


def test_an_attention_is_three_layers():
    """The same operations and cycles, whatever the model."""
    for name in ("gpt2", "llama3_8b", "gemma2_9b"):
        for step in ({"length": 96}, {"phase": "decode", "past": 40}):
            three, one = (workloads.load(name, layers=1, attention=each, **step) for each in ("layers", "blocks"))
            parts = [three.layers[three.index[f"l1_{part}"]] for part in ("scores", "softmax", "context")]
            attention = one.layers[one.index["l1_attention"]]
            for mine, theirs in zip(steps_of(attention), parts):
                assert (mine.macs, mine.light_ops, mine.elements) == (theirs.macs, theirs.light_ops, theirs.elements)
            chip = Accelerator(shared_buffer=4096 * KiB)
            plans = [evaluate(each, Partition.layerwise(each), chip) for each in (three, one)]
            cycles = [sum(cost.compute_cycles for cost in plan.subgraphs) for plan in plans]
            assert cycles[0] == cycles[1]


def test_an_attention_in_blocks_runs_alone():
    network = random_decoder(random.Random(1), in_blocks=True)
    attention = network.index["attention"]
    model = SubgraphModel(
        PricingRules(Geometry(network), Accelerator(shared_buffer=10**7), "exact"), [attention, attention + 1]
    )
    found = model.price(10**7, 0)
    assert isinstance(found, Shortage) and found.reason == "an attention in blocks runs alone"


def test_what_has_no_price_says_so():
    network = random_decoder(random.Random(1), in_blocks=True)
    tiled = Accelerator(shared_buffer=10**6, mapper=Enumerate(tiled=True))
    with pytest.raises(NetworkError, match="no price on a mapper that looks at every tile"):
        evaluate(network, Partition.layerwise(network), tiled)


def test_large_attention_runs_smaller():
    network = workloads.load("llama3_8b", length=2048, layers=1, attention="blocks")
    v = network.index["l1_attention"]
    assert run_scaled(network, v, LayerPlan("TB", "ring", (342, 1), slice=64))
    assert run_scaled(network, v, LayerPlan("TB", "ring", (8, 1), slice=2048))


def test_keys_that_were_given_up_are_missed(monkeypatch):
    """A block is read that did not come: the judge says so."""
    monkeypatch.setattr(page._Pair, "has", lambda self, span: False)
    b = Builder("one")
    b.attention("n", b.input("q", 2, 1, 8), b.input("k", 16, 1, 8), b.input("v", 16, 1, 8))
    with pytest.raises(Miss, match="keys and values 0 to 8"):
        run_layer(b.build(), 0, LayerPlan("TB", "ring", (2, 1), slice=8), (10**6, 0))


def test_a_block_that_is_left_out_changes_the_output(monkeypatch):
    monkeypatch.setattr(page, "key_blocks", lambda *given: {k: each[:1] for k, each in key_blocks(*given).items()})
    b = Builder("one")
    b.attention("n", b.input("q", 2, 1, 8), b.input("k", 16, 1, 8), b.input("v", 16, 1, 8))
    with pytest.raises(Miss, match="differs from the output"):
        run_layer(b.build(), 0, LayerPlan("TB", "ring", (2, 1), slice=8), (10**6, 0))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"heads": 3}, "must have the 16 channels of its queries, divisible by its heads; found 16"),
        ({"heads": 4, "operand_heads": 3}, "must have operand heads that divide its 4 heads; found 3"),
        ({"values": "short"}, "must have 24 keys, and as many values; found 24"),
        ({"keys": "wide"}, "must have heads of 8 channels of keys; found 16"),
        ({"heads": 0}, "has 0 heads; it must be an integer from 1"),
    ],
)
def test_malformed_attention_is_one_line(fields, message):
    b = Builder("one")
    for name, rows, width in (("q", 16, 16), ("k", 24, 16), ("v", 24, 16), ("short", 23, 16), ("wide", 24, 32)):
        b.input(name, rows, 1, width)
    with pytest.raises(NetworkError) as error:
        b.attention("n", "q", **({"keys": "k", "values": "v", "heads": 2} | fields))
    assert message in str(error.value) and "\n" not in str(error.value)
