"""Kept tensors for a partition by hand: never worse than the file, in its order, exact where it says so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocco
import workloads
from cocco.plans.files import load_partition, written_order
from cocco.plans.kept_tensors import kept_reasons
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.execution import verify
from simulator.model.priced import price_partition
from tests.helpers.command_line import write_json
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_kept_plan
from workloads import Builder

MAP = 8 * 8 * 8


def block():
    """A residual block on maps of 512 bytes: s is read by a, and by the sum two steps later."""
    b = Builder("block")
    x = b.input("x", 8, 8, 8)
    s = b.conv("s", x, 8, 1)
    a = b.conv("a", s, 8, 1)
    b.add("sum", [a, s])
    return b.build()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from([{}, {"cores": 2}, {"batch": 2}]))
def test_the_choice_is_never_worse_than_what_was_given_and_runs(seed, machine):
    network = random_network(seed, most_layers=7, whole=True)
    plan = random_kept_plan(network, seed)
    chip = Accelerator(shared_buffer=3 * max(t.size_bytes for t in network.tensors) + 4096, **machine)
    found = cocco.keep_on_chip(network, plan, chip)
    assert sorted(found.partition.subgraphs) == sorted(plan.subgraphs)
    assert found.evaluation == evaluate(network, found.partition, chip)
    if found.given.fits:
        assert found.evaluation.energy_pj <= found.given.energy_pj and found.saved >= 0
    if found.evaluation.fits and not machine:
        assert verify(network, found.partition, chip).verified


def test_a_block_by_hand():
    """Everything stays: only x, the weights (3 x 64) and the sum cross."""
    network = block()
    found = cocco.keep_on_chip(network, Partition.layerwise(network, "ema"), Accelerator(shared_buffer=4 * KiB))
    assert [each.to_json() for each in found.partition.keep] == [
        {"tensor": "s", "from": "s", "until": "sum"},
        {"tensor": "a", "from": "a", "until": "sum"},
    ]
    assert found.evaluation.ema_bytes == 2 * MAP + sum(layer.weight_bytes for layer in network.layers)
    assert (found.exact, found.saved) == (True, 5 * MAP)  # s: written, read twice; a: written, read


def test_reasons_by_hand():
    """Of s kept until a, one reading is spared; the sum reads DRAM, so s is written all the same."""
    network = block()
    plan = Partition.from_groups(network, [["s"], ["a"], ["sum"]], keep=[{"tensor": "s", "until": "a"}])
    found = kept_reasons(price_partition(network, plan, Accelerator(shared_buffer=4 * KiB)))
    (kept,) = found.kept
    assert (kept.size_bytes, kept.reads, kept.is_written, kept.saved_bytes) == (MAP, 1, True, MAP)
    assert [(room.position, room.kept, room.kept_bytes) for room in found.rooms] == [
        (0, ("s",), MAP), (1, ("s",), MAP), (2, (), 0),
    ]  # fmt: skip
    for room in found.rooms:
        assert room.capacity_bytes == 4 * KiB == room.kept_bytes + room.needed_bytes + room.free_bytes
    rows = [(each.tensor, each.from_step, each.until_step, each.saved_bytes) for each in found.missed]
    assert rows == [("s", 1, 2, 2 * MAP), ("a", 1, 2, 2 * MAP)]
    assert all(each.missing_bytes == 0 and each.step is None and each.change < 0 for each in found.missed)


@pytest.mark.parametrize("size", [600, 1000, 1100, 1600])
def test_what_a_tensor_lacks_is_what_the_memory_lacks(size):
    """With so many bytes more, and no fewer, the interval fits."""
    network = block()
    plan = Partition.layerwise(network)
    for each in kept_reasons(price_partition(network, plan, Accelerator(shared_buffer=size))).missed:
        spans = [(network.index[each.tensor], each.from_step, each.until_step)]
        kept = Partition.from_ids(network, plan.subgraphs, keep=spans)
        for more, fits in ((each.missing_bytes, True), (each.missing_bytes - 1, False)):
            if each.missing_bytes:
                assert evaluate(network, kept, Accelerator(shared_buffer=size + more)).fits == fits
        assert (
            (each.step is None)
            == (each.missing_bytes == 0)
            == evaluate(network, kept, Accelerator(shared_buffer=size)).fits
        )


def test_the_order_of_a_file_counts_where_it_runs(tmp_path):
    """Listed as written; what is not listed runs as soon as it can; an order against an edge is the usual one."""
    network = workloads.load("googlenet")
    first, second = ["inception_3a_5x5_reduce"], ["inception_3a_1x1"]  # the usual order has the second first
    for groups, is_written in (([first, second], True), ([["fc"], ["conv1"]], False)):
        path = write_json(tmp_path / "plan.json", {"subgraphs": groups})
        plan = load_partition(path, network)
        order = written_order(path, network, plan)
        assert sorted(order) == sorted(plan.subgraphs)
        ids = [tuple(sorted(network.index[name] for name in group)) for group in groups]
        assert ([order.index(group) for group in ids] == sorted(order.index(group) for group in ids)) == is_written
