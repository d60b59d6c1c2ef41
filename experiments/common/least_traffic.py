"""The least bytes across DRAM in one memory: by tiles with nothing kept, whole tensors, and tiles with kept tensors.

Whole tensors (COSMA) are kept tensors with one layer a subgraph, so the third way starts from the schedule of the
second where that fits: it is above neither of the others.
"""

from __future__ import annotations

import math

import cocco
import simulator
import workloads
from cocco.exploration.answers.result import Result
from cocco.problem.names import Keep
from cocco.scheduling.searches.beam import WIDTH
from experiments.common.searches import method_of
from experiments.common.whole_tensors import plan_of, rounded
from experiments.sweep.points import Point
from simulator.accelerator import Accelerator
from simulator.schedule.operators import operators_of
from simulator.schedule.schedule import compulsory_bytes
from workloads.network.network import Network

LIMIT = 10.0  #: deterministic time of the solver of whole-tensor schedules; our choice


def must_cross(network: Network) -> int:
    """Return the bytes of weights, model inputs that are read, and results: once each, in any plan."""
    return compulsory_bytes(operators_of(network, parameters=True))


def tiled(point: Point) -> Point:
    """Return what tiles move where every tensor between two subgraphs crosses DRAM (Cocco)."""
    return _answer("tiles", _partition(point, "none"))


def tensors_and_kept(point: Point) -> Point:
    """Return what whole tensors move (COSMA), and tiles beside tensors that are kept on chip."""
    network, chip = workloads.load(point["network"]), Accelerator(shared_buffer=point["bytes"])
    must = must_cross(network)
    found = cocco.schedule(network, point["bytes"], parameters=True, limit=LIMIT, width=WIDTH // 2)
    moved = None if found.offchip_bytes is None else must + found.offchip_bytes
    answer: Point = {"floor_bytes": must, "tensors_bytes": moved, "tensors_status": found.status}
    if found.schedule is None:
        return answer | _answer("kept", _partition(point, "auto"))
    start = plan_of(network, found.schedule)
    priced = simulator.evaluate(network, start, chip)
    if priced.ema_bytes == must:
        return answer | {"kept_bytes": must, "kept_status": "optimal", "kept_gap": 0.0, "kept_subgraphs": len(start)}
    starts = [start]
    if not priced.fits:  # whole groups of channels do not
        less = cocco.schedule(rounded(network), point["bytes"], parameters=True, method="beam", width=WIDTH // 2)
        starts += [] if less.schedule is None else [plan_of(network, less.schedule)]
    return answer | _answer("kept", _partition(point, "auto", starts))


def _partition(point: Point, keep: Keep, initial: list[simulator.Partition] | None = None) -> Result:
    return cocco.partition(
        workloads.load(point["network"]), Accelerator(shared_buffer=point["bytes"]), metric="ema", keep=keep,
        method=method_of(point["network"]), samples=point["samples"], seed=point["seed"], initial=initial or (),
    )  # fmt: skip


def _answer(way: str, found: Result) -> Point:
    fits = math.isfinite(found.cost)
    return {
        f"{way}_bytes": found.evaluation.ema_bytes if fits else None,
        f"{way}_status": found.status,
        f"{way}_gap": found.gap if fits else None,
        f"{way}_subgraphs": len(found.plan) if fits else None,
    }
