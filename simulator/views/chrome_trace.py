"""A timeline in the trace event format, which chrome://tracing and ui.perfetto.dev open (docs/partitions.md).

Times are microseconds: cycles / (1000 clock_ghz). Two processes, one for each latency of the model: without prefetch,
and with the next weights prefetched; in each a track of subgraphs, one of computing, one of DRAM, and a counter.
"""

from __future__ import annotations

from typing import Any

from simulator.evaluate import Evaluation
from simulator.views.timeline import Kind, Span, Timeline, timeline
from workloads.network.network import Network

TRACKS: dict[Kind, tuple[int, str]] = {
    "subgraph": (1, "subgraphs"),
    "compute": (2, "computing"),
    "weights": (3, "DRAM"),
    "inputs": (3, "DRAM"),
    "outputs": (3, "DRAM"),
}  #: by kind of span: its thread, and what that is called
COUNTER = "buffers of one core (bytes)"


def chrome_trace(network: Network, evaluation: Evaluation) -> dict[str, Any]:
    """Return the trace of an evaluation as plain data for JSON; raises ValueError where the partition cannot run."""
    clock = evaluation.accelerator.technology.clock_ghz
    events: list[dict[str, Any]] = []
    for process, prefetch in ((1, False), (2, True)):
        found = timeline(network, evaluation, prefetch)
        events += _metadata(process, "with the next weights prefetched" if prefetch else "without prefetch")
        events += [_span(process, span, found, evaluation, clock) for span in found.spans]
        events += [
            {
                "name": COUNTER, "ph": "C", "ts": _microseconds(each.start, found, clock), "pid": process, "tid": 0,
                "args": {
                    "weights": each.occupancy.weight_bytes, "MAIN": each.occupancy.main_bytes,
                    "SIDE": each.occupancy.side_bytes, "next weights": each.next_weight_bytes,
                },
            }
            for each in found.held
        ]  # fmt: skip
    return {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {
            "network": evaluation.network,
            "clock_ghz": clock,
            "cycles_per_microsecond": 1000 * clock,
            "latency_cycles": evaluation.latency_cycles,
            "latency_prefetch_cycles": evaluation.latency_prefetch_cycles,
        },
    }


def _metadata(process: int, name: str) -> list[dict[str, Any]]:
    threads = dict.fromkeys(TRACKS.values())
    return [
        {"name": "process_name", "ph": "M", "pid": process, "tid": 0, "args": {"name": name}},
        {"name": "process_sort_index", "ph": "M", "pid": process, "tid": 0, "args": {"sort_index": process}},
        *(
            {"name": "thread_name", "ph": "M", "pid": process, "tid": thread, "args": {"name": track}}
            for thread, track in threads
        ),
    ]


def _span(process: int, span: Span, found: Timeline, evaluation: Evaluation, clock: float) -> dict[str, Any]:
    start, stop = (_microseconds(time, found, clock) for time in (span.start, span.stop))
    layers = evaluation.subgraphs[span.subgraph].layers
    args: dict[str, Any] = {"subgraph": span.subgraph, "cycles": (span.stop - span.start) / found.slots_per_cycle}
    if span.kind == "subgraph":
        args |= {"layers": list(layers), "tile": list(evaluation.subgraphs[span.subgraph].tile)}
    if span.kind != "compute":
        args["bytes"] = span.size_bytes
    group = layers[0] if len(layers) == 1 else f"{layers[0]} .. {layers[-1]} ({len(layers)})"
    name = group if span.kind in ("subgraph", "compute") else f"{span.kind} of {span.subgraph}"
    return {
        "name": name, "cat": span.kind, "ph": "X", "ts": start, "dur": stop - start,
        "pid": process, "tid": TRACKS[span.kind][0], "args": args,
    }  # fmt: skip


def _microseconds(slots: int, found: Timeline, clock: float) -> float:
    return slots / found.slots_per_cycle / (1000 * clock)
