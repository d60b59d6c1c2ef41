"""An attention that is written as layers: which layers are a nest, and that it costs what one layer in blocks costs."""

from __future__ import annotations

import random

import workloads
from simulator import Accelerator
from simulator.model.kept import Kept
from simulator.model.nests.attention import attentions
from simulator.model.price import Price
from simulator.model.pricing import PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from tests.helpers.parts import few_seeds
from tests.helpers.random_attention import random_attention_in_layers


def model_of(network, layers, metric="energy", kept=None, **machine):
    rules = PricingRules(Geometry(network), Accelerator(shared_buffer=1, **machine), "exact", metric)
    return SubgraphModel(rules, layers, kept)


def test_layers_of_an_attention_are_a_nest():
    network = workloads.load("gpt2", layers=2)
    found = list(attentions(network))
    assert [network.names(nest.layers) for nest in found] == [
        (f"l{i}_scores", f"l{i}_softmax", f"l{i}_context") for i in (1, 2)
    ]
    nest = found[0]
    assert network.layers[nest.result].name == "l1_context"
    assert network.names(nest.inner) == ("l1_scores", "l1_softmax")


@few_seeds(80, 200)
def test_a_nest_costs_what_one_layer_in_blocks_costs(seeds):
    """Where a nest is chosen its loops are those of the rewritten layer; else held is as cheap."""
    looped = 0
    for seed in seeds:
        rng = random.Random(seed)
        network = random_attention_in_layers(rng)
        blocks, found = workloads.attention_in_blocks(network), [nest.layers for nest in attentions(network)]
        assert len(found) == sum(layer.op == "attention" for layer in blocks.layers)
        batch, metric = rng.choice((1, 1, 3)), rng.choice(("ema", "energy", "latency-sum"))
        for layers in found:
            nest = model_of(network, layers, metric, batch=batch)
            (v,) = (v for v, layer in enumerate(blocks.layers) if layer.op == "attention")
            alone = model_of(blocks, (v,), metric, batch=batch)
            for size in (256, 512, 1024, 2048, 4096, 8192):
                price, wanted = nest.price(size, 0), alone.price(size, 0)
                assert isinstance(price, Price) or not isinstance(wanted, Price)
                if isinstance(price, Price) and price.loops is not None:
                    assert isinstance(wanted, Price) and price.loops == wanted.loops
                    assert price.compute_cycles == sum(nest.layer_cycles(price).values()) >= wanted.compute_cycles
                    looped += 1
                    regions = nest.residency(price).regions
                    assert sum(each.main_bytes + each.side_bytes for each in regions.values()) == price.activation_bytes
                    assert not [u for u in layers[1:-1] if regions[u].main_bytes]
                elif isinstance(price, Price) and isinstance(wanted, Price):
                    assert price.ema_bytes <= wanted.ema_bytes or metric != "ema"
    assert looped > len(seeds)


def test_no_nest_where_an_inner_tensor_is_kept_on_several_cores_or_with_the_plans_of_the_paper():
    network = workloads.load("gpt2", layers=1)
    q, k, scores, softmax, context = (
        network.index[f"l1_{part}"] for part in ("q", "k", "scores", "softmax", "context")
    )
    layers = scores, softmax, context

    def kept(*tensors):
        return Kept(frozenset(tensors), frozenset(), frozenset({context}))

    assert model_of(network, layers).loop_ways
    for outer in (q, k, context):
        assert model_of(network, layers, kept=kept(outer)).loop_ways
    for inner in (scores, softmax):
        assert not model_of(network, layers, kept=kept(inner)).loop_ways
    assert not model_of(network, layers, cores=2).loop_ways
    assert not model_of(network, layers, plans="paper").loop_ways
    assert not model_of(network, layers[:2]).loop_ways
