"""Exchange: alpha in an architect's terms: how much of the metric a byte or a mm2 of buffer is worth.

Formula 2 adds bytes of buffer and alpha times the metric, so a byte is worth 1 / alpha of the metric: 500 pJ with 0.002
and energy. A mm2 is converted to bytes of one core by the average slope from the smallest candidate to the largest, in
the buffers of all cores: a table's area is not linear in its bytes, and alpha is one number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from cocco.problem.criteria import CRITERIA, METRICS, TIMES
from cocco.problem.names import Metric
from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.units import ENERGY, TRAFFIC, Quantity
from workloads.errors import shown

SIZES = Quantity(TRAFFIC[:3]).sizes  #: of buffer, bytes
AREA = "mm2"
DEFAULT_ALPHA = 0.002  #: Cocco, Sec. 5.3.1
FAR = 100  #: times what a byte is worth in the paper, or a share of it, is worth a remark; our choice
LEAST, MOST = 1e-15, 1e30  #: what a byte or a mm2 may be worth; our choice: alpha and costs stay finite
UNITS: dict[Metric, dict[str, float]] = {"energy": ENERGY.sizes, "ema": SIZES, "latency-sum": {"cycles": 1.0}}

_EXAMPLES: dict[Metric, str] = {
    "energy": "500pJ/B or 2mJ/mm2", "ema": "30B/B or 20MB/mm2", "latency-sum": "4cycles/B or 3ms/mm2",
}  # fmt: skip
_EXCHANGE = re.compile(r"([0-9]{1,20}(?:\.[0-9]{0,20})?(?:[eE][+-]?[0-9]{1,2})?) ?([A-Za-z]+)/([A-Za-z]+2?)")


@dataclass(frozen=True)
class Exchange:
    """What buffer is worth in a search, in units of the metric.

    Examples
    --------
    >>> from cocco.problem.exchange import Exchange
    >>> found = Exchange("energy", 0.002, 1.2 / 2**20)
    >>> found.per_byte, round(found.per_mm2 / 1e9, 3)
    (500.0, 0.437)
    >>> print(found)
    a byte of buffer is worth 500 pJ, a mm2 0.437 mJ
    """

    metric: Metric
    alpha: float
    mm2_per_byte: float  #: of all cores, per byte that the cost counts

    @property
    def per_byte(self) -> float | None:
        """What a byte of buffer is worth, in the unit of the metric; None without alpha: more than all of it."""
        return 1 / self.alpha if self.alpha else None

    @property
    def per_mm2(self) -> float | None:
        """What a mm2 is worth, in the unit of the metric; None if there is no alpha or no area."""
        return None if not self.alpha or not self.mm2_per_byte else 1 / self.alpha / self.mm2_per_byte

    def __str__(self) -> str:
        if self.per_byte is None:
            return f"a byte of buffer is worth more than any {CRITERIA[self.metric].title}"
        unit = CRITERIA[self.metric]
        words = f"a byte of buffer is worth {self.per_byte:.4g} {'B' if self.metric == 'ema' else unit.unit}"
        if self.per_mm2 is None:
            return words
        return f"{words}, a mm2 {unit.quantity.text(self.per_mm2)}"

    @property
    def remark(self) -> str | None:
        """What an unusual worth leads to, as a sentence: a unit may have been forgotten; None for a usual one."""
        if not self.alpha:
            return "the least memory that runs is the answer, whatever it takes there"
        times = self.alpha / DEFAULT_ALPHA
        if self.metric != "energy" or 1 / FAR < times < FAR:
            return None
        which, what = ("less", "buffer") if times > 1 else ("more", "off-chip traffic")
        return f"{max(times, 1 / times):,.0f} times {which} than in the paper: {what} costs next to nothing"

    def to_json(self) -> dict[str, Any]:
        """Return what a byte and a mm2 are worth, with the unit."""
        return {"per_byte": self.per_byte, "per_mm2": self.per_mm2, "unit": CRITERIA[self.metric].unit}


def exchange_of(problem: Problem) -> Exchange | None:
    """Return what buffer is worth in a problem; None on given hardware."""
    if problem.objective.alpha is None:
        return None
    return Exchange(problem.objective.metric, problem.objective.alpha, mm2_per_byte(problem))


def mm2_per_byte(problem: Problem) -> float:
    """Return the area of all cores per byte that the cost counts, from the smallest candidates to the largest."""
    small, large = (problem.accelerator_of([i] * len(problem.buffers)) for i in (0, -1))
    least, most = problem.objective.buffer_bytes(small), problem.objective.buffer_bytes(large)
    if least == most:
        return large.area_mm2 / most
    return max(0.0, (large.area_mm2 - small.area_mm2) / (most - least))


def exchanged(problem: Problem, text: str) -> Problem:
    """Return a problem with the alpha that a text such as 500pJ/B states; ValueError if an alpha was given as well."""
    if problem.objective.alpha != DEFAULT_ALPHA:
        raise ValueError(
            f"alpha and exchange say the same; give one of them, got {problem.objective.alpha!r} and {text!r}"
        )
    return replace(problem, objective=replace(problem.objective, alpha=alpha_of(text, problem)))


def alpha_of(text: str, problem: Problem) -> float:
    """Return the alpha that a text such as 500pJ/B or 2mJ/mm2 states, in the metric of a problem.

    Raises ValueError with one line that names the rule and the value.
    """
    worth, each = worth_of(text, problem.objective.metric, problem.accelerator.technology.clock_ghz)
    if each != AREA:
        return 1 / worth
    per_byte = mm2_per_byte(problem)
    if not per_byte:
        raise ValueError(
            f"exchange is for mm2, and the candidates differ in none; give it for a byte, got {shown(text)}"
        )
    return 1 / (worth * per_byte)


def worth_of(text: str, metric: Metric, clock_ghz: float) -> tuple[float, str]:
    """Return what buffer is worth in the unit of a metric, and whether that is for a byte ("B") or a mm2."""
    units = dict(UNITS[metric])
    if metric == "latency-sum":
        units |= {name: unit.limit(1, clock_ghz, 1) for name, unit in TIMES.items()}
    match = _EXCHANGE.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[2] not in units or match[3] not in (*SIZES, AREA):
        raise ValueError(
            f"exchange must be a number of {', '.join(units)} for one of {', '.join(SIZES)}, {AREA}, such as "
            f"{_EXAMPLES[metric]}; got {shown(text)}"
        )
    worth = float(match[1]) * units[match[2]] / SIZES.get(match[3], 1.0)
    if not LEAST <= worth <= MOST:
        raise ValueError(f"exchange must be from {LEAST:g} to {MOST:g} {CRITERIA[metric].unit}, got {shown(text)}")
    return worth, AREA if match[3] == AREA else "B"


def cheapest(
    text: str, objectives: Sequence[str], points: Sequence[Sequence[float]], machines: Sequence[Accelerator]
) -> int:
    """Return the position of the point that costs least if buffer is worth so much; of equal ones the first.

    points: values in the order of the objectives, one of which must be a metric with the unit of the text.
    """
    clock, refusals = machines[0].technology.clock_ghz, []
    for i, name in enumerate(objectives):
        if name not in METRICS:
            continue
        try:
            worth, each = worth_of(text, cast(Metric, name), clock)
        except ValueError as error:
            refusals.append(error)
            continue
        sizes = [machine.area_mm2 if each == AREA else machine.buffer_bytes for machine in machines]
        costs = [point[i] + worth * size for point, size in zip(points, sizes)]
        return costs.index(min(costs))
    raise (
        refusals[0]
        if refusals
        else ValueError(f"exchange needs one of {', '.join(METRICS)} among the objectives, got {', '.join(objectives)}")
    )
