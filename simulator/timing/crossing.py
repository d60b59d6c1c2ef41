"""What crosses between cores for each layer of a priced subgraph, and which cores compute it: tracks of a simulation.

The bytes are those of the price (docs/model.md, section 7), by the layer that reads them. They cross while it computes:
what a window reads in another core's memory passes as it is read, and so do rotating weights. Weights that all cores
hold pass before they are first read; they are also drawn along with all rows of the layer (our choice).
"""

from __future__ import annotations

from itertools import pairwise

from simulator.model.price import Price
from simulator.model.pricing import SubgraphModel
from simulator.model.schemes.bands import band_of
from simulator.model.schemes.channels import dealt_moves
from simulator.model.schemes.columns import Times, column_moves, weights_crossing
from simulator.model.schemes.ways import MirroredColumns
from simulator.model.subgraph.subgraph import COLUMNS
from simulator.model.subgraph.updates import derive_updates


def crossing_of(model: SubgraphModel, price: Price) -> dict[int, int]:
    """Return the bytes that cross for each layer of a subgraph; they add up to those of its price."""
    if price.loops is not None or not price.crossbar_bytes:
        return dict.fromkeys(model.subgraph.layers, price.crossbar_bytes)
    way, held, batch = model.way(price), model.residency(price), model.rules.batch
    if not isinstance(way, MirroredColumns):
        found = dealt_moves(model.subgraph, held.tiling, held.regions, way.crew.deal)[1]
        return {v: batch * size for v, size in found.items()}
    if way.bands is None:
        rows, columns = derive_updates(model.subgraph, held.tiling)
        return _weights(way, {v: [rows[v].times * columns[v].times] for v in rows}, price.at_once)
    _, found, updates = column_moves(model.subgraph, held.tiling, held.regions, way.bands, way.crew.bands)
    passing = _weights(way, updates, price.at_once)
    return {v: batch * found[v] + passing[v] for v in model.subgraph.layers}


def working_cores(model: SubgraphModel, price: Price) -> dict[int, tuple[int, ...]]:
    """Return the cores that compute some of each layer."""
    layers, crew = model.subgraph.layers, model.rules.crew
    if price.loops is not None:
        team = model.loop_way(price).loops.team
        return dict.fromkeys(layers, tuple(range(team.alike + sum(part.team.alike for part in team.others))))
    if crew.cores == 1:
        return dict.fromkeys(layers, (0,))
    way = model.way(price)
    if not isinstance(way, MirroredColumns):
        return {v: tuple(crew.deal.working(model.subgraph.geometry.channels[v])) for v in layers}
    width, bands = model.subgraph.geometry.extent[COLUMNS], way.bands
    if bands is None:
        return dict.fromkeys(layers, tuple(range(crew.teams)))
    return {
        v: tuple(
            team * crew.bands + core
            for team in range(crew.teams)
            for core in range(crew.bands)
            if band_of(bands, v, core, width[v]).stop > band_of(bands, v, core, width[v]).late
        )
        for v in layers
    }


def _weights(way: MirroredColumns, updates: Times, at_once: int) -> dict[int, int]:
    """Return the weights that cross for each layer: held, once to each core that works; rotated, at every update."""
    subgraph, crew = way.subgraph, way.crew
    ends = [crew.batch * team // crew.teams for team in range(crew.teams + 1)]
    rounds = [-(-(stop - first) // at_once) for first, stop in pairwise(ends)]
    if way.scheme == "rotated":
        return weights_crossing(subgraph, updates, crew.cores, rounds)
    working = crew.teams * max(sum(count > 0 for count in times) for times in updates.values())
    return {v: (working - 1) * subgraph.geometry.weight_bytes[v] for v in subgraph.layers}
