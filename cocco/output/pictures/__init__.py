"""Pictures of searches, plans and fronts (docs/pictures.md): each from plain data, with units, readable without colour.

Drawn without pyplot, so that nothing global changes; `save_picture` (cocco.output.folders) writes them as PNG and SVG.
"""

from cocco.output.pictures.energy import energy_figure, subgraph_energy_figure
from cocco.output.pictures.front import front_figure, plane
from cocco.output.pictures.network import network_figure
from cocco.output.pictures.occupancy import occupancy_figure
from cocco.output.pictures.search import COLOURS, GROUPS, cost_figure, plane_figure

__all__ = [
    "COLOURS",
    "GROUPS",
    "cost_figure",
    "energy_figure",
    "front_figure",
    "network_figure",
    "occupancy_figure",
    "plane",
    "plane_figure",
    "subgraph_energy_figure",
]
