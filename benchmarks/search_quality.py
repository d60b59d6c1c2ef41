"""How good the search is after so many samples: the gap to the best known, median and worst of several seeds.

python -m benchmarks.search_quality [--seeds N] [--ablation] [NETWORK ...]

EMA at 1024 + 1152 KB, never with enumeration. The best known is the proven optimum where enumeration finishes, else the
cheapest partition of this run, which has longer searches too. --ablation: the search without one of its parts.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import replace

import cocco
import workloads
from cocco.effort.settings import Settings
from cocco.exploration.answers.result import Result
from simulator.accelerator import Accelerator

KiB = 1024
MACHINE = Accelerator(global_buffer=1024 * KiB, weight_buffer=1152 * KiB)
LONG = 200_000  #: samples of the searches that only look for the best known

Row = tuple[str, str, int, Settings]  # name, method, samples, settings


def rows(is_ablation: bool) -> list[Row]:
    """Return the searches that are compared."""
    ours, paper = Settings(), Settings.paper()
    if is_ablation:
        return [
            ("ours", "ga", 10_000, ours),
            ("without founders", "ga", 10_000, replace(ours, seeds=False)),
            ("without islands", "ga", 10_000, replace(ours, islands=1)),
            ("without shift-layers", "ga", 10_000, replace(ours, shift=0.0, modify=0.5)),
            ("without annealing", "ga", 10_000, replace(ours, anneal=0.0)),
            ("without polish", "ga", 10_000, replace(ours, polish=0.0)),
            ("without retries", "ga", 10_000, replace(ours, retries=0)),
            ("paper", "ga", 10_000, paper),
        ]
    found = [("greedy", "greedy", 1, ours), ("dp", "dp", 1, ours), ("idp 10,000", "idp", 10_000, ours)]
    for samples in (1_000, 10_000, 50_000):
        found += [(f"paper {samples:,}", "ga", samples, paper), (f"ours {samples:,}", "ga", samples, ours)]
    return found


def search(network: workloads.Network, method: str, samples: int, seed: int, settings: Settings) -> Result:
    """Return the partition with the least EMA."""
    return cocco.partition(
        network, MACHINE, method=method, metric="ema", keep="none", samples=samples, seed=seed, settings=settings
    )


def main() -> None:
    """Print one line per search and one column per network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=list(workloads.PAPER_NETWORKS), metavar="NETWORK")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--ablation", action="store_true")
    options = parser.parse_args()
    table: dict[str, list[str]] = {}
    for name in options.networks:
        network = workloads.load(name)

        costs = {
            label: [search(network, method, samples, seed, settings).cost for seed in range(options.seeds)]
            for label, method, samples, settings in rows(options.ablation)
        }
        proven = search(network, "auto", 10_000, 0, Settings())
        best = proven.cost if proven.status == "optimal" else min(cost for each in costs.values() for cost in each)
        if proven.status != "optimal":
            best = min(best, *[search(network, "ga", LONG, seed, Settings()).cost for seed in range(2)])
        table[f"{name} ({proven.status == 'optimal' and 'optimum' or 'best known'} {best:,.0f})"] = [
            f"{100 * (statistics.median(each) / best - 1):.2f} ({100 * (max(each) / best - 1):.2f})"
            for each in costs.values()
        ]
        print(f"{name} done", flush=True)
    print("| median (worst) gap in % | " + " | ".join(label for label, *_ in rows(options.ablation)) + " |")
    print("|---" * (1 + len(rows(options.ablation))) + "|")
    for title, cells in table.items():
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
