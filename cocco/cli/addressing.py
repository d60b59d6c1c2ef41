"""--addresses: the address map of a partition, as text, as JSON and as a table in a file."""

from __future__ import annotations

import csv
import io
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from cocco.allocation.address_map import AddressMap, MemoryMap, address_map
from cocco.cli.output import answer, print_json
from cocco.cli.plans import verify
from cocco.cli.usage import UsageError
from cocco.exploration.result import Result
from cocco.output.folders import run as run_folder
from cocco.output.text import evaluation as report
from cocco.output.text.numbers import counted, percent, table
from cocco.output.text.verification import verification_text
from simulator import Accelerator, Partition, evaluate
from workloads import Network
from workloads.files import write_atomic

COLUMNS = ("memory", "subgraph", "tensor", "kind", "start", "end")
NAMED = 8  #: subgraphs that a sentence names; our choice


def evaluate_addresses(options: Namespace, network: Network, partition: Partition, accelerator: Accelerator) -> int:
    """cocco evaluate --addresses: price, place, execute in place, print. Exit 1 where the map does not fit."""
    output = _output(options)
    with run_folder.ready(output.parent, [output.name]) if output else nullcontext():
        evaluation = evaluate(network, partition, accelerator, options.tile_rule)
        found = address_map(network, partition, accelerator, options.tile_rule)
        fits = found is not None and found.fits
        verified = None
        if options.verify and evaluation.fits:
            places = {each.memory: each.addresses for each in found.memories} if found and fits else None
            verified = verify(network, partition, accelerator, options.tile_rule, places)
        if output and found:
            write_table(output, found)
    maps = [found] if found else []
    if options.json:
        print_json(with_maps(answer(evaluation, verified), maps))
    else:
        print(joined(report.evaluation_text(evaluation), maps))
        if verified:
            where = "at these addresses, in one array of bytes for each memory" if fits else "in regions of these sizes"
            print(f"\n{verification_text(verified, where)}")
    return 0 if fits and (verified is None or verified.verified) else 1


def _output(options: Namespace) -> Path | None:
    if options.output is None:
        return None
    if not options.addresses:
        raise UsageError("-o writes the regions of --addresses; give that as well")
    if Path(options.output).suffix.lower() != ".csv":
        raise UsageError(f"-o must end in .csv, got {options.output!r}")
    return Path(options.output)


def maps_of(networks: Sequence[Network], result: Result) -> list[AddressMap]:
    """Return the address map of each network of a search's answer."""
    found = [
        address_map(network, plan, result.accelerator, evaluation.tile_rule)
        for network, plan, evaluation in zip(networks, result.plans, result.evaluations)
    ]
    return [each for each in found if each is not None]


def with_maps(content: dict[str, Any], maps: Sequence[AddressMap]) -> dict[str, Any]:
    """Return what --json prints, with the key "addresses" beside each network's evaluation."""
    if "networks" in content:
        rows = [row | {"addresses": each.to_json()} for row, each in zip(content["networks"], maps)]
        return content | {"networks": rows} if rows else content
    return content | {"addresses": maps[0].to_json()} if maps else content


def save(folder: Path, maps: Sequence[AddressMap]) -> list[Path]:
    """Write a table for each network, whole or not at all, and return the paths."""
    paths = [folder / name for name in run_folder.address_names([each.network for each in maps])] if maps else []
    for path, each in zip(paths, maps):
        write_table(path, each)
    return paths


def write_table(path: Path, found: AddressMap) -> None:
    """Write a line for each region: memory, subgraph (its position), tensor, kind, start, end (after the last byte)."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(found.rows())
    write_atomic(path, text.getvalue())


def joined(text: str, maps: Sequence[AddressMap], splits: int | None = None) -> str:
    """Return a report with the maps behind it."""
    parts = [text, *(map_text(each) for each in maps)]
    if splits:
        parts.append(f"For the addresses {counted(splits, 'subgraph')} were split, and the answer was priced again.")
    return "\n\n".join(parts)


def map_text(found: AddressMap) -> str:
    """Return the map for people: per memory whether it fits, and the fullest subgraph region by region."""
    lines = [f"Addresses of {found.network}, bytes of one core:"]
    for each in found.memories:
        lines += ["", _memory_text(found, each)]
    if found.crowded:
        lines += ["", f"{_named(found.crowded)} more than the {found.max_regions} pairs of the region manager."]
    return "\n".join(lines)


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
