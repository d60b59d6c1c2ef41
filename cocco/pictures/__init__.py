"""Pictures of searches, plans and fronts (docs/pictures.md): each from plain data, with units, readable without colour.

Drawn without pyplot, so that nothing global changes; `cocco.run_folder.save_picture` writes them as PNG and SVG.
"""

from cocco.pictures.energy import energy_figure, subgraph_energy_figure
from cocco.pictures.front import front_figure, plane
from cocco.pictures.network import network_figure
from cocco.pictures.occupancy import occupancy_figure
from cocco.pictures.search import COLOURS, GROUPS, cost_figure, plane_figure
from cocco.pictures.style import UNITS, Unit

__all__ = [
    "COLOURS",
    "GROUPS",
    "UNITS",
    "Unit",
    "cost_figure",
    "energy_figure",
    "front_figure",
    "network_figure",
    "occupancy_figure",
    "plane",
    "plane_figure",
    "subgraph_energy_figure",
]
