"""Mappers: what a machine's PE array makes of a layer, whole or update by update (docs/mapping.md, section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol, runtime_checkable

from simulator.mapping.architecture import Core
from simulator.mapping.closed import closed_form, lanes_of, layer_cycles, tiles_of
from simulator.mapping.shapes import LayerShape
from simulator.technology import Technology
from workloads.network.layers.layer import Layer

MEMO = 2**16  #: answers kept, by (shape, tile, core); our choice: a search over NASNet asks for some thousands

CORE = Core()  #: of Cocco: 4 x 4 PEs of 8 x 8 MACs
Times = tuple[int, int]  #: how often each word moves, as a fraction of whole numbers


class Work(NamedTuple):
    """One core computing a layer; how often words move is never below once.

    Examples
    --------
    >>> import workloads
    >>> from simulator.mapping import Enumerate
    >>> Enumerate(tiled=True).work(workloads.load("vgg16").layers[1], samples=1, bands=1, tile=(4, 4))
    Work(cycles=1806336, inputs=(7225344, 7225344), weights=(115605504, 115605504), outputs=(1, 1))
    """

    cycles: int  #: of its samples and its band, over all updates
    inputs: Times = (1, 1)  #: reads of the global buffer for each word of the windows
    weights: Times = (1, 1)  #: reads of the weight buffer for each word and update
    outputs: Times = (1, 1)  #: words written and read back for each word of the result


@runtime_checkable
class Mapper(Protocol):
    """How a layer runs on the PE array: frozen, comparable data with two questions (docs/mapping.md, section 7).

    Examples
    --------
    >>> from simulator import Accelerator
    >>> from simulator.mapping import Enumerate, Mapper
    >>> isinstance(Enumerate(), Mapper)
    True
    >>> Accelerator(shared_buffer=2**20, mapper=Enumerate(tiled=True)).mapper.is_flat
    False
    """

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def is_flat(self) -> bool:
        """Whether `cycles` says it all: then the compiled engine can search with it."""

    def cycles(self, layer: Layer, samples: int, bands: int, technology: Technology | None = None) -> int:
        """Return the cycles of a layer computed as a whole; no tile takes fewer."""

    def work(self, layer: Layer, samples: int, bands: int, tile: tuple[int, int]) -> Work:
        """Return the work where each update makes this tile of the output (rows, columns)."""


@dataclass(frozen=True)
class Enumerate:
    """The closed form as a mapper.

    Examples
    --------
    >>> import workloads
    >>> from simulator.mapping import Enumerate
    >>> layer = workloads.load("vgg16").layers[1]
    >>> Enumerate().cycles(layer, samples=1, bands=1), Enumerate(tiled=True).work(layer, 1, 1, (7, 7)).cycles
    (1806336, 1806336)
    """

    tiled: bool = False  #: per update, with its reads; else of whole layers, as in the paper's model
    name: str = "enumerate"

    @property
    def is_flat(self) -> bool:
        """Whether tiles do not matter."""
        return not self.tiled

    def cycles(self, layer: Layer, samples: int, bands: int, technology: Technology | None = None) -> int:
        """Return the cycles of the whole layer."""
        return layer_cycles(layer, samples, bands, technology=technology)

    def work(self, layer: Layer, samples: int, bands: int, tile: tuple[int, int]) -> Work:
        """Return cycles and reads of all updates."""
        if is_light(layer):
            return light_work(layer, samples, bands, clipped(layer, bands, tile))
        work = closed_work(shape_in_band(layer, samples, bands), clipped(layer, bands, tile))
        return work._replace(cycles=work.cycles * lanes_of(layer))


def is_light(layer: Layer) -> bool:
    """Whether a layer has no lanes over C, slides over a spread map, or has a mask: it takes the closed form."""
    return layer.is_depthwise or not layer.macs or layer.upsample != (1, 1) or layer.mask is not None


def shape_in_band(layer: Layer, samples: int, bands: int) -> LayerShape:
    """Return what one core computes of a layer."""
    return LayerShape.of_layer(layer, samples, (layer.height, -(-layer.width // bands)))


def clipped(layer: Layer, bands: int, tile: tuple[int, int]) -> tuple[int, int]:
    """Return the tile no larger than a core's part of the map, so that equal work is asked for once."""
    return min(tile[0], layer.height), min(tile[1], -(-layer.width // bands))


@lru_cache(MEMO)
def light_work(layer: Layer, samples: int, bands: int, tile: tuple[int, int]) -> Work:
    """Return the closed form of a layer without lanes over C; its words move once."""
    return Work(layer_cycles(layer, samples, bands, tile))


@lru_cache(MEMO)
def closed_work(shape: LayerShape, tile: tuple[int, int], core: Core = CORE) -> Work:
    """Return the closed form of a layer with this tile; its `cache_info` counts calls and hits."""
    _, cost = closed_form(shape, core, tile)
    inputs, weights = least_words(shape, tile)
    return Work(
        cost.compute_cycles,
        (cost.accesses["global buffer"]["I"][0], inputs),
        (cost.accesses["weight buffer"]["W"][0], weights),
    )


def least_words(shape: LayerShape, tile: tuple[int, int]) -> tuple[int, int]:
    """Return the words of I and W that all updates touch, each once in each."""
    inputs = updates = 0
    for p, q, times in tiles_of(shape, tile):
        inputs += times * shape.footprint("I", shape.bounds | {"P": p, "Q": q})
        updates += times
    return inputs, updates * shape.weight_words
