"""The words of a question, each list in one place: metrics, methods, engines."""

from __future__ import annotations

from typing import Literal

from simulator.metrics import Metric as Metric

Minimized = Metric | Literal["latency"]
"""What a partition can be searched for: a metric, or the latency that is executed, which is no sum over subgraphs."""

Keep = Literal["auto", "none"]
"""Whether tensors may stay on chip between subgraphs: where that is proven to pay, or never, as in the paper."""

HardwareMethod = Literal["auto", "ga", "paper", "exact", "greedy", "dp", "idp", "sa"]
"""How a partition for given hardware is found (cocco.exploration.methods)."""

SpaceMethod = Literal["auto", "ga", "paper", "exact", "sa", "random", "grid"]
"""How a memory and its partitions are found."""

ChipMethod = Literal["auto", "ga"]
"""How a machine, its memory and its partitions are found (cocco.chips)."""

Count = Literal["one", "all"]
"""Whose buffers BUF_SIZE of Formula 2 and the criterion capacity count: one core's, as in the paper, or all."""

FrontMethod = Literal["nsga2", "exact"]
"""How a whole front is found (cocco.exploration.pareto)."""

EngineName = Literal["fast", "reference"]
"""Who prices and breeds: the compiled twin, or the readable Python. Both answer the same bytes."""
