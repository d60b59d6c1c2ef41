"""Pictures of searches, plans and fronts (docs/pictures.md): each from plain data, with units, readable without colour.

Drawn without pyplot, so that nothing global changes; `saving` writes them as PNG and SVG. A picture's file, and with it
matplotlib, is imported when its name is requested.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocco.output.pictures.allocation import packing_figure
    from cocco.output.pictures.cores import cores_figure
    from cocco.output.pictures.energy import energy_figure, subgraph_energy_figure
    from cocco.output.pictures.front import front_figure, plane
    from cocco.output.pictures.network import network_figure
    from cocco.output.pictures.occupancy import kept_figure, occupancy_figure
    from cocco.output.pictures.schedule import schedule_figure
    from cocco.output.pictures.search import COLOURS, GROUPS, cost_figure, plane_figure

_FILES = {
    "COLOURS": "search",
    "GROUPS": "search",
    "cores_figure": "cores",
    "cost_figure": "search",
    "energy_figure": "energy",
    "front_figure": "front",
    "kept_figure": "kept",
    "network_figure": "network",
    "occupancy_figure": "occupancy",
    "packing_figure": "allocation",
    "plane": "front",
    "plane_figure": "search",
    "schedule_figure": "schedule",
    "subgraph_energy_figure": "energy",
}  #: name -> file of this room

__all__ = [
    "COLOURS",
    "GROUPS",
    "cores_figure",
    "cost_figure",
    "energy_figure",
    "front_figure",
    "kept_figure",
    "network_figure",
    "occupancy_figure",
    "packing_figure",
    "plane",
    "plane_figure",
    "schedule_figure",
    "subgraph_energy_figure",
]


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
