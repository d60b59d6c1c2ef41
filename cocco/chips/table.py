"""The table of machines: of each its best memory, what it costs at least, and what rules it out; how it is drawn."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cocco.candidates.rounding import SAME
from cocco.chips.axes import Chip
from cocco.chips.question import OF_CHIP
from cocco.chips.search import Pair, Search
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from workloads.network.network import Network

Stairs = list[list[float]]  #: mm2, and what no smaller chip takes less than
COLUMNS = (
    "verdict", "bound", "memory_bytes", "area_mm2", "usd", "paid", "least", "least_ms", "cost", "energy_pj",
    "latency_ms", "utilization",
)  # fmt: skip  #: behind the axes of a machine; paid: by its worth; least: the bound without that


def machine_rows(search: Search) -> tuple[dict[str, Any], ...]:
    """Return what is known of each machine, the most promising first."""
    of_chip: list[list[Pair]] = [[] for _ in search.chips]
    for pair in search.pairs:
        of_chip[pair.chip].append(pair)
    rows = [_row(search, chip, pairs) for chip, pairs in zip(search.chips, of_chip)]
    rows.sort(key=lambda row: (row["verdict"] != "best", row["bound"] is None, row["bound"] or 0.0))
    return tuple(rows)


def differing(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the axes by which machines differ."""
    names = tuple(rows[0])[: tuple(rows[0]).index("verdict")]
    return tuple(name for name in names if len({row[name] for row in rows}) > 1)


def values_of(rows: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """Return what an axis is among these machines, ascending; pairs by their first number."""
    return sorted({row[name] for row in rows}, key=_order)


def _order(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return tuple(map(int, value.split("x"))) if re.fullmatch("[0-9]+x[0-9]+", value) else (), value


def panels(criterion: str) -> tuple[str, ...]:
    """Return what is drawn over mm2: columns of the table."""
    return ("least_ms",) if criterion in (*OF_CHIP, "latency") else ("least", "least_ms")


def height(row: Mapping[str, Any], panel: str) -> float:
    """Return how high a machine is drawn: what its plans take where it was answered, else what all take at least."""
    if row["cost"] is None:
        return float(row[panel])
    return float(row["latency_ms"] if panel == "least_ms" else row["cost"] - row["paid"])


def floors(search: Search) -> dict[str, Stairs]:
    """Return by panel what no machine and memory within the limits takes less than, ascending by mm2."""
    left = [each for each in search.pairs if not each.why]
    area = [each.accelerator.chip_area.total for each in left]
    least = [each.bound - search.question.paid(each.accelerator) for each in left]
    times = [_ms(search, each) for each in left]
    return {"least": _stairs(area, least), "least_ms": _stairs(area, times)}


def _stairs(across: Sequence[float], up: Sequence[float]) -> Stairs:
    found: Stairs = []
    for x, y in sorted(zip(across, up)):
        if not found or y < found[-1][1]:
            found.append([x, y])
    return found


def _ms(search: Search, pair: Pair) -> float:
    """Return a time, of all networks one after another, that no plan undercuts."""
    return sum(search.cycles(pair)) / pair.accelerator.technology.clock_ghz * 1e-6


def _row(search: Search, chip: Chip, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return what is known of a machine."""
    known = [each for each in pairs if each.answer is not None]
    left = [each for each in pairs if not each.why]
    shown = min(known, key=_known_cost, default=None) or min(left, key=lambda each: each.bound, default=None)
    shown = search.best if search.best in pairs else shown
    row = chip.texts
    row["verdict"] = _verdict(search, pairs, left, shown)
    row["bound"] = min((each.bound for each in left), default=None)
    row |= dict.fromkeys(COLUMNS[2:])
    if shown is None:
        return row
    accelerator = shown.accelerator
    row |= {"memory_bytes": accelerator.buffer_bytes, "area_mm2": accelerator.chip_area.total}
    row["usd"] = accelerator.chip_money.total
    row["paid"] = search.question.paid(accelerator)
    row["least"] = shown.bound - row["paid"]
    row["least_ms"] = _ms(search, shown)
    if shown.answer is None:
        return row
    return row | {"cost": shown.answer.cost} | answered(accelerator, search.question.networks, shown.answer.evaluations)


def answered(
    accelerator: Accelerator, networks: Sequence[Network], found: Sequence[Evaluation]
) -> dict[str, float | None]:
    """Return what plans of all networks take, one after another: of a sample, of a batch, of all MACs."""
    cycles = sum(each.latency_cycles for each in found)
    return {
        "energy_pj": sum(each.energy_pj for each in found) / accelerator.batch,
        "latency_ms": cycles / accelerator.technology.clock_ghz * 1e-6,
        "utilization": accelerator.utilization(sum(network.macs for network in networks), cycles),
    }


def _known_cost(pair: Pair) -> float:
    return math.inf if pair.answer is None else pair.answer.cost


def _verdict(search: Search, pairs: Sequence[Pair], left: Sequence[Pair], shown: Pair | None) -> str:
    if search.best is not None and search.best in pairs:
        return "best"
    if not left:
        return f"ruled out by {Counter(each.why for each in pairs).most_common(1)[0][0]}" if pairs else "no memory"
    if any(map(search.is_left, left)):
        return "open"
    least = min(each.bound for each in left)
    if shown is not None and shown.answer is not None and shown.answer.cost <= least * (1 + SAME):
        return "proved"
    return "ruled out by bound"
