"""Bytes through the buffers: worked by hand, summed window by window, and counted (docs/model.md, section 5)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workloads
from simulator.execution.count.count import count_moves
from simulator.execution.count.part import Part
from simulator.execution.count.scheme import derive_scheme
from simulator.execution.count.walk import walk
from simulator.model.subgraph.regions import allocate_regions, derive_tiling
from simulator.model.subgraph.subgraph import ROWS, Geometry, Subgraph
from simulator.model.subgraph.traffic import (
    buffer_bytes,
    rows_again,
    taken_again,
    weight_buffer_bytes,
    window_elements,
)
from simulator.model.subgraph.updates import derive_updates, starts_full, updates_of
from simulator.partition.partition import connected_parts
from tests.helpers.executions import execute
from tests.helpers.graphs import conv, residual
from tests.helpers.judged import random_network_of
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network


def test_rows_kept_for_later_are_written_to_side_and_read_back():
    """12x14, tile 2: results 3 * 168, windows 3 * 168 + 572; SIDE of x and 1 keeps 1 and 2 rows of 14, five times."""
    subgraph = Subgraph(Geometry(residual()), range(3))
    tiling = derive_tiling(subgraph, (2, 2))
    found, _ = buffer_bytes(subgraph, tiling, allocate_regions(subgraph, tiling))
    assert found == 3 * 168 + (3 * 168 + 572) + 2 * (1 * 14 * 5 + 2 * 14 * 5)
    counts = execute(residual(), 2)
    assert found == 3 * 168 + sum(counts.window_read.values()) + 2 * sum(counts.side_read.values())


def test_every_update_reads_its_weights_once():
    """42 updates of 1 (1x1) and 2 (3x3), one channel: 42 * 1 + 42 * 9."""
    subgraph = Subgraph(Geometry(residual()), range(3))
    assert weight_buffer_bytes(subgraph, derive_tiling(subgraph, (2, 2))) == 42 * 10


def test_layers_that_run_ahead_make_a_thin_update_first():
    """x -> a 1x1 -> b 1x1 -> c 3x3 on 28 rows, tile 8: a and b end at 1, 9, 17, 25, 28; c at 8, 16, 24, 28."""
    shape = (28, 28, 8)
    network = Network(
        "ahead",
        (Tensor("x", *shape),),
        (conv("a", "x", shape, 8), conv("b", "a", shape, 8), conv("c", "b", shape, 8, 3, 1, 1)),
    )
    subgraph = Subgraph(Geometry(network), range(3))
    tiling = derive_tiling(subgraph, (8, 8))
    assert not starts_full(subgraph, tiling, ROWS)
    rows, columns = derive_updates(subgraph, tiling)
    assert rows == columns
    assert [rows[v] for v in range(3)] == [updates_of(1, 8, 28), updates_of(1, 8, 28), updates_of(8, 8, 28)]
    assert [rows[v].times for v in range(3)] == [5, 5, 4]
    weights = [layer.weight_bytes for layer in network.layers]
    assert weight_buffer_bytes(subgraph, tiling) == 25 * weights[0] + 25 * weights[1] + 16 * weights[2]
    # c begins at 0, 8, 16, 24 and reads from 0, 7, 15, 23, where the new rows of b begin at 1, 9, 17, 25
    regions = allocate_regions(subgraph, tiling)
    assert [regions[u].side[0] for u in (0, 1, 3)] == [0, 2, 0]
    windows = 28**2 + 28**2 + (28 + 3 * 2) ** 2
    assert buffer_bytes(subgraph, tiling, regions)[0] == 8 * (3 * 28**2 + windows + 2 * 28 * (1 + 2 + 2 + 2))


def two_branches(rows, kernels):
    """Return x -> p.. and x -> q.. -> y = p + q -> t.., windows of these kernels; x is read by p first."""
    b = workloads.Builder("branches")
    x, ends = b.input("x", rows, rows, 8), []
    for name, sizes in zip("pqt", kernels, strict=True):
        end = b.add("y", ends) if name == "t" else x
        for i, size in enumerate(sizes):
            end = b.conv(f"{name}{i}", end, 8, size, padding=size // 2)
        ends.append(end)
    return b.build()


def taken_one_by_one(subgraph, tiling, tensor, region, is_full):
    """Return the rows that come out of SIDE, one row operation after the other, those before the map's among them."""
    first = 2 if is_full else -tiling.rows[tensor].lead // tiling.merged[tensor] + 2
    room, kept = region.main[ROWS], region.side[ROWS]
    return sum(taken_again(subgraph, tiling, tensor, room, kept, each) for each in range(first, 100))


def test_a_reader_whose_last_row_comes_before_the_first_operation_counts():
    """3x3, tile 1: p needs row 2 of x in operation 0, its last one; q has all of its rows by operation -1."""
    network = two_branches(3, ([1], [1, 3], [3, 3, 3]))
    layers = range(len(network.layers))
    subgraph, scheme = Subgraph(Geometry(network), layers), derive_scheme(Part(network, layers), (1, 1), 8)
    tiling = derive_tiling(subgraph, (1, 1))
    regions, moves = allocate_regions(subgraph, tiling), count_moves(scheme, walk(scheme))
    x = len(network.layers)
    assert not starts_full(subgraph, tiling, ROWS)
    assert rows_again(subgraph, tiling, x, regions[x].main[ROWS], regions[x].side[ROWS], False) == 3
    assert buffer_bytes(subgraph, tiling, regions)[0] == moves.results + moves.windows + moves.wholes + moves.copies


@pytest.mark.parametrize("block", [*range(3), *(pytest.param(each, marks=pytest.mark.slow) for each in range(3, 60))])
def test_rows_taken_again_are_those_of_each_operation(block):
    """Deep chains on small maps, where windows run far ahead: readers end before, in and after operation 0."""
    rng = random.Random(block)
    for _ in range(200):
        kernels = [[rng.choice((1, 3)) for _ in range(rng.randint(least, 5))] for least in (1, 1, 2)]
        network, side = two_branches(rng.randint(3, 5), kernels), rng.choice((1, 1, 2))
        subgraph = Subgraph(Geometry(network), range(len(network.layers)))
        tiling = derive_tiling(subgraph, (side, side))
        regions, is_full = allocate_regions(subgraph, tiling), starts_full(subgraph, tiling, ROWS)
        for u in subgraph.tensors:
            if kept := regions[u].side[ROWS]:
                found = rows_again(subgraph, tiling, u, regions[u].main[ROWS], kept, is_full)
                assert found == taken_one_by_one(subgraph, tiling, u, regions[u], is_full), (network, side, u)


def test_a_crop_reads_only_what_lies_inside():
    """1x1 with padding -1: rows 1 to 8 of 9; of stride 2 with padding 1: rows 1, 3, 5, 7 and one outside."""
    crop = Layer("crop", "slice", ("x",), 8, 9, 8, 8, (1, 1), (1, 1), (-1, 0, 0, 0))
    thin = Layer("thin", "conv", ("x",), 6, 5, 8, 8, (1, 1), (2, 2), (1, 0, 2, 0))
    geometry = Geometry(Network("edges", (Tensor("x", 9, 9, 8),), (crop, thin)))
    assert window_elements(geometry, ROWS, 0, 2, updates_of(3, 3, 8)) == 8
    assert window_elements(geometry, ROWS, 1, 2, updates_of(1, 1, 6)) == 4
    assert window_elements(geometry, ROWS, 1, 2, updates_of(6, 6, 6)) == 9
    assert window_elements(geometry, ROWS, 1, 2, updates_of(2, 2, 6)) == 2 + 3 + 2  # -1:2, 3:6, 7:10


def spans_of(updates):
    """Yield each update, as the definition has it."""
    start, stop = 0, updates.first
    while start < updates.extent:
        yield start, min(stop, updates.extent)
        start, stop = stop, stop + updates.step


@settings(max_examples=400, deadline=None)
@given(
    reach=st.integers(1, 12),
    stride=st.integers(1, 6),
    upsample=st.sampled_from([1, 1, 2, 3, 4]),
    padding=st.integers(-6, 20),
    extent=st.integers(1, 40),
    source=st.integers(1, 60),
    step=st.integers(1, 20),
    early=st.integers(0, 60),
)
def test_windows_of_all_updates_are_added(reach, stride, upsample, padding, extent, source, step, early):
    geometry = Geometry(residual())
    for each, value in (("reach", reach), ("stride", stride), ("upsample", upsample), ("padding", padding)):
        getattr(geometry, each)[ROWS][1] = value
    geometry.extent[ROWS][1], geometry.extent[ROWS][0] = extent, source
    updates = updates_of(max(1, early), step, extent)
    spans = list(spans_of(updates))
    assert len(spans) == updates.times
    read = 0
    for start, stop in spans:
        first = -((padding - start * stride) // upsample)
        end = -((padding - reach - (stop - 1) * stride) // upsample)
        read += len(set(range(first, end)) & set(range(source)))
    assert window_elements(geometry, ROWS, 1, 0, updates) == read
    ends = [window_elements(geometry, ROWS, 1, 0, updates_of(step, step, extent)) for step in (1, extent)]
    assert read >= min(ends)  # what cocco/bounds/floors/least.py takes as the least


def random_part(seed):
    """Return the network and a connected run of layers, so that tensors are read inside and outside."""
    network, rng = random_network_of(seed), random.Random(seed)
    first = rng.randrange(len(network.layers))
    last = rng.randint(first, len(network.layers) - 1)
    return network, max(connected_parts(network, range(first, last + 1)), key=len), rng


def check_counted(seed):
    """Compare what is priced with what is counted, in tiles of any shape; return the cases that this was."""
    network, layers, rng = random_part(seed)
    tile = (rng.choice((1, 2, 3, 4, 5, 8, 16)), rng.choice((1, 2, 3, 4, 5, 8, 16, 64)))
    subgraph, part = Subgraph(Geometry(network), layers), Part(network, layers)
    tiling = derive_tiling(subgraph, tile)
    if tiling is None:
        return set()
    regions, scheme = allocate_regions(subgraph, tiling), derive_scheme(part, tile, 8)
    moves = count_moves(scheme, walk(scheme))
    counted = moves.results + moves.windows + moves.wholes + moves.copies
    assert buffer_bytes(subgraph, tiling, regions)[0] == counted
    weights = sum(moves.updates[v] * network.layers[v].weight_bytes for v in layers)
    assert weight_buffer_bytes(subgraph, tiling) == weights
    return {
        name
        for name, is_so in {
            "alone": tiling.rows_run_alone,
            "single": scheme.is_single,
            "copies": moves.copies,
            "wholes": moves.wholes,
            "early rows": not starts_full(subgraph, tiling, ROWS),
            "merged": any(tiling.merged[u] > tiling.rows[u].step for u in subgraph.tensors if subgraph.readers[u]),
            "several updates of an output": any(
                tiling.merged[v] > tiling.rows[v].step for v in layers if not subgraph.readers[v]
            ),
            "several outputs": len(subgraph.outputs) > 1,
        }.items()
        if is_so
    }


CASES = {
    "alone", "single", "copies", "wholes", "early rows", "merged", "several updates of an output", "several outputs",
}  # fmt: skip


def test_what_is_priced_is_counted_on_random_graphs():
    """600 graphs; every case is among them."""
    assert set().union(*(check_counted(seed) for seed in range(600))) == CASES


@pytest.mark.slow
@pytest.mark.parametrize("block", range(50))
def test_what_is_priced_is_counted_on_thousands_of_random_graphs(block):
    assert len(set().union(*(check_counted(seed) for seed in range(1000 + 200 * block, 1200 + 200 * block)))) > 6
