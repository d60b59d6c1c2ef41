"""Answers that keep tensors on chip between subgraphs, on given hardware: proven, or what was found without."""

from __future__ import annotations

import math
from dataclasses import replace

from cocco.bounds.kept import cheapest_plans
from cocco.exploration.result import Result
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from simulator.evaluate import evaluate

ROUNDING = 1e-9  #: relative; above what the order of summation can change, below any real difference


def with_kept(problem: Problem, result: Result, engine: EngineName) -> Result:
    """Return the cheapest plan with kept tensors in place of a result without, as the simulator judges it.

    Where its exact search gives up the result stays, with no lower bound: its own holds without kept tensors only.
    Raises RuntimeError where the simulator prices the plan otherwise than the search did.
    """
    found = cheapest_plans(problem, engine=engine)
    if found.partitions is None:
        return replace(result, status="feasible", lower_bound=None, gap=None)
    pairs = zip(problem.networks, found.partitions)
    evaluations = tuple(evaluate(network, plan, problem.accelerator, problem.tile_rule) for network, plan in pairs)
    cost = problem.cost(evaluations)
    if not math.isclose(cost, found.cost, rel_tol=ROUNDING):
        raise RuntimeError(
            f"the search priced its plan with kept tensors at {found.cost!r}, the simulator at {cost!r} "
            f"({problem.objective.metric}); please report this with the network"
        )
    return replace(
        result, method="exact", status="optimal", cost=cost, plans=found.partitions, evaluations=evaluations,
        lower_bound=cost, gap=0.0,
    )  # fmt: skip
