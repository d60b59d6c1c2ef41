"""Plane: the criteria of one problem as numbers, from prices of the search or evaluations of the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cocco.problem.criteria import CRITERIA, EXECUTED, MEMORY, metric_of
from cocco.problem.floor import floor_of
from cocco.problem.objective import Objective
from cocco.problem.problem import Problem, in_memory
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.model.cost import Totals


class Plane:
    """Computes the criteria of one problem, from prices of the search or from evaluations of the simulator.

    Both ways use the same floats in the same formulas, so any difference lies in the prices.
    """

    def __init__(self, problem: Problem, names: Sequence[str]) -> None:
        self.problem, self.names = problem, tuple(names)
        self.sizes = len(problem.buffers)  #: so many capacities of a genome, the first ones, are sizes of buffers
        self.machines: dict[tuple[int, ...], Accelerator] = {}
        self.cycles = 0.0  # of computing: no more than those of any plan; on one core without ports those of every plan
        for weight, rules in zip(problem.objective.weights, problem.rules):
            self.cycles += weight * sum(rules.cycles)

    def machine(self, capacities: Sequence[int]) -> Accelerator:
        """Return the accelerator of these capacities, positions in the candidates."""
        key = tuple(capacities[: len(self.problem.buffers)])
        if key not in self.machines:
            self.machines[key] = self.problem.accelerator_of(key)
        return self.machines[key]

    def given(self, capacities: Sequence[int]) -> Problem:
        """Return the problem on the hardware of these capacities."""
        return in_memory(self.problem, capacities)

    def values(self, capacities: np.ndarray, metrics: dict[str, np.ndarray]) -> np.ndarray:
        """Return a row per genome and a column per criterion; metrics: Formula 1 of the genomes by metric."""
        columns = np.empty((len(capacities), len(self.names)))
        machines = [self.machine(row) for row in capacities.tolist()] if set(self.names) & set(MEMORY) else []
        for i, name in enumerate(self.names):
            if name in MEMORY:
                columns[:, i] = [of_memory(name, machine, self.problem.objective) for machine in machines]
            else:
                columns[:, i] = self._of_metric(name, metrics[metric_of(name) or name])
        return columns

    def judged(self, evaluations: Sequence[Evaluation]) -> tuple[float, ...]:
        """Return the criteria of the simulator's evaluations, one per network."""
        found = []
        for name in self.names:
            if name in MEMORY:
                found.append(of_memory(name, evaluations[0].accelerator, self.problem.objective))
                continue
            value = 0.0
            for weight, evaluation in zip(self.problem.objective.weights, evaluations):
                value += weight * getattr(evaluation, CRITERIA[metric_of(name) or name].column)
            found.append(float(self._of_metric(name, np.array([value]))[0]))
        return tuple(found)

    def least(self, machine: Accelerator, totals: Sequence[Totals], executed: float = 0.0) -> tuple[float, ...]:
        """Return lower bounds of the criteria on this memory, from lower bounds of totals, one per network.

        executed: a lower bound of the latency that is executed.
        """
        found = []
        for name in self.names:
            metric = metric_of(name)
            if name == EXECUTED:
                found.append(executed)
            elif metric is None:
                found.append(of_memory(name, machine, self.problem.objective))
            else:
                value = replace(self.problem.objective, metric=metric).value(totals, floor_of(machine))
                found.append(float(self._of_metric(name, np.array([value]))[0]))
        return tuple(found)

    def _of_metric(self, name: str, values: np.ndarray) -> np.ndarray:
        return values / self.cycles if name == "bandwidth" else values


def of_memory(name: str, machine: Accelerator, objective: Objective) -> float:
    """Return the capacity (bytes of one core, or of all if these count), the area (mm2) or the leakage (mW) of buffers.

    Area and leakage are those of all cores.
    """
    if name == "capacity":
        return float(objective.buffer_bytes(machine))
    return machine.area_mm2 if name == "area" else machine.leakage_mw
