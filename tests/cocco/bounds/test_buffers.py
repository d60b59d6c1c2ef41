"""What layers read of the on-chip buffers at least: pieces and borders by hand."""

from __future__ import annotations

import pytest

from cocco.bounds.floors.buffers import Buffered, choices_of, inside_of, least_buffered, least_inside
from cocco.bounds.floors.by_layer import least_of_layers
from cocco.bounds.floors.forced import largest_hulls
from cocco.bounds.floors.inside import inside_floors
from cocco.bounds.floors.windows import Window, least_met, least_read
from cocco.problem.problem import on_hardware, over_space
from simulator.accelerator import Accelerator
from simulator.model.layer.loops import Axis
from tests.helpers.search_graphs import SPACE, chain
from workloads import load


def test_windows_that_lie_apart_are_cheapest_one_by_one():
    """One tap at every third of 8 elements: 0 to 6 at once are 7, in three pieces they are 3."""
    window = Window(outputs=3, extent=8, reach=1, stride=3, padding=0, upsample=1)
    assert [least_read(window, pieces) for pieces in (1, 2, 3)] == [3, 3, 3]
    assert window.held(2) == 4 and window.held(1) == 1


def test_holes_of_dilation_are_not_met_by_loops():
    """Two taps 5 apart for one output: 6 elements from the first to the last, of which 2 are met."""
    window = Window(outputs=1, extent=6, reach=6, stride=1, padding=0, upsample=1)
    assert least_read(window, 1) == 6
    assert least_met(window, Axis(extent=6, windows=1, taps=2, dilation=5)) == 2


@pytest.mark.parametrize(("room", "weights", "operands"), [(1024, 1, 64), (1023, 2, 80), (320, 4, 112), (192, 8, 176)])
def test_least_pieces_of_a_convolution_by_hand(room, weights, operands):
    """3x3 on 8x8 maps of 8 channels, padded. At once: 64 elements of each map, 8 channels of 1 B: 1,024 B.

    In less two halves of 4 rows read 10 rows for 8; four bands of 2 rows, beside 3 of the operand, 14; single rows,
    beside 2 (the first update has padding above it), 22.
    """
    problem = on_hardware(chain(3), Accelerator(global_buffer=room, weight_buffer=4096))
    least = least_inside(inside_of(problem.rules[0], 1), room)
    assert least is not None
    assert least == Buffered(8 * operands, weights * 576)


def test_no_piece_fits_where_not_even_one_output_does():
    """A result of 8 B and 2 of 3 x 3 elements."""
    rules = on_hardware(chain(3), Accelerator(global_buffer=4096, weight_buffer=4096)).rules[0]
    assert least_inside(inside_of(rules, 1), 8) is None


def test_weights_are_read_in_each_round_of_samples():
    """Four samples; the regions of one take all the room: four rounds, in room for four one."""
    machine = Accelerator(global_buffer=4096, weight_buffer=4096, batch=4)
    rules = on_hardware(chain(3), machine).rules[0]
    assert [least_inside(inside_of(rules, 1), room).weights for room in (1024, 2048, 4096)] == [4 * 576, 2 * 576, 576]
    assert least_inside(inside_of(rules, 1), 1024).operands == 4 * 512


def test_where_the_memory_is_chosen_everything_is_read_once():
    problem = over_space(chain(3), SPACE)
    assert least_buffered(problem, largest_hulls(problem)) == [Buffered(3 * 512, 3 * 576)]


def test_pieces_of_a_layer_are_worked_out_once_for_all_memories():
    """What a memory has room for is looked up: DenseNet's proof asks for millions of rooms in dozens of memories."""
    kept = 0b110
    choices_of.cache_clear()
    misses = set()
    for kilobytes in (64, 96, 128, 1024):
        problem = on_hardware(load("densenet121"), Accelerator(shared_buffer=kilobytes * 1024), metric="energy")
        floor = inside_floors(problem, least_of_layers(problem))
        for room in range(0, kilobytes * 1024, 8 * 1024):
            for v in range(20):
                floor(v, room, kept)
        misses.add(choices_of.cache_info().misses)
    assert len(misses) == 1


def test_operands_that_are_read_alike_are_one():
    """The last layer of a dense block reads its 25 tensors as it reads one of all their channels; so kept ones."""
    problem = on_hardware(load("densenet121"), Accelerator(shared_buffer=2**20), metric="energy")
    rules = problem.rules[0]
    v = max(range(problem.size), key=lambda each: len(inside_of(rules, each).operands))
    floor = inside_floors(problem, least_of_layers(problem))
    reads = dict.fromkeys(rules.geometry.network.operands[v])
    alike = [u for u in reads if rules.geometry.held_bytes(u) == rules.geometry.held_bytes(list(reads)[-1])]
    assert len(alike) > 10
    choices_of.cache_clear()
    assert len({floor(v, 2**14, 1 << u) for u in alike}) == 1
    assert choices_of.cache_info().misses == 1
