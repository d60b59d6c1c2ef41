"""How close `explore` comes to the best known memory and plan: median and spread of several seeds, and CPU time.

python -m benchmarks.explore_quality [--keep auto|none] [--samples N] [--seeds N] [--method M] [NETWORK ...]

Formula 2 of a shared buffer, alpha 0.002, energy. The best known is the least of this run and of BEST, which longer
searches found. --method ga: without the proofs, which take most of the time and seldom change the answer.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import get_args

import cocco
import workloads
from cocco.problem.names import Keep, SpaceMethod

NETWORKS = ("randwire_a", "randwire_b", "nasnet", "darts", "amoebanet_d", "pnasnet5large")  #: that no proof finishes
BEST = {  #: by network and --keep: costs that searches found, of up to 100,000 samples
    ("randwire_a", "none"): 2_733_273, ("randwire_b", "none"): 13_591_676, ("nasnet", "none"): 43_213_195,
    ("darts", "none"): 1_992_679, ("amoebanet_d", "none"): 28_081_927, ("pnasnet5large", "none"): 44_624_020,
    ("randwire_a", "auto"): 2_252_816, ("randwire_b", "auto"): 11_470_815, ("darts", "auto"): 1_624_376,
    ("nasnet", "auto"): 37_163_628, ("amoebanet_d", "auto"): 24_721_088, ("pnasnet5large", "auto"): 37_827_646,
}  # fmt: skip


def row(name: str, keep: Keep, samples: int, seeds: int, method: SpaceMethod) -> str:
    """Return one line of the table."""
    network, costs, seconds, taken, sizes = workloads.load(name), list[float](), list[float](), 0, set[int]()
    for seed in range(seeds):
        begun = time.process_time()
        found = cocco.explore(network, keep=keep, samples=samples, seed=seed, method=method)
        seconds.append(time.process_time() - begun)
        costs.append(found.cost)
        taken = max(taken, found.samples)
        sizes.add(found.accelerator.buffer_bytes // 1024)
    best = min(costs + [BEST.get((name, keep), costs[0])])
    gaps = [f"{100 * (cost / best - 1):.2f}" for cost in (statistics.median(costs), min(costs), max(costs))]
    return (
        f"| {name} | {keep} | {best:,.0f} | {gaps[0]} ({gaps[1]} to {gaps[2]}) | {min(sizes)} to {max(sizes)} | "
        f"{taken:,} | {statistics.median(seconds):.1f} |"
    )


def main() -> None:
    """Print one line per network and way of keeping tensors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="NETWORK")
    parser.add_argument("--keep", nargs="+", choices=get_args(Keep), default=list(get_args(Keep)))
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--method", choices=get_args(SpaceMethod), default="auto")
    options = parser.parse_args()
    print("| network | keep | best known | median (least to most) above it, % | KB | samples | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for name in options.networks:
        for keep in options.keep:
            print(row(name, keep, options.samples, options.seeds, options.method), flush=True)


if __name__ == "__main__":
    main()
