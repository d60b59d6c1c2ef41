"""What two workers gain: how much of a search are jobs that can be done at the same time, by CPU time.

    python -m benchmarks.workers [NETWORK ...] [--samples N] [--seeds N] [--keep none|auto] [--workers N] [--real]

Each question is answered by one process, then again with its jobs done one after the other and timed: with N workers
those that are given out together take as long as the longest of them. So the ratio does not depend on what else the
machine does. --real: with worker processes instead, by wall time. The answers are compared.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from contextvars import Context
from statistics import median
from typing import Any, NamedTuple

import cocco
import workloads
from cocco.effort.work_units import shared_out
from cocco.problem.names import Keep

NETWORKS = ("resnet50", "randwire_b", "nasnet")


class Took(NamedTuple):
    """Seconds of one process, and those of so many workers; the least cost."""

    alone: float
    shared: float
    cost: float


def measure(name: str, samples: int, seed: int, keep: Keep, workers: int, real: bool) -> Took:
    """Return what one search took."""
    network, clock = workloads.load(name), time.perf_counter if real else time.process_time
    saved = 0.0

    def one_by_one(function: Callable[..., Any], asked: Sequence[tuple[Any, ...]]) -> list[Any]:
        nonlocal saved
        answers, seconds = [], []
        for each in asked:
            start = clock()
            answers.append(Context().run(function, *each))  # as in a worker, who has none
            seconds.append(clock() - start)
        saved += sum(seconds) - max(seconds)
        return answers

    def search(**more: Any) -> tuple[float, Any]:
        start = clock()
        found = cocco.explore(network, samples=samples, seed=seed, keep=keep, method="ga", **more)
        return clock() - start, found

    alone, first = search()
    if real:
        shared, second = search(workers=workers)
    else:
        with shared_out(one_by_one, workers):
            shared, second = search()
    assert first.to_json() == second.to_json() and first.points.equals(second.points), "the answers differ"
    return Took(alone, shared - saved, first.cost)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--samples", type=int, default=200_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--keep", default="none")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--real", action="store_true")
    chosen = parser.parse_args()
    print(f"{'':20}{'one process s':>15}{f'{chosen.workers} workers s':>15}{'ratio':>8}{'cost':>16}")
    for name in chosen.networks:
        took = [
            measure(name, chosen.samples, seed, chosen.keep, chosen.workers, chosen.real)
            for seed in range(chosen.seeds)
        ]
        alone, shared, cost = (median(column) for column in zip(*took))
        print(f"{name:20}{alone:15.1f}{shared:15.1f}{alone / shared:8.2f}{cost:16,.0f}", flush=True)


if __name__ == "__main__":
    main()
