"""What a partition costs: the model in readable form, and the judge of every answer (docs/model.md)."""

from simulator.accelerator import Accelerator, Machine
from simulator.chip.logic import Logic
from simulator.evaluate import Evaluation, evaluate
from simulator.hardware_files import load_accelerator
from simulator.memory.reading import find_table
from simulator.memory.sram import Sram
from simulator.memory.table import SramRow, SramTable
from simulator.partition.intervals import KeptInterval
from simulator.partition.partition import Partition, PartitionError
from simulator.subgraph_cost import Infeasible, KeptTensor, SubgraphCost
from simulator.technology import KiB, MiB, Technology
from simulator.views.breakdown import Breakdown, breakdown
from simulator.views.least_capacity import LeastCapacity, least_capacity
from simulator.views.timeline import Timeline, timeline

__all__ = [
    "Accelerator",
    "Breakdown",
    "Evaluation",
    "Infeasible",
    "KeptInterval",
    "KeptTensor",
    "KiB",
    "LeastCapacity",
    "Logic",
    "Machine",
    "MiB",
    "Partition",
    "PartitionError",
    "Sram",
    "SramRow",
    "SramTable",
    "SubgraphCost",
    "Technology",
    "Timeline",
    "breakdown",
    "evaluate",
    "find_table",
    "least_capacity",
    "load_accelerator",
    "timeline",
]
