"""Subgraphs that run as one loop nest: what a price claims is counted, executed, and lies are caught."""

from __future__ import annotations

import random

import numpy as np
import pytest

from simulator.execution import verify
from simulator.execution.claims import plan_of
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import Lies
from simulator.execution.judge import count_plan
from simulator.execution.layer.common.problem import Problem
from simulator.execution.layer.common.statistics import POWERS, PRIME
from simulator.execution.layer.nest import as_one
from simulator.execution.layer.value.attention import attended
from simulator.model.nests.recognize import nests_of
from simulator.model.price import Price
from simulator.model.priced import price_partition
from simulator.timing import simulate
from tests.helpers.random_attention import random_attention_in_layers
from tests.helpers.random_heads import random_heads
from tests.helpers.random_nests import attention_network, random_nest_plan


@pytest.mark.parametrize("seeds", [range(30), (566, 787, 3125), pytest.param(range(1500), marks=pytest.mark.slow)])
def test_nests_are_executed_as_priced(seeds):
    """Attentions and epilogues, tensors kept, bits, batches, two kinds of memory: every number and all values.

    566, 787: groups alike with an operand that is broadcast; 3125: values that stay in part, in blocks.
    """
    looped = 0
    for seed in seeds:
        network, plan, place, chip = random_nest_plan(seed)
        found = price_partition(network, plan, chip)
        if not found.fits:
            continue
        report = verify(network, plan, chip)
        assert report.verified, (seed, report.message)
        price = found.prices[place]
        assert isinstance(price, Price)
        if price.loops is not None:
            looped += 1
            regions = found.models[place].residency(price).regions.values()
            assert min(each.main_bytes for each in regions) >= 0
            assert sum(each.main_bytes + each.side_bytes for each in regions) == price.activation_bytes
            slices = [each for each in simulate(network, plan, chip).slices if each.subgraph == place]
            slots = chip.technology.dram_bytes_per_cycle
            for name, cycles in found.models[place].layer_cycles(price).items():
                layer = network.layers[name].name
                computed = sum(
                    each.stop - each.start for each in slices if each.layer == layer and each.kind == "compute"
                )
                assert computed == cycles * slots
            assert sum(each.size_bytes for each in slices) == price.ema_bytes
    assert looped > len(seeds) / 4


def test_a_choice_of_another_plan_is_no_plan_of_the_nest():
    """Each choice changed: the count differs or the loops do not run; in layers that are no nest nothing runs."""
    changed = 0
    for seed in range(200):
        network, plan, place, chip = random_nest_plan(seed, (attention_network, random_heads)[seed % 2])
        found = price_partition(network, plan, chip)
        price, choices = found.prices[place], {"TB": "slice", "HP": "inner"}
        if plan.keep or not isinstance(price, Price) or price.loops is None or price.loops.order not in choices:
            continue
        layers = plan.subgraphs[place]
        counted = count_plan(network, chip, plan_of(layers, price))
        assert not counted.miss
        choice = choices[price.loops.order]
        part = price._replace(loops=price.loops._replace(**{choice: getattr(price.loops, choice) - 1}))
        other = count_plan(network, chip, plan_of(layers, part))
        assert other.miss or other.count != counted.count
        assert count_plan(network, chip, plan_of(layers[:-1], price)).miss
        assert count_plan(network, chip, plan_of(layers, price._replace(loops=price.loops._replace(order="TK")))).miss
        changed += 1
    assert changed > 40


def test_a_tensor_inside_a_nest_is_not_kept():
    network = random_attention_in_layers(random.Random(3))
    layers = max(nests_of(network), key=len)
    inner = frozenset({layers[0]})
    with pytest.raises(Miss, match="pieces"):
        as_one(network, layers, Lies(inner, inner, None, inner))
    with pytest.raises(Miss, match="in the loops of a dense layer"):
        as_one(network, layers[:2])


def test_one_layer_computes_what_the_layers_do():
    """Scores, softmax and context one after the other, in the same residues as the attention that stands for them."""
    compared = 0
    for seed in range(60):
        network = random_attention_in_layers(random.Random(seed))
        one = as_one(network, max(nests_of(network), key=len))
        operands = one.network.operands[0]
        if len(operands) != 3 or one.network.layers[0].operand_heads:
            continue
        problem = Problem(one.network, 0, 2, seed)
        query, keys, values = (problem.maps[u].reshape(2, one.network.tensors[u].channels, -1) for u in operands)
        heads, found = one.network.layers[0].groups, []
        for q, k, v in zip(*(np.split(each, heads, axis=1) for each in (query, keys, values))):
            scores = np.einsum("ncq,nck->nqk", q, k) % 128
            powers = POWERS[scores.max(axis=2, keepdims=True) - scores]
            total = powers.sum(axis=2) % PRIME
            inverse = np.vectorize(lambda each: pow(int(each), PRIME - 2, PRIME))(total)
            found.append(np.einsum("nqk,nck->ncq", powers, v) % PRIME * inverse[:, None] % PRIME)
        made = attended(problem).reshape(2, one.network.layers[0].channels, -1)
        assert (made == np.concatenate(found, axis=1)).all()
        compared += 1
    assert compared > 20
