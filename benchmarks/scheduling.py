"""TIGHT + PACK against the paper's integer program in the same solver: CPU seconds, one run, one worker.

    python benchmarks/scheduling.py [NETWORK...]

Both get the same graph, the same budget and no start. `ratio`: paper / ours. The paper's program includes building it,
as does ours; a line for each network, setting and budget of its own, up to 100 operators.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import workloads
from cocco.scheduling.budgets import budgets_of
from cocco.scheduling.graph import graph_of
from cocco.scheduling.programs.joint import ScheduleLimits, tight
from cocco.scheduling.programs.paper import solve_paper
from simulator.schedule.operators import operators_of

MOST = 100  #: operators; the paper's program grows with the square of the tensors that are live together
LIMIT = 120.0  #: deterministic time of each


def timed(call: Callable[..., Any], *arguments: Any, **more: Any) -> tuple[Any, float]:
    """Return what a call returns, and its CPU seconds."""
    start = time.process_time()
    answer = call(*arguments, **more)
    return answer, time.process_time() - start


def main(names: list[str]) -> None:
    """Print a line for each question and the geometric mean of the ratios."""
    ratios = []
    tight(graph_of(operators_of(workloads.load("vgg16"))), 2**23)  # the solver is loaded before the first is timed
    print(
        f"{'network':14}{'params':7}{'budget':>11}{'ours':>11}{'status':>10}{'s':>8}{'paper':>12}{'status':>10}{'s':>8}",
        end="",
    )
    print(f"{'variables':>11}{'ratio':>8}")
    for name in names:
        for parameters in (False, True):
            graph = graph_of(operators_of(workloads.load(name), parameters))
            if len(graph) > MOST:
                continue
            budgets = budgets_of(graph)
            for size in dict.fromkeys((budgets.minimum, budgets.half, budgets.peak)):
                ours, seconds = timed(tight, graph, size, limits=ScheduleLimits(LIMIT))
                theirs, longer = timed(solve_paper, graph, size, LIMIT)
                ratio = longer / seconds
                if ours.status == theirs.solved.status == "optimal":
                    assert ours.bound == theirs.bound, "two proved optima differ"
                    ratios.append(ratio)
                print(
                    f"{name:14}{parameters!s:7}{size:11,}{ours.bound:11,}{ours.status:>10}{seconds:8.2f}"
                    f"{theirs.bound:12,}{theirs.solved.status:>10}{longer:8.2f}{theirs.variables:11,}{ratio:8.1f}",
                    flush=True,
                )
    if ratios:
        print(f"geometric mean of {len(ratios)} ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.1f}")


if __name__ == "__main__":
    main(sys.argv[1:] or list(workloads.names()))
