"""Cycles on the 4 x 4 array of 8 x 8 MACs, worked by hand (docs/model.md, section 4)."""

from __future__ import annotations

import pytest

from simulator.accelerator import Accelerator
from simulator.mapping import UNROLLINGS, Enumerate, layer_cycles
from simulator.technology import Technology
from tests.helpers.graphs import add, chain, conv
from workloads.network.layers.layer import Layer


def test_there_are_ten_ways_to_unroll_two_axes():
    """4 axes, unordered pairs with repetition: 10; each uses 16 PEs."""
    assert len(UNROLLINGS) == 10
    assert all(w["K"] * w["C"] * w["P"] * w["Q"] == 16 for w in UNROLLINGS)


def test_chain_takes_288_144_and_32_cycles():
    """a: K 16 = 2 x 8, C 8, P over 16 PEs: 2 * 1 * 1 * 16 * 9 = 288; c: K over 4, P over 4: 1 * 2 * 2 * 8 = 32."""
    assert [layer_cycles(layer) for layer in chain().layers] == [288, 144, 32]


def test_depthwise_work_keeps_four_channels_per_pe():
    """3x3 depth-wise, 16x16x64: channels over 16 PEs: 64 / (4 * 16) = 1, so 256 positions * 9 taps."""
    layer = conv("d", "x", (16, 16, 64), 64, 3, 1, 1, groups=64)
    assert layer_cycles(layer) == 256 * 9


def test_elementwise_work_counts_its_operands():
    """Three operands of 8x8x16: 16 channels over 4 PEs, 8 rows over 4: 1 * 2 * 8 * 3 = 48."""
    assert layer_cycles(add("s", ("a", "b", "c"), (8, 8, 16))) == 48


def test_grouped_convolution_reduces_over_its_group_only():
    """K 64, C / groups 16: both 4 wide leave 64/32 * 16/32 rounded up = 2 * 1 for each of 4 positions: 8."""
    layer = conv("g", "x", (2, 2, 64), 64, groups=4)
    assert layer_cycles(layer) == 8


def test_a_core_computes_its_samples_and_its_band():
    """Chain's a: two samples double 288; a band of 8 of 16 columns halves it."""
    layer = chain().layers[0]
    assert layer_cycles(layer, samples=2) == 576
    assert layer_cycles(layer, bands=2) == 144


def test_matmul_reduces_over_the_channels_of_one_head():
    """Two heads, 8 rows: K 16, C / heads 8: P over 16 wide: 2 * 1 * 1 = 2."""
    layer = Layer("m", "matmul", ("a", "b"), 8, 1, 16, 16, groups=2, whole=(1,))
    assert layer_cycles(layer) == 2


def test_a_mapper_of_tiles_refuses_another_pe_array():
    """Its reads and lanes are those of the paper's array; whole layers take any."""
    wide = Technology(pe_rows=8)
    assert Accelerator(shared_buffer=4096, technology=wide).technology.pe_rows == 8
    with pytest.raises(ValueError, match="mapper 'enumerate' knows the paper's PE array only, with pe_rows 4, got 8"):
        Accelerator(shared_buffer=4096, technology=wide, mapper=Enumerate(tiled=True))
