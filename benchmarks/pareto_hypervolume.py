"""The whole front in one run against a sweep of alphas, by hypervolume at equal samples; one core.

    python -m benchmarks.pareto_hypervolume [network ...] [--samples 50000] [--seeds 0 1 2] [--alphas 10] [--separate]

Between capacity and energy. The hypervolume is the area that all samples of a search dominate, over the area of the
box from (0, 0) to (largest memory plus one byte, energy layer by layer in the smallest memory).
A sweep runs `cocco.explore(method="ga")` at alphas evenly spaced by logarithm, with an equal part of the samples each.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import cocco
import workloads
from cocco.exploration.pareto import pareto
from cocco.problem.dominance import hypervolume
from cocco.problem.problem import over_space
from cocco.problem.space import SeparateBuffers, SharedBuffer, Space
from simulator import Partition, evaluate
from workloads import Network

NETWORKS = ("resnet50", "googlenet", "randwire_a", "nasnet")
LEAST_ALPHA, MOST_ALPHA = 2e-4, 2e-2  #: bytes per pJ; the recommendation goes from the smallest memory to the largest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--alphas", type=int, default=10)
    parser.add_argument("--separate", action="store_true")
    parser.add_argument("--exact", action="store_true", help="enumerate the true front too")
    arguments = parser.parse_args()
    space = SeparateBuffers() if arguments.separate else SharedBuffer()
    for name in arguments.networks:
        network = workloads.load(name)
        corner, area = box(network, space)
        for seed in arguments.seeds:
            shown = []
            for find, more in ((one_run, ()), (sweep, (arguments.alphas,))):
                start = time.process_time()
                values = find(network, space, arguments.samples, seed, *more)
                shown.append((hypervolume(values, corner) / area, time.process_time() - start))
            (ours, seconds), (theirs, others) = shown
            print(
                f"{name} seed {seed}: pareto {ours:.5f} in {seconds:.1f} s, sweep {theirs:.5f} in {others:.1f} s, "
                f"{100 * (ours / theirs - 1):+.2f} %",
                flush=True,
            )
        if arguments.exact:
            found = pareto(network, space=space, keep="none", method="exact")
            true = hypervolume(plane(found.points), corner) / area
            print(f"{name} true front ({found.status}): {true:.5f}, {len(found.found)} points", flush=True)


def box(network: Network, space: Space) -> tuple[tuple[float, float], float]:
    """Return the worst corner of the box, and its area."""
    problem = over_space(network, space, alpha=0.0)
    largest = problem.accelerator_of([len(sizes) - 1 for sizes in problem.candidates])
    smallest = problem.accelerator_of([0] * len(problem.buffers))
    worst = evaluate(network, Partition.layerwise(network), smallest).energy_pj
    corner = largest.buffer_bytes + 1.0, worst
    return corner, corner[0] * corner[1]


def one_run(network: Network, space: Space, samples: int, seed: int) -> np.ndarray:
    """Return capacity and energy of all samples of one run."""
    return plane(pareto(network, space=space, keep="none", samples=samples, seed=seed).points)


def sweep(network: Network, space: Space, samples: int, seed: int, count: int) -> np.ndarray:
    """Return capacity and energy of all samples of a sweep over so many alphas."""
    found = []
    for alpha in np.geomspace(LEAST_ALPHA, MOST_ALPHA, count).tolist():
        result = cocco.explore(
            network,
            space=space,
            alpha=alpha,
            method="ga",
            keep="none",
            samples=samples // count,
            seed=seed,
            metric="energy",
        )
        buffers = [name for name in result.points.columns if name.endswith("_buffer_bytes")]
        found.append(np.column_stack([result.points[buffers].sum(axis=1), result.points["value"]]))
    return np.concatenate(found)


def plane(points) -> np.ndarray:
    return points[["capacity_bytes", "energy_pj"]].to_numpy()


if __name__ == "__main__":
    main()
