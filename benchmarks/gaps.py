"""How far the best plans of wide networks are from what is proven, and the CPU time of the bound: a Markdown table.

python -m benchmarks.gaps [NETWORK ...] [--samples N] [--effort X] [--kilobytes [KB ...]] [--metrics METRIC ...]
                          [--keep WAY ...] [--explore]

A search (`--method ga`, which asks for no proof), then a certificate (docs/bounds.md) from its best plan, of so much
deterministic time; where the memory is chosen, alpha is 0.002 and the buffer shared (extra solvers).
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import cocco
import workloads
from cocco.bounds import certify
from cocco.effort.budgets import QUICK_EFFORT
from cocco.exploration.answers.result import Result
from cocco.problem.names import Keep, Metric
from cocco.problem.problem import Problem, on_hardware, over_space
from simulator.accelerator import Accelerator
from simulator.technology import KiB

NETWORKS = ("randwire_a", "randwire_b", "nasnet", "pnasnet5large", "amoebanet_d", "darts")
KILOBYTES = (512, 1152, 2048)
ALPHA = 0.002


class Asked(NamedTuple):
    """A question, but for the memory."""

    network: workloads.Network
    metric: Metric
    keep: Keep
    samples: int

    def given(self, kilobytes: int) -> tuple[Problem, Result]:
        """Return the problem on given hardware and what a search finds."""
        machine = Accelerator(shared_buffer=kilobytes * KiB)
        found = cocco.partition(
            self.network, machine, metric=self.metric, keep=self.keep, samples=self.samples, method="ga"
        )
        return on_hardware(self.network, machine, metric=self.metric, keep=self.keep), found

    def chosen(self) -> tuple[Problem, Result]:
        """Return the problem where the memory is chosen, too, and what a search finds."""
        found = cocco.explore(
            self.network, alpha=ALPHA, metric=self.metric, keep=self.keep, samples=self.samples, method="ga"
        )
        return over_space(self.network, alpha=ALPHA, metric=self.metric, keep=self.keep), found


def line(memory: str, effort: float, problem: Problem, best: Result) -> str:
    """Return a row of the table."""
    start, bound = time.process_time(), best.lower_bound or 0.0
    if best.status != "optimal":
        bound = max(bound, certify(problem, problem.labels(best.plans), effort, best.cost).lower_bound)
    cells = (
        problem.networks[0].name, memory, problem.objective.metric, problem.keep, f"{best.cost:,.0f}", f"{bound:,.0f}",
        f"{(best.cost - bound) / best.cost:.1%}", f"{time.process_time() - start:.0f}",
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print a line for each network, memory, metric and way to keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="NETWORK")
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--effort", type=float, default=QUICK_EFFORT)
    parser.add_argument("--kilobytes", type=int, nargs="*", default=list(KILOBYTES), help="none: no given memory")
    parser.add_argument("--metrics", nargs="+", choices=("ema", "energy"), default=["ema", "energy"])
    parser.add_argument("--keep", nargs="+", choices=("auto", "none"), default=["auto", "none"])
    parser.add_argument("--explore", action="store_true", help="choose the memory, too")
    options = parser.parse_args()
    heads = ("network", "memory", "metric", "keep", "best", "lower bound", "gap", "CPU s of the bound")
    print("| " + " | ".join(heads) + f" |\n{'|---' * len(heads)}|")
    for name in options.networks:
        network = workloads.load(name)
        for keep in options.keep:
            for metric in options.metrics:
                asked = Asked(network, metric, keep, options.samples)
                for size in options.kilobytes:
                    print(line(f"{size} KB", options.effort, *asked.given(size)), flush=True)
                if options.explore:
                    print(line("chosen", options.effort, *asked.chosen()), flush=True)


if __name__ == "__main__":
    main()
