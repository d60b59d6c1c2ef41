"""The timeline: it ends at the paper's sum or at the executed latency, exactly, and nothing happens twice at once."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import Accelerator, Partition, evaluate
from simulator.views.timeline import timeline
from tests.helpers.graphs import chain, resnet_block
from tests.helpers.random_graphs import random_network
from tests.helpers.random_plans import random_plan


def test_a_chain_by_hand():
    """a: 288 cycles, 1152 weight bytes, 2048 in, 4096 out; b: 144 cycles, 2304, 4096, 1024; 16 bytes a cycle."""
    network = chain()
    evaluation = evaluate(network, Partition.from_groups(network, [["b", "c"]]), Accelerator(shared_buffer=2**20))
    first, second = evaluation.subgraphs
    assert (first.compute_cycles, second.compute_cycles) == (288, 144 + 32)
    plain = timeline(network, evaluation)
    spans = {(span.kind, span.subgraph): (span.start, span.stop) for span in plain.spans}
    weights, inputs, outputs = 9 * 8 * 16, 16 * 16 * 8, 16 * 16 * 16
    length = max(288 * 16, weights + inputs + outputs)
    assert spans["weights", 0] == (0, weights)
    assert spans["inputs", 0] == (weights, weights + inputs)
    assert spans["outputs", 0] == (length - outputs, length)
    assert spans["compute", 0] == (length - 288 * 16, length)
    assert spans["subgraph", 1][0] == length


def test_next_weights_come_early_in_the_run_that_can_be_executed():
    """As above, with room for all: a computes from 3200 (2048 bytes of inputs, 1152 of weights) to 7808.

    Meanwhile come the 2816 weight bytes of b and c, and nothing else: a makes all 4096 bytes at once, stored at 7808.
    Then b's inputs until 16000; b and c compute from there to 18816, and 2048 bytes are stored.
    """
    network = chain()
    evaluation = evaluate(network, Partition.from_groups(network, [["b", "c"]]), Accelerator(shared_buffer=2**20))
    ahead = timeline(network, evaluation, prefetch=True)
    spans = [(span.kind, span.subgraph, span.start, span.stop) for span in ahead.spans]
    assert spans == [
        ("subgraph", 0, 0, 7808), ("inputs", 0, 0, 2048), ("weights", 0, 2048, 3200),
        ("weights", 1, 3200, 5504), ("compute", 0, 3200, 7808), ("weights", 1, 5504, 6016),
        ("subgraph", 1, 7808, 20864), ("outputs", 0, 7808, 11904), ("inputs", 1, 11904, 16000),
        ("compute", 1, 16000, 18304), ("compute", 1, 18304, 18816), ("outputs", 1, 18816, 20864),
    ]  # fmt: skip
    assert [span.size_bytes for span in ahead.spans if span.kind == "subgraph"] == [2048 + 1152 + 2816, 4096 + 6144]
    held = [(each.start, each.occupancy.weight_bytes, each.next_weight_bytes) for each in ahead.held]
    assert held == [
        (0, 0, 0),
        (2048, 1152, 0),
        (3200, 1152, 2304),
        (5504, 1152, 2816),
        (7808, 2816, 0),
        (11904, 2816, 0),
        (20864, 0, 0),
    ]


def test_what_cannot_run_has_no_timeline():
    network = resnet_block()
    plan = Partition.from_groups(network, [["a", "b"]])
    with pytest.raises(ValueError, match="cannot run"):
        timeline(network, evaluate(network, plan, Accelerator(shared_buffer=64)))


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 20_000), st.integers(1, 3), st.integers(1, 3),
    st.booleans(),
)  # fmt: skip
def test_it_ends_at_the_latency_and_nothing_happens_twice_at_once(graph, cuts, size, cores, batch, prefetch):
    network = random_network(graph, whole=bool(graph % 2))
    chip = Accelerator(shared_buffer=size, cores=cores, batch=batch)
    evaluation = evaluate(network, random_plan(network, cuts), chip)
    if not evaluation.fits:  # its layers do, one by one in 64 KB more
        evaluation = evaluate(network, Partition.layerwise(network), replace(chip, shared_buffer=size + 2**16))
    found = timeline(network, evaluation, prefetch)
    assert found.latency_cycles == (evaluation.latency_executed_cycles if prefetch else evaluation.latency_cycles)
    for kinds in (("weights", "inputs", "outputs"), ("compute",), ("subgraph",)):
        spans = [span for span in found.spans if span.kind in kinds]
        assert all(before.stop <= after.start for before, after in zip(spans, spans[1:]))
        assert all(span.stop > span.start >= 0 for span in spans)
    for kind in ("weights", "inputs", "outputs"):
        moved = sum(span.size_bytes for span in found.spans if span.kind == kind)
        assert moved == getattr(evaluation, f"ema_{kind.removesuffix('s')}_bytes")
    busy = sum(span.stop - span.start for span in found.spans if span.kind == "compute")
    assert busy == evaluation.compute_cycles * chip.dram_bytes_per_cycle
    assert sum(span.size_bytes for span in found.spans if span.kind == "subgraph") == evaluation.ema_bytes
    starts = [span.start for span in found.spans if span.kind == "subgraph"]
    assert [each.start for each in found.held if each.start in starts] == starts and len(starts) > 0
    for each in found.held[:-1]:
        cost = evaluation.subgraphs[bisect_right(starts, each.start) - 1]
        assert each.occupancy.main_bytes + each.occupancy.side_bytes == cost.activation_bytes
        assert sum(each.occupancy) + each.row_bytes + each.next_weight_bytes <= evaluation.accelerator.shared_buffer
    assert found.held[-1] == (found.end, (0, 0, 0, 0), 0, 0)
