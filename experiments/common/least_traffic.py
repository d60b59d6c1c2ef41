"""The least bytes across DRAM in one memory: by tiles with nothing kept, whole tensors, and tiles with kept tensors.

Whole tensors (COSMA) are kept tensors with one layer a subgraph, so the third way starts from the schedule of the
second where that fits: it is above neither of the others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import cocco
import simulator
import workloads
from cocco.exploration.answers.result import Result
from cocco.problem.names import Keep
from cocco.scheduling.searches.beam import WIDTH
from experiments.common.searches import left, method_of
from experiments.sweep.points import Point
from simulator.accelerator import Accelerator
from simulator.partition.intervals import Span
from simulator.partition.partition import Partition
from simulator.schedule.operators import operators_of
from simulator.schedule.schedule import Operator, Schedule, compulsory_bytes
from simulator.technology import CHANNEL_ALIGNMENT
from workloads.network.network import Network

WHOLE_TENSOR_LIMIT = 10.0  #: deterministic time of the solver of whole-tensor schedules; our choice


def plan_of(network: Network, schedule: Schedule) -> Partition:
    """Return the partition that runs the layers one by one in the order of the schedule and keeps what that keeps."""
    ids = {tensor.name: u for u, tensor in enumerate(network.tensors)}
    layers = [name for name in schedule.order if name in ids and ids[name] < len(network.layers)]
    step_of = {name: step for step, name in enumerate(layers)}
    parts = _parts(network)
    stays: dict[str, set[int]] = defaultdict(set)
    for each in schedule.segments:
        steps = {step_of[name] for name in schedule.order[each.first : each.last + 1] if name in step_of}
        for name in parts.get(each.tensor, (each.tensor,)):
            if name in ids:
                stays[name] |= steps
    spans: list[Span] = []
    for name, there in stays.items():
        uses = {step_of[layer.name] for layer in network.layers if name in layer.inputs}
        if name in step_of:
            uses.add(step_of[name])
        spans += [(ids[name], first, last) for first, last in _runs(sorted(uses), there)]
    return Partition.from_ids(network, [(ids[name],) for name in layers], "ema", sorted(spans))


def rounded(network: Network) -> tuple[Operator, ...]:
    """Return the operators of a network, each tensor with the bytes that a kept one takes in the buffer."""
    sizes = {
        tensor.name: tensor.size_bytes // tensor.channels * _aligned(tensor.channels) for tensor in network.tensors
    }
    for name, parts in _parts(network).items():
        sizes[name] = sum(sizes[part] for part in parts)
    return tuple(replace(each, size=sizes[each.name]) for each in operators_of(network, parameters=True))


def _aligned(channels: int) -> int:
    return -(-channels // CHANNEL_ALIGNMENT) * CHANNEL_ALIGNMENT


def _parts(network: Network) -> dict[str, tuple[str, ...]]:
    """Return the tensors of the network in each concatenation, which is an operator of a schedule and no layer here."""
    parts: dict[str, tuple[str, ...]] = {}
    for concat in network.concats:
        parts[concat.name] = tuple(name for each in concat.inputs for name in parts.get(each, (each,)))
    return parts


def _runs(uses: list[int], there: set[int]) -> list[tuple[int, int]]:
    """Return the first and the last use of each stretch in which a tensor that is used does not leave."""
    runs: list[list[int]] = []
    for step in uses:
        if step not in there:
            continue
        if runs and there.issuperset(range(runs[-1][-1], step + 1)):
            runs[-1].append(step)
        else:
            runs.append([step])
    return [(run[0], run[-1]) for run in runs if len(run) > 1]


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
    found = cocco.schedule(network, point["bytes"], parameters=True, limit=WHOLE_TENSOR_LIMIT, width=WIDTH // 2)
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
        bank=left(),
    )  # fmt: skip


def _answer(way: str, found: Result) -> Point:
    fits = math.isfinite(found.cost)
    return {
        f"{way}_bytes": found.evaluation.ema_bytes if fits else None,
        f"{way}_status": found.status,
        f"{way}_gap": found.gap if fits else None,
        f"{way}_subgraphs": len(found.plan) if fits else None,
    }
