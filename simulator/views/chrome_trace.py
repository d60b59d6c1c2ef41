"""A simulated run in the trace event format, which chrome://tracing and ui.perfetto.dev open (docs/partitions.md).

Times are microseconds: cycles / (1000 clock_ghz). One process with a track of subgraphs, one of the PE array with a
slice for each layer and row operation, one of DRAM, and for each buffer a counter of its bytes up to the capacity.
Several cores have a track each in place of the array's, with the layers of which they compute some, and one of the
crossbar, with the bytes that pass for a layer while it computes.
Tensors that stay on chip between subgraphs have tracks of their own, as many as are kept at once: a slice from the
start of the subgraph that makes or loads one to the end of the last that reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simulator.evaluation import Evaluation, check_evaluation
from simulator.timing import Simulation, Slice, Use
from simulator.views.occupancy import rows_of
from workloads.network.network import Network

PROCESS, SUBGRAPHS, ARRAY, DRAM, CROSSBAR = 1, 1, 2, 3, 4
TRACKS = {SUBGRAPHS: "subgraphs", ARRAY: "array", DRAM: "DRAM"}  #: by thread
KEPT_THREADS = 10  #: the first of the threads of kept tensors
CORE_THREADS = 1000  #: the first of the threads of several cores
Event = dict[str, Any]


def chrome_trace(network: Network, evaluation: Evaluation) -> dict[str, Any]:
    """Return the trace of an evaluation as plain data for JSON; raises ValueError where the partition cannot run."""
    check_evaluation(network, evaluation)
    run, clock = evaluation.simulation, evaluation.accelerator.technology.clock_ghz
    per_microsecond = 1000 * clock * run.slots_per_cycle
    kept = list(_kept(evaluation, run))
    spans = [*_subgraphs(evaluation, run), *_slices(run), *kept]
    for event in spans:
        start, stop = event.pop("slots")
        event["args"]["cycles"] = (stop - start) / run.slots_per_cycle
        event |= {"ph": "X", "ts": start / per_microsecond, "dur": (stop - start) / per_microsecond, "pid": PROCESS}
    counters = [
        {"name": name, "ph": "C", "ts": use.start / per_microsecond, "pid": PROCESS, "tid": 0, "args": held}
        for use in run.uses
        for name, held in buffers(run, use).items()
    ]
    return {
        "traceEvents": [*_metadata(evaluation.network, _tracks(kept, run.accelerator.cores)), *spans, *counters],
        "displayTimeUnit": "ns",
        "otherData": {
            "network": evaluation.network,
            "clock_ghz": clock,
            "cycles_per_microsecond": 1000 * clock,
            "latency_cycles": evaluation.latency_cycles,
            "latency_executed_cycles": evaluation.latency_executed_cycles,
        },
    }


def buffers(run: Simulation, use: Use) -> dict[str, dict[str, int]]:
    """Return what each buffer of one core holds, bytes by counter; with what is free they are its capacity."""
    rows = {"regions": use.activation_bytes, "rows ahead": use.row_bytes}
    if any(each.kept_bytes for each in run.uses):
        rows = {"kept": use.kept_bytes} | rows
    weights = {"weights": use.weight_bytes, "next weights": use.next_weight_bytes}
    chip = run.accelerator
    if chip.is_shared:
        return {"shared buffer (bytes)": _filled(chip.activation_capacity, rows | weights)}
    return {
        "global buffer (bytes)": _filled(chip.activation_capacity, rows),
        "weight buffer (bytes)": _filled(chip.weight_capacity, weights),
    }


def _filled(capacity: int, held: dict[str, int]) -> dict[str, int]:
    return held | {"free": capacity - sum(held.values())}


def _tracks(kept: list[Event], cores: int) -> dict[int, str]:
    """Return the names of the tracks by thread, those of kept tensors as far as there are any."""
    threads = sorted({event["tid"] for event in kept})
    found = TRACKS | {thread: f"kept {thread - KEPT_THREADS + 1}" for thread in threads}
    if cores > 1:
        found |= {CROSSBAR: "crossbar"} | {CORE_THREADS + core: f"core {core}" for core in range(cores)}
        del found[ARRAY]
    return found


def _metadata(name: str, threads: dict[int, str]) -> list[Event]:
    tracks = [
        {"name": "thread_name", "ph": "M", "pid": PROCESS, "tid": thread, "args": {"name": track}}
        for thread, track in threads.items()
    ]
    return [{"name": "process_name", "ph": "M", "pid": PROCESS, "tid": 0, "args": {"name": name}}, *tracks]


def _subgraphs(evaluation: Evaluation, run: Simulation) -> Iterator[Event]:
    for i, (cost, span) in enumerate(zip(evaluation.subgraphs, run.spans)):
        layers = cost.layers
        name = layers[0] if len(layers) == 1 else f"{layers[0]} .. {layers[-1]} ({len(layers)})"
        args: dict[str, Any] = {"subgraph": i, "layers": list(layers), "tile": list(cost.tile), "bytes": cost.ema_bytes}
        if cost.scheme:
            args |= {"scheme": cost.scheme, "crossbar_bytes": cost.crossbar_bytes}
        yield {"name": name, "cat": "subgraph", "tid": SUBGRAPHS, "slots": span, "args": args}


def _kept(evaluation: Evaluation, run: Simulation) -> Iterator[Event]:
    spans = [
        (run.spans[each.interval.from_step][0], run.spans[each.interval.until_step][1]) for each in evaluation.keep
    ]
    for each, span, row in zip(evaluation.keep, spans, rows_of(spans)):
        interval = each.interval
        args = {
            "bytes": each.size_bytes, "from_subgraph": interval.from_step, "until_subgraph": interval.until_step,
            "from": interval.from_layer, "until": interval.until_layer,
        }  # fmt: skip
        yield {"name": interval.tensor, "cat": "kept", "tid": KEPT_THREADS + row, "slots": span, "args": args}


def _slices(run: Simulation) -> Iterator[Event]:
    for each in run.slices:
        is_computing = each.kind == "compute"
        name = each.layer if is_computing else f"{each.kind} of {each.layer or each.subgraph}"
        args = {"subgraph": each.subgraph} | ({} if is_computing else {"bytes": each.size_bytes})
        for thread in _threads(run, each):
            slots = each.start, each.stop
            yield {"name": name, "cat": each.kind, "tid": thread, "slots": slots, "args": dict(args)}


def _threads(run: Simulation, each: Slice) -> list[int]:
    """Return the tracks on which a slice is drawn: of several cores computing on each that has some of the layer."""
    if each.kind != "compute":
        return [CROSSBAR if each.kind == "crossbar" else DRAM]
    if run.accelerator.cores == 1:
        return [ARRAY]
    return [CORE_THREADS + core for core in run.working[each.subgraph][each.layer]]
