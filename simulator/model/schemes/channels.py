"""Channels dealt: the plan of one core, with the channels of every tensor dealt to n memories (section 7, K).

All cores work on the same tile. Each makes its own channels with its own weights, and reads what its windows meet from
its own memory and from those of the other cores.
"""

from __future__ import annotations

from collections.abc import Mapping

from simulator.mapping.mappers import Work
from simulator.model.schemes.dealing import Deal
from simulator.model.subgraph.regions import Region, Tiling
from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Subgraph
from simulator.model.subgraph.traffic import often, results_of, rows_again, windows_met, work_of
from simulator.model.subgraph.updates import derive_updates, starts_full


def dealt_weights(subgraph: Subgraph, deal: Deal) -> int:
    """Return the bytes of weights of core 0, which makes the most channels of every layer."""
    geometry = subgraph.geometry
    return sum(
        geometry.weight_bytes[v] * deal.most(geometry.channels[v]) // geometry.channels[v] for v in subgraph.layers
    )


def dealt_moves(
    subgraph: Subgraph,
    tiling: Tiling,
    regions: Mapping[int, Region],
    deal: Deal,
    works: Mapping[int, Work] | None = None,
) -> tuple[tuple[int, int], dict[int, int]]:
    """Return (buffer traffic without DRAM transfers, writes in it) of one sample, and the bytes that cross by layer.

    Weights never cross: each core reads those of its own channels.
    """
    geometry, (rows, columns) = subgraph.geometry, derive_updates(subgraph, tiling)
    is_full = starts_full(subgraph, tiling, ROWS)
    total, written = results_of(subgraph, works)
    crossing = dict.fromkeys(subgraph.layers, 0)
    for u in subgraph.tensors:
        for v, local, whole in subgraph.readers[u]:
            heard, met = deal.heard(geometry.network, v, u), 0
            if local:
                met = windows_met(geometry, v, u, rows[v], columns[v])
                total += often(met * heard.total, work_of(works, v).inputs)
            if whole:
                again = rows[v].times * columns[v].times * geometry.extent[ROWS][u] * geometry.extent[COLUMNS][u]
                total += often(again * heard.total, work_of(works, v).weights)
                met += again
            crossing[v] += met * (heard.total - heard.own)
        if regions[u].side_bytes:
            again = rows_again(subgraph, tiling, u, regions[u].main[ROWS], regions[u].side[ROWS], is_full)
            copied = again * geometry.extent[COLUMNS][u] * geometry.row_bytes[u]
            total, written = total + 2 * copied, written + copied
    return (total, written), crossing
