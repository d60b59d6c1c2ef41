"""The points of the paper's experiments: one search each, as a sweep runs it; settings in, plain numbers out."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import pandas

import cocco
import workloads
from cocco.bank.bank import Starts
from cocco.cli.options.values import capacity_range
from cocco.exploration.answers.lacking import finite
from cocco.exploration.answers.result import Result
from cocco.problem.names import SpaceMethod
from experiments.sweep.points import Point
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.hardware_files import BUFFERS, read_hardware
from simulator.technology import KiB

SAMPLES = 50_000  #: of each co-exploration (Cocco, Sec. 5.1.3)
CORES_SAMPLES = 5_000  #: of each over cores, one among them: our choice, as several cores take far longer to price
ALPHA = 0.002  #: bytes per pJ (Cocco, Sec. 5.3.1)
FOUR = ("resnet50", "googlenet", "randwire_a", "nasnet")  #: networks of Tables 1 to 3
SPACES = {"separate": cocco.SeparateBuffers, "shared": cocco.SharedBuffer}


SIZES = ("shared_kb", "global_kb", "weight_kb")  #: columns of a memory


#: networks too wide for the exact search
WIDE = ("randwire_a", "randwire_b", "nasnet", "pnasnet5large", "amoebanet_d", "darts")


def method_of(name: str) -> Literal["auto", "ga"]:
    """Return the method for a network: the default, but without its attempt at a proof where that is known to fail.

    That attempt takes more than half of the time there, and what it leaves to the search is the same.
    """
    return "ga" if name in WIDE else "auto"


LEFT = "COCCO_LEFT_PLANS"  #: of the environment: the folder in which scripts leave their plans for others


class Left(cocco.Bank):
    """A bank to which searches add what they find, and from which none starts: rows say what a search finds alone."""

    def starts(self, *_: object) -> Starts:
        """Return none."""
        return Starts([], ())


def left() -> Left | None:
    """Return where a search leaves its plans; None for nowhere."""
    folder = os.environ.get(LEFT)
    return Left(folder) if folder else None


class Method(NamedTuple):
    """How a row of the paper's tables is computed: a method of `cocco.explore`, with its settings or these."""

    method: SpaceMethod
    settings: cocco.Settings | None = None


METHODS = {
    "RS+GA": Method("random"),
    "GS+GA": Method("grid"),
    "SA": Method("sa"),
    "Cocco (paper)": Method("paper"),
    "Cocco (paper, 500)": Method("paper", cocco.Settings.paper(500)),
    "Cocco": Method("auto"),
}  #: in the order of the tables; two-step methods have our genetic algorithm as their second step


def point(network: str, space: str, method: str, *, seed: int, samples: int = SAMPLES, **others: Any) -> Point:
    """Return the point of one co-exploration; others: alpha, cores, batch, and a space in place of this one."""
    return {"network": network, "space": space, "method": method, "samples": samples, "seed": seed, **others}


def explored(point: Point) -> Point:
    """Return the memory that a co-exploration chose, its price, and what is proven; no numbers where nothing runs."""
    result = search(point)
    sizes = memory(result.accelerator)
    return {
        **(sizes if result.plans else dict.fromkeys(sizes)),
        **priced(result.evaluation),
        **ending(result),
    }


def tabled(point: Point) -> Point:
    """Return a row of Tables 1 and 2: the chosen memory, then a partition-only search there for the final cost.

    As in Sec. 5.3.1. `found_cost` is the best sample of the co-exploration itself, without the final search and
    without enumeration. The final search starts from what was found, so it is never worse.
    """
    result = search(point)
    final = cocco.partition(
        workloads.load(point["network"]), result.accelerator, metric="energy",
        method=method_of(point["network"]), samples=point["samples"], seed=point["seed"], initial=result.plan,
        bank=left(),
    )  # fmt: skip
    cost = min(result.cost, result.accelerator.buffer_bytes + point.get("alpha", ALPHA) * final.cost)
    best = final.evaluation if final.cost < result.evaluation.energy_pj else result.evaluation
    found = {"found_cost": float(result.points["cost"].min())}
    return {**memory(result.accelerator), **priced(best), **ending(result, cost), **found}


def fixed(point: Point) -> Point:
    """Return a row "Fixed HW" of Tables 1 and 2: the least energy on given hardware; gap is that of the partition."""
    network, alpha = workloads.load(point["network"]), point.get("alpha", ALPHA)
    chip = Accelerator(**point["hardware"], **machine(point))
    result = cocco.partition(
        network, chip, metric="energy", method=method_of(point["network"]), samples=point["samples"],
        seed=point["seed"], bank=left(),
    )  # fmt: skip
    cost = chip.buffer_bytes + alpha * result.cost
    assert result.lower_bound is not None
    bound = chip.buffer_bytes + alpha * result.lower_bound
    proven = {"status": result.status, "lower_bound": bound, "gap": (cost - bound) / cost}
    return {**memory(chip), **priced(result.evaluation), "cost": cost, **proven}


def search(point: Point, *, bounded: bool = True) -> Result:
    """Return the result of the co-exploration that a point describes.

    bounded: also for wide networks with the attempt at a proof, which finds no better memory there but a better bound.
    """
    method, settings = METHODS[point["method"]]
    if method == "auto" and not bounded:
        method = method_of(point["network"])
    return cocco.explore(
        workloads.load(point["network"]),
        space=space_of(point),
        alpha=point.get("alpha", ALPHA),
        metric=point.get("metric", "energy"),
        keep=point.get("keep"),
        method=method,
        samples=point["samples"],
        seed=point["seed"],
        settings=settings,
        **machine(point),
        ranges=False,
        bank=left(),
    )


def machine(point: Mapping[str, Any]) -> dict[str, Any]:
    """Return on what a point runs, beside the memory: its hardware file, then its cores and batch.

    With the paper's plans, but where tensors may stay on chip.
    """
    given = {"plans": "all" if point.get("keep") == "auto" else "paper"} | _of_file(point)
    return {name: value for name, value in given.items() if name not in BUFFERS} | {
        name: point[name] for name in ("cores", "batch") if name in point
    }


def chip_of(point: Mapping[str, Any], usual: Accelerator) -> Accelerator:
    """Return the chip of a point: with the usual buffers, unless its hardware file has some."""
    buffers = {name: value for name, value in _of_file(point).items() if name in BUFFERS}
    return replace(Accelerator(**buffers) if buffers else usual, **machine(point))


def buffers_text(table: pandas.DataFrame) -> str:
    """Return which buffers the rows of a table on the paper's platform have, for its picture."""
    usual = "1 MB global and 1.125 MB weight buffer"
    return f"buffers of the hardware file, or {usual}" if "hardware_file" in table else usual


def _of_file(point: Mapping[str, Any]) -> dict[str, Any]:
    return read_hardware(point["hardware_file"]) if "hardware_file" in point else {}


def space_of(point: Mapping[str, Any]) -> cocco.SharedBuffer | cocco.SeparateBuffers:
    """Return the candidates of a point: those of its range, the same for each buffer, or else the paper's."""
    if "range" not in point:
        return SPACES[point.get("space", "shared")]()
    sizes = capacity_range(point["range"])
    is_shared = point.get("space", "shared") == "shared"
    return cocco.SharedBuffer(*sizes) if is_shared else cocco.SeparateBuffers(cocco.Range(*sizes), cocco.Range(*sizes))


def sizes(row: Mapping[str, Any]) -> Point:
    """Return the buffers of one core of a row, KB: {"shared_kb": 1216}, or a global and a weight buffer."""
    return {name: row[name] for name in SIZES if name in row}


def capacity_kb(table: pandas.DataFrame) -> pandas.Series[Any]:
    """Return the buffers of one core in each row of a table, in total; NaN where none is known."""
    return table[[name for name in SIZES if name in table]].sum(axis=1, min_count=1)


def memory(chip: Accelerator) -> Point:
    """Return the buffers of one core, KB."""
    if chip.is_shared:
        return {"shared_kb": kb(chip.activation_capacity)}
    return {"global_kb": kb(chip.activation_capacity), "weight_kb": kb(chip.weight_capacity)}


def kb(size: int) -> float:
    """Return bytes in KB, exactly.

    >>> kb(2048), kb(1600)
    (2, 1.5625)
    """
    return size / KiB if size % KiB else size // KiB


def priced(evaluation: Evaluation) -> Point:
    """Return what a partition costs; None for each number where it cannot run."""
    found = {
        "subgraphs": len(evaluation.subgraphs),
        "ema_bytes": evaluation.ema_bytes,
        "energy_pj": evaluation.energy_pj,
        "latency_cycles": evaluation.latency_cycles,
    }
    return found if evaluation.fits else dict.fromkeys(found)


def ending(result: Result, cost: float | None = None) -> Point:
    """Return the cost (a lower one if another search found it), how the search ended, and the gap that is left.

    Where nothing runs there is no cost: "infeasible" where that is proven.
    """
    cost = result.cost if cost is None else cost
    bound = finite(result.lower_bound)
    if not math.isfinite(cost):
        return {"cost": None, "status": result.status, "lower_bound": bound, "gap": None}
    proven = bound is not None and cost <= bound
    return {
        "cost": cost,
        "status": "optimal" if proven else result.status,
        "lower_bound": bound,
        "gap": None if bound is None else (cost - bound) / cost,
    }
