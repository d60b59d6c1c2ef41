"""Criteria: what a front trades off, or what limits are set on. All are minimized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast, get_args

from cocco.problem.names import Metric


@dataclass(frozen=True)
class Criterion:
    """One criterion: its unit in the model, and how it is shown to people."""

    column: str  #: in tables, the key in JSON, and of a metric the field of Evaluation
    unit: str  #: of that number
    title: str  #: in words, on an axis
    shown: str  #: the unit for people
    scale: float  #: number in `unit` x scale = number in `shown`
    clocked: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    """Units that the clock makes `unit`: how much of it at 1 GHz, and with which power of the clock that grows."""

    @property
    def units(self) -> dict[str, float]:
        """What a number on the command line may be given in -> how much of `unit` it is; "" is `unit`."""
        return {"": 1.0, self.unit: 1.0, self.shown: float(round(1 / self.scale))}


TIMES = {"s": (1e9, 1), "ms": (1e6, 1), "us": (1e3, 1), "ns": (1.0, 1)}  #: in cycles, as `clocked` of Criterion

#: Over the networks by their weights: capacity of all buffers of one core (BUF_SIZE of Formula 2); energy, EMA and
#: latency as in Formula 1; area and leakage of the buffers of all cores; bandwidth, EMA over the cycles of computing:
#: what DRAM has to give for computing never to wait, if buffering evens it out over the subgraphs (our choice). On
#: several cores cycles are those of the way that takes each layer least: no plan computes in fewer, so what is said is
#: enough for it. On one core they are the same for every plan.
CRITERIA = {
    "capacity": Criterion("capacity_bytes", "bytes", "capacity of one core", "KB", 2.0**-10),
    "energy": Criterion("energy_pj", "pJ", "energy", "mJ", 1e-9),
    "ema": Criterion("ema_bytes", "bytes", "off-chip traffic", "MB", 2.0**-20),
    "latency-sum": Criterion("latency_cycles", "cycles", "latency sum", "million cycles", 1e-6, TIMES),
    "latency": Criterion("latency_executed_cycles", "cycles", "executed latency", "million cycles", 1e-6, TIMES),
    "area": Criterion("area_mm2", "mm2", "buffer area", "mm2", 1.0),
    "leakage": Criterion("leakage_mw", "mW", "buffer leakage", "mW", 1.0),
    "bandwidth": Criterion(
        "bandwidth_bytes_per_cycle", "bytes per cycle", "DRAM bandwidth", "bytes per cycle", 1.0, {"GB/s": (1.0, -1)}
    ),
}
METRICS: tuple[Metric, ...] = get_args(Metric)  #: what a partition decides: Formula 1
MEMORY = ("capacity", "area", "leakage")  #: what the memory alone decides


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
    """Return a criterion that adds up over subgraphs: of fronts and limits, latency is the paper's sum."""
    return "latency-sum" if name == "latency" else name


def metric_of(name: str) -> Metric | None:
    """Return the metric that a criterion is computed from, None for those of the memory alone."""
    return None if name in MEMORY else "ema" if name == "bandwidth" else cast(Metric, name)


def metrics_of(names: Sequence[str]) -> list[Metric]:
    """Return the metrics that these criteria need, each once, in their order."""
    return list(dict.fromkeys(metric for name in names if (metric := metric_of(name)) is not None))
