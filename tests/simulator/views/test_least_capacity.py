"""The least memory on which a partition runs: it runs there, and not with one byte less."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from simulator import Accelerator, Partition, evaluate, least_capacity
from simulator.views.breakdown import breakdown
from tests.helpers.graphs import chain, residual, resnet_block
from tests.helpers.random_graphs import random_network
from tests.helpers.random_plans import random_plan

MACHINES = st.fixed_dictionaries({
    "cores": st.integers(1, 3), "batch": st.integers(1, 3),
})  # fmt: skip


def test_a_chain_by_hand():
    """a, b: 3x3 kernels on rows of 16, 8-channel words. At tiles of 1: b wants 3 columns of a, a one column a time."""
    network = chain()
    plan = Partition.from_groups(network, [["a", "b", "c"]])
    (needs,) = breakdown(network, plan, Accelerator(shared_buffer=10**6))
    weights = 3 * 3 * 8 * 16 + 3 * 3 * 16 * 16 + 16 * 32
    assert needs.weight_bytes == weights
    least = least_capacity(network, plan)
    assert least.weight_buffer == weights
    assert least.shared_buffer == least.global_buffer + weights
    assert least.shared_layers == least.global_layers == least.weight_layers == ("a", "b", "c")


def test_layer_by_layer_runs_in_the_least_loop_order_of_its_largest_window():
    """A block of one output: 8 inputs of 3 x 3, 8 sums of 4 bytes, and 8 x 8 x 9 weights; so on several cores."""
    network = resnet_block()
    least = least_capacity(network, Partition.layerwise(network))
    assert (least.shared_buffer, least.global_buffer, least.weight_buffer) == (72 + 32 + 576, 72 + 32, 576)
    assert least.shared_layers == least.global_layers == least.weight_layers == ("b",)
    cores = least_capacity(network, Partition.layerwise(network), cores=2)
    assert (cores.shared_buffer, cores.global_buffer, cores.weight_buffer) == (72 + 32 + 576, 72 + 32, 576)
    held = least_capacity(network, Partition.layerwise(network), streaming=False)
    assert held.weight_buffer == 3 * 3 * 64 * 64 and held.weight_layers == ("b",)


def test_a_rule_that_no_memory_mends_is_no_capacity():
    network = resnet_block()
    plan = Partition.from_groups(network, [["shortcut", "a", "b", "c", "add"]])
    least = least_capacity(network, plan, max_regions=4)
    assert not least.fits and least.shared_buffer is least.global_buffer is least.weight_buffer is None
    assert "6 tensors" in least.infeasible[0].reason


def test_a_partition_of_another_network_is_an_error():
    with pytest.raises(ValueError, match="not of 'residual'"):
        least_capacity(residual(), Partition.layerwise(chain()))


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.integers(0, 10**6), MACHINES, st.booleans(), st.sampled_from(["exact", "paper"]))
def test_it_runs_there_and_not_with_one_byte_less(graph, cuts, machine, streaming, rule):
    network = random_network(graph)
    plan = replace(random_plan(network, cuts), metric="ema")  # the least energy may move more, in larger tiles
    least = least_capacity(network, plan, **machine, streaming=streaming, tile_rule=rule)
    if not least.fits:
        assert not evaluate(network, plan, Accelerator(shared_buffer=2**40, **machine), rule).fits
        return

    def runs(**buffers) -> bool:
        if min(buffers.values()) < 1:
            return False
        chip = Accelerator(**buffers, **machine)
        statuses = {each.status for each in breakdown(network, plan, chip, rule)}
        assert evaluate(network, plan, chip, rule).fits == ("infeasible" not in statuses)
        return not statuses & ({"infeasible"} if streaming else {"infeasible", "streamed"})

    shared, pair = least.shared_buffer, (least.global_buffer, least.weight_buffer)
    assert runs(shared_buffer=shared)
    assert runs(global_buffer=pair[0], weight_buffer=pair[1])

    def decides(names) -> bool:  # a single layer may move everything once in less than it takes whole
        return streaming or len(names) != 1

    if decides(least.shared_layers):
        assert not runs(shared_buffer=shared - 1)
    if decides(least.global_layers):
        assert not runs(global_buffer=pair[0] - 1, weight_buffer=pair[1])
    if decides(least.weight_layers):
        assert not runs(global_buffer=pair[0], weight_buffer=pair[1] - 1)


@settings(deadline=None, max_examples=12, derandomize=True)  # some plans take a minute
@given(st.integers(0, 10**6), st.integers(0, 10**6), MACHINES, st.integers(1, 4000), st.booleans())
def test_the_capacity_that_would_hold_a_subgraph_is_exact(graph, cuts, machine, size, shared):
    """Where it fits: how far each buffer may shrink. Where it does not: what they must grow to."""
    network = random_network(graph)
    plan = replace(random_plan(network, cuts), metric="ema")  # the least energy may move more, in larger tiles
    buffers = {"shared_buffer": size} if shared else {"global_buffer": size, "weight_buffer": size}
    found = breakdown(network, plan, Accelerator(**buffers, **machine))
    assume(any(each.fits_from for each in found))
    for i, each in enumerate(found):
        if each.fits_from is None:
            continue

        def held(i=i, **changed) -> bool:
            chip = Accelerator(**{name: value for name, value in (buffers | changed).items() if value}, **machine)
            return breakdown(network, plan, chip)[i].status == "held"

        grown = {name: max(value, size) for name, value in each.fits_from.items()}
        assert held(**grown)
        for name, value in each.fits_from.items():
            is_loop = len(each.layers) == 1  # which may be held in less
            if each.status == "held":
                assert is_loop or value <= size
                assert held(**{name: value})
                assert is_loop or value == 1 or not held(**{name: value - 1})
            elif is_loop:
                continue
            elif value > size:
                assert not held(**grown | {name: value - 1})
