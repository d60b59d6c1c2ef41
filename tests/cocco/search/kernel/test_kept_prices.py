"""Steps beside kept tensors cost in the compiled engine what they cost in the simulator, to the byte."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from cocco.bounds.cheapest import compiled_prices, kept_price
from cocco.problem.problem import Problem, on_hardware
from cocco.search.exact.question import KeptStep
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator, Partition
from simulator.model.rules import PricingRules
from simulator.model.subgraph.subgraph import Geometry
from simulator.partition.steps import steps_of
from tests.helpers.every_kept_plan import as_set
from tests.helpers.every_kind import every_kind
from tests.helpers.parts import few_seeds
from tests.helpers.random_epilogue import random_followed
from tests.helpers.random_heads import random_heads
from tests.helpers.random_kept import random_kept_plan, random_order, random_spans
from tests.helpers.random_problems import random_net, random_problem
from tests.helpers.random_tables import with_tables
from workloads.network.network import Network

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")


def steps(problem: Problem, partition: Partition) -> list[KeptStep]:
    """Return the steps of a partition as the search asks for them."""
    (network,), (rules,) = problem.networks, problem.rules
    return [
        KeptStep(
            group,
            as_set(step.touched),
            as_set(step.loaded),
            as_set(step.written),
            sum(map(rules.whole_bytes, step.kept)),
            len(step.kept) - len(step.touched),
        )
        for group, step in zip(partition.subgraphs, steps_of(network, partition))
    ]


def compare(problem: Problem, asked: list[KeptStep]) -> tuple[int, int]:
    """Price steps in both engines; return how many keep anything, and how many of those fit."""
    readable, compiled = kept_price(problem), compiled_prices(problem)
    kept = fits = 0
    for step in asked:
        expected = readable(step)
        assert compiled.price(*step) == (None if expected is None else tuple(expected)), step
        kept += step.kept_bytes > 0
        fits += step.kept_bytes > 0 and expected is not None
    return kept, fits


def in_memory_of(problem: Problem, network: Network, size: int) -> Problem:
    """Return the problem with another network in buffers of other sizes."""
    machine = problem.accelerator
    chosen = replace(machine, **{name: size for name in ("shared_buffer", "global_buffer") if getattr(machine, name)})
    return replace(problem, networks=(network,), accelerator=chosen)


@few_seeds(12, 300)
def test_engines_agree_on_random_plans(seeds):
    """All kinds of layers, cores, batches, metrics, both tile rules; tight and ample buffers; tables, too."""
    kept = fits = 0
    for seed in seeds:
        problem = random_problem(seed)
        network = problem.networks[0] if seed % 3 == 0 else random_net(seed)
        for i in range(4):
            partition = random_kept_plan(network, 7 * seed + i)
            for size in (1 << random.Random(seed + i).randint(8, 14), 1 << 17):
                priced = in_memory_of(problem, network, size)
                if i % 2:
                    priced = with_tables(priced, seed)
                more = compare(priced, steps(priced, partition))
                kept, fits = kept + more[0], fits + more[1]
    assert kept > 6.5 * len(seeds) and 0.95 * kept > fits > 3.3 * len(seeds)


@few_seeds(30, 80)
@pytest.mark.parametrize("metric", ["ema", "energy"])
def test_engines_agree_where_layers_do_not_fit(seeds, metric):
    """Single layers in loop orders, in every memory from too little to ample."""
    network, fits = every_kind(), 0
    layers = [(v,) for v in range(len(network.layers))]
    for seed in seeds:
        rng = random.Random(seed)
        machine = Accelerator(shared_buffer=int(2 ** rng.uniform(10, 18)), batch=1 + seed % 2)
        spans = random_spans(network, layers, rng, rng.choice((0.1, 0.3, 0.7)))
        problem = on_hardware(network, machine, metric=metric)
        fits += compare(problem, steps(problem, Partition.from_ids(network, layers, keep=spans)))[1]
    assert fits > 5 * len(seeds) // 2


@few_seeds(10, 75)
@pytest.mark.parametrize("metric", ["ema", "energy"])
def test_engines_agree_on_nests(metric, seeds):
    """Dense layers with an epilogue, gates, norms and maps that leave; heads with projections: each in two memories."""
    fits = 0
    for seed in seeds:
        rng = random.Random(seed)
        network = rng.choice((random_followed, random_followed, random_heads))(rng)
        for layers in PricingRules(Geometry(network), Accelerator(shared_buffer=1), "exact").nests:
            alone = [(v,) for v in range(len(network.layers)) if v not in layers]
            order = random_order(network, Partition.from_ids(network, [layers, *alone]), rng)
            spans = random_spans(network, order, rng, rng.choice((0, 0.3, 0.7)))
            plan = Partition.from_ids(network, order, keep=spans)
            for size in (int(2 ** rng.uniform(7, 13)), int(2 ** rng.uniform(9, 15))):
                machine = Accelerator(shared_buffer=size, batch=rng.choice((1, 1, 3)))
                problem = on_hardware(network, machine, metric=metric)
                fits += compare(problem, steps(problem, plan))[1]
    assert fits > 1.5 * len(seeds)
