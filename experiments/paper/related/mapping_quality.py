"""How good is CoSA's program on whole layer lists? Against random mappings, searches, the closed form and the roofline.

    python -m experiments.mapping_quality --layers resnet50 LIST.csv ... [--machines simba pe8x8 buffers2x] [--quick]

One row per layer and machine. Cycles and energy are the judge's (`simulator.mapping.evaluate`). "best of 5" is the
weak baseline of the paper; `search` draws on until it reaches CoSA's cycles or has had its fill of valid mappings;
`polished` climbs on from CoSA's mapping by cycles.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas
from matplotlib.figure import Figure

import workloads
from cocco.mapping import MappingResult, Rules, map_layer
from cocco.mapping.layer_lists import layers_of, read_layers
from cocco.mapping.objective import objective_parts
from cocco.mapping.sampling.random_search import random_search
from experiments.common import command, published
from experiments.common.drawing import bars, dots, panels
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator.mapping import SIMBA, Architecture, LayerShape
from simulator.mapping.architecture import Level

LISTS = ("resnet50", "vgg16")
VALID = 2_000  #: valid mappings of the search; the published baseline gives up after 16,000
SEEDS = 3  #: of the best of 5


def _wider(level: Level, outermost: bool) -> Level:
    return replace(level, fanout=4 * level.fanout) if outermost else replace(level, instances=4 * level.instances)


def machines() -> dict[str, Architecture]:
    """Return the machines by name: 8 x 8 PEs with four times the bandwidth; buffers twice as large (our reading)."""
    *inner, outer, dram = SIMBA.levels
    wide = (*(_wider(level, False) for level in inner), _wider(outer, True), dram)
    rate = 4 * SIMBA.dram_read_words_per_cycle
    deep = tuple(
        level if level.entries in (None, 1) else replace(level, entries=2 * int(level.entries or 0))
        for level in SIMBA.levels
    )
    return {
        "simba": SIMBA,
        "pe8x8": Architecture(wide, 4 * SIMBA.macs, rate, rate, "pe8x8"),
        "buffers2x": Architecture(deep, SIMBA.macs, name="buffers2x"),
    }


def rows(
    compute: Compute,
    seed: int,
    layers: Sequence[str],
    chosen: Sequence[str],
    valid: int,
    tries: int,
    most: tuple[int | None, int | None],
) -> list[Point]:
    """Return one row per layer and machine; `cpu_` columns are CPU seconds of one core, the rest repeats exactly.

    valid: mappings of the search. tries: of hill climbing, from random mappings and from CoSA's. most: lists, and
    layers of each; None for all.
    """
    points = [
        {
            "list": Path(source).stem.removeprefix("cosa_"), "layer": row.name, "count": row.times,
            "shape": [*(getattr(row.shape, d) for d in "rspqckn"), list(row.shape.stride), row.shape.groups,
                      list(row.shape.dilation)],
            "machine": machine, "seed": seed, "valid": valid, "tries": tries,
        }
        for machine in chosen
        for source in layers[: most[0]]
        for row in _rows(source)[: most[1]]
        if row.shape is not None and not row.shape.is_depthwise
    ]  # fmt: skip
    return [{name: value for name, value in row.items() if name != "shape"} for row in compute(compare, points)]


def _rows(source: str) -> list[Any]:
    return read_layers(source) if source.lower().endswith(".csv") else layers_of(workloads.load(source))


def compare(point: Point) -> Point:
    """Return cycles, energy, evaluations and CPU seconds of every method on one layer."""
    r, s, p, q, c, k, n, stride, groups, dilation = point["shape"]
    shape = LayerShape(r, s, p, q, c, k, n, tuple(stride), groups, tuple(dilation))
    arch, rules, seed = machines()[point["machine"]], Rules(), point["seed"]
    map_layer(LayerShape(1, 1, 2, 1, 1, 1), arch)  # imports the solver, which nobody should pay for twice
    cosa, seconds = _timed(lambda: map_layer(shape, arch, rules=rules))
    assert cosa.cost is not None and cosa.objective_parts is not None, cosa.status
    row: Point = {
        "status": cosa.status, "rounds": cosa.rounds, "bound_cycles": cosa.cost.bound_cycles,
        "cosa_cycles": cosa.cost.cycles, "cosa_energy_pj": cosa.cost.energy_pj, "cosa_objective": cosa.objective,
        "cpu_cosa": seconds, **{f"cosa_{name}": value for name, value in cosa.objective_parts.items()},
    }  # fmt: skip
    closed, seconds = _timed(lambda: map_layer(shape, arch, "closed"))
    assert closed.cost is not None
    row |= {"closed_cycles": closed.cost.cycles, "closed_utilization": closed.cost.utilization, "cpu_closed": seconds}
    seeds = range(SEEDS * seed, SEEDS * (seed + 1))
    drawn = [_timed(partial(map_layer, shape, arch, "random", seed=each)) for each in seeds]
    row |= _random(drawn, shape, arch, rules)
    climbed, seconds = _timed(lambda: map_layer(shape, arch, "climb", samples=point["tries"], seed=seed))
    row |= _costs("climb", climbed) | {"cpu_climb": seconds, "climb_evaluations": climbed.evaluations}
    polished, seconds = _timed(lambda: map_layer(shape, arch, "polished", samples=point["tries"], seed=seed))
    row |= _costs("polished", polished) | {"cpu_polished": seconds}
    found, seconds = _timed(lambda: random_search(shape, arch, point["valid"], seed, target_cycles=row["cosa_cycles"]))
    row |= _costs("search", found) | {
        "search_reached": found.cost is not None and found.cost.cycles <= row["cosa_cycles"]
    }
    return row | {"search_evaluations": found.evaluations, "search_valid": found.valid, "cpu_search": seconds}


def _random(drawn: Sequence[tuple[MappingResult, float]], shape: LayerShape, arch: Architecture, rules: Rules) -> Point:
    """Return geometric means over the seeds, and the objective of the mappings drawn."""
    costs = [found.cost for found, _ in drawn if found.cost is not None]
    parts = [objective_parts(found.mapping, shape, arch, rules) for found, _ in drawn if found.mapping is not None]
    if len(costs) < len(drawn):
        raise ValueError(f"no random mapping of {shape} fits on {arch.name}")
    row: Point = {f"random_{name}": sum(each[name] for each in parts) / len(parts) for name in parts[0]}
    return row | {
        "random_cycles": mean([cost.cycles for cost in costs]),
        "random_energy_pj": mean([cost.energy_pj for cost in costs]),
        "random_objective": sum(rules.total(each) for each in parts) / len(parts),
        "random_evaluations": sum(found.evaluations for found, _ in drawn) / len(drawn),
        "cpu_random": sum(seconds for _, seconds in drawn) / len(drawn),
    }


def _costs(name: str, found: MappingResult) -> Point:
    assert found.cost is not None
    return {f"{name}_cycles": found.cost.cycles, f"{name}_energy_pj": found.cost.energy_pj}


def _timed(call: Callable[[], MappingResult]) -> tuple[MappingResult, float]:
    start = time.process_time()
    found = call()
    return found, time.process_time() - start


def mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def summary(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return one row per list and machine: geometric means of cycles and energy over CoSA's, CPU seconds in total."""
    rows = []
    for (machine, name), mine in table.groupby(["machine", "list"], sort=False):
        row: Point = {
            "machine": machine,
            "list": name,
            "layers": len(mine),
            "proven": int((mine["status"] == "optimal").sum()),
        }
        row["cosa_over_bound"] = mean(list(mine["cosa_cycles"] / mine["bound_cycles"]))
        for method in ("random", "search", "climb", *_polished(table)):
            row[f"{method}_cycles"] = mean(list(mine[f"{method}_cycles"] / mine["cosa_cycles"]))
            row[f"{method}_energy"] = mean(list(mine[f"{method}_energy_pj"] / mine["cosa_energy_pj"]))
        row["closed_cycles"] = mean(list(mine["closed_cycles"] / mine["cosa_cycles"]))
        for method in ("cosa", "closed", "random", "climb", "search", *_polished(table)):
            row[f"cpu_{method}"] = float(mine[f"cpu_{method}"].sum())
        row["search_reached"] = int(mine["search_reached"].sum())
        row["search_evaluations"] = float(mine["search_evaluations"].mean())
        rows.append(row)
    return pandas.DataFrame(rows)


def _polished(table: pandas.DataFrame) -> tuple[str, ...]:
    """Return the method that tables of earlier versions do not have."""
    return ("polished",) if "polished_cycles" in table else ()


def plot(table: pandas.DataFrame) -> Figure:
    """Return cycles and energy over CoSA's, the objective and its parts, and CPU seconds per layer."""
    short = summary(table)
    many = short["machine"].nunique() > 1
    figure, axes = panels(2, 2, 10.5, 10 if many else 6.8)
    names = [f"{row['list']}, {row['machine']}" if many else str(row["list"]) for _, row in short.iterrows()]
    labels = {"random": "best of 5 random", "search": "random search", "climb": "hill climbing"}
    labels |= dict.fromkeys(_polished(table), "CoSA, polished")
    for panel, what, text in ((axes[0], "cycles", "cycles / CoSA's"), (axes[1], "energy", "energy / CoSA's")):
        heights = {label: [float(x) for x in short[f"{method}_{what}"]] for method, label in labels.items()}
        bars(panel, names, heights)
        panel.axhline(1, color="black", linewidth=0.8)
        panel.set_ylabel(f"{text}, geometric mean")
    paper = (published.COSA_LATENCY_OVER_HYBRID, published.COSA_ENERGY_OVER_HYBRID)
    for panel, ratio in zip(axes, paper):
        panel.axhline(ratio, color="0.4", linestyle="--", linewidth=0.8, label=PAPER)
        panel.set_ylim(0, 1.4 * panel.get_ylim()[1])  # room for the legend
        panel.legend(fontsize=7, loc="upper left")
    parts = ("compute", "utilization", "traffic")
    first = table[(table["list"] == table["list"].iloc[0]) & (table["machine"] == table["machine"].iloc[0])]
    kinds = {"CoSA": "cosa", "best of 5 random": "random"}
    weights = dict(zip(parts, Rules().weights))
    shares = {
        label: [weights[part] * float(first[f"{kind}_{part}"].mean()) for part in parts]
        for label, kind in kinds.items()
    }
    bars(axes[2], [f"{'-' if part == 'utilization' else ''}{weights[part]:g} {part}" for part in parts], shares)
    axes[2].set_ylabel(f"parts of the objective, {first['list'].iloc[0]}")
    axes[2].legend(fontsize=7)
    seconds = {
        label: [float(x) / n for x, n in zip(short[f"cpu_{method}"], short["layers"])]
        for method, label in {"closed": "closed form", "cosa": "CoSA", **labels}.items()
        if method != "random"
    }
    dots(axes[3], names, seconds)
    axes[3].set_yscale("log")
    axes[3].set_ylim(top=100 * axes[3].get_ylim()[1])
    axes[3].set_ylabel("CPU seconds per layer")
    axes[3].legend(fontsize=7, loc="upper left", ncols=2)
    for panel in (axes[0], axes[1], axes[3]):
        for label in panel.get_xticklabels():
            label.set(rotation=90 if many else 25, ha="center" if many else "right", size=7)
    return figure


PAPER = "Timeloop's hybrid mapper / CoSA (authors' poster)"


def _source(text: str) -> str:
    """Return the name of a layer list or a network; the list must be there."""
    if text.lower().endswith(".csv") and not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"{text}: cannot be read: No such file or directory")
    return text


def options(parser: argparse.ArgumentParser) -> None:
    """Add what this script takes beside the shared options."""
    parser.add_argument(
        "--layers", type=_source, nargs="+", default=LISTS, metavar="FILE.csv|NETWORK", help="the layer lists"
    )
    parser.add_argument(
        "--machines", nargs="+", default=("simba",), choices=tuple(machines()), dest="chosen", help="default simba"
    )
    parser.add_argument("--valid", type=int, metavar="N", help=f"of the random search; default {VALID}")


EXPERIMENT = Experiment(
    "mapping_quality",
    "What does a mixed-integer program gain over random mappings, layer list by layer list (CoSA)?",
    rows,
    plot,
    Seconds(quick=30, full=420),
    full={"layers": LISTS, "chosen": ("simba",), "valid": VALID, "tries": 2_000, "most": (None, None)},
    quick={"valid": 50, "tries": 200, "most": (1, 6)},
    options=options,
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
