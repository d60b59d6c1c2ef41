"""Which rows of the reference tables are beaten by rows of other tables that answer the same question.

A row says what one plan costs in one memory. Whatever is a plan for another row's question too (its network, cores,
batch and memories, and kinds of plans that it may use) bounds what that row may say. `python -m
experiments.cross_check` prints the rows that are beaten; a test holds that there are none, but for rows that show what
one method finds.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import pandas

from cocco.candidates.rounding import SUMMED
from experiments.common.searches import ALPHA
from experiments.page_tables.tables import markdown, reference
from simulator.technology import KiB

PAPER, NONE, AUTO = 0, 1, 2  #: kinds of plans, each among the next: the paper's, nothing kept, tensors kept on chip
Goal = Literal["cost", "energy_pj", "ema_bytes"]
#: tables that are not to show the least known, and why
METHODS = {
    "coexploration_separate": "a row shows what one method finds with its samples, or on the paper's hardware",
    "coexploration_shared": "a row shows what one method finds with its samples",
    "partition_quality": "a row shows what one method finds",
    "pareto": "a front shows what one run finds",
    "sensitivity": "a row is compared with rows of the same search under other constants",
    "sensitivity_memory": "a row is compared with rows of the same search with other memories",
    "core_schemes": "a row shows how the plan of a search of 2,000 samples is shared, and executes it",
}


class Row(NamedTuple):
    """What one row says: a plan's price in a memory, and of which question it is the answer."""

    table: str
    network: str
    cores: int
    batch: int
    plans: int  #: PAPER, NONE or AUTO
    buffers: tuple[int, ...]  #: bytes of one core: the shared one, or global and weight buffer
    goal: Goal
    alpha: float | None = None
    energy_pj: float = math.inf
    ema_bytes: float = math.inf
    place: int = 0  #: of the row in its table
    column: str = ""  #: of what the goal is of
    bound: float | None = None  #: what no plan undercuts

    @property
    def is_best(self) -> bool:
        """Whether the row is to say the least that is known."""
        return self.table not in METHODS

    @property
    def is_proved(self) -> bool:
        """Whether no plan costs less."""
        return self.bound is not None and self.value <= self.bound

    @property
    def gap_columns(self) -> tuple[str, ...]:
        """The columns in which the gap of this answer may be."""
        if self.goal == "ema_bytes":
            return (self.column.replace("_bytes", "_gap"),)
        return ("gap", "energy_gap")

    @property
    def value(self) -> float:
        """What the row says of its goal."""
        return self.at(self.goal, self.alpha)

    def at(self, goal: Goal, alpha: float | None) -> float:
        """Return the price of the plan by a goal."""
        if goal == "cost":
            assert alpha is not None
            return sum(self.buffers) + alpha * self.energy_pj
        return self.energy_pj if goal == "energy_pj" else self.ema_bytes

    def serves(self, other: Row) -> bool:
        """Whether the plan is one of another row's question."""
        mine, theirs = ((each.network, each.cores, each.batch, len(each.buffers)) for each in (self, other))
        if mine != theirs or self.plans > other.plans:
            return False
        if other.goal == "cost":
            return all(128 * KiB <= size <= 3072 * KiB for size in self.buffers)
        if other.goal == "ema_bytes":  # a larger memory moves no more
            return all(map(int.__le__, self.buffers, other.buffers))
        return self.buffers == other.buffers

    def __str__(self) -> str:
        sizes = "+".join(f"{size // KiB}" for size in self.buffers)
        of = f"alpha {self.alpha:g}, " if self.alpha is not None else ""
        kinds = ("paper's plans", "nothing kept", "kept")[self.plans]
        return f"{self.table}: {self.network}, {self.cores} cores, batch {self.batch}, {kinds}, {of}{sizes} KB"


class Beaten(NamedTuple):
    """A row that does not say the least known, and the row that says less."""

    row: Row
    by: Row

    @property
    def excess(self) -> float:
        """By how much the row is above, as a share."""
        return self.row.value / self.by.at(self.row.goal, self.row.alpha) - 1


def beaten() -> list[Beaten]:
    """Return the rows that are beaten, the worst first."""
    rows = list(all_rows())
    found = []
    for row in rows:
        if not row.is_best:
            continue
        least = min(
            (each for each in rows if each.serves(row)), key=lambda each: each.at(row.goal, row.alpha), default=row
        )
        if least.at(row.goal, row.alpha) < row.value * (1 - SUMMED):
            found.append(Beaten(row, least))
    return sorted(found, key=lambda each: -each.excess)


def all_rows() -> Iterator[Row]:
    """Yield what every table says of plans in memories of the paper's machine."""
    for name in ("coexploration_separate", "coexploration_shared"):
        for each in _records(name):
            yield _row(name, each, PAPER, "cost", ALPHA)
    for name in ("alpha_sweep", "cores_batch", "core_schemes"):
        for each in _records(name):
            energy = each["energy_pj"] if "energy_pj" in each else (each["cost"] - each["shared_kb"] * KiB) / ALPHA
            alpha = each.get("alpha", ALPHA)
            yield _row(name, {**each, "energy_pj": energy}, PAPER, "cost", alpha)
    for each in _records("pareto"):
        yield _row("pareto", each, PAPER, "energy_pj")
    for each in _records("partition_quality"):
        if not math.isnan(each["ema_bytes"]):
            buffers = {"global_kb": 1024, "weight_kb": 1152}
            yield _row("partition_quality", {**each, **buffers}, PAPER, "ema_bytes")
    for name, chosen in (("sensitivity", "constant"), ("sensitivity_memory", "changed")):
        for each in _records(name):
            if each[chosen] == "none" and {each.get("sram", "paper"), each.get("dram", "paper")} == {"paper"}:
                yield _row(name, {**each, "shared_kb": each["shared_buffer_bytes"] // KiB}, PAPER, "cost", ALPHA)
    yield from _kept()


def _kept() -> Iterator[Row]:
    """Yield the rows of tables of plans of every kind, with and without kept tensors."""
    for each in _records("kept_tensors"):
        plans = AUTO if each["keep"] == "auto" else NONE
        sized = {**each, "shared_kb": each["kilobytes"]}
        if each["memory"] != "given":
            yield _row("kept_tensors", sized, plans, "cost", ALPHA)
            continue
        yield _row("kept_tensors", {**sized, "ema_bytes": math.inf}, plans, "energy_pj")
        yield _row("kept_tensors", {**sized, "energy_pj": math.inf}, plans, "ema_bytes")
    for name in ("network_traffic", "tensors_or_tiles"):
        for each in _records(name):
            for way, plans in (("tiles", NONE), ("kept", AUTO)):
                column = f"{way}_bytes"
                moved = {**each, "shared_kb": each["bytes"] / KiB, "ema_bytes": each[column]}
                if not math.isnan(moved["ema_bytes"]):
                    yield _row(name, moved, plans, "ema_bytes", column=column)


def _row(
    table: str, each: dict[str, Any], plans: int, goal: Goal, alpha: float | None = None, *, column: str = ""
) -> Row:  # fmt: skip
    names = ("shared_kb",) if "shared_kb" in each and not math.isnan(each["shared_kb"]) else ("global_kb", "weight_kb")
    buffers = tuple(round(each[name] * KiB) for name in names)
    prices = {name: float(each.get(name, math.inf)) for name in ("energy_pj", "ema_bytes")}
    row = Row(
        table, each["network"], int(each.get("cores", 1)), int(each.get("batch", 1)), plans, buffers, goal, alpha,
        **prices, place=each["place"], column=column or goal,
    )  # fmt: skip
    gaps = [each[name] for name in row.gap_columns if not math.isnan(each.get(name, math.nan))]
    return row._replace(bound=row.value * (1 - gaps[0]) if gaps else None)


def _records(name: str) -> list[dict[str, Any]]:
    table: pandas.DataFrame = reference(name)
    rows: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]  # its columns have names
    return [{**row, "place": place} for place, row in enumerate(rows)]


def shown() -> str:
    """Return the rows that are beaten, in Markdown."""
    rows = [
        [f"{100 * each.excess:.2f} %", str(each.row), each.row.goal, f"{each.row.value:,.0f}", str(each.by),
         f"{each.by.at(each.row.goal, each.row.alpha):,.0f}"]
        for each in beaten()
    ]  # fmt: skip
    return markdown(["above", "row", "goal", "says", "beaten by", "says"], rows)


if __name__ == "__main__":
    sys.stdout.write(shown() + "\n")
