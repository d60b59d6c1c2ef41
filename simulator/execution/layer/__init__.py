"""The loops of one layer that does not fit, executed as a plan names them: once with values, once with real shapes."""

from simulator.execution.layer.count import count_layer
from simulator.execution.layer.plan import LayerPlan
from simulator.execution.layer.run import run_layer
from simulator.execution.layer.scaled import run_scaled

__all__ = ["LayerPlan", "count_layer", "run_layer", "run_scaled"]
