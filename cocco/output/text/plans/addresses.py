"""What --addresses prints for people: whether each memory holds its regions, and where they lie in the fullest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cocco.output.text.layout.numbers import counted, percent, table
from simulator.technology import KiB
from simulator.timing.rooms import PIECE_BYTES

if TYPE_CHECKING:
    from cocco.allocation.address_map import AddressMap, MemoryMap
    from cocco.exploration.answers.result import Result
    from cocco.latency.places import Places

SUBGRAPHS_NAMED = 8  #: subgraphs that a sentence names; our choice


def map_text(found: AddressMap) -> str:
    """Return the map for people: per memory whether it fits, and the fullest subgraph region by region."""
    lines = [f"Addresses of {found.network}, bytes of one core:"]
    for each in found.memories:
        lines += ["", _memory_text(found, each)]
    if found.region_manager_bytes is not None:
        lines += ["", manager_text(found)]
    if found.crowded:
        lines += ["", f"{_named(found.crowded)} more than the {found.max_regions} pairs of the region manager."]
    return "\n".join(lines)


def manager_text(found: AddressMap) -> str:
    """Return a line on the registers of the region manager."""
    return (
        f"The region manager takes {found.region_manager_bytes:,} bytes of registers: {found.max_regions} pairs of "
        "addresses for each memory (the paper: 272 bytes for 1 MB, 0.18 % of the area of its core)."
    )


def height_text(found: AddressMap) -> str:
    """Return a line on the map of a plan that keeps tensors on chip."""
    parts = [
        f"{each.height_bytes or 0:,} of {each.capacity_bytes:,} bytes of the {each.memory} memory"
        for each in found.memories
        if each.fits
    ]
    return f"Every region has its address, in {' and '.join(parts)}." if found.fits else map_text(found)


def changes_text(result: Result) -> list[str]:
    """Return the paragraphs about what was changed for the addresses, and whether the optimum is still reached."""
    found = []
    if result.moved:
        networks = {each.network for each in result.moved}
        bound = ""
        if result.lower_bound is not None:
            above = result.cost / result.lower_bound - 1 if result.lower_bound else math.inf
            is_far = "is above" if above > 1 else f"is {100 * above:.2g} % above"
            bound = "; it " + ("still reaches" if result.status == "optimal" else is_far) + " the lower bound"
        lines = [f"For the addresses {counted(len(result.moved), 'change')} of the plan, priced again{bound}:"]
        lines += [f"  {each.network + ': ' if len(networks) > 1 else ''}{each.text}" for each in result.moved]
        found.append("\n".join(lines))
    elif result.splits:
        found.append(
            f"For the addresses {counted(result.splits, 'subgraph')} were split, and the answer was priced again."
        )
    if result.placed is False:
        found.append(
            "No addresses were found for all that is kept on chip: the bytes of the plan fit, its regions do not."
        )
    return found


def _memory_text(found: AddressMap, each: MemoryMap) -> str:
    title = f"  {each.memory} memory of {each.capacity_bytes:,} bytes: "
    if not each.fits:
        sure = "does NOT fit (proved)" if each.status == "infeasible" else "does NOT fit (no map was found)"
        return (
            f"{title}{sure}; the least capacity with a map is {each.least_bytes:,} bytes. {_named(each.short)} "
            f"{max(each.needed_bytes):,} bytes."
        )
    fullest = each.needed_bytes.index(max(each.needed_bytes))
    title += (
        f"fits; highest address {each.height_bytes or 0:,} ({percent(each.height_bytes or 0, each.capacity_bytes)}), "
        f"fragmentation {100 * each.fragmentation:.2f} %, at most {max(each.pairs)} (start, end) pairs at a time"
    )
    rows = [(p.tensor or "", p.kind, f"{p.start:,}", f"{p.end:,}") for p in each.regions[fullest]]
    return f"{title}\n  fullest in subgraph {fullest}:\n\n" + table(("tensor", "kind", "start", "end"), rows, left=2)


def _named(positions: Sequence[int]) -> str:
    shown = ", ".join(map(str, positions[:SUBGRAPHS_NAMED])) + (", ..." if len(positions) > SUBGRAPHS_NAMED else "")
    return f"Subgraph {shown} needs" if len(positions) == 1 else f"Subgraphs {shown} need"


def places_text(found: Places | None) -> str:
    """Return a line that says whether every byte that comes ahead has a place."""
    if found is None:
        return "What is prefetched has no place: there is none for all regions and kept tensors."
    if found.missing:
        return (
            f"{found.missing_bytes:,} bytes of what is prefetched have no address where all that is free may be used; "
            "less may come ahead ('ahead' of the plan, which a search for latency finds)."
        )
    less = sum(most is not None for most in found.run.priced.partition.ahead)
    fewer = f" For that, less than is free comes ahead in {counted(less, 'subgraph')}." if less else ""
    rooms = f"{found.pieces:,} room{'s' * (found.pieces != 1)} of at most {PIECE_BYTES // KiB} KB"
    return f"Every byte that is prefetched has a place: {rooms}.{fewer}"
