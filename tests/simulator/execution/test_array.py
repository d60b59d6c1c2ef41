"""Cycles are counted turn by turn: by hand, against an array that runs, and against the closed form."""

from __future__ import annotations

import random
from itertools import product

import pytest

from simulator.execution.count.array import LOOPS, Work, array_cycles, lanes_of, works_of
from simulator.mapping import layer_cycles
from simulator.technology import Technology
from tests.helpers.graphs import conv
from tests.helpers.parts import each_seed
from tests.helpers.random_layers import random_layer
from workloads import Builder

PAPER = Technology()


def whole(layer) -> Work:
    return Work(layer, layer.channels, layer.width, layer.taps)


def test_a_convolution_by_hand():
    """64 outputs of 64 inputs, 8 x 8, 3 x 3 taps: 32 x 32 lanes of 4 x 4 PEs take 2 x 2 turns a tap and position."""
    assert array_cycles(whole(conv("a", "x", (8, 8, 64), 64, 3, 1, 1)), PAPER) == 2 * 2 * 8 * 8 * 9


def test_three_rows_leave_a_quarter_of_the_lanes_idle():
    """8 outputs of 8 inputs fill one PE; 3 x 4 positions run in one turn of 4 x 4 PEs."""
    assert array_cycles(whole(conv("a", "x", (3, 4, 8), 8, 1, 1, 0)), PAPER) == 1


def test_a_pool_sums_over_no_channels():
    """4 channels a PE: 16 channels of 2 x 2 windows on 4 x 4 positions take 4 turns of 4 x 4 PEs, 4 taps each."""
    b = Builder("pool")
    b.maxpool("a", b.input("x", 8, 8, 16), 2, 2)
    assert array_cycles(whole(b.build().layers[0]), PAPER) == 4 * 4


def run_array(work: Work, technology: Technology) -> int:
    """Return the fewest turns in which lanes make everything, each thing once: every lane is a place of its own."""
    extents, found = work.extents(), []
    for way in product(LOOPS, repeat=2):
        lanes = lanes_of(work.layer, way, technology)
        made: dict[tuple[int, ...], int] = {}
        for point in product(*(range(extents[loop]) for loop in LOOPS)):
            turn = tuple(at // lanes[loop] for at, loop in zip(point, LOOPS))
            made[turn] = made.get(turn, 0) + 1
        lanes_of_all = technology.pe_rows * technology.pe_columns * technology.pe_outputs * technology.pe_inputs
        assert max(made.values()) <= lanes_of_all
        found.append(len(made))
    return min(found) * work.layer.taps


@pytest.mark.parametrize("seed", range(20))
def test_small_layers_take_the_turns_of_an_array_that_runs(seed):
    """Arrays of 1 to 3 by 1 to 3 PEs of a few lanes; all outputs, inputs, rows and columns are placed one by one."""
    rng = random.Random(seed)
    sizes = {name: rng.randint(1, 3) for name in ("pe_rows", "pe_columns", "pe_inputs", "pe_outputs")}
    technology = Technology(**sizes, pe_light_channels=rng.randint(1, 3))
    shape = (rng.randint(1, 5), rng.randint(1, 5), rng.randint(1, 6))
    work = whole(conv("a", "x", shape, rng.randint(2, 6), 1, 1, 0))
    assert array_cycles(work, technology) == run_array(work, technology)


@each_seed(100, 200)
def test_the_closed_form_says_the_same(seed):
    rng = random.Random(seed)
    network = random_layer(rng)
    technology = Technology(pe_rows=rng.randint(1, 6), pe_columns=rng.randint(1, 6))
    for v, layer in enumerate(network.layers):
        (work,) = works_of(network, v)
        assert array_cycles(work, technology) == layer_cycles(layer, technology=technology)
