"""Executes the loops of one layer that does not fit, as its plan states them: with values, and with real shapes."""

from simulator.execution.layer.common.plan import LayerPlan
from simulator.execution.layer.count import count_layer
from simulator.execution.layer.dealt import count_dealt, dealt_cycles, run_dealt, run_parts
from simulator.execution.layer.nest import count_loops, place_in, run_loops_scaled
from simulator.execution.layer.run import run_layer
from simulator.execution.layer.scaled import run_scaled

__all__ = [
    "LayerPlan",
    "count_dealt",
    "count_layer",
    "count_loops",
    "dealt_cycles",
    "place_in",
    "run_dealt",
    "run_layer",
    "run_loops_scaled",
    "run_parts",
    "run_scaled",
]
