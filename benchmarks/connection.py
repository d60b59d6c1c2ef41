"""What each rule of connection costs: the least that is found on the nine networks of the paper's comparison.

    python -m benchmarks.connection [--memory separate|192KB] [--keep none|auto]

Each network is partitioned by either rule, with the other options at their defaults; the table of docs/networks.md.
"""

from __future__ import annotations

import argparse
import time

import cocco
import workloads
from simulator.accelerator import Accelerator
from simulator.connected import CONNECTED
from simulator.sizes import parse_size
from simulator.technology import KiB, MiB

SEPARATE = {"global_buffer": 1 * MiB, "weight_buffer": 1152 * KiB}  #: Cocco, Sec. 5.2


def row(name: str, memory: dict[str, int], keep: str) -> str:
    """Return a line of the table: for EMA in bytes, then energy in mJ, what each rule needs, and the difference."""
    network, cells = workloads.load(name), []
    for metric, scale, form in (("ema", 1.0, ",.0f"), ("energy", 1e9, ".4f")):
        cost = {}
        for rule in CONNECTED:
            found = cocco.partition(network, Accelerator(**memory, connected=rule), metric=metric, keep=keep)
            cost[rule] = found.cost
            cells.append(f"{found.cost / scale:{form}}{'' if found.status == 'optimal' else ' (not proved)'}")
        cells.append(f"{100 * (cost['all'] / cost['paper'] - 1):+.2f} %")
    return " | ".join([f"| {name}", *cells]) + " |"


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memory", default="separate", help="separate: 1 MB and 1,152 KB; or the size of a shared one")
    parser.add_argument("--keep", choices=("none", "auto"), default="none")
    options = parser.parse_args()
    memory = SEPARATE if options.memory == "separate" else {"shared_buffer": parse_size(options.memory)}
    print("| network | EMA, all | EMA, paper | | energy mJ, all | energy mJ, paper | |\n|---|--:|--:|--:|--:|--:|--:|")
    start = time.process_time()
    for name in workloads.PAPER_NETWORKS:
        print(row(name, memory, options.keep), flush=True)
    print(f"\n{time.process_time() - start:.0f} s of CPU time")


if __name__ == "__main__":
    main()
