"""MAIN and SIDE, worked by hand (Cocco, Fig. 7; docs/model.md, section 3)."""

from __future__ import annotations

import pytest

from simulator.model.subgraph.regions import activation_bytes, allocate_regions, derive_tiling
from simulator.model.subgraph.subgraph import Geometry, Subgraph
from tests.helpers.graphs import add, chain, conv, residual, resnet_block
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network


def regions(network, tile, rule="exact", **machine):
    """Return the regions of the whole network as one subgraph, by tensor name."""
    subgraph = Subgraph(Geometry(network), range(len(network.layers)))
    found = allocate_regions(subgraph, derive_tiling(subgraph, (tile, tile), rule), **machine)
    return {network.tensors[u].name: region for u, region in found.items()}


def sizes(found):
    """Return (MAIN, SIDE) bytes by name."""
    return {name: (region.main_bytes, region.side_bytes) for name, region in found.items()}


@pytest.mark.parametrize(
    ("tile", "expected"),
    [
        (1, {"x": (128, 256), "a": (144, 256), "b": (16, 0), "c": (32, 0)}),
        (2, {"x": (288, 256), "a": (400, 256), "b": (64, 0), "c": (128, 0)}),
        (4, {"x": (800, 256), "a": (1296, 256), "b": (256, 0), "c": (512, 0)}),
        (8, {"x": (2048, 0), "a": (4096, 0), "b": (1024, 0), "c": (2048, 0)}),
        (64, {"x": (2048, 0), "a": (4096, 0), "b": (1024, 0), "c": (2048, 0)}),
    ],
)
def test_chain_of_three_convolutions(tile, expected):
    """t = 1: a holds 3x3x16 = 144 and keeps one row 1x16x16 = 256; x holds 4x4x8 = 128 and one row 2x... = 256."""
    assert sizes(regions(chain(), tile)) == expected


def test_first_block_of_resnet50_under_both_rules():
    """Paper, t = 2: pool1 2x2x64 = 256; a 4x4x64 + 2x56x64. Exact: pool1 3x3x64 + 1x56x64 (model.md, section 8)."""
    paper = regions(resnet_block(), 2, "paper")
    assert sizes(paper) == {
        "pool1": (256, 0),
        "shortcut": (1024, 0),
        "a": (1024, 7168),
        "b": (256, 0),
        "c": (1024, 0),
        "add": (1024, 0),
    }
    assert activation_bytes(paper) == 11776
    assert activation_bytes(regions(resnet_block(), 4, "paper")) == 23808
    assert activation_bytes(regions(resnet_block(), 8, "paper")) == 70912
    exact = regions(resnet_block(), 2)
    assert sizes(exact)["pool1"] == (576, 3584)
    assert activation_bytes(exact) == 15680
    assert activation_bytes(regions(resnet_block(), 4)) == 27968


def test_residual_block_in_elements():
    """12x14, tile 2: MAIN 3x3, 4x4, 2x2, 2x2; SIDE one row of 0 and two rows of 1."""
    found = regions(residual(), 2)
    assert {name: (region.main, region.side) for name, region in found.items()} == {
        "0": ((3, 3), (1, 14)),
        "1": ((4, 4), (2, 14)),
        "2": ((2, 2), (0, 0)),
        "3": ((2, 2), (0, 0)),
    }


def test_side_is_kept_although_the_window_spans_all_rows():
    """x 3x4 -> 3x3 pad 1, tile 1: MAIN has 3 of 3 rows, but columns that left it are read again: SIDE 2x4."""
    network = Network("low", (Tensor("x", 3, 4, 1),), (conv("a", "x", (3, 4, 1), 1, 3, 1, 1),))
    assert regions(network, 1)["x"].side == (2, 4)
    assert regions(network, 1, "paper")["x"].side == (0, 0)


def test_row_updates_of_one_operation_are_made_together():
    """x 5x5 -> a (1x1/2), x -> b (1x1) -> c (3x3): b makes 2 rows per operation, so it holds 3 + 1 = 4 rows."""
    network = Network(
        "merged",
        (Tensor("y", 5, 5, 1),),
        (
            conv("x", "y", (5, 5, 1), 1),
            conv("a", "x", (3, 3, 1), 1, 1, 2),
            conv("b", "x", (5, 5, 1), 1),
            conv("c", "b", (5, 5, 1), 1, 3, 1, 1),
        ),
    )
    assert regions(network, 1)["b"].main == (4, 3)


def test_no_side_where_one_row_operation_makes_all_rows():
    """x 4x40 -> 3x3 pad 1, tile 4: every tensor holds its 4 rows, so nothing is read twice."""
    network = Network("flat", (Tensor("x", 4, 40, 8),), (conv("a", "x", (4, 40, 8), 8, 3, 1, 1),))
    found = regions(network, 4)
    assert found["x"].main == (4, 6) and found["x"].side == (0, 0)


def test_channels_are_rounded_up_to_eight():
    """x 4x4x3: a whole map of 16 elements takes 8 bytes each."""
    network = Network("few", (Tensor("x", 4, 4, 3),), (conv("a", "x", (4, 4, 9), 3),))
    found = regions(network, 8)
    assert found["x"].main_bytes == 128 and found["a"].main_bytes == 16 * 16


def test_samples_multiply_and_bands_narrow_the_regions():
    """Chain, t = 1: two samples double all; two bands halve SIDE's width 16 to 8; one word of channels stays one."""
    once, twice = regions(chain(), 1), regions(chain(), 1, samples=2)
    assert activation_bytes(twice) == 2 * activation_bytes(once)
    assert regions(chain(), 1, bands={0: 8, 1: 4, 2: 4, 3: 8})["x"].side == (2, 8)
    dealt = regions(chain(), 1, cores=2)
    whole = regions(chain(), 1)
    assert dealt["x"] == whole["x"] and dealt["a"].main_bytes == whole["a"].main_bytes // 2


def test_a_whole_operand_has_main_in_full_and_no_side():
    """scores = q k: all 6 rows of k, and of x, which k is made from at once."""
    network = Network(
        "attention",
        (Tensor("x", 6, 1, 8),),
        (
            conv("q", "x", (6, 1, 8), 8),
            conv("k", "x", (6, 1, 8), 8),
            Layer("scores", "matmul", ("q", "k"), 6, 1, 6, 8, whole=(1,)),
            add("sum", ("q", "k"), (6, 1, 8)),
        ),
    )
    found = regions(network, 1)
    assert found["k"].main == (6, 1) and found["x"].main == (6, 1)
    assert found["k"].side_bytes == found["q"].side_bytes == 0


def test_side_stays_where_a_tensor_is_needed_whole():
    """2x12, tile 2: all rows are held, but with a whole operand rows run in operations, so x keeps its 2 rows."""
    network = Network(
        "whole",
        (Tensor("x", 2, 12, 8), Tensor("y", 2, 2, 8)),
        (
            conv("a", "x", (2, 12, 8), 8, 3, 1, 1),
            Layer("product", "matmul", ("a", "y"), 2, 12, 4, 8, whole=(1,)),
        ),
    )
    assert regions(network, 2)["x"].side == (2, 12)
