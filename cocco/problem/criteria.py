"""Criteria: what a front trades off, or what limits are set on. All are minimized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast, get_args

from cocco.problem.names import Metric
from simulator.units import AREA, CYCLES, ENERGY, PER_CYCLE, POWER, SIZE, TIME, TRAFFIC, Quantity


class Clock(NamedTuple):
    """A unit that the clock makes one of the model."""

    size: float  #: at 1 GHz, in the unit of the model
    power: int  #: of the clock in GHz with which it grows
    is_rate: bool = False  #: whether it counts samples in this time, not times

    def limit(self, number: float, clock_ghz: float, batch: int) -> float:
        """Return the most that a number of this unit allows, in the unit of the model."""
        return self.size * (batch / number if self.is_rate else number) * clock_ghz**self.power


class Clocked(float):
    """A limit that the clock and the batch of the hardware make one of the model."""

    unit: Clock

    @staticmethod
    def of(number: float, unit: Clock) -> Clocked:
        """Return a limit of a number in this unit."""
        found = Clocked(number)
        found.unit = unit
        return found

    def at(self, clock_ghz: float, batch: int = 1) -> float:
        """Return the limit at this clock, in the unit of the model."""
        return self.unit.limit(self, clock_ghz, batch)

    def to_json(self) -> dict[str, Any]:
        """Return plain data: the number and its unit."""
        return {"number": float(self), **self.unit._asdict()}


@dataclass(frozen=True)
class Criterion:
    """One criterion: its unit in the model, and how it is shown to people."""

    column: str  #: in tables, the key in JSON, and of a metric the field of Evaluation
    unit: str  #: of that number
    title: str  #: in words, on an axis
    quantity: Quantity  #: the units for people
    clocked: Mapping[str, Clock] = field(default_factory=dict)  #: units that the clock makes `unit`

    @property
    def units(self) -> dict[str, float]:
        """What a number on the command line may be given in -> how much of `unit` it is; "" is `unit`."""
        return {"": 1.0, self.unit: 1.0, **self.quantity.sizes}


TIMES = {unit.name: Clock(unit.size, 1) for unit in reversed(TIME)}  #: in cycles
FPS = {"fps": Clock(1e9, 1, is_rate=True)}  #: of samples: N fps are batch / N seconds for a batch

#: Over the networks by their weights: capacity of all buffers of one core (BUF_SIZE of Formula 2); energy, EMA and
#: latency as in Formula 1; area and leakage of the buffers of all cores; bandwidth, EMA over the cycles of computing:
#: what DRAM has to give for computing never to wait, if buffering evens it out over the subgraphs (our choice). On
#: several cores cycles are those of the way that takes each layer least, and of the array where buffers have ports: no
#: plan computes in fewer, so what is said is enough for it. Otherwise they are the same for every plan.
CRITERIA = {
    "capacity": Criterion("capacity_bytes", "bytes", "capacity of one core", Quantity(SIZE[:2])),
    "energy": Criterion("energy_pj", "pJ", "energy", ENERGY),
    "ema": Criterion("ema_bytes", "bytes", "off-chip traffic", TRAFFIC),
    "latency-sum": Criterion("latency_cycles", "cycles", "latency sum", CYCLES, TIMES | FPS),
    "latency": Criterion("latency_executed_cycles", "cycles", "executed latency", CYCLES, TIMES | FPS),
    "area": Criterion("area_mm2", "mm2", "buffer area", AREA),
    "leakage": Criterion("leakage_mw", "mW", "buffer leakage", POWER),
    "bandwidth": Criterion(
        "bandwidth_bytes_per_cycle", "bytes per cycle", "DRAM bandwidth", PER_CYCLE, {"GB/s": Clock(1.0, -1)}
    ),
}
METRICS: tuple[Metric, ...] = get_args(Metric)  #: what a partition decides: Formula 1
MEMORY = ("capacity", "area", "leakage")  #: what the memory alone decides
EXECUTED = "latency"  #: what is no sum over subgraphs


def check_objectives(objectives: Sequence[str]) -> tuple[str, ...]:
    """Return the objectives of a front; raises ValueError if they are not two or more different criteria."""
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
    return tuple(map(of_a_sum, objectives))


def check_criterion(what: str, name: object) -> None:
    """Raise ValueError if a name is no criterion; what: what the message says it was given for."""
    if name not in CRITERIA:
        raise ValueError(f"{what} must be among {', '.join(CRITERIA)}, got {name!r}")


def of_a_sum(name: str) -> str:
    """Return a criterion that adds up over subgraphs: of fronts and chips, latency is the paper's sum."""
    return "latency-sum" if name == EXECUTED else name


def metric_of(name: str) -> Metric | None:
    """Return the metric that a criterion is computed from, None for those of the memory alone and what is executed."""
    return None if name in (*MEMORY, EXECUTED) else "ema" if name == "bandwidth" else cast(Metric, name)


def metrics_of(names: Sequence[str]) -> list[Metric]:
    """Return the metrics that these criteria need, each once, in their order."""
    return list(dict.fromkeys(metric for name in names if (metric := metric_of(name)) is not None))
