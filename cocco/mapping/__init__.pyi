from cocco.mapping.map_layer import METHODS as METHODS
from cocco.mapping.map_layer import map_layer as map_layer
from cocco.mapping.mapper import MAPPERS as MAPPERS
from cocco.mapping.mapper import Cosa as Cosa
from cocco.mapping.result import MappingResult as MappingResult
from cocco.mapping.rules import Rules as Rules
from cocco.mapping.rules import Weights as Weights
