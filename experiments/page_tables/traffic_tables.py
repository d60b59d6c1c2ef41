"""The tables of the pages on kept tensors, in Markdown, from experiments/reference/*.csv.

`python -m experiments.traffic_tables` prints them; a test keeps the pages equal to them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import pandas

from experiments.beyond.kept_tensors import MEMORY
from experiments.common.drawing import TITLES
from experiments.page_tables.tables import markdown, reference
from simulator.technology import KiB

Row = dict[str, Any]


def tensors_or_tiles() -> str:
    """Return bytes of the three ways over the capacity, for docs/scheduling.md."""
    table = reference("tensors_or_tiles")
    common = [size for size in sorted(table["bytes"].unique()) if _is_common(table, size)]
    rows = []
    for network in table["network"].unique():
        part = table[table["network"] == network].set_index("bytes")
        first = part.iloc[0]
        row = [network, f"{first['minimum_bytes'] / KiB:,.0f}", f"{first['peak_bytes'] / KiB:,.0f}"]
        row.append(f"{first['floor_bytes'] / 2**20:.1f}")
        for size in common:
            found = part.loc[size]
            row.append(" / ".join(_megabytes(found, way, 1) for way in ("tiles", "tensors", "kept")))
        rows.append(row)
    heads = [
        "MB, tiles / whole tensors / kept",
        "M_R, KB",
        "M_P, KB",
        "floor",
        *(f"{size // KiB:,} KB" for size in common),
    ]
    return markdown(heads, rows)


def _is_common(table: pandas.DataFrame, size: int) -> bool:
    return set(table[table["bytes"] == size]["network"]) == set(table["network"])


def _megabytes(found: Row | pandas.Series[Any], way: str, digits: int) -> str:
    """Return the bytes of a way in MB, with a star where they are proven; - where there is no plan."""
    moved = found[f"{way}_bytes"]
    if math.isnan(moved):
        return "-"
    return f"{moved / 2**20:.{digits}f}{'*' if found[f'{way}_status'] == 'optimal' else ''}"


def kept_traffic() -> str:
    """Return the least bytes over the capacity, nothing kept and kept, in millions, for docs/experiments.md."""
    return _given("ema", 1e6, 2, "floor, MB")


def kept_energy() -> str:
    """Return the least energy over the capacity, in mJ."""
    return _given("energy", 1e9, 3, None)


def _given(what: str, unit: float, digits: int, floor: str | None) -> str:
    table = reference("kept_tensors")
    table = table[table["memory"] == "given"]
    sizes = sorted(table["kilobytes"].unique())
    column = {"ema": "ema_bytes", "energy": "energy_pj"}[what]
    rows = []
    for network in table["network"].unique():
        part = table[table["network"] == network]
        row = [TITLES[network]] + ([f"{part['floor_bytes'].iloc[0] / unit:.{digits}f}"] if floor else [])
        for size in sizes:
            cells = []
            for keep in ("none", "auto"):
                found = part[(part["kilobytes"] == size) & (part["keep"] == keep)]
                cells += [
                    f"{value / unit:.{digits}f}{'*' if status == 'optimal' else ''}"
                    for value, status in zip(found[column], found[f"{what}_status"])
                ]
            row.append(" -> ".join(cells))
        rows.append(row)
    heads = ["", *([floor] if floor else []), *(f"{size:,} KB" for size in sizes)]
    return markdown(heads, rows)


def kept_memories() -> str:
    """Return the memories that a co-exploration recommends, without and with kept tensors."""
    table = reference("kept_tensors")
    table = table[table["memory"] == MEMORY]
    rows = []
    for network in table["network"].unique():
        none, auto = (
            table[(table["network"] == network) & (table["keep"] == keep)].iloc[0] for keep in ("none", "auto")
        )
        row = [TITLES[network]]
        for found in (none, auto):
            row += [
                f"{found['kilobytes']} KB",
                f"{found['energy_pj'] / 1e9:.3f}",
                f"{found['cost']:,.0f}{_proof(found)}",
            ]
        rows.append([*row, f"{100 * (auto['cost'] / none['cost'] - 1):+.1f} %", "yes" if auto["verified"] else "no"])
    heads = ["", "nothing kept", "mJ", "cost", "kept", "mJ", "cost", "change", "verified"]
    return markdown(heads, rows)


def _proof(found: Row | pandas.Series[Any]) -> str:
    return "*" if found["energy_status"] == "optimal" else ""


def network_traffic() -> str:
    """Return the least bytes of the built-in networks, for docs/networks.md."""
    table = reference("network_traffic")
    sizes = sorted(table["bytes"].unique())
    rows = []
    for network in table["network"].unique():
        part = table[table["network"] == network].set_index("bytes")
        row = [network, f"{part['floor_bytes'].iloc[0] / 1e6:.3f}"]
        for size in sizes:
            row += [_gap(part.loc[size], way) for way in ("tiles", "kept")]
            row.append(f"{part.loc[size, 'any_schedule_bytes'] / 1e6:.3f}")
        rows.append(row)
    heads = ["network", "floor, MB"]
    for size in sizes:
        heads += [f"{size // KiB:,} KB: nothing kept", "kept", "any schedule"]
    return markdown(heads, rows)


def _gap(found: Row | pandas.Series[Any], way: str) -> str:
    """Return bytes in millions, with a star where they are proven, else with the gap to the lower bound."""
    moved = found[f"{way}_bytes"]
    if math.isnan(moved):
        return "-"
    proof = "*" if found[f"{way}_status"] == "optimal" else f" ({100 * found[f'{way}_gap']:.1f} %)"
    return f"{moved / 1e6:.3f}{proof}"


PAGES: dict[str, tuple[Callable[[], str], ...]] = {
    "scheduling.md": (tensors_or_tiles,),
    "experiments.md": (kept_traffic, kept_energy, kept_memories),
    "networks.md": (network_traffic,),
}  #: what each page shows


if __name__ == "__main__":
    sys.stdout.write("\n\n".join(table() for tables in PAGES.values() for table in tables) + "\n")
