"""Steps that lack addresses, solved again in less room at no more cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cocco.exploration.placing.changes import replanned
from cocco.exploration.placing.slack import ROOM_SHARES, Slack
from cocco.problem.problem import on_hardware
from simulator import Accelerator, Partition, evaluate
from simulator.execution import verify
from simulator.metrics import Metric
from tests.helpers.parts import few_seeds
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_kept_plan
from workloads.network.network import Network


@few_seeds(16, 40)
@pytest.mark.parametrize("metric", ["ema", "energy"])
def test_a_plan_in_less_room_costs_no_more_and_runs(seeds, metric: Metric):
    """Of random plans, in about the least memory in which they run: priced by the simulator, and executed."""
    found = 0
    for seed in seeds:
        network = random_network(seed)
        plan = replace(random_kept_plan(network, seed), metric=metric)
        chip = least_chip(network, plan)
        if chip is None:
            continue
        slack = Slack(on_hardware(network, chip, metric=metric))
        new = slack.tightened(plan, range(len(plan)), ROOM_SHARES[-1])
        if new is None:
            continue
        found += 1
        assert cost(network, new, chip, metric) <= cost(network, plan, chip, metric) * (1 + 1e-12)
        assert verify(network, new, chip).verified
        said = replanned(network, plan, new, "in less room, at no more cost")
        assert said.what == "replanned" and said.layer in {layer.name for layer in network.layers}
    assert found > len(seeds) // 8


def test_steps_that_differ_are_named():
    """One layer more is kept in the middle: the steps before and behind are not spoken of."""
    network = random_network(3)
    plan = Partition.layerwise(network)
    reader = next(v for v, read in enumerate(network.producers) if 0 in read)
    kept = Partition.from_ids(network, plan.subgraphs, plan.metric, [(0, *sorted((at(plan, 0), at(plan, reader))))])
    said = replanned(network, plan, kept, "in less room, at no more cost")
    assert said.layer == network.layers[0].name and "in less room, at no more cost" in said.text


def at(plan: Partition, v: int) -> int:
    return next(step for step, group in enumerate(plan.subgraphs) if v in group)


def least_chip(network: Network, plan: Partition) -> Accelerator | None:
    """Return a memory in which a plan runs, not much larger than it must be; None where it needs too many regions."""
    sizes = (256 * 17**i // 16**i // 64 * 64 for i in range(120))
    chips = (Accelerator(shared_buffer=size) for size in sizes)
    return next((chip for chip in chips if evaluate(network, plan, chip).fits), None)


def cost(network: Network, plan: Partition, chip: Accelerator, metric: Metric) -> float:
    found = evaluate(network, plan, chip)
    return found.ema_bytes if metric == "ema" else found.energy_pj
