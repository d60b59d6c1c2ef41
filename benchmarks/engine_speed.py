"""Fast against reference engine on the paper's networks, and how time per sample grows with the number of layers.

    python -m benchmarks.engine_speed [--samples N] [--language]

--language: steps of a language model instead, with and without kept tensors.

Both engines price the same genomes in one run (the answers are compared); shared buffer, alpha 0.002, energy.
"""

from __future__ import annotations

import argparse
import math
import time

import workloads
from cocco.effort.settings import Settings
from cocco.problem.problem import Problem, over_space
from cocco.problem.space import SharedBuffer
from cocco.search.genetic.engine import Engine, FastEngine, ReferenceEngine
from cocco.search.genetic.genetic import genetic
from workloads import Builder, Network

FAST = 20  #: times as many samples for the fast engine
SETTINGS = Settings(patience=0)
LANGUAGE = (
    {"phase": "decode", "past": 4096, "layers": 2},
    {"phase": "decode", "past": 4096, "layers": 4},
    {"phase": "prefill", "length": 2048, "layers": 2},
    {"phase": "prefill", "length": 2048, "layers": 4},
)  #: of llama3_8b


def residual_stack(blocks: int) -> Network:
    """Return a network of 4 layers per block: 1x1, 3x3, 1x1 and the sum, on a 28x28 map of 128 channels."""
    b = Builder(f"stack{blocks}")
    x = b.input("x", 28, 28, 128)
    for i in range(blocks):
        y = b.conv(f"b{i}_a", x, 32)
        y = b.conv(f"b{i}_b", y, 32, kernel=3, padding=1)
        y = b.conv(f"b{i}_c", y, 128)
        x = b.add(f"b{i}_add", [y, x])
    return b.build()


def seconds_per_sample(problem: Problem, engine: Engine, samples: int) -> tuple[float, float]:
    """Return CPU seconds per sample and the least cost."""
    start = time.process_time()
    trace = genetic(problem, samples, 0, SETTINGS, engine=engine)
    return (time.process_time() - start) / trace.samples, trace.best.cost


def compare(name: str, problem: Problem, samples: int) -> None:
    """Price the same genomes with both engines, and more with the fast one."""
    slow, slow_cost = seconds_per_sample(problem, ReferenceEngine(problem, SETTINGS), samples)
    same, same_cost = seconds_per_sample(problem, FastEngine(problem, SETTINGS), samples)
    assert same_cost == slow_cost, "the engines differ"
    fast, _ = seconds_per_sample(problem, FastEngine(problem, SETTINGS), FAST * samples)
    print(f"{name:37}{problem.size:7}{1 / slow:14,.0f}{1 / fast:12,.0f}{slow / same:8.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--language", action="store_true")
    chosen = parser.parse_args()
    samples = chosen.samples
    print(f"{'':37}{'layers':>7}{'reference':>14}{'fast':>12}{'ratio':>8}   samples per CPU second")
    if chosen.language:
        for options in LANGUAGE:
            network = workloads.load("llama3_8b", **options)
            compare(network.name, over_space(network, SharedBuffer(), alpha=0.002), samples)
            compare("  kept tensors", over_space(network, SharedBuffer(), alpha=0.002, keep="auto"), samples)
        return
    for name in workloads.PAPER_NETWORKS:
        compare(name, over_space(workloads.load(name), SharedBuffer(), alpha=0.002), samples)
    points = []
    for blocks in (15, 50, 150, 500):
        problem = over_space(residual_stack(blocks), SharedBuffer(), alpha=0.002)
        each, _ = seconds_per_sample(problem, FastEngine(problem, SETTINGS), 4 * samples)
        points.append((4 * blocks, each))
        print(f"{4 * blocks:21}{'':14}{1 / each:12,.0f}")
    (n0, t0), (n1, t1) = points[0], points[-1]
    exponent = math.log(t1 / t0) / math.log(n1 / n0)
    print(f"time per sample grows as layers ^ {exponent:.2f} from {n0} to {n1} layers (goal 1.3)")


if __name__ == "__main__":
    main()
