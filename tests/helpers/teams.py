"""What several cores are claimed to take and move, by the closed forms, in the order of what is counted."""

from __future__ import annotations

from simulator.model.regions import activation_bytes, allocate_regions, derive_tiling
from simulator.model.schemes.bands import derive_bands, mirrored_tiling
from simulator.model.schemes.channels import dealt_moves, dealt_weights
from simulator.model.schemes.columns import column_moves, hold_all, rotate
from simulator.model.schemes.dealing import Deal
from simulator.model.subgraph import Geometry, Subgraph
from simulator.model.traffic import weight_buffer_bytes

NAMES = ("activation_bytes", "weight_bytes", "global_buffer_bytes", "weight_buffer_bytes", "crossbar_bytes")


def claim_team(network, chip, plan):
    """Return what the closed forms say by name; None where the scheme does not run this subgraph."""
    subgraph, batch = Subgraph(Geometry(network, chip.technology), plan.layers), chip.batch
    tiling = derive_tiling(subgraph, plan.tile)
    if tiling is None:
        return None
    if plan.cores == "channels":
        deal = Deal(chip.cores, chip.technology.channel_alignment)
        regions = allocate_regions(subgraph, tiling, plan.at_once, None, chip.cores)
        buffered, crossing = dealt_moves(subgraph, tiling, regions, deal)
        used = -(-batch // plan.at_once) * weight_buffer_bytes(subgraph, tiling)
        held, weighed, passed = dealt_weights(subgraph, deal), subgraph.weight_bytes + used, 0
    else:
        bands, teams = derive_bands(subgraph, chip.bands), min(chip.cores, batch)
        if bands is None:
            return None
        tiling = mirrored_tiling(subgraph, plan.tile, bands)
        regions = allocate_regions(subgraph, tiling, plan.at_once, bands.most)
        buffered, crossing, updates = column_moves(subgraph, tiling, regions, bands, chip.bands)
        samples = [batch * (i + 1) // teams - batch * i // teams for i in range(teams)]
        rounds = [-(-each // plan.at_once) for each in samples]
        is_held = plan.cores == "held"
        found = hold_all(subgraph, updates, rounds) if is_held else rotate(subgraph, updates, chip.cores, rounds)
        held, weighed, passed = found.held, found.written + found.reads, found.crossing
    moved = batch * (subgraph.input_bytes + subgraph.output_bytes + buffered)
    return dict(zip(NAMES, (activation_bytes(regions), held, moved, weighed, batch * crossing + passed)))
