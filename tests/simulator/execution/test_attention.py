"""Grouped queries, caches and new rows: prices are what is counted and run, decode moves what it must by hand."""

from __future__ import annotations

import random

import pytest

import workloads
from simulator import Accelerator, MiB, Partition, evaluate
from simulator.execution import verify
from simulator.execution.count.stays import Lies
from simulator.execution.layer import count_layer
from simulator.model.kept import Kept
from simulator.model.layer.cheapest import Room
from simulator.model.layer.loops import loop_layer
from simulator.model.priced import price_partition
from simulator.model.pricing import PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from tests.helpers.every_order import every_plan
from tests.helpers.judged import judged_plan, layer_with_tensors_on_chip
from tests.helpers.layer_plans import loops_of, run_as_claimed, run_odd, some_plans
from tests.helpers.parts import each_seed, first_of
from tests.helpers.random_attention import random_attention_product, random_decoder
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_plans import random_plan

LOOSE = ("KP", "TP", "BC")  #: orders whose claims of bytes on chip may be more than is ever held


@pytest.mark.parametrize("seed", first_of(range(120), 40))
def test_products_run_as_the_closed_forms_say(seed):
    network, batch, plans = some_plans(seed, 4, random_attention_product)
    for plan in plans:
        found = run_as_claimed(network, plan, batch, ("ema_input_bytes", "ema_output_bytes", "global_buffer_bytes"))
        assert found.operations == batch * network.macs
        if plan.order not in LOOSE:
            assert found.activation_bytes == plan.activation_bytes


@each_seed(20, 40)
def test_every_order_counts_rows_that_are_on_chip(seed):
    """The cache, the new rows, both or neither stay: every order in every size, against the count."""
    rng = random.Random(seed)
    network = random_attention_product(rng)
    inputs = range(1, 1 + len(network.inputs))
    on_chip = frozenset(u for u in inputs if rng.random() < 0.5)
    kept = Kept(on_chip, frozenset(inputs) - on_chip, frozenset({0}))
    layer = loop_layer(network, 0, 1, kept=kept)
    plans = list(every_plan(layer, Room(10**6, None)))
    for plan in rng.sample(plans, min(40, len(plans))):
        found = count_layer(network, 0, loops_of(plan), 1, 8, Lies(on_chip, on_chip, frozenset({0}), on_chip))
        for name in ("ema_input_bytes", "ema_output_bytes", "global_buffer_bytes", "global_written_bytes"):
            assert getattr(found, name) == getattr(plan.totals, name), (name, plan, on_chip)


def test_values_run_beside_rows_that_are_on_chip():
    """Queries, the cache, the new rows or the output stay, and any loops: what runs is what is counted."""
    assert sum(run_odd(random.Random(seed), random_attention_product, (1, 2)) for seed in range(700)) > 200


@each_seed(75, 150)
def test_every_number_of_a_product_is_what_is_counted(seed):
    rng = random.Random(seed)
    layer_with_tensors_on_chip(random_attention_product(rng), rng)


@pytest.mark.parametrize("seed", first_of(range(60), 20))
def test_plans_of_decoder_layers_are_verified(seed):
    rng = random.Random(seed)
    network = random_decoder(rng)
    plan = random_kept_plan(network, seed) if seed % 2 else random_plan(network, seed)
    chip = Accelerator(shared_buffer=rng.choice((512, 2048, 16384)), batch=rng.choice((1, 1, 3)))
    assert judged_plan(network, plan, chip) is None or verify(network, plan, chip).verified


@pytest.mark.parametrize("seed", first_of(range(60), 20))
def test_new_rows_are_written_whoever_reads_them(seed):
    network = random_decoder(random.Random(seed))
    plan = random_kept_plan(network, seed)
    found = price_partition(network, plan, Accelerator(shared_buffer=10**7))
    size = [tensor.size_bytes for tensor in network.tensors]
    reads = [{p for v in group for p in network.producers[v]} - set(group) for group in plan.subgraphs]
    on_chip = {(u, step) for u, first, last in (each.span for each in plan.keep) for step in range(first + 1, last + 1)}
    for group, price in zip(plan.subgraphs, found.prices):
        stores = {v for v in group if network.layers[v].appended or not network.consumers[v]}
        stores |= {v for v in group for step, each in enumerate(reads) if v in each and (v, step) not in on_chip}
        assert price.ema_output_bytes == sum(size[v] for v in stores)


@pytest.mark.parametrize("name", ["gpt2", "llama3_8b", "mistral_7b", "mixtral_8x7b", "qwen2_5_7b", "gemma2_9b"])
@pytest.mark.parametrize(("length", "past", "batch"), [(1, 1024, 1), (4, 300, 1), (1, 100, 8)])
def test_a_decode_step_moves_weights_past_and_new_rows_and_its_output(name, length, past, batch):
    """Nothing is spilled: all that is made stays on chip until it is read."""
    network = workloads.load(name, phase="decode", length=length, past=past, layers=1)
    spans = [
        (v, v, max(network.consumers[v])) for v in range(len(network.layers)) if network.consumers[v]
    ]  # a step for each layer, in their order
    tokens = len(network.layers)
    spans.append((tokens, network.consumers[tokens][0], network.consumers[tokens][-1]))
    plan = Partition.from_ids(network, [(v,) for v in range(len(network.layers))], keep=spans)
    chip = Accelerator(shared_buffer=2 * MiB, batch=batch)
    found = evaluate(network, plan, chip)
    width = network.inputs[0].channels
    cache = sum(tensor.size_bytes for tensor in network.inputs if tensor.kind == "cache")
    new = cache * length // past
    assert found.ema_weight_bytes == network.in_batch(batch).weight_bytes
    assert found.ema_bytes == found.ema_weight_bytes + batch * (cache + new + 2 * length * width)
    if batch == 1 and length == 1:
        assert verify(network, plan, chip).verified


def test_grouped_queries_need_no_copies():
    """Scores of 32 heads over 8 of keys: each row of the cache crosses once, in a buffer far below 32 heads of them."""
    network = workloads.load("llama3_8b", phase="decode", past=1024, layers=1)
    scores = network.index["l1_scores"]
    rules = PricingRules(Geometry(network), Accelerator(shared_buffer=64 * 1024), "exact")
    price = SubgraphModel(rules, [scores]).price(64 * 1024, 0)
    assert price.ema_input_bytes == 4096 + 1025 * 1024
    assert price.ema_output_bytes == 32 * 1025
