"""Which tensors take a subgraph's bytes: they sum to what the evaluation says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import Accelerator, Partition, breakdown, evaluate
from tests.helpers.graphs import resnet_block
from tests.helpers.random_graphs import random_network
from tests.helpers.random_plans import random_plan


def test_resnet_s_first_block_by_hand():
    """Tiles of 64 cover the map of 56 x 56: every tensor is held whole, nothing is kept beside it."""
    network = resnet_block()
    plan = Partition.from_groups(network, [["shortcut", "a", "b", "c", "add"]])
    (found,) = breakdown(network, plan, Accelerator(shared_buffer=2**23))
    assert (found.status, found.reason, found.tile) == ("held", None, (64, 64))
    sizes = {each.tensor: (each.role, each.main_bytes, each.side_bytes, each.dram_bytes) for each in found.tensors}
    narrow, wide = 56 * 56 * 64, 56 * 56 * 256
    assert sizes == {
        "pool1": ("input", narrow, 0, narrow),
        "shortcut": ("inner", wide, 0, 0),
        "a": ("inner", narrow, 0, 0),
        "b": ("inner", narrow, 0, 0),
        "c": ("inner", wide, 0, 0),
        "add": ("output", wide, 0, wide),
    }
    assert [each.layer for each in found.weights] == ["b", "shortcut", "c", "a"]
    assert found.weights[0].weight_bytes == 9 * 64 * 64


def test_what_does_not_fit_is_shown_for_the_tile_that_takes_least():
    network = resnet_block()
    plan = Partition.from_groups(network, [["shortcut", "a", "b", "c", "add"]])
    (found,) = breakdown(network, plan, Accelerator(shared_buffer=65536))
    (short,) = evaluate(network, plan, Accelerator(shared_buffer=65536)).infeasible
    assert found.status == "infeasible" and found.reason == short.reason and found.tile == (1, 1)
    assert found.activation_bytes + found.weight_bytes == short.needed_bytes == found.fits_from["shared_buffer"]
    assert max(found.tensors, key=lambda each: each.side_bytes).tensor == "a"  # b reads it through a 3x3 window


def test_a_rule_that_no_memory_mends_fits_from_nowhere():
    network = resnet_block()
    plan = Partition.from_groups(network, [["shortcut", "a", "b", "c", "add"]])
    (found,) = breakdown(network, plan, Accelerator(shared_buffer=2**23, max_regions=4))
    assert found.fits_from is None and "6 tensors" in found.reason


def test_a_partition_of_another_network_is_an_error():
    with pytest.raises(ValueError, match="not of"):
        breakdown(random_network(1), Partition.layerwise(resnet_block()), Accelerator(shared_buffer=1))


def weights_of_ways(network, layers, cores):
    """Return the bytes of weights of a core that has the most outputs of each layer, an equal share, or all."""
    found = [layer for layer in network.layers if layer.name in layers]
    whole = sum(layer.weight_bytes for layer in found)
    words = [(-(-layer.channels // 8), layer) for layer in found]
    dealt = sum(
        layer.weight_bytes // layer.channels * min(layer.channels, 8 * -(-count // cores)) for count, layer in words
    )
    return {dealt, -(-whole // cores), whole} if cores > 1 else {whole}


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 20_000), st.integers(1, 3), st.integers(1, 3))
def test_the_parts_sum_to_what_the_evaluation_says(graph, cuts, size, cores, batch):
    network = random_network(graph, whole=bool(graph % 2))
    plan = random_plan(network, cuts)
    chip = Accelerator(shared_buffer=size, cores=cores, batch=batch)
    evaluation, found = evaluate(network, plan, chip), breakdown(network, plan, chip)
    priced, short = iter(evaluation.subgraphs), iter(evaluation.infeasible)
    for each in found:
        held = sum(tensor.held_bytes for tensor in each.tensors)
        if each.status == "infeasible":
            answer = next(short)
            assert each.reason == answer.reason
            if not each.tensors:  # a layer, or a nest, in the least of its loop orders
                held = each.activation_bytes
            else:
                assert each.weight_bytes in weights_of_ways(network, each.layers, cores)
            if answer.needed_bytes is not None:
                assert held == each.activation_bytes
                assert held + each.weight_bytes == answer.needed_bytes
            continue
        cost = next(priced)
        assert (each.layers, each.tile, each.weight_bytes) == (cost.layers, cost.tile, cost.weight_bytes)
        assert held in (each.activation_bytes, 0) and each.activation_bytes == cost.activation_bytes
        moved = [tensor.dram_bytes for tensor in each.tensors if tensor.role == "input"]
        if None not in moved:
            assert sum(moved) == cost.ema_input_bytes
        assert sum(t.dram_bytes for t in each.tensors if t.role == "output") == cost.ema_output_bytes
