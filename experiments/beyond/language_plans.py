"""One layer of each language model (ours): the least traffic of a step against a count by hand, and executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas
from matplotlib.figure import Figure

import cocco
import workloads
from experiments.common import command
from experiments.common.drawing import bars, panels
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator.accelerator import Accelerator
from simulator.technology import KiB
from workloads.network.decoding import SelfAttention
from workloads.zoo.encoders import ENCODERS
from workloads.zoo.language import DECODERS

LAYERS = 1  #: of each model; the others are alike, but for every other one of gemma2_9b, which looks back less far
LENGTH, PAST = 512, 1024  #: of prefill; before a decode step
KILOBYTES = 2048  #: one buffer for weights and activations
STATUSES = {"equal": "equal", "within": "within", "different": "different", "not executed": "not_executed"}


def rows(compute: Compute, seed: int, samples: int, networks: Sequence[str]) -> list[Point]:
    """Return a row per model and phase: what crosses DRAM by hand, and at least in a plan that was executed."""
    points = [
        {"network": name, "phase": phase, "samples": samples, "seed": seed}
        for name in networks for phase in ("prefill", "decode") if phase == "prefill" or name in DECODERS
    ]  # fmt: skip
    return compute(least_traffic, points)


def by_hand(name: str, phase: str) -> dict[str, int]:
    """Return the bytes of one layer that cross DRAM at least, from the widths of the configuration alone.

    Weights once, of experts those in use; rows of the cache once in, new rows once out; the tokens in and out.
    """
    new = 1 if phase == "decode" else LENGTH
    if name in ENCODERS:
        encoder = ENCODERS[name]
        width = encoder.width
        front = 0 if name == "bert_base" else 3 * 80 * width + 3 * width * width  # two convolutions over 3 frames
        came = new * width if name == "bert_base" else 2 * new * 80
        return {"weights": 12 * width * width + front, "past": 0, "new": 0, "in_out": came + new * width}
    width, (mixer, part, _) = DECODERS[name].decoder.width, DECODERS[name].decoder.layers[0]
    assert isinstance(mixer, SelfAttention) and part is not None, "built-in models have no other layers"
    before = PAST if phase == "decode" else 0
    used, count = (part.experts.in_use(new), part.experts.count) if part.experts else (1, 0)
    keys = mixer.key_heads * mixer.head_width
    attention = 2 * width * mixer.heads * mixer.head_width + 2 * width * keys
    feed_forward = (3 if part.gated else 2) * width * part.width * used + width * count
    return {
        "weights": attention + feed_forward,
        "past": 2 * before * keys,
        "new": 2 * new * keys,
        "in_out": 2 * new * width,
    }


def least_traffic(point: Point) -> Point:
    """Return the least that a layer moves, whether that is proven, and how its execution counts the same numbers."""
    from simulator.execution import verify

    name, phase = point["network"], point["phase"]
    step = {"phase": phase, "past": PAST} if phase == "decode" else {"length": LENGTH}
    network = workloads.load(name, layers=LAYERS, **step)
    chip = Accelerator(shared_buffer=KILOBYTES * KiB, groups_apart=True)
    found = cocco.partition(network, chip, metric="ema", samples=point["samples"], seed=point["seed"])
    checked = verify(network, found.plan, chip)
    statuses = Counter[str](each.status for each in checked.checks)
    hand = by_hand(name, phase)
    return {
        **{f"{what}_bytes": size for what, size in hand.items()},
        "hand_bytes": sum(hand.values()),
        "ema_bytes": found.evaluation.ema_bytes,
        "status": found.status,
        "subgraphs": len(found.plan),
        "verified": checked.verified,
        **{column: statuses[status] for status, column in STATUSES.items()},
    }


def plot(table: pandas.DataFrame) -> Figure:
    """Return the least traffic over the count by hand, per model: prefill and decode."""
    figure, axes = panels(1, 1, 8.0, 3.0)
    names = list(dict.fromkeys(table["network"]))
    heights: dict[str, list[float | None]] = {}
    for phase in ("prefill", "decode"):
        part = table[table["phase"] == phase].set_index("network")
        times = part["ema_bytes"] / part["hand_bytes"]
        heights[phase] = [float(times[name]) if name in times.index else None for name in names]
    bars(axes[0], names, heights)
    axes[0].tick_params(axis="x", rotation=30)
    axes[0].set_ylabel("times what crosses by hand")
    axes[0].legend(fontsize=8)
    axes[0].set_title(f"Least bytes across DRAM of one layer in {KILOBYTES:,} KB, heads apart", size=10)
    return figure


EXPERIMENT = Experiment(
    "language_plans",
    "What does one layer of each language model move at least, by hand and in a plan that is executed?",
    rows,
    plot,
    Seconds(quick=3, full=4),
    full={"networks": workloads.LANGUAGE_MODELS, "samples": 2_000},
    quick={"networks": ("gpt2", "llama3_8b")},
    keeps=True,
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
