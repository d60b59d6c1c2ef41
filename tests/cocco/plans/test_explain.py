"""Explanations: the split is the best of all cuts, what is repaired runs, and the capacities are exact."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocco
import workloads
from cocco.search.pricing import compiled
from simulator import Accelerator, Partition, PartitionError, evaluate
from simulator.partition.partition import connected_parts
from tests.helpers.search_graphs import chain, networks

MACHINES = st.sampled_from([{}, {"cores": 2}, {"batch": 2}])


def cuts(group: tuple[int, ...]) -> list[list[tuple[int, ...]]]:
    """Return every way to cut a sequence into two pieces or more."""
    places = range(1, len(group))
    found = [c for size in range(1, len(group)) for c in combinations(places, size)]
    return [[group[a:b] for a, b in zip((0, *c), (*c, len(group)))] for c in found]


def random_plan(network, data) -> Partition:
    count = len(network.layers)
    ends = sorted(data.draw(st.sets(st.integers(1, max(1, count - 1)), max_size=2)) & set(range(1, count)))
    pieces = [range(a, b) for a, b in zip([0, *ends], [*ends, count])]
    return Partition.from_ids(network, [part for piece in pieces for part in connected_parts(network, piece)], "ema")


def test_a_chain_by_hand():
    """Layers of 576 weight bytes on maps of 8 x 8 x 8: 2 KB hold three layers, not four; two halves store one map."""
    network = chain(4)
    plan = Partition.from_groups(network, [["n0..n3"]])
    roomy, tight = (Accelerator(global_buffer=8192, weight_buffer=size) for size in (2304, 2303))
    assert evaluate(network, plan, roomy).fits
    explained = cocco.explain(network, plan, tight)
    (only,) = explained.subgraphs
    assert only.bytes.status == "infeasible" and only.bytes.reason == "weights exceed the weight buffer"
    assert only.bytes.fits_from == {"global_buffer": 8192, "weight_buffer": 2304}
    assert [len(part) for part in only.split.parts] in ([1, 3], [2, 2], [3, 1])
    assert only.split.ema_bytes == 4 * 576 + 4 * 512 == explained.repaired_evaluation.ema_bytes
    assert explained.repaired.names == only.split.parts


def test_what_fits_is_explained_by_what_its_split_would_cost():
    network = chain(4)
    plan = Partition.from_groups(network, [["n0..n3"]])
    explained = cocco.explain(network, plan, Accelerator(shared_buffer=2**16))
    (only,) = explained.subgraphs
    assert only.bytes.status == "held" and only.ema_bytes == 4 * 576 + 2 * 512
    assert only.split.ema_bytes == only.ema_bytes + 2 * 512
    assert explained.repaired is None and explained.repaired_evaluation is None


def test_the_dearest_are_explained_and_all_that_do_not_fit():
    network = workloads.load("resnet50")
    chip = Accelerator(shared_buffer=2**20)
    plan = Partition.layerwise(network)
    explained = cocco.explain(network, plan, chip, dearest=3)
    worth = sorted((cost.ema_bytes for cost in explained.evaluation.subgraphs), reverse=True)[:3]
    assert sorted((each.ema_bytes for each in explained.subgraphs), reverse=True) == worth
    assert all(each.split is None for each in explained.subgraphs)
    whole = Partition.from_groups(network, [["conv1..fc"]])
    (only,) = cocco.explain(network, whole, chip, dearest=0).subgraphs
    assert "regions" in only.bytes.reason and only.bytes.fits_from is None and only.split is not None


@settings(deadline=None, max_examples=50)
@given(networks(most=7), st.data(), MACHINES, st.integers(600, 9000), st.booleans())
def test_what_is_repaired_runs_and_no_cut_is_better(network, data, machine, size, shared):
    buffers = {"shared_buffer": size} if shared else {"global_buffer": size // 2, "weight_buffer": size // 2}
    chip = Accelerator(**buffers, **machine)
    plan = random_plan(network, data)
    explained, evaluation = cocco.explain(network, plan, chip), evaluate(network, plan, chip)
    assert explained.evaluation == evaluation
    assert {each.bytes.layers for each in explained.subgraphs} >= {each.layers for each in evaluation.infeasible}
    short = {name for each in evaluation.infeasible for name in each.layers}
    stuck = {each.layers[0] for each in evaluate(network, Partition.layerwise(network), chip).infeasible}
    assert (explained.repaired is None) == (evaluation.fits or bool(short & stuck))
    if explained.repaired is not None:
        assert explained.repaired_evaluation.fits
        assert explained.repaired_evaluation == evaluate(network, explained.repaired, chip)
    if len(evaluation.infeasible) > 1:
        return
    for each in explained.subgraphs:
        group = plan.subgraphs[each.position]
        others = [other for other in plan.subgraphs if other != group]
        best = None
        for parts in cuts(group):
            try:
                found = evaluate(network, Partition.from_ids(network, [*others, *parts], "ema"), chip)
            except PartitionError:
                continue
            named = {network.names(part) for part in parts}
            costs = [cost for cost in found.subgraphs if cost.layers in named]
            if len(costs) == len(parts):
                key = (sum(cost.ema_bytes for cost in costs), len(parts))
                best = key if best is None else min(best, key)
        mine = None if each.split is None else (each.split.ema_bytes, len(each.split.parts))
        assert mine == best


def test_another_metric_chooses_other_subgraphs():
    network = workloads.load("resnet50")
    chip = Accelerator(shared_buffer=2**20)
    plan = Partition.layerwise(network)
    by = {
        metric: [each.position for each in cocco.explain(network, plan, chip, metric=metric, dearest=4).subgraphs]
        for metric in ("ema", "latency-sum")
    }
    latency = [cost.latency_cycles for cost in evaluate(network, plan, chip).subgraphs]
    assert by["latency-sum"] == sorted(sorted(range(len(latency)), key=lambda i: (-latency[i], i))[:4]) != by["ema"]
    with pytest.raises(ValueError, match="metric"):
        cocco.explain(network, plan, chip, metric="area")


def test_without_the_compiled_engine_the_answer_is_the_same(monkeypatch):
    network = workloads.load("googlenet")
    chip = Accelerator(shared_buffer=2**19)
    names = [layer.name for layer in network.layers]
    plan = Partition.from_groups(network, [[f"{names[0]}..{names[9]}"], [f"{names[10]}..{names[24]}"]])
    found = cocco.explain(network, plan, chip)
    assert found.repaired is not None and found.repaired_evaluation.fits
    monkeypatch.setattr(compiled, "engine_name", lambda *_: "reference")
    assert cocco.explain(network, plan, chip) == found
