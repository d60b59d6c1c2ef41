"""Stages 1 to 3 of the consumption-centric scheme, worked by hand (Cocco, Fig. 4, 5 and 6)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.model.subgraph.subgraph import ROWS, Geometry, Subgraph
from simulator.model.subgraph.tiling import derive_tiles
from tests.helpers.graphs import conv, figure4, figure5, residual
from tests.helpers.random_graphs import random_network
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network


def tiles(network, tile, rule="exact", axis=ROWS):
    """Return the tiles of the whole network as one subgraph, by tensor name."""
    subgraph = Subgraph(Geometry(network), range(len(network.layers)))
    found = derive_tiles(subgraph, axis, tile, rule)
    return found and {network.tensors[u].name: tile for u, tile in found.items()}


def test_figure_5_steps_sizes_and_updates():
    """Node -2 feeds strides 2 and 1 with tiles of 2: lcm(2*2, 2*1) = 4, window f(4/1) = 3 + 3 = 6."""
    found = tiles(figure5(), 2, "paper")
    assert {name: tile.step for name, tile in found.items()} == {"-2": 4, "-1": 2, "0": 2, "1": 2, "2": 2}
    assert {name: tile.size for name, tile in found.items()} == {"-2": 6, "-1": 2, "0": 2, "1": 2, "2": 2}
    assert {name: tile.updates for name, tile in found.items()} == {"-2": 1, "-1": 2, "0": 1, "1": 2, "2": 2}


def test_figure_6_holds_what_two_operations_read():
    """By the tiles above; windows of 3 over -2: 0 (stride 2) reads 0-4 and 4-8, 1 (stride 1) reads 0-5 and 4-9."""
    found = tiles(figure5(), 2, "paper")

    def held(name: str) -> list[tuple[int, int]]:
        tile = found[name]
        return [(tile.step * i, tile.step * i + tile.size - 1) for i in range(2 * tile.updates)]

    assert held("-2") == [(0, 5), (4, 9)] and held("0") == [(0, 1), (2, 3)]
    assert held("-1") == held("1") == held("2") == [(0, 1), (2, 3), (4, 5), (6, 7)]


def test_figure_4_needs_five_elements_of_the_input_for_one_output():
    """Tile 1: 3 and 2 take 1, 1 feeds 3x3/2: 3; -1 feeds 5x5/2 and 1x1 with step lcm(2, 2) = 2: max(5, 2)."""
    found = tiles(figure4(), 1, "paper")
    assert [found[name].size for name in ("3", "2", "1", "0", "-1")] == [1, 1, 3, 1, 5]
    assert [found[name].step for name in ("3", "2", "1", "0", "-1")] == [1, 1, 2, 1, 2]
    assert all(tile.updates == 1 for tile in found.values())


def test_exact_rule_keeps_what_the_slow_branch_has_not_read():
    """Residual block, tile 2: the 3x3 reads one ahead, so 0 is 1 ahead of the add: 2 + 1 - 0 = 3, the paper has 2."""
    assert tiles(residual(), 2, "paper")["0"].size == 2
    exact = tiles(residual(), 2)
    assert exact["0"].size == 3
    assert {name: tile.lead for name, tile in exact.items()} == {"0": 1, "1": 1, "2": 0, "3": 0}


def test_valid_padding_makes_the_residual_window_larger():
    """1D, valid padding: the 3-tap branch starts 2 behind its input, 2 + 2 - 0 = 4 entries are live (docs/model.md)."""
    network = Network(
        "valid",
        (Tensor("0", 22, 1, 1),),
        (
            conv("1", "0", (22, 1, 1), 1),
            Layer("2", "conv", ("1",), 20, 1, 1, 1, (3, 1), (1, 1)),
            Layer("crop", "conv", ("0",), 20, 1, 1, 1, (1, 1), (1, 1), (0, 0, -2, 0)),
            Layer("3", "add", ("2", "crop"), 20, 1, 1, 1),
        ),
    )
    assert tiles(network, 2)["0"].size == 4


def test_paths_of_different_total_stride_have_no_solution():
    """x -> a (/2) -> c (/1) and x -> b (/1) -> c would need b to move 1 and 2 per update of c."""
    network = Network(
        "clash",
        (Tensor("x", 8, 8, 1),),
        (
            conv("a", "x", (4, 4, 1), 1, 1, 2),
            conv("b", "x", (8, 8, 1), 1),
            Layer("crop", "conv", ("b",), 4, 4, 1, 1, (1, 1), (1, 1), (0, 0, -4, -4)),
            Layer("c", "add", ("a", "crop"), 4, 4, 1, 1),
        ),
    )
    assert tiles(network, 1) is None


def test_a_tensor_that_is_needed_whole_has_its_extent_as_step_and_size():
    """q 6x1 times k 6x1: k is held in full, so k's own input advances by 6; q is read row by row."""
    network = Network(
        "attention",
        (Tensor("x", 6, 1, 4),),
        (
            conv("q", "x", (6, 1, 4), 4),
            conv("k", "x", (6, 1, 4), 4),
            Layer("scores", "matmul", ("q", "k"), 6, 1, 6, 4, whole=(1,)),
        ),
    )
    found = tiles(network, 2)
    assert (found["k"].step, found["k"].size) == (6, 6)
    assert found["x"].step == 6
    assert (found["q"].step, found["q"].size) == (2, 2)
    assert (found["x"].updates, found["q"].updates, found["scores"].updates) == (1, 3, 3)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from((1, 2, 4, 8)))
def test_exact_sizes_are_never_below_the_papers_step_and_equal_it_on_chains(seed, tile):
    """The exact rule holds at least one step; on a chain both rules are the same.

    Over a spread map, which the paper does not have, the window's place is known to the exact rule only: one less.
    """
    network = random_network(seed)
    exact, paper = tiles(network, tile), tiles(network, tile, "paper")
    if exact is None:
        assert paper is None
        return
    for name, found in exact.items():
        assert found.size >= found.step == paper[name].step
        assert found.updates == paper[name].updates >= 1
    one_reader = all(len(readers) <= 1 for readers in network.consumers)
    if one_reader and all(layer.upsample == (1, 1) for layer in network.layers):
        assert {name: tile.size for name, tile in exact.items()} == {name: t.size for name, t in paper.items()}


def test_a_tensor_that_is_needed_whole_is_ahead_of_all_its_readers():
    """product runs 1 ahead of the 3x3, so 1 update of 2 early; 3 of its updates are one of n0: lead 6 * ceil(1/3)."""
    network = Network(
        "early",
        (Tensor("x", 6, 1, 2),),
        (
            conv("n0", "x", (6, 1, 2), 2),
            Layer("product", "matmul", ("x", "n0"), 6, 1, 6, 2, whole=(1,)),
            conv("out", "product", (6, 1, 2), 6, 3, 1, 1),
        ),
    )
    found = tiles(network, 2)
    assert {name: tile.updates for name, tile in found.items()} == {"x": 1, "n0": 1, "product": 3, "out": 3}
    assert {name: tile.lead for name, tile in found.items()} == {"x": 6, "n0": 6, "product": 1, "out": 0}
