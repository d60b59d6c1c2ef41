"""What a partition costs: the readable statement of the model, and the judge of every answer (docs/model.md)."""

from simulator.accelerator import Accelerator
from simulator.breakdown import Breakdown, breakdown
from simulator.evaluate import Evaluation, Infeasible, SubgraphCost, evaluate
from simulator.hardware import load_accelerator
from simulator.least import LeastCapacity, least_capacity
from simulator.partition import Partition, PartitionError
from simulator.technology import KiB, MiB, Technology
from simulator.timeline import Timeline, timeline

__all__ = [
    "Accelerator",
    "Breakdown",
    "Evaluation",
    "Infeasible",
    "KiB",
    "LeastCapacity",
    "MiB",
    "Partition",
    "PartitionError",
    "SubgraphCost",
    "Technology",
    "Timeline",
    "breakdown",
    "evaluate",
    "least_capacity",
    "load_accelerator",
    "timeline",
]
