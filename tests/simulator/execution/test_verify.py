"""The proof: subgraphs executed tile by tile in regions of exactly MAIN + SIDE (docs/model.md, section 9)."""

from __future__ import annotations

from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import Accelerator, KiB, Partition, evaluate
from simulator.execution.value.executor import Miss
from simulator.execution.verify import verify
from simulator.model.subgraph.regions import derive_tiling
from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Geometry, Subgraph
from simulator.model.subgraph.traffic import window_elements
from simulator.model.subgraph.updates import derive_updates
from simulator.partition.partition import connected_parts
from tests.helpers.executions import TILES, check_that_less_fails, execute
from tests.helpers.graphs import conv, residual, resnet_block
from tests.helpers.parts import each_seed, first_of
from tests.helpers.random_graphs import large_network, random_network
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network


@pytest.mark.parametrize("seed", first_of(range(240), 80))
def test_random_subgraphs_run_in_their_exact_regions(seed):
    """Equal outputs, no miss, nothing made twice, DRAM bytes equal to EMA; every second with whole operands."""
    trace = execute(random_network(seed, whole=seed % 2 == 1), TILES[seed % len(TILES)])
    assert trace is None or trace.dram_written  # execute asserts the rest


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_thousands_of_random_subgraphs_run_in_their_exact_regions(block):
    traces = [
        execute(random_network(seed, 10, whole=seed % 2 == 1), TILES[seed % len(TILES)])
        for seed in range(1000 + 150 * block, 1150 + 150 * block)
    ]
    assert sum(trace is not None for trace in traces) > 100  # the others have no tiling


@each_seed(60, 120)
def test_random_subgraphs_run_in_bands(seed):
    """Tiles of the full width and some rows, and rectangles."""
    network = random_network(seed, whole=seed % 2 == 1)
    rows, columns = TILES[seed % len(TILES)], (14, 64, 5, 2)[seed % 4]
    trace = execute(network, (rows, columns))
    assert trace is None or trace.dram_written  # execute asserts the rest


@settings(max_examples=60, deadline=None)
@given(st.integers(10**6, 10**9), st.sampled_from(TILES), st.booleans())
def test_any_random_subgraph_runs(seed, tile, whole):
    trace = execute(random_network(seed, whole=whole), tile)
    assert trace is None or trace.dram_written


def test_residual_block_moves_what_the_model_counts():
    """12x14, tile 2: 168 in and out; reads 168, 572 = 22 * 26, 168, 168; 42 updates; SIDE reads 70 and 140."""
    trace = execute(residual(), 2)
    x, first, second, total = 3, 0, 1, 2
    assert trace.dram_read == {x: 168} and trace.dram_written == {total: 168}
    assert trace.window_read == {(x, first): 168, (first, second): 572, (x, total): 168, (second, total): 168}
    assert set(trace.updates.values()) == {42}
    assert trace.side_read == {x: 70, first: 140}


def test_the_papers_rule_loses_data_on_a_residual_block():
    """The add wants 0 [0:2, 0:2] while MAIN(0) = 2x2 has moved on to [1:3, 1:3]."""
    with pytest.raises(Miss, match=r"tensor '0': a reader wants \[0:2, 0:2\]"):
        execute(residual(), 2, "paper")


def test_the_papers_rule_runs_chains():
    """Where all readers of a tensor are alike the two rules are one."""
    network = Network(
        "chain",
        (Tensor("x", 13, 17, 2),),
        (
            conv("a", "x", (13, 17, 2), 2, 3, 1, 1),
            conv("b", "a", (7, 9, 1), 2, 3, 2, 1),
            conv("c", "b", (7, 9, 2), 1),
        ),
    )
    for tile in TILES:
        assert execute(network, tile, "paper") is not None


@pytest.mark.parametrize("seed", first_of(range(30), 10))
def test_one_row_or_column_less_in_any_region_fails(seed):
    """On tensors of at least two windows, so that every region has to slide."""
    tile = (1, 2, 2, 3, 4)[seed % 5]
    check_that_less_fails(large_network(seed), (tile, tile))


@each_seed(20, 30)
def test_one_row_less_in_any_region_fails_where_tiles_are_bands(seed):
    """Bands of the full width: rings of rows, without SIDE."""
    network = large_network(seed)
    check_that_less_fails(network, ((1, 2, 2, 3, 4)[seed % 5], network.tensors[-1].width), True)


@pytest.mark.parametrize("seed", first_of(range(60), 8))
def test_elements_read_are_those_of_the_energy_model(seed):
    network = large_network(seed)
    tile = (2, 3, 4)[seed % 3]
    layers = max(connected_parts(network, range(len(network.layers))), key=len)
    subgraph = Subgraph(Geometry(network), layers)
    tiling = derive_tiling(subgraph, (tile, tile))
    if tiling is None:
        return
    updates = derive_updates(subgraph, tiling)
    trace = execute(network, tile, layers=layers)
    for (u, v), read in trace.window_read.items():
        rows, columns = (window_elements(subgraph.geometry, axis, v, u, updates[axis][v]) for axis in (ROWS, COLUMNS))
        assert read == rows * columns


def test_a_consumer_that_starts_early_finds_its_whole_operand():
    """x -> n0, matmul(x, n0 whole) -> 3x3 pad 1: the product runs one row ahead of the convolution."""
    network = Network(
        "early",
        (Tensor("x", 6, 7, 2),),
        (
            conv("n0", "x", (6, 7, 2), 2),
            Layer("product", "matmul", ("x", "n0"), 6, 7, 42, 2, whole=(1,)),
            conv("out", "product", (6, 7, 2), 42, 3, 1, 1),
            conv("deep", "out", (4, 5, 2), 2, 3, 1, 0),
        ),
    )
    for tile in TILES:
        assert execute(network, tile) is not None


def test_verify_runs_a_partition_and_names_what_fails():
    chip = Accelerator(global_buffer=15680, weight_buffer=1152 * KiB)
    plan = Partition.from_ids(resnet_block(), [range(5)])
    exact = verify(resnet_block(), plan, chip)
    assert exact.verified and exact.message == "" and exact.subgraphs == 1
    paper = verify(resnet_block(), plan, chip, "paper")
    assert not paper.verified and "'pool1'" in paper.message and "\n" not in paper.message
    short = verify(resnet_block(), plan, Accelerator(global_buffer=100, weight_buffer=1152 * KiB))
    assert not short.verified and "exceed" in short.message


def test_verify_says_what_was_scaled_down_or_left_out():
    network = Network(
        "large",
        (Tensor("x", 256, 256, 8),),
        (conv("a", "x", (256, 256, 8), 8, 3, 1, 1), conv("b", "a", (256, 256, 8), 8, 3, 1, 1)),
    )
    chip = Accelerator(global_buffer=9500, weight_buffer=2 * KiB, batch=2, cores=2)
    notes = " ".join(verify(network, Partition.from_ids(network, [[0, 1]]), chip).notes)
    assert "scaled down by" in notes and "one sample" in notes and "channels" in notes


@pytest.mark.parametrize("capacity", [60, 200, 500, 1000, 3000, 20_000, 60_000])
def test_verify_runs_streamed_layers_in_every_order(capacity):
    """conv 3x3/2, a pool, a product and a flattening fc in memories too small for them.

    The weights of 8 outputs and 8 inputs of the fc are 10 * 12 * 64 = 7,680 bytes, so it needs as much.
    """
    network = Network(
        "streamed",
        (Tensor("x", 20, 24, 16),),
        (
            conv("a", "x", (10, 12, 32), 16, 3, 2, 1),
            Layer("p", "maxpool", ("a",), 10, 12, 32, 32, (3, 3), (1, 1), (1, 1, 1, 1)),
            Layer("m", "matmul", ("p", "a"), 10, 12, 120, 32, whole=(1,)),
            Layer("f", "fc", ("m",), 1, 1, 40, 120, (10, 12)),
        ),
    )
    for chip in (Accelerator(shared_buffer=capacity), Accelerator(global_buffer=capacity, weight_buffer=8000)):
        plan = Partition.layerwise(network)
        short = evaluate(network, plan, chip).infeasible
        found = verify(network, plan, chip)
        if short:
            assert all(each.needed_bytes > each.available_bytes == capacity < 10_000 for each in short)
            assert not found.verified and found.message.endswith(short[0].reason)
        else:
            assert found.verified, found.message
    assert short == () or capacity < 1000, "beside their weights"


def test_maps_are_scaled_down_only_as_far_as_they_have_a_tiling(monkeypatch):
    """A map of 32 rows is one row at a scale of 32, which nothing enlarges: two paths have other strides there."""
    module = import_module("simulator.execution.verify")
    monkeypatch.setattr(module, "UPDATES", 0)
    network = Network(
        "neck",
        (Tensor("x", 32, 32, 8),),
        (
            conv("first", "x", (32, 32, 8), 8, 1, 1, 0),
            conv("down", "first", (16, 16, 8), 8, 3, 2, 1),
            Layer("up", "resize", ("down",), 32, 32, 8, 8, (2, 2), (1, 1), (1, 1, 1, 1), upsample=(2, 2)),
            Layer("both", "add", ("first", "up"), 32, 32, 8, 8),
        ),
    )
    found = verify(network, Partition.from_ids(network, [[0, 1, 2, 3]]), Accelerator(shared_buffer=2**16))
    assert found.verified and "scaled down by" in " ".join(found.notes)
