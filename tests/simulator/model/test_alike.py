"""Steps with the same key have the same price, whatever their layers are called and wherever they stand."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import workloads
from simulator import Accelerator, Partition, evaluate
from simulator.model.equivalence import Alike
from simulator.model.kept import Kept, Reserved, kept_of
from simulator.model.pricing import PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from simulator.partition.steps import steps_of
from tests.helpers.random_attention import random_decoder
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_problems import random_net
from workloads import Network
from workloads.network.builder import Builder


def twice(network: Network) -> Network:
    """Return the network and, beside it, itself under other names."""
    inputs, layers = list(network.inputs), list(network.layers)
    inputs += [replace(each, name=f"again_{each.name}") for each in inputs]
    for each in network.layers:
        layers.append(replace(each, name=f"again_{each.name}", inputs=tuple(f"again_{name}" for name in each.inputs)))
    return Network(network.name, tuple(inputs), tuple(layers))


def prices_by_key(network: Network, plans: list[Partition], chip: Accelerator) -> tuple[int, int]:
    """Price every step of the plans by itself; return how many there are, and how many keys."""
    rules = PricingRules(Geometry(network), chip, "exact")
    alike, found, count = Alike(rules), {}, 0
    for plan in plans:
        for group, step in zip(plan.subgraphs, steps_of(network, plan)):
            kept = kept_of(step)
            reserved = Reserved(sum(map(rules.whole_bytes, step.kept)), len(step.kept) - len(step.touched))
            price = SubgraphModel(rules, group, kept).price(chip.activation_capacity, chip.weight_capacity, reserved)
            key = alike.key(group, kept), reserved
            assert found.setdefault(key, price) == price, (plan, group)
            count += 1
    return count, len(found)


@pytest.mark.parametrize("seeds", [range(25), pytest.param(range(25, 400), marks=pytest.mark.slow)])
def test_steps_with_one_key_have_one_price(seeds):
    """Random networks beside their copies, random plans that keep tensors, small and ample memories."""
    count = keys = 0
    for seed in seeds:
        network = twice(random_decoder(random.Random(seed)) if seed % 3 == 0 else random_net(seed))
        plans = [random_kept_plan(network, 5 * seed + i) for i in range(3)]
        for size in (1 << 10, 1 << 16):
            more = prices_by_key(network, plans, Accelerator(shared_buffer=size, groups_apart=bool(seed % 2)))
            count, keys = count + more[0], keys + more[1]
    assert keys < 0.9 * count  # many are alike


def test_a_copy_has_the_keys_of_what_it_copies():
    """Layer by layer, with nothing kept: half as many keys at most as layers."""
    network = twice(random_net(3))
    alike = Alike(PricingRules(Geometry(network), Accelerator(shared_buffer=2**20), "exact"))
    half = len(network.layers) // 2
    assert [alike.key((v,)) for v in range(half)] == [alike.key((v + half,)) for v in range(half)]


def test_a_layer_of_a_language_model_is_priced_once(monkeypatch):
    """Twelve layers take no more prices than four, and cost what each costs, added up."""
    asked = []
    price = SubgraphModel.price
    monkeypatch.setattr(SubgraphModel, "price", lambda self, *rest: asked.append(self) or price(self, *rest))
    costs, counts = [], []
    for layers in (4, 8, 12):
        network = workloads.load("gpt2", length=8, layers=layers)
        asked.clear()
        costs.append(evaluate(network, Partition.layerwise(network), Accelerator(shared_buffer=2**20)).energy_pj)
        counts.append(len(asked))
    assert counts[0] == counts[1] == counts[2] < 14
    assert costs[2] - costs[1] == pytest.approx(costs[1] - costs[0], rel=1e-12)


def test_what_a_price_depends_on_is_in_the_key():
    """Layers with the same shape that read twice, from other shapes, from what is kept, in other heads."""
    b = Builder("pairs")
    x, y, tall = b.input("x", 8, 8, 16), b.input("y", 8, 8, 16), b.input("tall", 16, 4, 16)
    pairs = [(b.add("both", [x, y]), b.add("same", [x, x])), (b.add("xxy", [x, x, y]), b.add("xyy", [x, y, y]))]
    pairs.append((b.rearrange("square", x, 4, 16, 16), b.rearrange("turned", tall, 4, 16, 16)))
    q, k = b.input("q", 8, 1, 16), b.input("k", 8, 1, 16)
    two = b.softmax("two", b.matmul("scores2", q, k, 2, transpose=True))
    wide = b.input("wide", 8, 1, 16)
    one = b.softmax("one", b.matmul("scores1", b.fc("to", wide, 16), b.input("k1", 16, 1, 16), 1, transpose=True))
    network = b.build()
    pairs.append((two, one))
    alike = Alike(PricingRules(Geometry(network), Accelerator(shared_buffer=2**20, groups_apart=True), "exact"))
    ids = {tensor.name: u for u, tensor in enumerate(network.tensors)}
    for first, second in pairs:
        assert alike.key((ids[first],)) != alike.key((ids[second],))
    step, (left, right) = (ids["scores2"],), (ids[q], ids[k])
    keys = {
        alike.key(step, Kept(frozenset(on_chip), frozenset(loaded), frozenset(step)))
        for on_chip in ((left,), (right,), (left, right))
        for loaded in ((left,), (right,), (left, right))
    }
    assert len(keys) == 9
