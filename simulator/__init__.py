"""What a partition costs: the readable statement of the model, and the judge of every answer (docs/model.md)."""

from simulator.accelerator import Accelerator
from simulator.evaluate import Evaluation, Infeasible, SubgraphCost, evaluate
from simulator.partition import Partition, PartitionError
from simulator.technology import KiB, MiB, Technology

__all__ = [
    "Accelerator",
    "Evaluation",
    "Infeasible",
    "KiB",
    "MiB",
    "Partition",
    "PartitionError",
    "SubgraphCost",
    "Technology",
    "evaluate",
]
