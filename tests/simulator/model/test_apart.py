"""Groups of channels one after the other: what keeps them apart, what that takes, and that it is what runs."""

from __future__ import annotations

import random

import numpy as np
import pytest

import workloads
from simulator import Accelerator, KiB, Machine, Partition, evaluate
from simulator.execution import verify
from simulator.execution.claims import plan_of
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.group import group_of
from simulator.execution.judge import check, count_plan, judge
from simulator.model.priced import price_partition
from simulator.model.pricing import PricingRules, Shortage, SubgraphModel
from simulator.model.subgraph.apart import groups_apart, heads_of, units_of
from simulator.model.subgraph.subgraph import Geometry
from simulator.partition.partition import connected_parts
from tests.helpers.parts import each_seed
from tests.helpers.random_apart import random_apart_network, run_network
from workloads import Builder


def parts_of(network, rng):
    """Return connected subgraphs of several layers, some of all layers that keep channels apart."""
    units = units_of(network)
    apart = [v for v, unit in enumerate(units) if unit != 1]
    found = [part for part in connected_parts(network, apart) if len(part) > 1]
    some = [v for v in range(len(network.layers)) if rng.random() < 0.6]
    return found + [part for part in connected_parts(network, some) if len(part) > 1]


def weights_of(network, rng):
    return {
        layer.name: rng.normal(size=(layer.channels, layer.in_channels // layer.groups, *layer.kernel))
        for layer in network.layers
        if layer.has_weights
    }


def test_a_group_computes_its_channels_of_the_whole():
    """Every number of groups that is tried: with all channels, group by group, the same values."""
    tried = 0
    for seed in range(250):
        network, rng = random_apart_network(seed), np.random.default_rng(seed)
        heads = dict(zip([tensor.name for tensor in network.tensors], heads_of(network)))
        weights = weights_of(network, rng)
        inputs = {t.name: rng.normal(size=(t.channels, t.height, t.width)) for t in network.inputs}
        values = run_network(network, inputs, weights, heads)
        units = units_of(network)
        for layers in parts_of(network, random.Random(seed)):
            part = Part(network, layers)
            for groups in groups_apart(network, layers, units):
                tried += 1
                one = group_of(part, groups)
                for i in range(groups):
                    mine = {name: np.array_split(each, groups)[i] for name, each in values.items()}
                    own = {name: np.array_split(each, groups)[i] for name, each in weights.items()}
                    less = {name: max(1, count // groups) for name, count in heads.items()}
                    start = {tensor.name: mine[tensor.name] for tensor in one.network.inputs}
                    found = run_network(one.network, start, own, less)
                    for v in layers:
                        name = network.layers[v].name
                        np.testing.assert_allclose(found[name], mine[name], rtol=1e-9, atol=1e-12)
    assert tried > 100


def test_layers_that_mix_channels_have_no_groups():
    found = 0
    for seed in range(250):
        network = random_apart_network(seed)
        units = units_of(network)
        for layers in parts_of(network, random.Random(seed)):
            if any(
                network.layers[v].op == "layernorm" or (network.layers[v].op == "conv" and units[v] == 1)
                for v in layers
            ):
                assert groups_apart(network, layers, units) == ()
                with pytest.raises(Miss, match="does not keep 2 groups of channels apart|are not 2 groups"):
                    group_of(Part(network, layers), 2)
                found += 1
    assert found > 20


@each_seed(75, 150)
def test_every_number_is_what_is_counted_group_by_group(seed):
    rng, network = random.Random(seed), random_apart_network(seed)
    for layers in parts_of(network, rng):
        buffers = {"shared_buffer": int(10 ** rng.uniform(2, 4.3))}
        if rng.random() < 0.5:
            buffers = {"global_buffer": int(10 ** rng.uniform(2, 4.3)), "weight_buffer": int(10 ** rng.uniform(1, 3))}
        chip = Accelerator(**buffers, batch=rng.choice((1, 1, 2, 5)), groups_apart=True)
        rules = PricingRules(Geometry(network), chip, "exact", rng.choice(("ema", "energy", "latency-sum")))
        price = SubgraphModel(rules, layers).price(chip.activation_capacity, chip.weight_capacity)
        if isinstance(price, Shortage):
            continue
        counted = count_plan(network, chip, plan_of(layers, price))
        assert not counted.miss
        assert not [each for each in check(chip, [price], [counted]) if each.status != "equal"
                    and each.status != "within" and not each.name.endswith(("cycles", "_pj"))]  # fmt: skip
        lie = price._replace(channel_groups=price.channel_groups * 7)
        assert count_plan(network, chip, plan_of(layers, lie)).miss


@each_seed(50, 100)
def test_it_never_costs_more_and_moves_the_same_across(seed):
    rng, network = random.Random(seed), random_apart_network(seed)
    for layers in parts_of(network, rng):
        capacity, prices = int(10 ** rng.uniform(2, 4.3)), []
        for apart in (False, True):
            rules = PricingRules(
                Geometry(network), Accelerator(shared_buffer=capacity, groups_apart=apart, plans="paper"), "exact"
            )
            prices.append(SubgraphModel(rules, layers).price(capacity, 0))
        together, apart = prices
        if isinstance(apart, Shortage):
            assert isinstance(together, Shortage) and (apart.needed_bytes or 0) <= (together.needed_bytes or 0)
            continue
        if isinstance(together, Shortage):
            assert apart.channel_groups > 1
            continue
        assert apart.ema_bytes == together.ema_bytes and apart.operations == together.operations
        assert apart.global_buffer_bytes <= together.global_buffer_bytes
        assert apart.weight_buffer_bytes + apart.global_buffer_bytes <= (
            together.weight_buffer_bytes + together.global_buffer_bytes
        )


@pytest.mark.parametrize(
    ("name", "length", "most", "before", "after"),
    [("gpt2", 512, 400, 800_256, 66_688), ("gpt2", 2048, 400, 3_196_416, 266_368),
     ("llama3_8b", 2048, 1536, 4_333_568, 541_696)],
)  # fmt: skip
def test_attention_fits_where_one_head_does(name, length, most, before, after):
    """One row of scores and softmax beside K and V: of all heads, and of one head (of keys)."""
    network = workloads.load(name, length=length, layers=1)
    attention = [network.index[f"l1_{part}"] for part in ("scores", "softmax", "context")]
    needs = []
    for apart in (False, True):
        chip = Accelerator(shared_buffer=most * KiB, groups_apart=apart, plans="paper")
        model = SubgraphModel(PricingRules(Geometry(network), chip, "exact"), attention)
        needs.append(model.least_activation)
    assert needs == [before, after] and after <= most * KiB
    plan = Partition.from_groups(network, [["l1_scores", "l1_softmax", "l1_context"]])
    assert not evaluate(network, plan, Accelerator(shared_buffer=most * KiB, plans="paper")).fits
    chip = Accelerator(shared_buffer=most * KiB, groups_apart=True, plans="paper")
    found = evaluate(network, plan, chip)
    assert found.fits and verify(network, plan, chip).verified


def test_the_machine_says_so_only_where_it_is_asked():
    assert "groups_apart" not in Accelerator(shared_buffer=1).to_json()
    assert Accelerator(shared_buffer=1, groups_apart=True).to_json()["groups_apart"] is True
    for fields in ({"groups_apart": 1}, {"groups_apart": True, "cores": 2}):
        with pytest.raises(ValueError, match="groups_apart"):
            Machine(**fields)


def test_each_group_fills_the_array_anew():
    """Softmax of 2 heads of 65 keys, 64 channels at once: 3 cycles together, 2 for each head by itself; as counted."""
    b = Builder("heads")
    scores = b.matmul("scores", b.input("q", 1, 1, 16), b.input("k", 65, 1, 16), 2, transpose=True)
    b.matmul("context", b.softmax("softmax", scores), b.input("v", 65, 1, 16), 2)
    network, cycles = b.build(), []
    for size in (1300, 4000):
        chip = Accelerator(shared_buffer=size, groups_apart=True, plans="paper")
        plan = Partition.from_groups(network, [["scores", "softmax", "context"]])
        found = price_partition(network, plan, chip)
        (price,), (model,) = found.prices, found.models
        checks, message = judge(network, chip, plan, found.prices)
        assert not message and not [each for each in checks if each.status == "different"]
        cycles.append((price.channel_groups, model.layer_cycles(price)[1]))
        assert sum(model.layer_cycles(price).values()) == price.compute_cycles
    assert cycles == [(2, 4), (1, 3)]
