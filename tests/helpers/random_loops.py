"""Random loop orders of single layers of all operators, dealt to 2 to 7 cores, priced and executed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from simulator import Accelerator
from simulator.execution.claims import plan_of
from simulator.execution.judge import ROOMY, count_plan
from simulator.execution.layer import LayerPlan, run_parts
from simulator.model.layer.cheapest import Room, plans_of
from simulator.model.pricing import Price, PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from simulator.technology import Technology
from tests.helpers.random_cores import CORES, random_channels
from workloads.network.network import Network

UNCOUNTED = ("kept_bytes", "operation_extra")
ON_CHIP = ("activation_bytes", "weight_bytes")


def random_loops(seed: int) -> Iterator[tuple[Network, Accelerator, SubgraphModel, Price]]:
    """Yield up to two loop orders of each layer of a random network, in each way in which some cores can share it."""
    rng, network = random.Random(seed), random_channels(seed)
    technology = Technology(channel_alignment=rng.choice((1, 1, 2, 3, 8)), tiles=(8, 4, 3, 2, 1))
    cores, batch = rng.choice(CORES), rng.choice((1, 1, 2, 3, 5))
    chip = Accelerator(shared_buffer=10**9, cores=cores, batch=batch, technology=technology)
    rules = PricingRules(Geometry(network, technology), chip, "exact")
    for v in range(len(network.layers)):
        model = SubgraphModel(rules, [v])
        for way in model.loop_ways:
            plans = list(plans_of(way.loops, Room(int(10 ** rng.uniform(1.3, 4)), None), "bands"))
            for plan in rng.sample(plans, min(2, len(plans))):
                yield network, chip, model, model.looped(way, plan)


def check_loops(network: Network, chip: Accelerator, model: SubgraphModel, price: Price) -> str:
    """Count and execute a loop order; return whether its values "ran" on all cores or, large, "scaled" part by part."""
    (v,), loops = model.subgraph.layers, price.loops
    found = count_plan(network, chip, plan_of((v,), price))
    assert loops is not None and not found.miss, (network.layers[v], price, found.miss)
    for name, counted in found.count._asdict().items():
        claimed = getattr(price, name)
        is_roomy = name in ON_CHIP and loops.order in ROOMY
        assert name in UNCOUNTED or claimed == counted or (is_roomy and counted < claimed), (name, claimed, counted)
    if price.scheme == "alone":
        return "alone"
    word = chip.technology.channel_alignment
    plan = LayerPlan._make(loops[: len(LayerPlan._fields)])
    return "scaled" if run_parts(network, v, plan, price.scheme, chip.cores, chip.batch, word) else "ran"


def check_seeds(seeds: range) -> Counter[str]:
    """Return how many loop orders were executed, by scheme, by order, and by how."""
    found: Counter[str] = Counter()
    for seed in seeds:
        for network, chip, model, price in random_loops(seed):
            assert price.loops is not None
            found.update((price.scheme, price.loops.order, check_loops(network, chip, model, price)))
    return found
