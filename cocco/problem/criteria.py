"""Criteria: the things that a front weighs against each other, or that limits are set on. All should be small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np

from cocco.problem.names import Metric
from cocco.problem.objective import EVALUATED
from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.evaluate import Evaluation
from simulator.model.cost import Totals

METRICS = tuple(EVALUATED)  #: what a partition decides: Formula 1
MEMORY = ("capacity", "area")  #: what the memory alone decides


class Unit(NamedTuple):
    """A criterion's column in tables and key in JSON, and its unit for people."""

    column: str
    symbol: str


CRITERIA = {
    "capacity": Unit("capacity_bytes", "bytes"),
    "energy": Unit("energy_pj", "pJ"),
    "ema": Unit("ema_bytes", "bytes"),
    "latency": Unit("latency_cycles", "cycles"),
    "area": Unit("area_mm2", "mm2"),
    "bandwidth": Unit("bandwidth_bytes_per_cycle", "bytes per cycle"),
}
"""Over the networks by their weights: capacity of all buffers of one core (BUF_SIZE of Formula 2); energy, EMA and
latency as in Formula 1; area of the buffers of all cores; bandwidth, EMA over the cycles of computing: what DRAM has
to give for computing never to wait, if buffering evens it out over the subgraphs (our choice)."""


def check_objectives(objectives: Sequence[str]) -> tuple[str, ...]:
    """Return the objectives of a front; raises ValueError where they are not two or more different criteria."""
    if isinstance(objectives, str) or not isinstance(objectives, Sequence):
        raise ValueError(f"objectives must be a sequence of names, got {objectives!r}")
    for name in objectives:
        check_criterion("objectives", name)
    if len(objectives) < 2:
        raise ValueError(f"objectives must be two or more, got {len(objectives)}: {', '.join(objectives) or 'none'}")
    for name in objectives:
        if list(objectives).count(name) > 1:
            raise ValueError(f"objectives must differ, got {name!r} twice")
    if all(name in MEMORY for name in objectives):
        raise ValueError(
            f"objectives must have one that a partition decides ({', '.join(METRICS)} or bandwidth), "
            f"got {', '.join(objectives)}"
        )
    return tuple(objectives)


def check_criterion(what: str, name: object) -> None:
    """Raise ValueError where a name is no criterion; what: who has it."""
    if name not in CRITERIA:
        raise ValueError(f"{what} must be among {', '.join(CRITERIA)}, got {name!r}")


def metric_of(name: str) -> Metric | None:
    """Return the metric that a criterion is computed from, None for those of the memory alone."""
    return None if name in MEMORY else "ema" if name == "bandwidth" else cast(Metric, name)


def metrics_of(names: Sequence[str]) -> list[Metric]:
    """Return the metrics that these criteria need, each once, in their order."""
    return list(dict.fromkeys(metric for name in names if (metric := metric_of(name)) is not None))


class Plane:
    """Computes the criteria of one problem, from prices of the search or from evaluations of the simulator.

    Both ways take the same floats through the same formulas, so that a difference is one of the prices.
    """

    def __init__(self, problem: Problem, names: Sequence[str]) -> None:
        self.problem, self.names = problem, tuple(names)
        self.machines: dict[tuple[int, ...], Accelerator] = {}
        self.cycles = 0.0  # of computing: the same for every partition and memory
        for weight, rules in zip(problem.objective.weights, problem.rules):
            self.cycles += weight * sum(rules.cycles)

    def machine(self, capacities: Sequence[int]) -> Accelerator:
        """Return the accelerator of these capacities, positions in the candidates."""
        key = tuple(capacities[: len(self.problem.buffers)])
        if key not in self.machines:
            self.machines[key] = self.problem.accelerator_of(key)
        return self.machines[key]

    def values(self, capacities: np.ndarray, metrics: dict[str, np.ndarray]) -> np.ndarray:
        """Return a row per genome and a column per criterion; metrics: Formula 1 of the genomes by metric."""
        columns = np.empty((len(capacities), len(self.names)))
        machines = [self.machine(row) for row in capacities.tolist()] if set(self.names) & set(MEMORY) else []
        for i, name in enumerate(self.names):
            if name in MEMORY:
                columns[:, i] = [of_memory(name, machine) for machine in machines]
            else:
                columns[:, i] = self._of_metric(name, metrics[metric_of(name) or name])
        return columns

    def judged(self, evaluations: Sequence[Evaluation]) -> tuple[float, ...]:
        """Return the criteria of what the simulator priced, one evaluation per network."""
        found = []
        for name in self.names:
            if name in MEMORY:
                found.append(of_memory(name, evaluations[0].accelerator))
                continue
            value = 0.0
            for weight, evaluation in zip(self.problem.objective.weights, evaluations):
                value += weight * getattr(evaluation, EVALUATED[metric_of(name) or name])
            found.append(float(self._of_metric(name, np.array([value]))[0]))
        return tuple(found)

    def least(self, machine: Accelerator, totals: Sequence[Totals]) -> tuple[float, ...]:
        """Return the criteria on this memory of totals that no partition undercuts, one per network (cocco.bounds)."""
        found = []
        for name in self.names:
            metric = metric_of(name)
            if metric is None:
                found.append(of_memory(name, machine))
                continue
            value = replace(self.problem.objective, metric=metric).value(totals, machine)
            found.append(float(self._of_metric(name, np.array([value]))[0]))
        return tuple(found)

    def _of_metric(self, name: str, values: np.ndarray) -> np.ndarray:
        return values / self.cycles if name == "bandwidth" else values


def of_memory(name: str, machine: Accelerator) -> float:
    """Return the capacity (bytes of one core) or the area (mm2, all cores) of the buffers."""
    if name == "capacity":
        return float(machine.buffer_bytes)
    return machine.technology.sram_area_mm2(machine.buffer_bytes) * machine.cores
