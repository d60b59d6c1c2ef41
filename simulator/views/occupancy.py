"""What each subgraph of a priced partition holds on chip: weights, MAIN and SIDE (Cocco, Sec. 3.2, Fig. 7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from simulator.evaluate import Evaluation, SubgraphCost
from simulator.model.regions import Region, activation_bytes, allocate_regions, derive_tiling
from simulator.model.streaming import residencies
from simulator.model.subgraph import Geometry, Subgraph
from workloads.network.network import Network


class Occupancy(NamedTuple):
    """Bytes that one subgraph holds in one core; main_bytes + side_bytes are its activations."""

    weight_bytes: int
    main_bytes: int
    side_bytes: int


def occupancies(network: Network, evaluation: Evaluation) -> tuple[Occupancy, ...]:
    """Return what each subgraph of the evaluation holds, in execution order.

    The regions are derived again from the tile that was chosen, and sum to its activation_bytes. A layer that reads
    an operand or single elements again and again holds no SIDE.
    Raises ValueError for the evaluation of another network.
    """
    if evaluation.network != network.name:
        raise ValueError(f"the evaluation is of network {evaluation.network!r}, not of {network.name!r}")
    geometry, index = Geometry(network, evaluation.accelerator.technology), network.index
    found = []
    for cost in evaluation.subgraphs:
        subgraph = Subgraph(geometry, (index[name] for name in cost.layers))
        regions = (each for each in _candidates(subgraph, cost, evaluation) if _fits(each, cost))
        side = sum(region.side_bytes for region in next(regions, {}).values())
        found.append(Occupancy(cost.weight_bytes, cost.activation_bytes - side, side))
    return tuple(found)


def _fits(regions: dict[int, Region], cost: SubgraphCost) -> bool:
    return activation_bytes(regions) == cost.activation_bytes


def _candidates(subgraph: Subgraph, cost: SubgraphCost, evaluation: Evaluation) -> Iterator[dict[int, Region]]:
    """Yield the regions that the tile may mean: all held on chip, or those of a single layer that is streamed."""
    machine = evaluation.accelerator
    samples, bands = machine.samples_per_core, machine.bands
    tiling = derive_tiling(subgraph, cost.tile, evaluation.tile_rule)
    assert tiling is not None, "it was priced"
    yield allocate_regions(subgraph, tiling, samples, bands)
    if len(subgraph.layers) == 1:
        for residency in residencies(subgraph, evaluation.tile_rule, samples, bands):
            if residency.tile == cost.tile:
                yield residency.regions
