"""Certified gaps of the networks that enumeration cannot solve: a search, then the bound by solvers; one core.

    python -m benchmarks.certified_gaps [network ...] [--shared] [--metric ema] [--effort 110] [--samples 50000]

1024 KB + 1152 KB, or 1152 KB shared. Effort is the solver's deterministic time, close to seconds here.
"""

from __future__ import annotations

import argparse
import time

import workloads
from cocco import partition
from cocco.bounds import gap, lower_bound
from cocco.certify import certify
from cocco.certify.certificate import EFFORT
from cocco.search.problem import on_hardware
from simulator.accelerator import Accelerator

NETWORKS = ("randwire_a", "randwire_b", "nasnet")
SEPARATE = Accelerator(global_buffer=1024 * 1024, weight_buffer=1152 * 1024)
SHARED = Accelerator(shared_buffer=1152 * 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--metric", default="ema")
    parser.add_argument("--effort", type=float, default=EFFORT)
    parser.add_argument("--samples", type=int, default=50_000)
    arguments = parser.parse_args()
    machine = SHARED if arguments.shared else SEPARATE
    for name in arguments.networks:
        network = workloads.load(name)
        problem = on_hardware(network, machine, metric=arguments.metric)
        result = partition(network, machine, metric=arguments.metric, samples=arguments.samples)
        forced = lower_bound(problem)
        start = time.process_time()
        certificate = certify(problem, problem.labels(result.plans), arguments.effort)
        seconds = time.process_time() - start
        print(
            f"{name}: cost {result.cost:,.0f}, forced {forced:,.0f} ({gap(result.cost, forced):.1%}), certified "
            f"{certificate.lower_bound:,.0f} ({gap(result.cost, certificate.lower_bound):.1%}) in {seconds:.0f} s, "
            f"{certificate.components} components, {certificate.steps} steps",
            flush=True,
        )


if __name__ == "__main__":
    main()
