"""What an answer without a plan says: which layers do not fit, and the least memory that would suffice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.partition.partition import Partition
from simulator.views.least_capacity import least_capacity


def layer_by_layer(problem: Problem) -> tuple[Evaluation, ...]:
    """Return the evaluation of each network, layer by layer, in the largest memory: it says what does not fit."""
    machine = problem.accelerator_of(problem.memories[-1])
    return problem.evaluations([Partition.layerwise(each, problem.metric) for each in problem.networks], machine)


def least_memory(evaluations: Sequence[Evaluation]) -> Accelerator:
    """Return the hardware of these evaluations with the least memory in which the plans of all of them run."""
    machine, found = evaluations[0].accelerator, []
    for each in evaluations:
        assert each.source is not None, "evaluate() made it"
        found.append(least_capacity(*each.source, machine=machine.machine, tile_rule=each.tile_rule))
    names = ("shared_buffer",) if machine.is_shared else ("global_buffer", "weight_buffer")
    return replace(machine, **{name: max(getattr(each, name) for each in found) for name in names})


def lacking_json(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Return what does not fit of each network and the least memory that would suffice, as plain data; may be empty."""
    if not evaluations:
        return {}
    least = least_memory(evaluations)
    names = ("shared_buffer",) if least.is_shared else ("global_buffer", "weight_buffer")
    return {
        "infeasible": [{"network": each.network} | one.to_json() for each in evaluations for one in each.infeasible],
        "least": {f"{name}_bytes": getattr(least, name) for name in names},
    }


def finite(value: float | None) -> float | None:
    """Return a number for JSON: null if it is infinite."""
    return None if value is None or math.isinf(value) else value
