"""What several cores are claimed to take and move, by the closed forms, in the order of what is counted."""

from __future__ import annotations

from simulator.model.schemes.bands import derive_bands
from simulator.model.schemes.ways import Crew, DealtChannels, MirroredColumns
from simulator.model.subgraph.regions import activation_bytes
from simulator.model.subgraph.subgraph import Geometry, Subgraph

NAMES = (
    "activation_bytes", "weight_bytes", "global_buffer_bytes", "weight_buffer_bytes", "crossbar_bytes",
    "global_written_bytes", "weight_written_bytes",
)  # fmt: skip


def claim_team(network, chip, plan):
    """Return what the closed forms say by name; None where the scheme does not run this subgraph."""
    geometry = Geometry(network, chip.technology)
    subgraph, crew = Subgraph(geometry, plan.layers), Crew(geometry, chip.mapper, "exact", chip.cores, chip.batch)
    if plan.cores == "channels":
        way = DealtChannels(crew, subgraph)
    else:
        bands = derive_bands(subgraph, crew.bands) if crew.bands > 1 else None
        if bands is None and crew.bands > 1:
            return None
        way = MirroredColumns(crew, subgraph, bands, plan.cores == "held")
    found = way.derive(plan.tile)
    if found is None:
        return None
    moves = way.moves(way.work(found), plan.at_once)
    held = activation_bytes(way.regions(found[0], plan.at_once))
    inputs, outputs = (chip.batch * each for each in (subgraph.input_bytes, subgraph.output_bytes))
    moved, weighed = inputs + outputs + moves.buffered, moves.weights_written + moves.weights_read
    written = inputs + moves.written, moves.weights_written
    return dict(zip(NAMES, (held, way.weight_need, moved, weighed, moves.crossing, *written)))
