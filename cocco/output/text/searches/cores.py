"""What `cocco explore --cores 1 2 4` prints for people: one table over the numbers of cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cocco.exploration.cores import CoresAxis
from cocco.output.text.layout.numbers import capacity, table
from cocco.output.text.searches.search import no_plan_text
from simulator.units import AREA, ENERGY, TIME, TRAFFIC

ENDS = {"optimal": "proved", "feasible": "not proved", "stopped": "stopped", "gave_up": "gave up"}


def cores_text(axis: CoresAxis) -> str:
    """Return the table, and how energy and latency of the most cores compare with those of the fewest."""
    names = " + ".join(each.network for each in axis.results[0].evaluations)
    found = axis.rows()
    clock = axis.results[0].accelerator.technology.clock_ghz
    energy, energies = ENERGY.column(_numbers(found, "energy_pj"))
    time, times = TIME.column(_numbers(found, "latency_cycles", clock))
    columns = {
        "cores": [row["cores"] for row in found], "buffers of a core": _sizes(found, "capacity_bytes"),
        "of all cores": _sizes(found, "capacity_all_bytes"),
        "area (mm2)": AREA.column(_numbers(found, "area_mm2"))[1], f"energy ({energy})": energies,
        f"latency ({time})": times, "off-chip": TRAFFIC.texts(_numbers(found, "ema_bytes")),
        "crossing": TRAFFIC.texts(_numbers(found, "crossbar_bytes")),
        "cost": ["-" if each is None else f"{each:,.0f}" for each in _numbers(found, "cost")],
        "optimum": list(map(_end, found)), "subgraphs by scheme": list(map(_schemes, found)),
    }  # fmt: skip
    lacking = [no_plan_text(each.evaluations, each.status) for each in axis.results if not each.plans]
    first = f"The memory to build for {names}, by cores."
    return "\n\n".join([first, table(list(columns), list(zip(*columns.values())), left=0), *_trend(axis), *lacking])


def _numbers(rows: Sequence[dict[str, Any]], name: str, divisor: float = 1.0) -> list[float | None]:
    """Return the numbers of a column; None where no plan runs."""
    return [None if row["energy_pj"] is None else row[name] / divisor for row in rows]


def _sizes(rows: Sequence[dict[str, Any]], name: str) -> list[str]:
    return ["-" if size is None else capacity(int(size)) for size in _numbers(rows, name)]


def _end(row: dict[str, Any]) -> str:
    is_open = row["energy_pj"] is not None and row["status"] != "optimal" and row["gap"] is not None
    return ENDS.get(row["status"], row["status"]) + (f", {100 * row['gap']:.2f} %" if is_open else "")


def _schemes(row: dict[str, Any]) -> str:
    if row["energy_pj"] is None:
        return ""
    return ", ".join(f"{name} {count}" for name, count in row["schemes"].items()) or str(row["subgraphs"])


def _trend(axis: CoresAxis) -> list[str]:
    rows = [row for row in axis.rows() if row["energy_pj"] is not None]
    if len(rows) < 2:
        return []
    first, last = (max_or_min(rows, key=lambda row: row["cores"]) for max_or_min in (min, max))
    energy, latency, whole = (
        100 * (last[name] / first[name] - 1) for name in ("energy_pj", "latency_cycles", "capacity_all_bytes")
    )
    return [
        f"{last['cores']} cores against {first['cores']}: energy {energy:+.1f} %, latency {latency:+.1f} %, "
        f"buffers of all cores {whole:+.1f} %."
    ]
