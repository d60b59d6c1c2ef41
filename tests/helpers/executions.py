"""A network executed in one subgraph, in regions that a test may change."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.execution.count.part import Part
from simulator.execution.value.arithmetic import Arithmetic
from simulator.execution.value.executor import Execution, Miss
from simulator.execution.verify import check_traffic
from simulator.model.subgraph.regions import allocate_regions, derive_tiling
from simulator.model.subgraph.subgraph import Geometry, Subgraph
from simulator.partition.partition import connected_parts

TILES = (1, 2, 3, 4, 8)


def execute(network, tile, rule="exact", layers=None, change=lambda regions: regions):
    """Execute the largest connected part and return what it counted; None where the subgraph has no tiling.

    tile: the side of a square, or rows and columns.
    """
    if layers is None:
        layers = max(connected_parts(network, range(len(network.layers))), key=len)
    subgraph = Subgraph(Geometry(network), layers)
    tiling = derive_tiling(subgraph, (tile, tile) if isinstance(tile, int) else tile, rule)
    if tiling is None:
        return None
    arithmetic = Arithmetic(network)
    values = arithmetic.run_layers(arithmetic.model_inputs())
    regions = change(allocate_regions(subgraph, tiling))
    steps = [{u: tile.step for u, tile in tiles.items()} for tiles in (tiling.rows, tiling.columns)]
    part = Part(network, subgraph.layers)
    execution = Execution(part, steps, regions, arithmetic, values)
    counts = execution.run()
    check_traffic(part, counts)
    for v, stored in execution.stored.items():
        assert np.array_equal(stored, values[v])
    return counts


def check_that_less_fails(network, tile, is_band=False, layers=None):
    """Execute with a row or a column less in each region that slides; along columns those of bands do not.

    Of tensors of at least two windows. layers: those of the subgraph, which have a tiling; else the largest part.
    """
    is_given = layers is not None
    layers = layers or max(connected_parts(network, range(len(network.layers))), key=len)
    subgraph = Subgraph(Geometry(network), layers)
    if is_band:
        tile = tile[0], max(network.layers[v].width for v in layers if not subgraph.readers[v])
    tiling = derive_tiling(subgraph, tile)
    if tiling is None:
        assert not is_given
        return
    assert not is_given or execute(network, tile, layers=layers) is not None
    regions = allocate_regions(subgraph, tiling)
    height, width = subgraph.geometry.extent
    for u in subgraph.tensors:
        if 2 * tiling.held[u] > height[u] or not is_band and 2 * tiling.columns[u].size > width[u]:
            continue
        (rows, columns), (kept, across) = regions[u].main, regions[u].side
        smaller = [regions[u]._replace(main=(rows - 1, columns))]
        if is_band:
            assert kept == 0, "bands need no SIDE"
        else:
            smaller.append(regions[u]._replace(main=(rows, columns - 1)))
        if kept:
            smaller.append(regions[u]._replace(side=(kept - 1, across)))
        for region in smaller:
            if 0 in region.main:
                continue
            with pytest.raises(Miss):
                execute(network, tile, layers=layers, change=lambda found, r=region, u=u: {**found, u: r})
