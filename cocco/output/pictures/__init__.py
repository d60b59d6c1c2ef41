"""Pictures of searches, plans and fronts (docs/pictures.md): each from plain data, with units, readable without colour.

Drawn without pyplot, so that nothing global changes; `saving` writes them as PNG and SVG. A picture's file, and with it
matplotlib, is imported when its name is requested.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocco.output.pictures.allocation import packing_figure
    from cocco.output.pictures.chips import chips_figure
    from cocco.output.pictures.cores import cores_figure
    from cocco.output.pictures.energy import energy_figure, subgraph_energy_figure
    from cocco.output.pictures.front import front_figure, plane
    from cocco.output.pictures.network import network_figure
    from cocco.output.pictures.occupancy import kept_figure, occupancy_figure
    from cocco.output.pictures.schedule import schedule_figure
    from cocco.output.pictures.search import COLOURS, GROUPS, cost_figure, plane_figure

_NAMES = {
    "allocation": ("packing_figure",),
    "chips": ("chips_figure",),
    "cores": ("cores_figure",),
    "energy": ("energy_figure", "subgraph_energy_figure"),
    "front": ("front_figure", "plane"),
    "network": ("network_figure",),
    "occupancy": ("kept_figure", "occupancy_figure"),
    "schedule": ("schedule_figure",),
    "search": ("COLOURS", "GROUPS", "cost_figure", "plane_figure"),
}  #: by file of this room
_FILES = {name: file for file, names in _NAMES.items() for name in names}

__all__ = [
    "COLOURS",
    "GROUPS",
    "chips_figure",
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
