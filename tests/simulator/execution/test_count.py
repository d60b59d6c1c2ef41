"""The counting run: what windows need, swept on intervals; independent of the price, and equal to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from docs.rooms import arrows
from simulator import Accelerator, KiB
from simulator.execution.count.count import Plan, Setting, count_moves
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.count.scheme import derive_scheme
from simulator.execution.count.walk import walk
from simulator.execution.layer import LayerPlan
from simulator.execution.orders import run_plan
from simulator.model.subgraph.regions import allocate_regions, derive_tiling
from simulator.model.subgraph.subgraph import Geometry, Subgraph
from simulator.partition.partition import connected_parts
from tests.helpers.executions import TILES, execute
from tests.helpers.graphs import conv, residual
from tests.helpers.judged import random_judged, random_network_of
from tests.helpers.parts import first_of
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network

EXACT = (
    "activation_bytes", "weight_bytes", "ema_weight_bytes", "ema_input_bytes", "ema_output_bytes", "crossbar_bytes",
    "global_buffer_bytes", "weight_buffer_bytes", "operations",
)  # fmt: skip  #: all numbers that are counted

CHIP = Accelerator(shared_buffer=64 * KiB)


def largest_part(network):
    return Part(network, max(connected_parts(network, range(len(network.layers))), key=len))


def test_the_counting_run_imports_nothing_of_the_model():
    """From orders.py and checks.py, over whatever they import, to the end."""
    found, wanted = set[str](), {"simulator.execution.orders", "simulator.execution.count.checks"}
    imports = list(arrows())
    while wanted - found:
        found |= wanted
        wanted = {other for name, other in imports if name in found}
    assert "simulator.execution.count.walk" in found
    assert [name for name in found if name.startswith("simulator.model")] == []


def test_a_residual_block_holds_and_moves_what_was_worked_by_hand():
    """12x14, one channel in 8 bytes, tile 2: MAIN 3x3, 4x4, 2x2, 2x2, SIDE 1x14, 2x14: 75 elements of 8 bytes.

    Windows 168 + 572 + 168 + 168, SIDE 70 and 140 put in and taken out, 168 of each of three results, 168 in and out.
    """
    part = Part(residual(), range(3))
    scheme = derive_scheme(part, (2, 2), 8)
    assert scheme.activation_bytes == 8 * 75
    moves = count_moves(scheme, walk(scheme))
    assert (moves.loads, moves.stores, moves.results) == (168, 168, 3 * 168)
    assert (moves.windows, moves.copies) == (168 + 572 + 168 + 168, 2 * (70 + 140))
    assert set(moves.updates.values()) == {42}


def test_a_layer_that_runs_ahead_makes_a_thin_update_more():
    """x -> a 1x1 -> b 1x1 -> c 3x3 on 28 rows, tile 8: a and b end at 1, 9, 17, 25, 28; c at 8, 16, 24, 28."""
    shape = (28, 28, 8)
    network = Network(
        "ahead",
        (Tensor("x", *shape),),
        (conv("a", "x", shape, 8), conv("b", "a", shape, 8), conv("c", "b", shape, 8, 3, 1, 1)),
    )
    found = walk(derive_scheme(Part(network, range(3)), (8, 8), 8))
    assert [len(found.rows[v]) for v in range(3)] == [5, 5, 4]
    assert found.rows[0] == [(0, 1), (1, 9), (9, 17), (17, 25), (25, 28)]


def test_an_output_whose_operation_has_two_updates_is_made_tile_by_tile():
    """x 8 rows -> a 1x1 /2, x -> b 1x1, tile 2: b takes 4 rows an operation, and its region holds two."""
    network = Network(
        "twice",
        (Tensor("x", 8, 8, 8),),
        (conv("in", "x", (8, 8, 8), 8), conv("a", "in", (4, 4, 8), 8, 1, 2), conv("b", "in", (8, 8, 8), 8)),
    )
    scheme = derive_scheme(Part(network, range(3)), (2, 2), 8)
    assert scheme.rows.steps[2] == 4 and scheme.cells[2].rows == 2
    assert walk(scheme).rows[2] == [(0, 2), (2, 4), (4, 6), (6, 8)]


@pytest.mark.parametrize("seed", first_of(range(100), 16))
def test_regions_and_windows_are_those_of_the_execution_with_values(seed):
    """Which holds every element in a cell, and looks it up there."""
    network, tile = random_network_of(seed), TILES[seed % len(TILES)]
    part = largest_part(network)
    trace = execute(network, tile, layers=part.layers)
    if trace is None:
        return
    scheme = derive_scheme(part, (tile, tile), 8)
    subgraph = Subgraph(Geometry(network), part.layers)
    regions = allocate_regions(subgraph, derive_tiling(subgraph, (tile, tile)))
    for u, cells in scheme.cells.items():
        assert ((cells.rows, cells.columns), cells.kept) == (regions[u].main, regions[u].side[0])
    once = all(len(set(network.operands[v])) == len(network.operands[v]) for v in part.layers)
    if once:
        read = sum(count * network.tensors[u].channels for (u, _), count in trace.window_read.items())
        assert count_moves(scheme, walk(scheme)).windows == read


def check_equal(seed):
    found = random_judged(seed)
    if found is None:
        return 0
    _, _, prices, counts = found
    for price, each in zip(prices, counts):
        assert each.miss == ""
        assert {name: getattr(price, name) for name in EXACT} == {name: getattr(each.count, name) for name in EXACT}
    return len(prices)


@pytest.mark.parametrize("block", range(30))
def test_counts_are_prices_on_random_graphs(block):
    """300 graphs, batch 1 to 4, shared and separate: each number."""
    assert sum(check_equal(seed) for seed in range(10 * block, 10 * block + 10)) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("block", range(50))
def test_counts_are_prices_on_thousands_of_random_graphs(block):
    assert sum(check_equal(seed) for seed in range(1000 + 200 * block, 1200 + 200 * block)) > 160


def shortened(scheme, u):
    """Yield the scheme with a row, a column, a kept row and a group of channels less in a tensor's region."""
    cells = scheme.cells[u]
    smaller = [replace(cells, rows=cells.rows - 1), replace(cells, columns=cells.columns - 1)]
    smaller += [replace(cells, kept=cells.kept - 1)] * (cells.kept > 0)
    smaller += [replace(cells, channels=cells.channels - 8)]
    for each in smaller:
        yield replace(scheme, cells={**scheme.cells, u: each})


@pytest.mark.parametrize("seed", range(3, 120, 4))
def test_one_row_column_or_channel_group_less_in_any_region_fails(seed):
    """On tensors of at least two windows, so that every region has to slide."""
    network = random_network_of(seed)
    part = largest_part(network)
    scheme = derive_scheme(part, (2, 2), 8)
    walk(scheme)
    for u, cells in scheme.cells.items():
        height, width = (part.extent[axis][u] for axis in (0, 1))
        if 2 * cells.rows <= height and 2 * cells.columns <= width:
            for less in shortened(scheme, u):
                with pytest.raises(Miss, match=repr(part.name(u))):
                    walk(less)


def streamed():
    """Return a 3x3 convolution 20x24x16 -> 20x24x32: 4 words of 8 outputs, each of 1,152 bytes."""
    return Network("one", (Tensor("x", 20, 24, 16),), (conv("a", "x", (20, 24, 32), 16, 3, 1, 1),))


def run(chip, plan):
    setting = Setting(chip, chip.activation_capacity, chip.weight_capacity)
    return run_plan(setting, Part(streamed(), (0,)), plan)


def in_loops(order, mode, tile, **sizes):
    """Return the plan of the convolution in a loop order."""
    return Plan((0,), tile, sizes.get("at_once", 1), LayerPlan(order, mode, tile, **sizes))


def test_each_chunk_of_weights_reads_the_inputs_and_the_windows_again():
    """A word of 8 outputs has 1,152 bytes: 4 chunks, or all weights again for each of 3 x 3 tiles, or the whole map.

    Tiles of 8: windows meet two rows and columns more at each of two seams, and SIDE has two rows of the whole width.
    """
    chip = Accelerator(global_buffer=64 * KiB, weight_buffer=1152)
    by_chunk, by_tile = (run(chip, in_loops(order, "side", (8, 8), chunk=8, slice=16)) for order in ("KT", "TK"))
    assert by_chunk.weight_bytes == by_tile.weight_bytes == 1152
    assert (by_chunk.ema_weight_bytes, by_chunk.ema_input_bytes) == (4608, 4 * 20 * 24 * 16)
    assert (by_tile.ema_weight_bytes, by_tile.ema_input_bytes) == (9 * 4608, 20 * 24 * 16)
    whole = run(chip, in_loops("WK", "whole", (8, 8), chunk=8, slice=16))
    assert (whole.ema_weight_bytes, whole.ema_input_bytes) == (4608, 20 * 24 * 16)
    windows, side = (20 + 2 * 2) * (24 + 2 * 2) * 16, 2 * 2 * 2 * 24 * 16
    assert by_tile.global_buffer_bytes == 20 * 24 * (16 + 2 * 32) + 4 * windows + side
    assert by_tile.weight_buffer_bytes == 2 * 9 * 4608
    assert by_chunk.weight_buffer_bytes == (1 + 9) * 4608


def test_rows_that_two_rows_of_tiles_share_are_loaded_again_where_nothing_keeps_them():
    """Tiles of 8 rows, pad 1: rows 0:9, 7:17, 15:20 are read; SIDE would keep 2 rows of 24 columns."""
    chip = Accelerator(global_buffer=64 * KiB, weight_buffer=4608)
    found = run(chip, in_loops("TK", "slide", (8, 8), chunk=32, slice=16))
    assert found.ema_input_bytes == (9 + 10 + 5) * 24 * 16
    kept = run(chip, in_loops("TK", "side", (8, 8), chunk=32, slice=16))
    assert kept.activation_bytes - found.activation_bytes == 2 * 24 * 16


def test_sums_of_a_cut_reduction_take_four_bytes_each():
    """8 of 16 inputs at a time: 8 x 8 x 8 sums beside the tile's input, once written and once read."""
    chip = Accelerator(global_buffer=64 * KiB, weight_buffer=576)
    whole = run(chip, in_loops("TK", "slide", (8, 8), chunk=8, slice=16))
    cut = run(chip, in_loops("TKC", "slide", (8, 8), chunk=8, slice=8))
    assert (whole.weight_bytes, cut.weight_bytes) == (1152, 576)
    assert cut.activation_bytes - whole.activation_bytes == 3 * 8 * 8 * 8
    assert cut.global_buffer_bytes - whole.global_buffer_bytes == 2 * 4 * 20 * 24 * 32


def test_a_pass_of_the_last_chunk_is_a_pass():
    """24 and 8 outputs: two passes over the inputs."""
    chip = Accelerator(global_buffer=64 * KiB, weight_buffer=3 * 1152)
    assert run(chip, in_loops("KT", "ring", (8, 24), chunk=24, slice=16)).ema_input_bytes == 2 * 20 * 24 * 16


def test_loops_are_of_one_layer():
    setting = Setting(CHIP, CHIP.shared_buffer, CHIP.shared_buffer)
    loops = LayerPlan("KT", "ring", (1, 14), chunk=8, slice=8)
    with pytest.raises(Miss, match="does not follow"):
        run_plan(setting, Part(residual(), range(3)), Plan((0, 1, 2), (1, 14), 1, loops))


@pytest.mark.parametrize(
    ("chip", "message"),
    [
        (Accelerator(global_buffer=100, weight_buffer=64 * KiB), "activations take"),
        (Accelerator(global_buffer=64 * KiB, weight_buffer=4607), "weights take 4608 bytes, 4607 are left"),
        (Accelerator(shared_buffer=9023), "weights take 4608 bytes, 4607 are left"),
    ],
)
def test_what_has_no_room_does_not_run(chip, message):
    with pytest.raises(Miss, match=message):
        run(chip, Plan((0,), (8, 8)))


def test_more_tensors_than_regions_do_not_run():
    chip = Accelerator(shared_buffer=64 * KiB, max_regions=3)
    setting = Setting(chip, chip.shared_buffer, chip.shared_buffer)
    with pytest.raises(Miss, match="4 tensors exceed the 3 regions"):
        run_plan(setting, Part(residual(), range(3)), Plan((0, 1, 2), (2, 2)))


def test_a_single_position_reads_the_taps_inside_the_map():
    """3x3 pad 1 on 20x24: 3 * 20 - 2 rows and 3 * 24 - 2 columns of taps; weights come for each of 480 positions.

    8 sums of 4 bytes beside 3 x 3 positions of 8 inputs; 4 words of outputs read all of it again.
    """
    found = run(CHIP, in_loops("BC", "block", (1, 1), chunk=8, slice=8, inner=8))
    assert found.ema_input_bytes == 4 * 58 * 70 * 16
    assert found.ema_weight_bytes == 480 * 4608
    assert (found.activation_bytes, found.weight_bytes) == (8 * 4 + 9 * 8, 8 * 8 * 9)


def test_a_second_operand_passes_by_as_weights():
    """A product of 10 x 12 positions with 120 of 32 channels: bands of 4 rows; 8 of 120 are held at a time."""
    network = Network(
        "product",
        (Tensor("x", 10, 12, 32), Tensor("y", 10, 12, 32)),
        (Layer("m", "matmul", ("x", "y"), 10, 12, 120, 32, whole=(1,)),),
    )
    setting = Setting(CHIP, CHIP.shared_buffer, CHIP.shared_buffer)
    found = run_plan(setting, Part(network, (0,)), in_loops("TK", "ring", (4, 12), chunk=8, slice=32))
    assert found.ema_input_bytes == 10 * 12 * 32 * (1 + 3)
    assert (found.activation_bytes, found.weight_bytes) == (4 * 12 * 32 + 8 * 32 + 4 * 12 * 8, 0)


def test_samples_that_run_together_use_the_weights_together():
    """Batch 5 of the residual block: activations of so many samples, and weights for each round of them again."""
    part = Part(residual(), range(3))
    chip = Accelerator(shared_buffer=64 * KiB, batch=5)
    setting = Setting(chip, chip.shared_buffer, chip.shared_buffer)
    found = {each: run_plan(setting, part, Plan((0, 1, 2), (2, 2), each)) for each in (1, 2, 3, 5)}
    assert {each: count.activation_bytes for each, count in found.items()} == {n: 600 * n for n in found}
    assert {each: count.weight_buffer_bytes for each, count in found.items()} == {
        each: 10 + rounds * 42 * 10 for each, rounds in ((1, 5), (2, 3), (3, 2), (5, 1))
    }
    assert {count.ema_input_bytes for count in found.values()} == {5 * 168}
    assert {count.global_buffer_bytes for count in found.values()} == {5 * (2 * 168 + 1076 + 420 + 504)}
