"""In which way several cores share the subgraphs of the recommended plans, and that these run as they are priced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.figure import Figure

from cocco.output.pictures.style import FILLS
from experiments.common import command, searches
from experiments.common.drawing import panels, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator.execution import verify
from simulator.partition.schemes import CORE_SCHEMES

CORES = (2, 4, 8)
SAMPLES = 2_000  #: of each row: our choice, several cores take far longer to price than one
STATUSES = {"equal": "equal", "within": "within", "different": "different", "not_executed": "not executed"}
COLUMNS = (
    "subgraphs", *CORE_SCHEMES, "crossbar_bytes", "energy_pj", "latency_cycles",
    "verified", *STATUSES, "samples", "seed", "status", "gap",
)  # fmt: skip


def rows(
    compute: Compute, seed: int, networks: Sequence[str], samples: int, cores: Sequence[int], case: Mapping[str, Any]
) -> list[Point]:
    """Return one row per network and number of cores: subgraphs by scheme, and what the execution says."""
    points = [
        searches.point(name, **{"space": "shared", "method": "Cocco", **case}, seed=seed, samples=samples, cores=n)
        for name in networks
        for n in cores
    ]
    return [
        {
            "network": row["network"],
            "cores": row["cores"],
            **searches.sizes(row),
            **{name: row[name] for name in COLUMNS},
        }
        for row in compute(executed, points)
    ]


def executed(point: Point) -> Point:
    """Return the recommended memory, the subgraphs by scheme, and how many numbers the execution found equal."""
    result = searches.search(point)
    found = result.evaluation
    assert found.source is not None
    judged = verify(found.source[0], result.plan, result.accelerator)
    checks: list[str] = [check.status for check in judged.checks]
    schemes = [cost.scheme for cost in found.subgraphs]
    return {
        **searches.memory(result.accelerator),
        **searches.priced(found),
        **searches.ending(result),
        **{scheme: schemes.count(scheme) for scheme in CORE_SCHEMES},
        "crossbar_bytes": found.crossbar_bytes,
        "verified": judged.verified,
        **{name: checks.count(status) for name, status in STATUSES.items()},
    }


def plot(table: pandas.DataFrame) -> Figure:
    """Return a panel per network: the subgraphs by scheme, a bar for each number of cores."""
    names = list(dict.fromkeys(table["network"]))
    figure, axes = panels(1, len(names), max(4.8, 2.6 * len(names)), 3.4)
    for each, name in zip(axes, names):
        own, bottom = table[table["network"] == name], [0] * len(table)
        for scheme, fill in zip(CORE_SCHEMES, FILLS):
            heights = [int(value) for value in own[scheme]]
            each.bar(
                range(len(heights)), heights, 0.7, bottom=bottom[: len(heights)], label=scheme, color=fill.colour,
                hatch=fill.hatch, edgecolor="black", linewidth=0.5,
            )  # fmt: skip
            bottom = [low + height for low, height in zip(bottom, heights)]
        each.set_xticks(range(len(own)), [str(cores) for cores in own["cores"]])
        each.set_ylim(top=1.05 * max(bottom))
        each.set_xlabel("cores")
        each.set_title(title(name), size=10)
    axes[0].set_ylabel("subgraphs")
    axes[0].locator_params(axis="y", integer=True)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(CORE_SCHEMES), fontsize=8)
    return figure


EXPERIMENT = Experiment(
    "core_schemes",
    "In which way do several cores share subgraphs, and do the plans run as they are priced?",
    rows,
    plot,
    Seconds(quick=10, full=240),
    full={"networks": searches.FOUR, "samples": SAMPLES, "cores": CORES},
    quick={"networks": searches.FOUR[:2], "samples": 2_000},
    axes=("alphas", "batch", "buffers"),
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
