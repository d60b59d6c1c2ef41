"""A network executed in one subgraph, in regions that a test may change."""

from __future__ import annotations

import numpy as np

from simulator.execution.count.part import Part
from simulator.execution.value.arithmetic import Arithmetic
from simulator.execution.value.executor import Execution
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
