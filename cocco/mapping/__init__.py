"""One layer on the PE array as a constrained optimisation (CoSA, ISCA 2021), and baselines (docs/mapping.md).

Every answer is data that `simulator.mapping.evaluate` judges. Solvers are imported when they are asked.
"""

from cocco.mapping.map_layer import METHODS, map_layer
from cocco.mapping.mapper import MAPPERS, Cosa
from cocco.mapping.result import MappingResult
from cocco.mapping.rules import Rules, Weights

__all__ = ["MAPPERS", "METHODS", "Cosa", "MappingResult", "Rules", "Weights", "map_layer"]
