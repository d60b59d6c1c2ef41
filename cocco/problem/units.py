"""How each criterion is written for people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """How a metric is written on an axis."""

    name: str
    symbol: str
    scale: float  #: metric x scale = number on the axis


UNITS = {
    "energy": Unit("energy", "mJ", 1e-9),
    "ema": Unit("off-chip traffic", "MB", 2.0**-20),
    "latency": Unit("latency", "million cycles", 1e-6),
    "capacity": Unit("capacity of one core", "KB", 2.0**-10),
    "area": Unit("buffer area", "mm2", 1.0),
    "bandwidth": Unit("DRAM bandwidth", "bytes per cycle", 1.0),
}
