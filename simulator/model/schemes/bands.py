"""Bands of columns: where the borders between cores lie, and how a core advances and what it holds in a mirrored sweep.

Border b of tensor u lies at column r_u q b, with the co-prime rates r of stage 3 and one unit q for each component.
Even cores sweep up from their border, odd ones down to it, so at every border two cores either meet or part.
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.integers import FAR, FITS, OVERFLOW, ceil_div, product
from simulator.model.subgraph.subgraph import COLUMNS, Subgraph
from simulator.model.subgraph.tiling import AxisRates, rates_of
from simulator.model.subgraph.traffic import clip


class Band(NamedTuple):
    """The columns of one core in the direction of its sweep, counted from the border where it begins."""

    border: int  #: in columns of the map: the first of an even core, the one after the last of an odd one
    late: int  #: columns from the border to the end of the map, where it lies beyond
    stop: int
    is_mirrored: bool


class Bands(NamedTuple):
    """The columns of each tensor between two borders, and the most columns that each core has."""

    unit: dict[int, int]
    most: dict[int, int]


def band_of(bands: Bands, tensor: int, core: int, width: int) -> Band:
    """Return the columns of a core, of a map of so many."""
    unit = bands.unit[tensor]
    if core % 2:
        return Band(unit * (core + 1), clip(unit * (core + 1) - width, 0, unit), unit, True)
    return Band(unit * core, 0, clip(width - unit * core, 0, unit), False)


def derive_bands(subgraph: Subgraph, cores: int) -> Bands | None:
    """Return the bands for this many cores; None where columns cannot be shared: tensors needed whole, or on chip."""
    if subgraph.has_whole_edge or subgraph.on_chip:
        return None
    rates, bands = rates_of(subgraph, COLUMNS), Bands({}, {})
    if rates is None:
        return None
    fill_bands(subgraph, rates, cores, bands)
    return bands


def fill_bands(subgraph: Subgraph, rates: AxisRates, cores: int, bands: Bands) -> int:
    """Fill in the columns between two borders, and the most of a core, for every tensor."""
    width = subgraph.geometry.extent[COLUMNS]
    for u in subgraph.tensors[: subgraph.tensor_count]:
        bands.unit[rates.component[u]] = 1  # of all cores together, by component
    for u in subgraph.tensors[: subgraph.tensor_count]:
        longest = ceil_div(width[u], rates.rate[u])
        bands.unit[rates.component[u]] = max(bands.unit[rates.component[u]], longest)
    for u in subgraph.tensors[: subgraph.tensor_count]:
        bands.most[u] = ceil_div(bands.unit[rates.component[u]], cores)
    for u in subgraph.tensors[: subgraph.tensor_count]:
        bands.unit[u] = product(rates.rate[u], bands.most[u])
        if bands.unit[u] > FAR:
            return OVERFLOW
        bands.most[u] = min(width[u], bands.unit[u])
    return FITS


def has_border(subgraph: Subgraph, bands: Bands) -> bool:
    """Return whether more than one core has columns of some layer."""
    for v in subgraph.layers[: subgraph.layer_count]:
        if bands.unit[v] < subgraph.geometry.extent[COLUMNS][v]:
            return True
    return False
