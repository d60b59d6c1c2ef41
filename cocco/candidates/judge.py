"""Check a winner: the simulator prices again what a search found, and a difference is an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cocco.candidates.genome import groups_of
from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.partition.partition import Partition

Evaluations = tuple[Evaluation, ...]  # one per network
Values = Callable[[Evaluations], tuple[float, ...]]


class Judged(NamedTuple):
    """A memory with a plan of each network, priced by the simulator; values: what was compared.

    On several cores the plans say how the cores share each subgraph.
    """

    accelerator: Accelerator
    plans: tuple[Partition, ...]
    evaluations: Evaluations
    values: tuple[float, ...]


def judged(
    problem: Problem,
    labels: Sequence[int],
    capacities: Sequence[int],
    claimed: Sequence[float],
    values: Values | None = None,
    rounding: float = 0.0,
) -> Judged:
    """Return a genome as the simulator prices it, after comparing that with the search's price.

    claimed: what the search says: its cost, or what `values` computes from evaluations. rounding: the relative
    difference allowed; 0 if both compute the same float from the same whole numbers.
    Raises RuntimeError if they differ: one of the two is wrong, and no answer is better than a wrong one.
    """
    plans = problem.partitions(groups_of(labels))
    return judged_plans(problem, plans, capacities, claimed, values, rounding)


def judged_plans(
    problem: Problem,
    plans: tuple[Partition, ...],
    capacities: Sequence[int],
    claimed: Sequence[float],
    values: Values | None = None,
    rounding: float = 0.0,
) -> Judged:
    """Return plans, one per network, with their order and kept intervals, as the simulator prices them; see judged."""
    accelerator = problem.accelerator_of(capacities)
    evaluations = problem.evaluations(plans, accelerator)
    found = values(evaluations) if values is not None else (problem.cost(evaluations),)
    if not all(math.isclose(*pair, rel_tol=rounding) for pair in zip(claimed, found, strict=True)):
        raise RuntimeError(
            f"the search priced its winner at {_shown(claimed)}, the simulator at {_shown(found)} "
            f"({problem.objective.metric}); please report this with the network and the seed"
        )
    return Judged(accelerator, tuple(each.plan for each in evaluations), evaluations, found)


def _shown(values: Sequence[float]) -> str:
    return ", ".join(map(repr, values))
