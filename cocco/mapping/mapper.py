"""Mappers by name, for `Accelerator(mapper=...)` and `--mapper`; that of CoSA asks a solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from cocco.mapping.cosa.solving import DEFAULT_LIMIT, SolverLimits, map_cosa
from cocco.mapping.rules import Rules, Weights
from simulator.mapping import LayerShape
from simulator.mapping.architecture import COCCO_CORE
from simulator.mapping.closed import lanes_of, layer_cycles, tiles_of
from simulator.mapping.mappers import (
    MEMO,
    Enumerate,
    Mapper,
    Times,
    Work,
    clipped,
    closed_work,
    is_light,
    least_words,
    light_work,
    shape_in_band,
)
from simulator.technology import Technology
from workloads.errors import shown
from workloads.network.layers.layer import Layer


@dataclass(frozen=True)
class Cosa:
    """CoSA's program for each update of a layer on COCCO_CORE (extra `solvers`).

    Depth-wise and light work, and a tile that the solver gives up, take the closed form. One program is solved for
    each (shape of a tile, rules, limit) in a process, whatever asks.
    """

    rules: Rules = Rules(stride_rule="once")
    limit: float = DEFAULT_LIMIT
    name: str = "cosa"

    @property
    def is_flat(self) -> bool:
        """Never: tiles matter."""
        return False

    def cycles(self, layer: Layer, samples: int, bands: int, technology: Technology | None = None) -> int:
        """Return the cycles with every MAC at work; the closed form for light layers."""
        if is_light(layer):
            return layer_cycles(layer, samples, bands, technology=technology)
        return -(-shape_in_band(layer, samples, bands).macs // COCCO_CORE.macs) * lanes_of(layer)

    def work(self, layer: Layer, samples: int, bands: int, tile: tuple[int, int]) -> Work:
        """Return cycles and reads of all updates."""
        if is_light(layer):
            return light_work(layer, samples, bands, clipped(layer, bands, tile))
        work = _work(shape_in_band(layer, samples, bands), clipped(layer, bands, tile), self.rules, self.limit)
        return work._replace(cycles=work.cycles * lanes_of(layer))


@lru_cache(MEMO)
def _work(shape: LayerShape, tile: tuple[int, int], rules: Rules, limit: float) -> Work:
    cycles = inputs = weights = outputs = 0
    for p, q, times in tiles_of(shape, tile):
        found = solved(replace(shape, p=p, q=q), rules, limit)
        if found is None:
            return closed_work(shape, tile)
        cycles, inputs = cycles + times * found[0], inputs + times * found[1]
        weights, outputs = weights + times * found[2], outputs + times * found[3]
    least = least_words(shape, tile)
    return Work(
        cycles, _at_least_once(inputs, least[0]), _at_least_once(weights, least[1]),
        _at_least_once(outputs, shape.output_words),
    )  # fmt: skip


@lru_cache(MEMO)
def solved(piece: LayerShape, rules: Rules, limit: float) -> tuple[int, int, int, int] | None:
    """Return cycles and the words of I, W and O at the buffers; the only place that asks a solver in a search."""
    found = map_cosa(
        piece, COCCO_CORE, rules, SolverLimits("cp", limit)
    )  # on this core several times faster than HiGHS
    if found.cost is None:
        return None
    words = found.cost.accesses["buffers"]
    moved = found.cost.accesses["DRAM"]
    passing = {tensor: sum(words[tensor]) - sum(moved[tensor]) for tensor in words}  # without filling the buffers
    return found.cost.compute_cycles, passing["I"], passing["W"], passing["O"]


def _at_least_once(words: int, least: int) -> Times:
    return (words, least) if words > least else (1, 1)


MAPPERS: dict[str, Mapper] = {"enumerate": Enumerate(), "tiled": Enumerate(tiled=True), "cosa": Cosa()}


def mapper_from_json(content: Mapping[str, Any]) -> Mapper:
    """Return the mapper of `Accelerator.to_json`; raises TypeError or ValueError for what is none of ours."""
    known = {frozenset({"tiled", "name"}): "enumerate", frozenset({"rules", "limit", "name"}): "cosa"}
    name = known.get(frozenset(content))
    if name is None or content["name"] != name:
        raise ValueError(f"mapper must be one of {', '.join(MAPPERS)}, got {shown(dict(content))}")
    if name == "enumerate":
        return Enumerate(tiled=content["tiled"] is True)
    limit, rules = content["limit"], dict(content["rules"])
    if type(limit) not in (int, float) or not limit > 0:
        raise ValueError(f"mapper: limit must be a number above 0, got {shown(limit)}")
    found = Cosa(Rules(**rules | {"weights": Weights(*rules.get("weights", ()))}), limit)
    hash(found)  # a TypeError for a list where a rule should be
    return found


def work_done() -> dict[str, dict[str, int]]:
    """Return calls and hits of what is remembered in this process, by mapper: (shape, tile, core) is the key."""
    infos = {"tiled": closed_work.cache_info(), "cosa": _work.cache_info(), "solver": solved.cache_info()}
    return {name: {"calls": info.hits + info.misses, "hits": info.hits} for name, info in infos.items()}
