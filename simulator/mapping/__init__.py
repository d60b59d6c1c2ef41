"""One layer on the PE array: shapes, machines, mappings, their judge and the closed form (docs/mapping.md)."""

from simulator.mapping.architecture import SIMBA, Architecture, Core, Level, read_architecture
from simulator.mapping.closed import UNROLLINGS, closed_form, layer_cycles
from simulator.mapping.judge import LayerCost, bound_cycles, evaluate
from simulator.mapping.mappers import Enumerate, Mapper, Work
from simulator.mapping.nest import LayerMapping, LevelLoops
from simulator.mapping.shapes import DIMENSIONS, RELEVANT, TENSORS, LayerShape

__all__ = [
    "DIMENSIONS",
    "RELEVANT",
    "SIMBA",
    "TENSORS",
    "UNROLLINGS",
    "Architecture",
    "Core",
    "Enumerate",
    "LayerCost",
    "LayerMapping",
    "LayerShape",
    "Level",
    "LevelLoops",
    "Mapper",
    "Work",
    "bound_cycles",
    "closed_form",
    "evaluate",
    "layer_cycles",
    "read_architecture",
]
