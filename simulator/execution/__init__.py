"""Runs a partition tile by tile on actual numbers in the claimed regions: the proof that a plan works."""

from simulator.execution.verify import Verification, verify

__all__ = ["Verification", "verify"]
