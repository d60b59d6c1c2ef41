"""How good the best partitions are: the optimum, or a lower bound and the gap, for nine networks and two memories.

python -m benchmarks.optimality [--samples N] [--seeds N] [--no-solvers] [NETWORK ...]

The best of several searches. Where enumeration does not finish, what crosses DRAM is bounded by solvers from the best
partition on (docs/bounds.md), for each metric, which takes two minutes (extra solvers).
"""

from __future__ import annotations

import argparse
import time

import cocco
import workloads
from cocco.bounds import certify
from cocco.exploration.answers.result import Result
from cocco.problem.problem import on_hardware
from simulator.accelerator import Accelerator

KiB = 1024
MEMORIES = {
    "1024+1152 KB": Accelerator(global_buffer=1024 * KiB, weight_buffer=1152 * KiB),
    "1152 KB shared": Accelerator(shared_buffer=1152 * KiB),
}


def best_of(network: workloads.Network, machine: Accelerator, metric: str, samples: int, seeds: int) -> Result:
    """Return the cheapest partition of so many searches; one where enumeration finishes."""
    best = cocco.partition(network, machine, metric=metric, keep="none", samples=samples)
    for seed in range(1, seeds if best.status != "optimal" else 0):
        other = cocco.partition(network, machine, metric=metric, keep="none", samples=samples, seed=seed)
        best = min(best, other, key=lambda result: result.cost)
    return best


def certified(network: workloads.Network, machine: Accelerator, best: Result) -> dict[str, float]:
    """Return lower bounds of both metrics, a proof for each, made from a partition of little EMA."""
    found = {}
    for metric in ("ema", "energy"):
        problem = on_hardware(network, machine, metric=metric)
        found[metric] = certify(problem, problem.labels([best.plan])).lower_bound
    return found


def main() -> None:
    """Print one line per network, memory and metric."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=list(workloads.PAPER_NETWORKS), metavar="NETWORK")
    parser.add_argument("--samples", type=int, default=200_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--no-solvers", action="store_true")
    options = parser.parse_args()
    print(f"| network | memory | metric | best | status | lower bound | gap | CPU s |\n{'|---' * 8}|")
    for name in options.networks:
        network = workloads.load(name)
        for memory, machine in MEMORIES.items():
            bounds: dict[str, float] = {}
            for metric in ("ema", "energy"):
                start = time.process_time()
                best = best_of(network, machine, metric, options.samples, options.seeds)
                if metric == "ema" and best.status != "optimal" and not options.no_solvers:
                    bounds = certified(network, machine, best)
                bound = max(best.lower_bound, bounds.get(metric, 0.0))
                cells = (
                    f"{best.cost:,.0f}", best.status, f"{bound:,.0f}", f"{(best.cost - bound) / best.cost:.2%}",
                    f"{time.process_time() - start:.1f}",
                )  # fmt: skip
                print("| " + " | ".join((name, memory, metric, *cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
