"""Subgraphs on 1 to 7 cores: the compiled twin takes the same way to share them as the simulator, to the byte."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocco.problem.problem import Problem, on_hardware
from cocco.search.kernel.choice import engine_name, has_kernel
from cocco.search.kernel.compiled import Compiled
from simulator import Accelerator, Technology
from simulator.mapping.closed import cycles_of_lanes, layer_cycles
from simulator.metrics import METRIC_NAMES
from simulator.model.cost import total
from simulator.model.pricing import Price, SubgraphModel
from simulator.partition.partition import connected_parts
from tests.helpers.parts import few_seeds
from tests.helpers.random_cores import random_channels
from tests.helpers.random_tables import random_technology, shared_technology

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")

SEEDS = st.integers(0, 10**6)


def random_cores_problem(seed: int) -> Problem:
    """Return a network of all operators on 1 to 7 cores: batches, memories, words, crossbars, tables, rules."""
    rng = random.Random(seed)
    network = random_channels(seed)
    technology = Technology(
        channel_alignment=rng.choice((1, 1, 2, 3, 8)), tiles=rng.choice(((8, 4, 3, 2, 1), (4, 1), (2, 1))),
        crossbar_bytes_per_cycle=rng.choice((1, 16, 64)), dram_bytes_per_cycle=rng.choice((1, 16)),
        crossbar_pj_per_byte=rng.choice((0.0, 0.4, 30.0)),
    )  # fmt: skip
    many = {"cores": rng.randint(1, 7), "batch": rng.choice((1, 1, 2, 3, 5, 8)), "technology": technology}
    size, weights = (int(10 ** rng.uniform(1.5, 5)) for _ in range(2))
    shared = Accelerator(shared_buffer=size, **many)
    machine = shared if rng.random() < 0.5 else Accelerator(global_buffer=size, weight_buffer=weights, **many)
    if seed % 2:
        tables = (shared_technology if machine.is_shared else random_technology)(rng)
        kept = ("activation_sram", "weight_sram", "dram_background_mw")
        machine = replace(machine, technology=replace(technology, **{name: getattr(tables, name) for name in kept}))
    rule = rng.choice(("exact", "exact", "exact", "paper"))
    return on_hardware(network, machine, metric=rng.choice(METRIC_NAMES), tile_rule=rule)


def schemes_of(seed: int) -> Counter[str]:
    """Price parts of a network with both engines, and return in which ways they run."""
    problem, rng = random_cores_problem(seed), random.Random(seed)
    machine, (rules,), twin = problem.accelerator, problem.rules, Compiled(problem)
    found: Counter[str] = Counter()
    first = rng.randrange(problem.size)
    last = rng.randint(first, problem.size - 1)
    parts = connected_parts(problem.networks[0], range(first, last + 1)) + [[v] for v in range(first, last + 1)]
    for part in parts:
        price = SubgraphModel(rules, part).price(machine.activation_capacity, machine.weight_capacity)
        row = twin.price(part, machine.activation_capacity, machine.weight_capacity)
        assert row == (total([price], machine) if isinstance(price, Price) else None)
        found[f"{price.scheme}" if isinstance(price, Price) else "none"] += 1
    return found


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_engines_agree_on_any_cores(seed):
    schemes_of(seed)


@few_seeds(75, 300)
def test_every_way_is_taken(seeds):
    """One core, the four ways of several, and none."""
    found = sum((schemes_of(seed) for seed in seeds), Counter())
    assert all(found[scheme] > len(seeds) / 30 for scheme in ("", "channels", "rotated", "held", "alone", "none")), (
        found
    )


def test_the_default_engine_prices_several_cores():
    problem = on_hardware(random_channels(1), Accelerator(shared_buffer=10**5, cores=4))
    assert engine_name(None, problem) == "fast"


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 5), st.booleans())
def test_cycles_of_lanes_are_those_of_layers(seed, samples, is_wide):
    """The least product over the lanes is the closed form."""
    technology = Technology(pe_rows=3, pe_columns=5) if is_wide else Technology()
    for layer in random_channels(seed).layers:
        lanes = cycles_of_lanes(layer, samples, technology)
        least = min(cycles * -(-layer.width // width) for width, cycles in lanes.items())
        assert least == layer_cycles(layer, samples, technology=technology)
