"""Language models (ours): what a buffer of which size buys in prefill and in decode, and where DRAM alone decides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import cocco
import workloads
from experiments.common import command
from experiments.common.drawing import LINES, panels
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator.accelerator import Accelerator
from simulator.technology import KiB

NETWORK = "llama3_8b"
LAYERS = 1  #: of 32 that are alike: each takes as much (rewriting/repeats.py); norm and head are not counted
LENGTHS = (512, 1024, 2048, 4096, 8192)  #: tokens of a prompt
PASTS = (1024, 8192, 32768)  #: tokens in the cache before a decode step
BATCHES = (1, 8, 32)  #: samples of a decode step, each with a cache of its own
WEIGHT_BITS = (8, 4)
KILOBYTES = tuple(2**i for i in range(8, 15))  #: one buffer for weights and activations: 256 KB to 16 MB
DRAWN_LENGTHS = (512, 2048, 8192)
COLUMNS = (
    "tokens", "floor_bytes", "ema_bytes", "energy_pj", "dram_pj", "buffer_pj", "compute_pj", "compute_cycles",
    "latency_cycles", "status", "gap", "kept_tensors", "verified",
)  # fmt: skip


def rows(
    compute: Compute, seed: int, samples: int, lengths: Sequence[int], pasts: Sequence[int], batches: Sequence[int],
    kilobytes: Sequence[int],
) -> list[Point]:  # fmt: skip
    """Return a row per step, bits of weights, heads together and apart, and capacity: the plan of least energy."""
    steps = [{"phase": "prefill", "length": length, "past": 0, "batch": 1} for length in lengths]
    steps += [{"phase": "decode", "length": 1, "past": past, "batch": batch} for past in pasts for batch in batches]
    points = [
        {**step, "weight_bits": bits, "groups_apart": apart, "kilobytes": size, "samples": samples, "seed": seed}
        for step in steps for bits in WEIGHT_BITS for apart in (False, True)
        for size in (kilobytes if step["phase"] == "prefill" else kilobytes[::2])
    ]  # fmt: skip
    return [_row(each) for each in compute(least_energy, points)]


def _row(row: Point) -> Point:
    step = ("phase", "length", "past", "batch", "weight_bits", "groups_apart", "kilobytes")
    names = (*step, *COLUMNS, "samples", "seed")
    return {"network": NETWORK, "layers": LAYERS, **{name: row.get(name) for name in names}}


def least_energy(point: Point) -> Point:
    """Return what the plan of least energy takes and moves, and whether it was executed with the same counts."""
    from simulator.execution import verify

    network = workloads.load(
        NETWORK, phase=point["phase"], length=point["length"], past=point["past"] or None, layers=LAYERS
    ).retyped({"weights": point["weight_bits"]})
    chip = Accelerator(shared_buffer=point["kilobytes"] * KiB, batch=point["batch"], groups_apart=point["groups_apart"])
    found = cocco.partition(network, chip, metric="energy", samples=point["samples"], seed=point["seed"])
    tokens = {"tokens": point["length"] * point["batch"]}
    if not math.isfinite(found.cost):
        return tokens
    evaluation = found.evaluation
    spent = evaluation.energy_breakdown
    assert spent is not None, "it fits"
    return tokens | {
        "floor_bytes": evaluation.compulsory_bytes,
        "ema_bytes": evaluation.ema_bytes,
        "energy_pj": evaluation.energy_pj,
        "dram_pj": spent.dram,
        "buffer_pj": spent.global_buffer + spent.weight_buffer,
        "compute_pj": spent.compute,
        "compute_cycles": evaluation.compute_cycles,
        "latency_cycles": evaluation.latency_cycles,
        "status": found.status,
        "gap": found.gap,
        "kept_tensors": len(found.plan.keep),
        "verified": verify(network, found.plan, chip).verified,
    }


def plot(table: pandas.DataFrame) -> Figure:
    """Return energy for each token over the capacity: prefill by length, decode by batch."""
    from matplotlib.ticker import StrMethodFormatter

    lengths = [length for length in DRAWN_LENGTHS if length in set(table[table["phase"] == "prefill"]["length"])]
    batches = list(dict.fromkeys(table[table["phase"] == "decode"]["batch"]))
    columns = max(len(lengths), len(batches))
    figure, axes = panels(2, columns, 3.7 * columns, 6.6)
    for each, length in zip(axes, lengths):
        _draw_prefill(each, table[(table["phase"] == "prefill") & (table["length"] == length)])
        each.set_title(f"prefill of {length:,} tokens", size=9)
    for each, batch in zip(axes[columns:], batches):
        _draw_decode(each, table[(table["phase"] == "decode") & (table["batch"] == batch)])
        each.set_title(f"decode, batch {batch}", size=9)
    for each in (*axes[len(lengths) : columns], *axes[columns + len(batches) :]):
        each.set_visible(False)
    for row, count in ((0, len(lengths)), (columns, len(batches))):
        if count:
            axes[row].set_ylabel("mJ per token and layer")
    axes[0].legend(fontsize=7)
    axes[columns].legend(fontsize=6.5, ncols=2, loc="lower center")
    for each in axes:
        each.set_xscale("log", base=2)
        each.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        each.tick_params(which="both", labelsize=7)
        each.set_xlabel("one buffer (KB)", size=8)
        each.set_ylim(bottom=0)
    figure.suptitle(f"{NETWORK}, one layer: the least energy of a token over the capacity", size=10)
    return figure


def _draw_prefill(axes: Axes, table: pandas.DataFrame) -> None:
    styles = iter(LINES)
    for bits in WEIGHT_BITS:
        for apart in (False, True):
            part = table[(table["weight_bits"] == bits) & (table["groups_apart"] == apart)]
            label = f"{bits}-bit weights, {'head by head' if apart else 'all heads at once'}"
            _line(axes, part, label, next(styles))


def _draw_decode(axes: Axes, table: pandas.DataFrame) -> None:
    for past, style in zip(dict.fromkeys(table["past"]), LINES):
        for bits in WEIGHT_BITS:
            part = table[(table["weight_bits"] == bits) & (table["past"] == past) & table["groups_apart"]]
            fill = {"markerfacecolor": "white"} if bits == WEIGHT_BITS[-1] else {}
            _line(axes, part, f"past {past:,}, {bits}-bit weights", {**style, **fill})


def _line(axes: Axes, part: pandas.DataFrame, label: str, style: Mapping[str, Any]) -> None:
    part = part[part["energy_pj"].notna()]
    axes.plot(part["kilobytes"], part["energy_pj"] / part["tokens"] / 1e9, label=label, markersize=4, **style)


EXPERIMENT = Experiment(
    "language_models",
    "What does a buffer of which size buy in prefill and in decode of a language model?",
    rows,
    plot,
    Seconds(quick=8, full=240),
    full={"samples": 2_000, "lengths": LENGTHS, "pasts": PASTS, "batches": BATCHES, "kilobytes": KILOBYTES},
    quick={"lengths": LENGTHS[:1], "pasts": PASTS[:1], "batches": BATCHES[:1], "kilobytes": KILOBYTES[1:7:2]},
    keeps=True,
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
