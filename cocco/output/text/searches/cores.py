"""What `cocco explore --cores 1 2 4` prints for people: one table over the numbers of cores."""

from __future__ import annotations

from cocco.exploration.cores import CoresAxis
from cocco.output.text.layout.numbers import capacity, megabytes, table
from cocco.output.text.searches.search import no_plan_text

HEADS = (
    "cores", "buffers of a core", "of all cores", "area (mm2)", "energy (mJ)", "latency (ms)", "off-chip", "crossing",
    "cost", "optimum", "subgraphs by scheme",
)  # fmt: skip
ENDS = {"optimal": "proved", "feasible": "not proved", "stopped": "stopped", "gave_up": "gave up"}


def cores_text(axis: CoresAxis) -> str:
    """Return the table, and how energy and latency of the most cores compare with those of the fewest."""
    names = " + ".join(each.network for each in axis.results[0].evaluations)
    rows = [_row(row, axis.results[0].accelerator.technology.clock_ghz) for row in axis.rows()]
    lacking = [no_plan_text(each.evaluations, each.status) for each in axis.results if not each.plans]
    first = f"The memory to build for {names}, by cores."
    return "\n\n".join([first, table(HEADS, rows, left=0), *_trend(axis), *lacking])


def _row(row: dict[str, object], clock: float) -> tuple[str, ...]:
    if row["energy_pj"] is None:
        return (str(row["cores"]), *[""] * 8, str(row["status"]), "")
    numbers = {name: float(value) for name, value in row.items() if isinstance(value, (int, float))}
    gap = "" if row["status"] == "optimal" or row["gap"] is None else f", {100 * numbers['gap']:.2f} %"
    schemes = row["schemes"]
    assert isinstance(schemes, dict)
    return (
        str(row["cores"]), capacity(int(numbers["capacity_bytes"])), capacity(int(numbers["capacity_all_bytes"])),
        f"{numbers['area_mm2']:,.2f}", f"{numbers['energy_pj'] * 1e-9:,.3f}",
        f"{numbers['latency_cycles'] / (1e6 * clock):,.3f}", megabytes(int(numbers["ema_bytes"])),
        megabytes(int(numbers["crossbar_bytes"])), f"{numbers['cost']:,.0f}",
        ENDS.get(str(row["status"]), str(row["status"])) + gap,
        ", ".join(f"{name} {count}" for name, count in schemes.items()) or str(row["subgraphs"]),
    )  # fmt: skip


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
