"""An attention that is written as layers: which layers are a nest, and that it costs what one layer in blocks costs."""

from __future__ import annotations

import random

import pytest

import workloads
from simulator import Accelerator, KiB
from simulator.model.kept import Kept
from simulator.model.nests import recognize
from simulator.model.nests.attention import attentions
from simulator.model.price import Price
from simulator.model.pricing import PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from workloads import Builder


@pytest.fixture(autouse=True)
def _attention_is_a_kind(monkeypatch):
    monkeypatch.setattr(recognize, "KINDS", (attentions,))


def an_attention(rng):
    """A network of one attention in layers: heads that share keys, a scale, a cache, samples of any size."""
    heads, width = rng.choice(((1, 8), (2, 8), (4, 16), (3, 12))), rng.choice((4, 8, 20))
    groups = heads[0]
    own = rng.choice([each for each in range(1, groups + 1) if groups % each == 0])
    length, b = rng.randint(1, 40), Builder("attention")
    q = b.input("q", length, 1, groups * width)
    below = rng.randint(1, 30)
    keys = [b.input("k", below, 1, own * width)]
    values = [b.input("v", below, 1, own * width)]
    if rng.random() < 0.3:
        cached = rng.randint(1, 30)
        keys, values = ([b.input(f"cache_{i}", cached, 1, own * width), *each] for i, each in enumerate((keys, values)))
    sharing = own if own < groups else None
    scores = b.matmul("scores", q, keys, groups, transpose=True, operand_heads=sharing)
    if rng.random() < 0.3:
        scores = b.mul("scaled", [scores])
    b.matmul("context", b.softmax("softmax", scores), values, groups, operand_heads=sharing)
    return b.build()


def model_of(network, layers, kept=None, **machine):
    rules = PricingRules(Geometry(network), Accelerator(shared_buffer=1, **machine), "exact", "energy")
    return SubgraphModel(rules, layers, kept)


def test_layers_of_an_attention_are_a_nest():
    network = workloads.load("gpt2", layers=2)
    found = recognize.nests_of(network)
    assert [network.names(layers) for layers in found] == [
        (f"l{i}_scores", f"l{i}_softmax", f"l{i}_context") for i in (1, 2)
    ]
    nest = next(iter(found.values()))
    assert network.layers[nest.result].name == "l1_context"
    assert network.names(nest.inner) == ("l1_scores", "l1_softmax")


def test_a_nest_costs_what_one_layer_in_blocks_costs():
    """Where a nest is chosen its loops move as much as those of the rewritten layer; else held is as cheap."""
    looped = 0
    for seed in range(120):
        rng = random.Random(seed)
        network = an_attention(rng)
        blocks = workloads.attention_in_blocks(network)
        if len(blocks.layers) > 1:
            continue
        batch = rng.choice((1, 1, 3))
        nest = model_of(network, range(len(network.layers)), batch=batch)
        alone = model_of(blocks, (0,), batch=batch)
        for kilobytes in (0.25, 0.5, 1, 2, 4, 8):
            size = int(kilobytes * KiB)
            found, wanted = nest.price(size, 0), alone.price(size, 0)
            if isinstance(wanted, Price):
                assert isinstance(found, Price) and found.ema_bytes <= wanted.ema_bytes
            if isinstance(found, Price) and found.loops is not None:
                assert isinstance(wanted, Price) and found.loops == wanted.loops
                assert found.compute_cycles == sum(nest.layer_cycles(found).values()) >= wanted.compute_cycles
                looped += 1
    assert looped > 100


def test_no_nest_where_an_inner_tensor_is_kept_on_several_cores_or_with_the_plans_of_the_paper():
    network = an_attention(random.Random(0))
    layers = tuple(range(len(network.layers)))
    last = layers[-1]

    def kept(*tensors):
        return Kept(frozenset(tensors), frozenset(), frozenset({last}))

    assert model_of(network, layers).loop_ways
    assert model_of(network, layers, kept(last)).loop_ways
    assert model_of(network, layers, kept(last + 1)).loop_ways
    assert not model_of(network, layers, kept(0)).loop_ways
    assert not model_of(network, layers, cores=2).loop_ways
    assert not model_of(network, layers, plans="paper").loop_ways
    assert not model_of(network, layers[:2]).loop_ways
