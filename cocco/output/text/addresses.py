"""What --addresses prints for people: whether each memory holds its regions, and where they lie in the fullest."""

from __future__ import annotations

from collections.abc import Sequence

from cocco.allocation.address_map import AddressMap, MemoryMap
from cocco.output.text.numbers import counted, percent, table

NAMED = 8  #: subgraphs that a sentence names; our choice


def map_text(found: AddressMap) -> str:
    """Return the map for people: per memory whether it fits, and the fullest subgraph region by region."""
    lines = [f"Addresses of {found.network}, bytes of one core:"]
    for each in found.memories:
        lines += ["", _memory_text(found, each)]
    if found.crowded:
        lines += ["", f"{_named(found.crowded)} more than the {found.max_regions} pairs of the region manager."]
    return "\n".join(lines)


def splits_text(splits: int) -> str:
    """Return the sentence about subgraphs that were split because they found no addresses."""
    return f"For the addresses {counted(splits, 'subgraph')} were split, and the answer was priced again."


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
    shown = ", ".join(map(str, positions[:NAMED])) + (", ..." if len(positions) > NAMED else "")
    return f"Subgraph {shown} needs" if len(positions) == 1 else f"Subgraphs {shown} need"
