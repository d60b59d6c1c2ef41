"""What the search minimizes: Formula 1 on given hardware, Formula 2 where memory is chosen (Cocco, Sec. 4.1)."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

from cocco.problem.criteria import CRITERIA
from cocco.problem.names import Count, Metric
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.model.cost import METRICS, Totals

MAX_FACTOR = 1e15  #: of alpha and weights; our choice: no cost outgrows a float
assert set(get_args(Metric)) == METRICS.keys()


@dataclass(frozen=True)
class Objective:
    """Formula 1, a weighted sum over the networks; with alpha, Formula 2: BUF_SIZE + alpha * Formula 1.

    metric: "ema" (bytes), "energy" (pJ), "latency-sum" or, where plans are judged, "latency" (cycles). alpha: in bytes
    per unit of the metric, None for Formula 1. count: whether BUF_SIZE is what one core has, as in the paper, or all
    cores. also: other metrics that are added, and how much of `metric` a unit of each is worth: so plans are weighed
    that keep limits (our extension). Raises ValueError that names the field, the rule and the value.
    """

    metric: Metric
    alpha: float | None
    weights: tuple[float, ...]
    count: Count = "one"
    also: tuple[tuple[Metric, float], ...] = ()

    def __post_init__(self) -> None:
        known = METRICS if self.alpha is not None else (*METRICS, "latency")
        if self.metric not in known:
            raise ValueError(f"metric must be one of {', '.join(known)}, got {self.metric!r}")
        if self.count not in get_args(Count):
            raise ValueError(f"count must be one of {', '.join(get_args(Count))}, got {self.count!r}")
        if self.alpha is not None and not (_is_number(self.alpha) and self.alpha >= 0):
            raise ValueError(f"alpha must be a finite number of at least 0, got {self.alpha!r}")
        for weight in self.weights:
            if not (_is_number(weight) and weight > 0):
                raise ValueError(f"weights must be finite numbers above 0, got {weight!r}")
        for name, factor in (("alpha", self.alpha or 0), *(("weights", weight) for weight in self.weights)):
            if factor > MAX_FACTOR:
                raise ValueError(f"{name} must be at most {MAX_FACTOR:g}, got {factor!r}")

    def value(self, totals: Sequence[Totals], accelerator: Accelerator) -> float:
        """Return Formula 1 of these totals, one per network."""
        return self._weighted([self.of(total, accelerator) for total in totals])

    def of(self, totals: Totals, accelerator: Accelerator) -> float:
        """Return what is summed up of one network, without its weight."""
        return self._added(lambda metric: METRICS[metric](totals, accelerator))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """All metrics that count."""
        return (self.metric, *[name for name, _ in self.also])

    def judged(self, evaluations: Sequence[Evaluation]) -> float:
        """Return Formula 1 as the simulator prices it, one evaluation per network."""

        def of(evaluation: Evaluation) -> float:
            return self._added(lambda metric: getattr(evaluation, CRITERIA[metric].column))

        return self._weighted(list(map(of, evaluations)))

    def cost(self, value: float, accelerator: Accelerator) -> float:
        """Return Formula 2 for a value of Formula 1, or the value itself on given hardware.

        A plan that does not run has infinite cost, even if alpha is 0.
        """
        return value if self.alpha is None or value == math.inf else self.buffer_bytes(accelerator) + self.alpha * value

    def buffer_bytes(self, accelerator: Accelerator) -> int:
        """Return BUF_SIZE of Formula 2: the bytes of all buffers of one core, or of all cores."""
        return accelerator.buffer_bytes * (accelerator.cores if self.count == "all" else 1)

    def _added(self, value_of: Callable[[Metric], float]) -> float:
        value = value_of(self.metric)
        for metric, worth in self.also:
            value += worth * value_of(metric)
        return value

    def _weighted(self, values: Sequence[float]) -> float:
        total = 0.0
        for weight, value in zip(self.weights, values):  # in the order of the networks: floats do not commute
            total += weight * value
        return total


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
