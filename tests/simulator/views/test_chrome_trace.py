"""The trace obeys the rules of the trace event format, and its times are those of the simulation."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import Any

import pytest

import workloads
from simulator import Accelerator, Evaluation, Partition, Technology, evaluate
from simulator.views.chrome_trace import ARRAY, CORE_THREADS, CROSSBAR, DRAM, TRACKS, chrome_trace
from tests.helpers.command_line import answer, assert_malformed, cocco


def check_format(trace: dict[str, Any]) -> None:
    """Assert what the format's document asks of complete, counter and metadata events."""
    assert set(trace) <= {"traceEvents", "displayTimeUnit", "otherData"} and trace["displayTimeUnit"] in ("ms", "ns")
    tracks = defaultdict(list)
    named = set()
    for event in trace["traceEvents"]:
        assert event["ph"] in ("X", "C", "M") and isinstance(event["name"], str) and event["name"]
        assert type(event["pid"]) is int and type(event["tid"]) is int
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name", "process_sort_index")
            named.add((event["pid"], event["tid"]) if event["name"] == "thread_name" else event["pid"])
            continue
        assert isinstance(event["ts"], int | float) and math.isfinite(event["ts"]) and event["ts"] >= 0
        if event["ph"] == "C":
            assert event["args"] and all(isinstance(value, int | float) for value in event["args"].values())
            continue
        assert math.isfinite(event["dur"]) and event["dur"] > 0 and isinstance(event["cat"], str)
        tracks[event["pid"], event["tid"]].append(event)
    assert named >= {*tracks, *(process for process, _ in tracks)}
    for events in tracks.values():  # complete events of a thread nest or follow one another; ours follow
        events.sort(key=lambda event: event["ts"])
        for before, after in zip(events, events[1:]):
            assert before["ts"] + before["dur"] <= after["ts"] * (1 + 1e-12) + 1e-12


def end(trace: dict[str, Any]) -> float:
    return max(e["ts"] + e["dur"] for e in trace["traceEvents"] if e["ph"] == "X")


def priced(name: str, clock: float = 1.0, **machine: Any) -> tuple[workloads.Network, Evaluation]:
    network = workloads.load(name)
    chip = Accelerator(shared_buffer=2**20, technology=Technology(clock_ghz=clock), **machine)
    return network, evaluate(network, Partition.layerwise(network), chip)


@pytest.mark.parametrize(("name", "clock", "machine"), [
    ("resnet50", 1.0, {}), ("googlenet", 0.7, {"cores": 2, "batch": 3}), ("transformer", 1.5, {}),
])  # fmt: skip
def test_a_trace_obeys_the_format_and_ends_at_the_latency(name, clock, machine):
    network, evaluation = priced(name, clock, **machine)
    trace = chrome_trace(network, evaluation)
    check_format(trace)
    assert end(trace) == pytest.approx(evaluation.latency_executed_cycles / clock / 1000, rel=1e-12)
    cores = evaluation.accelerator.cores
    named = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    several = {"subgraphs", "DRAM", "crossbar", *(f"core {core}" for core in range(cores))}
    assert named == ({*TRACKS.values()} if cores == 1 else several)
    crossed = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["tid"] == CROSSBAR]
    assert sum(e["args"]["bytes"] for e in crossed) == evaluation.crossbar_bytes
    working = [e["tid"] - CORE_THREADS for e in trace["traceEvents"] if e["ph"] == "X" and e["tid"] >= CORE_THREADS]
    assert sorted(set(working)) == (list(range(cores)) if cores > 1 else [])
    moved = sum(e["args"]["bytes"] for e in trace["traceEvents"] if e["ph"] == "X" and e["tid"] == DRAM)
    assert moved == evaluation.ema_bytes
    computed = [e for e in trace["traceEvents"] if e["ph"] == "X" and (e["tid"] == ARRAY or e["tid"] >= CORE_THREADS)]
    once = {(e["ts"], e["name"]): e["args"]["cycles"] for e in computed}  # cores that share a layer work in lock-step
    assert sum(once.values()) == pytest.approx(evaluation.compute_cycles)
    assert {name for _, name in once} == {layer.name for layer in network.layers}


@pytest.mark.parametrize("memory", [{"shared_buffer": 2**20}, {"global_buffer": 2**19, "weight_buffer": 2**19}])
def test_the_counters_fill_the_capacity_and_nothing_more(memory):
    network, chip = workloads.load("googlenet"), Accelerator(**memory)
    evaluation = evaluate(network, Partition.layerwise(network), chip)
    counters = [e for e in chrome_trace(network, evaluation)["traceEvents"] if e["ph"] == "C"]
    assert {e["name"] for e in counters} == {f"{name.replace('_', ' ')} (bytes)" for name in memory}
    assert all(min(e["args"].values()) >= 0 and sum(e["args"].values()) in memory.values() for e in counters)
    held = [e["args"].get("regions") for e in counters if "regions" in e["args"]]
    assert {*held} == {cost.activation_bytes for cost in evaluation.subgraphs} | {0}


def test_the_command_writes_it(tmp_path):
    path = tmp_path / "trace.json"
    finished = cocco("evaluate", "googlenet", "--partition", "layerwise", "--trace", path, "--json")
    totals = answer(finished)["totals"]
    trace = json.loads(path.read_text())
    check_format(trace)
    assert trace["otherData"]["latency_cycles"] == totals["latency_cycles"]
    assert end(trace) == pytest.approx(totals["latency_executed_cycles"] / 1000)


def test_what_cannot_run_writes_no_trace(tmp_path):
    plan, path = tmp_path / "plan.yaml", tmp_path / "trace.json"
    plan.write_text("subgraphs: [[conv1..s1b1_add]]\n")
    finished = cocco("evaluate", "resnet50", "--partition", plan, "--shared-buffer", "64KB", "--trace", path)
    assert finished.returncode == 1 and "no trace" in finished.stderr and not path.exists()


@pytest.mark.parametrize(("path", "words"), [
    ("trace.txt", ["--trace", ".json"]), ("", ["--trace"]), ("file/trace.json", ["file"]),
])  # fmt: skip
def test_a_path_that_takes_no_trace_is_named(tmp_path, path, words):
    (tmp_path / "file").write_text("")
    arguments = ("evaluate", "vgg16", "--partition", "layerwise", "--trace", path)
    assert_malformed(cocco(*arguments, folder=tmp_path), words)
