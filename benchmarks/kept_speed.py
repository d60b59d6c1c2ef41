"""Samples per CPU second with kept tensors against without, in one run, and how time grows with the number of layers.

    python -m benchmarks.kept_speed [--samples N] [network ...]

The compiled engine, shared buffers of the usual space, alpha 0.002, energy; of three turns the fastest.
"""

from __future__ import annotations

import argparse
import math

import workloads
from benchmarks.engine_speed import SETTINGS, residual_stack, seconds_per_sample
from cocco.problem.names import Keep
from cocco.problem.problem import over_space
from cocco.problem.space import SharedBuffer
from cocco.search.genetic.engine import FastEngine
from workloads import Network

TURNS = 3
BLOCKS = (25, 75, 200, 600)  #: of 4 layers: 100 to 2,400
REQUIRED_RATIO, REQUIRED_EXPONENT = 1 / 3, 1.3


def seconds(network: Network, keep: Keep, samples: int) -> float:
    """Return CPU seconds per sample."""
    problem = over_space(network, SharedBuffer(), alpha=0.002, keep=keep)
    return min(seconds_per_sample(problem, FastEngine(problem, SETTINGS), samples)[0] for _ in range(TURNS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=workloads.PAPER_NETWORKS)
    parser.add_argument("--samples", type=int, default=5000)
    arguments = parser.parse_args()
    print(f"{'':14}{'layers':>7}{'none':>12}{'auto':>12}{'ratio':>8}   samples per CPU second")
    ratios = []
    for name in arguments.networks:
        network = workloads.load(name)
        none, auto = (seconds(network, keep, arguments.samples) for keep in ("none", "auto"))
        ratios.append(none / auto)
        print(f"{name:14}{len(network.layers):7}{1 / none:12,.0f}{1 / auto:12,.0f}{none / auto:8.2f}", flush=True)
    print(f"least ratio {min(ratios):.2f} (goal {REQUIRED_RATIO:.2f})")
    points = []
    for blocks in BLOCKS:
        each = seconds(residual_stack(blocks), "auto", arguments.samples // 2)
        points.append((4 * blocks, each))
        print(f"{4 * blocks:21}{'':12}{1 / each:12,.0f}", flush=True)
    (n0, t0), (n1, t1) = points[0], points[-1]
    exponent = math.log(t1 / t0) / math.log(n1 / n0)
    print(f"time per sample grows as layers ^ {exponent:.2f} from {n0} to {n1} layers (goal {REQUIRED_EXPONENT})")


if __name__ == "__main__":
    main()
