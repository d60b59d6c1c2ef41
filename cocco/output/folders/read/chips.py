"""The folder of `cocco explore --axis` as plain data, checked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cocco.chips.question import QUANTITIES
from cocco.chips.sensitivity import Shift
from cocco.chips.table import COLUMNS, Stairs
from cocco.output.folders.read import run
from cocco.output.folders.read.reading import NUMBER, Reader
from cocco.output.folders.written.about import About
from simulator.accelerator import Accelerator
from simulator.model.subgraph.tiling import TileRule


@dataclass(frozen=True, eq=False)
class ChipsRun:
    """What a search over machines answered. accelerator is None and networks are empty where it found no chip."""

    folder: Path
    about: About
    status: str
    criterion: str  #: what is minimized
    cost: float | None
    lower_bound: float | None
    gap: float
    names: tuple[str, ...]  #: of the networks
    accelerator: Accelerator | None
    tile_rule: TileRule
    networks: tuple[run.RunNetwork, ...]
    axes: dict[str, Any]  #: of the chip
    machines: tuple[dict[str, Any], ...]  #: rows as chips.csv has them
    floors: dict[str, Stairs]
    worth: float  #: of a mm2 of the chip, 0 where it has none
    at_rates: tuple[float, float, float] | None  #: average power in mW, the load, what leaks while nothing runs
    nearest: str  #: which machine comes nearest to the limits where none keeps them
    remarks: tuple[str, ...]
    left_out: dict[str, int]
    shifts: tuple[Shift, ...]
    space: tuple[str, ...]  #: the kinds of plans that the answer is the least among

    @property
    def verdicts(self) -> dict[str, int]:
        """How many machines have each verdict."""
        return Counter(row["verdict"] for row in self.machines)


def read_chips(folder: Path, about: About, result: Reader) -> ChipsRun:
    """Return the answer in a folder."""
    plans = [] if "nearest" in result.content else run.plans_of(result)
    names = [plan.get("network", str) for plan in plans] or result.list_of("networks", str)
    worth = result.inner("worth") if result.content.get("worth") is not None else None
    is_of_area = worth is not None and worth.get("each", str) == "area"
    near = result.inner("nearest") if result.content.get("nearest") is not None else None
    rates = [result.get(name, *NUMBER) for name in ("power_mw", "load", "idle") if "power_mw" in result.content]
    shifts = result.items("sensitivity") if "sensitivity" in result.content else []
    return ChipsRun(
        folder, about, result.get("status", str), result.one_of("minimize", QUANTITIES), result.optional("cost"),
        result.optional("lower_bound"), result.get("gap", *NUMBER), tuple(names), run.common_accelerator(plans),
        run.tile_rule_of(plans), run.networks_of(plans), result.get("axes", dict) if plans else {},
        _machines(result),
        {name: _stairs(result.inner("floors"), name) for name in ("least", "least_ms")},
        worth.get("number", *NUMBER) if worth is not None and is_of_area else 0.0,
        (rates[0], rates[1], rates[2]) if rates else None,
        "" if near is None else near.get("chip", str), tuple(map(str, result.get("remarks", list))),
        {rule: result.inner("left_out").get(rule, int) for rule in result.get("left_out", dict)},
        tuple(map(_shift, shifts)), run.space_said(result),
    )  # fmt: skip


def _machines(result: Reader) -> tuple[dict[str, Any], ...]:
    """Return the rows of the table of machines, which have the same axes."""
    found = tuple(map(_machine, result.items("machines")))
    axes = {tuple((name, type(row[name]) is str) for name in row if name not in COLUMNS) for row in found}
    if len(axes) != 1 or not found[0].keys() >= {*COLUMNS} or [*found[0]][-len(COLUMNS) :] != [*COLUMNS]:
        raise result.broken("machines", "it must be machines with the same axes")
    return found


def _machine(row: Reader) -> dict[str, Any]:
    """Return a row of the table of machines: its axes, then COLUMNS; numbers that are not known are None."""
    row.get("verdict", str)
    for name in row.content.keys() - {*COLUMNS}:
        row.get(name, str, *NUMBER)
    numbers = {name: row.optional(name) for name in COLUMNS if name != "verdict"}
    drawn = () if numbers["area_mm2"] is None else ("memory_bytes", "paid", "least", "least_ms")
    priced = () if numbers["cost"] is None else ("area_mm2", "energy_pj", "latency_ms")
    missing = [name for name in (*drawn, *priced) if numbers[name] is None]
    if missing:
        raise row.broken(missing[0], "it is known where the area or the cost is")
    return dict(row.content) | numbers


def _stairs(floors: Reader, name: str) -> Stairs:
    found = floors.get(name, list)
    if not all(
        isinstance(each, list) and len(each) == 2 and all(isinstance(n, NUMBER) for n in each) for each in found
    ):
        raise floors.broken(name, "stairs are pairs of numbers")
    return [[float(n) for n in each] for each in found]


def _shift(each: Reader) -> Shift:
    memory = each.optional("memory_bytes")
    texts = each.get("number", str), each.get("factor", *NUMBER), each.get("chip", str)
    return Shift(*texts, None if memory is None else int(memory), each.optional("regret"))
