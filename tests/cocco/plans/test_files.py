"""Hand-written partitions with `rest: greedy`: the groups stay, the rest is fused, and all of it is valid."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workloads
from cocco.plans.files import fill_greedily, load_partition
from cocco.search.baselines.greedy import greedy
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator import Accelerator, Partition, PartitionError, evaluate
from tests.helpers.search_graphs import fixed, networks

TEXT = """
network: resnet50
subgraphs:
  - [conv1..s1b1_add]
  - ["s1b2_*", s1b3_a..s1b3_add]
rest: {rest}
"""
CHIP = Accelerator(shared_buffer=2**20)


def written(tmp_path, rest: str):
    path = tmp_path / "plan.yaml"
    path.write_text(TEXT.format(rest=rest))
    return path


def test_greedy_keeps_the_groups_and_is_cheaper_than_layer_by_layer(tmp_path):
    network = workloads.load("resnet50")
    alone = load_partition(written(tmp_path, "layerwise"), network)
    fused = load_partition(written(tmp_path, "greedy"), network, CHIP)
    groups = [group for group in alone.names if len(group) > 1]
    assert [len(group) for group in groups] == [7, 8]
    assert set(groups) < set(fused.names)
    assert evaluate(network, fused, CHIP).ema_bytes < evaluate(network, alone, CHIP).ema_bytes


def test_greedy_without_groups_is_the_greedy_baseline():
    network = workloads.load("googlenet")
    problem = fixed(network, 2**20)
    labels, _ = greedy(problem, SubgraphCosts(problem))
    plan = fill_greedily(network, [], problem.accelerator, "ema", "exact")
    groups = [[v for v in range(len(labels)) if labels[v] == x] for x in set(labels)]
    assert plan == Partition.from_ids(network, groups, "ema")


def test_greedy_needs_hardware(tmp_path):
    path = written(tmp_path, "greedy")
    with pytest.raises(PartitionError, match="needs given hardware"):
        load_partition(path, workloads.load("resnet50"))


@settings(deadline=None, max_examples=60)
@given(networks(most=10), st.data())
def test_groups_stay_and_the_whole_stays_valid(network, data):
    """Fused layers may not close a cycle through a group; a group stays even where it does not fit."""
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(network.layers), max_size=len(network.layers)))
    groups = [[v for v, label in enumerate(labels) if label == x] for x in (1, 2)]
    groups = [group for group in groups if group]
    rest = [[v] for v in range(len(labels)) if all(v not in group for group in groups)]
    try:
        Partition.from_ids(network, groups + rest)
    except PartitionError:
        return
    plan = fill_greedily(
        network, groups, Accelerator(shared_buffer=data.draw(st.integers(1, 9)) * 1024), "ema", "exact"
    )
    assert {tuple(group) for group in groups} <= set(plan.subgraphs)
