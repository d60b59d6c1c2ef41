"""Many points, each computed once: stored, resumed, in processes or on several machines (docs/sweeps.md)."""

from experiments.sweep.points import SweepError
from experiments.sweep.sweep import sweep

__all__ = ["SweepError", "sweep"]
