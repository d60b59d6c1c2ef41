"""Mapping one layer: what the program, its literal form, the closed form and the baselines take.

    python -m benchmarks.mapping TABLE [--layers FILE.csv|NETWORK]

TABLE: proof (all shapes, both solvers), literal (against the aggregated form), closed (utilisation and time), random
(a search until CoSA's cycles or 16,000 valid mappings), search (the mapper's share of a search). The list is by
default ../shared/data/layers/cosa_resnet50.csv beside the checkout, else the built-in ResNet50. Times are CPU time of
one process.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cocco
import workloads
from cocco.mapping import MAPPERS, Rules, map_layer
from cocco.mapping.cosa.solving import SolverLimits, map_cosa
from cocco.mapping.layer_lists import layers_of, read_layers
from cocco.mapping.sampling.random_search import random_search
from simulator.mapping import SIMBA, Core, LayerShape, closed_form, mappers

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "layers" / "cosa_resnet50.csv"
VALID = 16_000  #: after so many the published baseline gives up
LITERAL_UNITS = 60.0  #: deterministic time for the literal form of one shape
EXTENTS = ((1, 1, 4, 4, 8, 8), (3, 3, 4, 4, 8, 8), (1, 1, 14, 7, 16, 16), (3, 3, 7, 7, 16, 32), (1, 1, 7, 7, 512, 64))
Shapes = Sequence[tuple[LayerShape, int]]


def timed(call: Callable[..., Any], *arguments: Any, **more: Any) -> tuple[Any, float]:
    """Return what a call returns, and its CPU seconds."""
    start = time.process_time()
    answer = call(*arguments, **more)
    return answer, time.process_time() - start


def mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def proof(shapes: Shapes) -> None:
    """Every shape by both solvers."""
    for solver in ("cp", "highs"):
        found, ratios, seconds, most = 0, [], 0.0, 0.0
        for shape, _ in shapes:
            answer, took = timed(map_layer, shape, solver=solver)
            found += answer.status == "optimal"
            ratios.append(answer.cost.cycles / answer.cost.bound_cycles)
            seconds, most = seconds + took, max(most, took)
        near = sum(ratio <= 1.005 for ratio in ratios)
        print(
            f"{solver:6} proven {found} of {len(shapes)}, {seconds:.2f} s in all, {most:.2f} s at most; cycles / bound "
            f"{mean(ratios):.4f}, within 0.5 %: {near}", flush=True,
        )  # fmt: skip


def literal(shapes: Shapes) -> None:
    """The same question in both forms, on small shapes and on the first of the list."""
    for shape in [*(LayerShape(*extents) for extents in EXTENTS), *(shape for shape, _ in shapes[:2])]:
        for solver in ("cp", "highs"):
            short, fast = timed(map_cosa, shape, SIMBA, Rules(), SolverLimits(solver))
            long, slow = timed(map_cosa, shape, SIMBA, Rules(), SolverLimits(solver, LITERAL_UNITS), True)
            extents = " ".join(str(getattr(shape, d)) for d in "rspqck")
            print(
                f"{extents:20} {solver:6} {short.objective:9.4f} {fast:7.3f} s   literal {long.status:8} "
                f"{long.objective or math.nan:9.4f} {slow:8.3f} s  x {slow / fast:6.1f}", flush=True,
            )  # fmt: skip


def closed(shapes: Shapes) -> None:
    """Utilisation of the closed form with free and with fixed axes, and its time beside the program's."""
    macs = sum(times * shape.macs for shape, times in shapes)
    took = {}
    for name, core in (("free", Core.of(SIMBA)), ("K, C", Core.of(SIMBA, "KC"))):
        found, took[name] = timed(lambda core=core: [closed_form(shape, core)[1] for shape, _ in shapes])
        cycles = sum(times * cost.compute_cycles for cost, (_, times) in zip(found, shapes))
        print(f"axes {name:5} utilisation {macs / (1024 * cycles):.4f}")
    _, program = timed(lambda: [map_layer(shape) for shape, _ in shapes])
    each = took["free"] / len(shapes)
    print(f"closed form {1e6 * each:.0f} us a shape, program {program / len(shapes):.4f} s a shape")
    print(f"the program takes {program / took['free']:.0f} times as long")


def random(shapes: Shapes) -> None:
    """Best of 5 at three seeds, and a search to CoSA's cycles."""
    cycles, energy = [], []
    program = search = 0.0
    reached = draws = 0
    for shape, _ in shapes:
        best, seconds = timed(map_layer, shape)
        program += seconds
        for seed in range(3):
            drawn = map_layer(shape, method="random", seed=seed)
            cycles.append(drawn.cost.cycles / best.cost.cycles)
            energy.append(drawn.cost.energy_pj / best.cost.energy_pj)
        found, seconds = timed(random_search, shape, SIMBA, VALID, 0, best.cost.cycles, 10**8)
        search, reached = search + seconds, reached + (found.cost.cycles <= best.cost.cycles)
        draws += found.evaluations
        print(f"  {found.valid:6,} valid of {found.evaluations:9,}, {seconds:6.2f} s", flush=True)
    print(f"best of 5 over CoSA: cycles {mean(cycles):.2f}, energy {mean(energy):.2f}")
    print(
        f"search to CoSA's cycles or {VALID:,} valid: {search:.1f} s against {program:.2f} s, "
        f"x {search / program:.0f}; reached {reached} of {len(shapes)}, {draws / len(shapes):,.0f} draws a layer"
    )


def search(_: Shapes) -> None:
    """The share of the mapper in a search for a memory, by the time of what is computed once and looked up often."""
    spent = [0.0]
    work, cycles = mappers.closed_work, mappers.layer_cycles

    def clocked(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            start = time.process_time()
            answer = call(*arguments)
            spent[0] += time.process_time() - start
            return answer

        return run

    mappers.closed_work, mappers.layer_cycles = clocked(work), clocked(cycles)  # type: ignore[assignment]
    for network in ("resnet50", "googlenet"):
        for name, samples in (("enumerate", 20_000), ("tiled", 1_000), ("tiled", 4_000)):
            work.cache_clear()
            spent[0] = 0.0
            _, seconds = timed(
                cocco.explore, workloads.load(network), samples=samples, method="ga", mapper=MAPPERS[name]
            )
            done = work.cache_info()
            share = 100 * spent[0] / seconds
            print(f"{network:10} {name:10} {samples:6,} samples {seconds:6.2f} s, mapper {share:.2f} %", end=", ")
            print(f"{done.hits + done.misses:,} calls, {done.hits:,} hits", flush=True)


TABLES = {each.__name__: each for each in (proof, literal, closed, random, search)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--layers", default=str(DATA) if DATA.is_file() else "resnet50")
    given = parser.parse_args()
    is_file = given.layers.endswith(".csv")
    rows = read_layers(given.layers) if is_file else layers_of(workloads.load(given.layers))
    map_layer(LayerShape(1, 1, 2, 1, 1, 1), solver="cp")  # import both solvers before the clock runs
    map_layer(LayerShape(1, 1, 2, 1, 1, 1))
    TABLES[given.table]([(row.shape, row.times) for row in rows if row.shape is not None])


if __name__ == "__main__":
    main()
