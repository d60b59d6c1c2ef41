"""Transposed convolutions, resizes, slices and rearrangements: derived by hand, executed, priced."""

from __future__ import annotations

import pytest

from simulator import Accelerator, Partition, evaluate
from simulator.execution.verify import verify
from simulator.model.subgraph.regions import allocate_regions, derive_tiling
from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Geometry, Subgraph
from simulator.model.subgraph.tiling import Tile, derive_tiles
from simulator.model.subgraph.traffic import window_elements
from simulator.model.subgraph.updates import derive_updates
from tests.helpers.executions import TILES, check_that_less_fails, execute
from tests.helpers.graphs import conv
from tests.helpers.parts import first_of
from workloads import Builder
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network


def resized(height, width, out, method="nearest", before=1, after=1):
    """x -> a (before x before) -> r (resize) -> b (after x after)."""
    b = Builder("resized")
    a = b.conv("a", b.input("x", height, width, 1), 1, before, padding=before // 2)
    b.conv("b", b.resize("r", a, *out, method), 1, after, padding=after // 2)
    return b.build()


def test_a_doubled_map_moves_half_as_fast():
    """Tile 4 of b (3x3, pad 1) on r, nearest, twice as high as a: step(r) = 4, lead(r) = 1, size = 4 + 2.

    r reads row o / 2: window 2, padding 1, upsampling 2. step(a) = 4 / 2 = 2, lead(a) = ceil((1 + 2 - 1 - 1) / 2) = 1,
    size(a) = 2 + 1 - ceil((1 - 1) / 2) = 3; x is read by a 1x1: the same without slack.
    """
    network = resized(12, 1, (24, 1), after=3)
    tiles = derive_tiles(Subgraph(Geometry(network), range(3)), ROWS, 4)
    assert tiles is not None
    x, a, r, b = (tiles[network.index[name]] for name in ("x", "a", "r", "b"))
    assert (b, r) == (Tile(4, 4, 0, 1), Tile(4, 6, 1, 1))
    assert (a, x) == (Tile(2, 3, 1, 1), Tile(2, 2, 1, 1))


def test_steps_stay_whole_numbers():
    """Tile 1 behind a resize by 3: the producer moves one row for every three updates. By 3 / 2: two for three."""
    for out, expected in ((30, (1, 1, 3)), (15, (2, 1, 3))):
        network = resized(10, 1, (out, 1))
        tiles = derive_tiles(Subgraph(Geometry(network), range(3)), ROWS, 1)
        assert tiles is not None
        a, r = tiles[network.index["a"]], tiles[network.index["r"]]
        assert (a.step, a.updates, r.updates) == expected


@pytest.mark.parametrize(
    "out",
    [(24, 27), (8, 12), *(pytest.param(out, marks=pytest.mark.slow) for out in ((48, 27), (32, 36), (20, 21)))],
)
@pytest.mark.parametrize("method", ["nearest", "linear"])
def test_one_row_or_column_less_in_any_region_of_a_resized_chain_fails(out, method):
    for tile in (1, 2):
        check_that_less_fails(resized(16, 18, out, method, 3, 3), (tile, tile), layers=range(3))


@pytest.mark.slow
@pytest.mark.parametrize("out", [(60, 68), (90, 102), (20, 51), (45, 17), (10, 12)])
@pytest.mark.parametrize("method", ["nearest", "linear", "cubic"])
def test_one_row_or_column_less_fails_on_larger_maps(out, method):
    for tile in (1, 2, 3, 4):
        check_that_less_fails(resized(30, 34, out, method, 3, 3), (tile, tile), layers=range(3))


@pytest.mark.parametrize("method", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("tile", first_of([3, 4, 1, 2, 5, 6], 2))
def test_elements_read_over_a_spread_map_are_those_of_the_energy_model(method, tile):
    """Tiles that are whole numbers of rows of the map, and such that are not."""
    network = resized(24, 24, (48, 48), method)
    subgraph = Subgraph(Geometry(network), range(3))
    tiling = derive_tiling(subgraph, (tile, tile))
    trace = execute(network, tile, layers=range(3))
    assert tiling is not None and trace is not None
    r, a = network.index["r"], network.index["a"]
    updates = derive_updates(subgraph, tiling)
    rows, columns = (window_elements(subgraph.geometry, axis, r, a, updates[axis][r]) for axis in (ROWS, COLUMNS))
    assert trace.window_read[a, r] == rows * columns


def test_branches_of_a_u_net_meet():
    """Down by 2 and up by 2 again beside the way through: total strides agree, so all runs as one subgraph."""
    b = Builder("net")
    x = b.conv("x0", b.input("x", 13, 15, 2), 2, 3, padding=1)
    down = b.conv("down", x, 2, 3, 2, padding=1, dilation=1)
    up = b.conv_transpose("up", b.conv("deep", down, 2, 3, padding=2, dilation=2), 2, 3, 2, padding=1)
    b.add("sum", [b.conv("both", [x, up], 2), b.resize("wide", down, 13, 15)])
    network = b.build()
    assert network.layers[-1].height == 13
    for tile in TILES:
        subgraph = Subgraph(Geometry(network), range(6))  # all but the resize by 13 / 7
        assert derive_tiling(subgraph, (tile, tile)) is not None
        assert (
            execute(
                network,
                tile,
                layers=[i for i in range(len(network.layers)) if network.layers[i].name not in ("wide", "sum")],
            )
            is not None
        )


@pytest.mark.parametrize("capacity", [60, 200, 1000, 3000, 20_000])
def test_streamed_layers_of_every_new_kind_run_in_every_order(capacity):
    """A dilated and a transposed convolution, a resize, a slice and a rearrangement in memories too small for them."""
    b = Builder("streamed")
    a = b.conv("dilated", b.input("x", 14, 12, 16), 24, 3, padding=2, dilation=2)
    t = b.conv_transpose("spread", a, 16, 4, 2, padding=1)
    r = b.resize("resized", t, 21, 20, "linear")
    s = b.slice("cut", r, 9, 2)
    b.conv("after", b.rearrange("order", [s], 55, 2, 9), 8)
    network = b.build()
    plan = Partition.layerwise(network)
    for chip in (Accelerator(shared_buffer=capacity), Accelerator(global_buffer=capacity, weight_buffer=2000)):
        found, short = verify(network, plan, chip), evaluate(network, plan, chip).infeasible
        assert found.verified == (not short), found.message
        assert all(each.needed_bytes > each.available_bytes == capacity < 1300 for each in short)


def test_a_rearrangement_needs_its_input_whole():
    """conv -> rearrange -> conv in one subgraph: the first is held in full, 6 x 7 positions."""
    network = Network(
        "order",
        (Tensor("x", 6, 7, 2),),
        (
            conv("a", "x", (6, 7, 2), 2, 3, 1, 1),
            Layer("r", "rearrange", ("a",), 21, 2, 2, 2, whole=(0,)),
            conv("b", "r", (21, 2, 2), 2, 3, 1, 1),
        ),
    )
    for tile in TILES:
        subgraph = Subgraph(Geometry(network), range(3))
        tiling = derive_tiling(subgraph, (tile, tile))
        assert tiling is not None
        assert allocate_regions(subgraph, tiling)[0].main == (6, 7)
        assert execute(network, tile, layers=range(3)) is not None
