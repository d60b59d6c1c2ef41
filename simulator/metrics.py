"""The metrics that a price can minimize, by name."""

from __future__ import annotations

from typing import Literal, get_args

Metric = Literal["ema", "energy", "latency-sum"]
"""What Formula 1 sums up: off-chip bytes, pJ or cycles (of each subgraph the longer of computing and DRAM)."""

METRIC_NAMES: tuple[Metric, ...] = get_args(Metric)
OLD_NAMES: dict[str, Metric] = {"latency": "latency-sum"}  #: in plans of version 0.2
DEFAULT_METRIC: Metric = "energy"  #: that of Cocco's co-exploration (Sec. 5.3), and so of every command


def check_metric(metric: object) -> None:
    """Raise a one-line ValueError unless this is the name of a metric."""
    if metric not in METRIC_NAMES:
        raise ValueError(f"metric must be one of {', '.join(METRIC_NAMES)}, got {metric!r}")
