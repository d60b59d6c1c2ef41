"""Samples per CPU second: the straightforward version and both engines, in one run on ResNet50.

    python -m benchmarks.search_speed [--samples N]

Shared buffer, alpha 0.002, energy; both price about the same number of samples from the same kind of start.
"""

from __future__ import annotations

import argparse
import time

import workloads
from benchmarks import straightforward
from cocco.effort.settings import Settings
from cocco.problem.problem import over_space
from cocco.problem.space import SharedBuffer
from cocco.search.genetic.engine import FastEngine, ReferenceEngine
from cocco.search.genetic.genetic import genetic
from cocco.search.kernel.choice import has_kernel

ALPHA, METRIC, SEED = 0.002, "energy", 0
REQUIRED = {"reference engine": 8.0, "fast engine": 300.0}  #: times the straightforward version
FAST = 20  #: times as many samples for the fast engine, which would be done before the clock moves


def run(samples: int) -> list[tuple[str, int, float, float]]:
    """Return name, samples, CPU seconds and least cost of each version."""
    network = workloads.load("resnet50")
    rows = []
    start = time.process_time()
    priced, cost = straightforward.search(network, SharedBuffer(), ALPHA, METRIC, samples, SEED)
    rows.append(("DEAP + networkx + deepcopy", priced, time.process_time() - start, cost))
    problem = over_space(network, SharedBuffer(), alpha=ALPHA, metric=METRIC)
    start = time.process_time()
    trace = genetic(problem, priced, SEED, Settings(), engine=ReferenceEngine(problem, Settings()))
    assert trace.engine == "reference"
    rows.append(("reference engine", trace.samples, time.process_time() - start, trace.best.cost))
    if has_kernel():
        start = time.process_time()
        trace = genetic(problem, FAST * priced, SEED, Settings(), engine=FastEngine(problem, Settings()))
        rows.append(("fast engine", trace.samples, time.process_time() - start, trace.best.cost))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000)
    rows = run(parser.parse_args().samples)
    slowest = rows[0][2] / rows[0][1]
    print(f"{'':28}{'samples':>8}{'CPU s':>9}{'samples/s':>11}{'ratio':>8}{'least cost':>14}")
    for name, samples, seconds, cost in rows:
        each = seconds / samples
        print(f"{name:28}{samples:8}{seconds:9.2f}{1 / each:11.1f}{slowest / each:8.1f}{cost:14,.0f}")
    for name, samples, seconds, _ in rows[1:]:
        ratio = slowest / (seconds / samples)
        print(f"{name}: required {REQUIRED[name]:g}, {'met' if ratio >= REQUIRED[name] else 'NOT MET'}")


if __name__ == "__main__":
    main()
