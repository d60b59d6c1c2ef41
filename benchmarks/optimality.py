"""How good the best partitions are: the optimum, or a lower bound and the gap, for nine networks and two memories.

python -m benchmarks.optimality [--samples N] [--seeds N] [--no-solvers] [NETWORK ...]

The best of several searches. Where enumeration does not finish, the last one is given a lower bound by solvers
(docs/bounds.md), which takes two minutes per line (extra solvers).
"""

from __future__ import annotations

import argparse
import time

import cocco
import workloads
from simulator.accelerator import Accelerator

KiB = 1024
MEMORIES = {
    "1024+1152 KB": Accelerator(global_buffer=1024 * KiB, weight_buffer=1152 * KiB),
    "1152 KB shared": Accelerator(shared_buffer=1152 * KiB),
}


def main() -> None:
    """Print one line per network, memory and metric."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=list(workloads.names()), metavar="NETWORK")
    parser.add_argument("--samples", type=int, default=200_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--no-solvers", action="store_true")
    options = parser.parse_args()
    print(f"| network | memory | metric | best | status | lower bound | gap | CPU s |\n|{'---|' * 8}")
    for name in options.networks:
        network = workloads.load(name)
        for memory, accelerator in MEMORIES.items():
            for metric in ("ema", "energy"):
                start = time.process_time()
                best = cocco.partition(network, accelerator, metric=metric, samples=options.samples)
                for seed in range(1, options.seeds if best.status != "optimal" else 0):
                    other = cocco.partition(network, accelerator, metric=metric, samples=options.samples, seed=seed)
                    best = min(best, other, key=lambda result: result.cost)
                bound = best.lower_bound
                if best.status != "optimal" and not options.no_solvers:
                    bound = max(bound, cocco.partition(
                        network, accelerator, metric=metric, method="ga", samples=1, initial=best.plan, prove=True
                    ).lower_bound)  # fmt: skip
                gap = (best.cost - bound) / best.cost
                seconds = time.process_time() - start
                row = (name, memory, metric, f"{best.cost:,.0f}", best.status, f"{bound:,.0f}", f"{gap:.2%}",
                       f"{seconds:.1f}")  # fmt: skip
                print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
