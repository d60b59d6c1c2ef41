"""The least memory in which any loop order of one layer fits.

In every order the smallest tile, chunk, slice and number of samples hold the least. Of the dense orders only two
matter: TK, all inputs with a word of results, and BC, a word of inputs with a word of sums. Of an attention: TB, with a
single block or a word of keys at a time. All others hold at least as much as one of these in both buffers
(tests/simulator/model/test_least_room.py checks `plans_of` in every memory).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import NamedTuple

from simulator.model.chains.needs import chain_needs, once_needs
from simulator.model.layer import attention, groups, orders
from simulator.model.layer.axes import Grid, Mode
from simulator.model.layer.cheapest import Tiles, tiles_of
from simulator.model.layer.goal import Room, holds
from simulator.model.layer.loop_layer import (
    LoopLayer,
    inputs_of,
    results_at_once,
    results_of,
    round_up,
    stationary_bytes,
)
from simulator.model.nests import by_heads


class Need(NamedTuple):
    """The bytes that the loops of a layer hold in one core."""

    activation: int
    weights: int


def least_room(layer: LoopLayer, is_shared: bool, tiles: Tiles = "bands") -> Room:
    """Return the least memory in which a layer runs.

    Of a shared memory, its bytes. Of two buffers, the minimum of each alone: with fewer bytes nothing runs,
    whatever the other has. These two minima together may not suffice (`can_run`). tiles: as for
    `cheapest.cheapest_plan`.

    Examples
    --------
    VGG16's fc6 reads 7x7x512: it needs at least 8 channels of the map, 8 sums of 4 B and 8 x 8 x 49 weights.

    >>> from simulator.model.layer.loops import loop_layer
    >>> from workloads import Builder
    >>> b = Builder("vgg")
    >>> _ = b.conv("fc6", b.input("x", 7, 7, 512), 4096, 7)
    >>> layer = loop_layer(b.build(), 0)
    >>> least_room(layer, True).activation == 49 * 8 + 4 * 8 + 49 * 8 * 8
    True
    >>> least_room(layer, False)
    Room(activation=424, weights=3136)
    """
    found = needs(layer, tiles)
    if is_shared:
        return Room(min(map(sum, found)), None)
    return Room(min(need.activation for need in found), min(need.weights for need in found))


def can_run(layer: LoopLayer, room: Room, tiles: Tiles = "bands") -> bool:
    """Return whether any loop order of a layer fits, that is, whether `cheapest.cheapest_plan` finds one."""
    return any(holds(room, *need) for need in needs(layer, tiles))


@lru_cache(maxsize=1 << 12)
def needs(layer: LoopLayer, tiles: Tiles = "bands") -> tuple[Need, ...]:
    """Return the minimal needs of a layer: some loop order fits if and only if one of these fits."""
    if layer.kind == "copy":
        return (Need(groups.copy(layer).activation_bytes, 0),)
    if layer.kind == "chain":
        return tuple(Need(*each) for each in chain_needs(layer))
    of_kind = {
        "join": _joined, "mixed": _joined, "norm": _norm, "apart": _apart, "attention": _attention, "heads": _heads,
    }  # fmt: skip
    found = [
        need
        for tile in _smallest(layer, tiles)
        for need in of_kind.get(layer.kind, _dense)(layer, orders.grid_of(layer, tile))
    ]
    if layer.kind == "apart" and not layer.weights:
        found.append(Need(groups.running_sums(layer).activation_bytes, 0))
    beside = layer.epilogue.room
    return tuple(Need(sum(need), 0) if layer.is_product else Need(need[0] + beside, need[1]) for need in found)


@lru_cache(maxsize=1 << 12)
def one_pass(layer: LoopLayer, tiles: Tiles = "bands") -> Need:
    """Return a memory in which a layer moves everything once, tile by tile, with all weights of a part on chip.

    Less may do in another order, such as with its whole input on chip while the weights pass.
    """
    if layer.kind == "copy":
        return needs(layer, tiles)[0]
    if layer.kind == "chain":
        return Need(*once_needs(layer))
    found = []
    for tile in _smallest(layer, tiles):
        grid = orders.grid_of(layer, tile)
        for mode in grid.modes:
            if layer.kind in ("join", "mixed", "norm"):
                step = min(layer.at_most, layer.outputs) if layer.kind == "join" else layer.outputs
                found.append(Need(groups.joined_bytes(layer, grid, orders.TC, step), layer.weights))
            elif layer.kind == "heads":
                found.append(next(_heads(layer, grid)))
            elif layer.kind == "attention":
                found.append(Need(attention.tiles_blocks(layer, grid, layer.keys).activation_bytes, 0))
            elif mode.reads == grid.union:
                found.append(_whole_part(layer, grid, mode))
    least = min(found, key=sum)
    return Need(sum(least), 0) if layer.is_product else Need(least[0] + layer.epilogue.room, least[1])


def _whole_part(layer: LoopLayer, grid: Grid, mode: Mode) -> Need:
    """TK in one chunk, or CT of a word of channels."""
    part, cells = layer.part, prod(grid.tile)
    if layer.kind == "apart":
        weights = groups.apart_weights(layer, min(layer.word, max(layer.producers)))
        return Need(groups.apart_bytes(layer, grid, mode, layer.word), weights)
    held = mode.held * part.room + (0 if layer.stays.output else cells * results_of(layer, part.outputs))
    return Need(held, stationary_bytes(layer, part.outputs, part.reduction))


def _smallest(layer: LoopLayer, tiles: Tiles) -> list[tuple[int, int]]:
    """Return those of the tiles to try that contain no other."""
    if tiles == "all":
        return [(1, 1)]
    found: list[tuple[int, int]] = []
    for tile in sorted(tiles_of(layer, tiles)):
        if not found or tile[1] < found[-1][1]:
            found.append(tile)
    return found


def _joined(layer: LoopLayer, grid: Grid) -> Iterator[Need]:
    """CT with the fewest channels tried, or with all where they mix."""
    step = (layer.at_most - 1) % layer.word + 1 if layer.kind == "join" else layer.outputs
    step = min(layer.word if layer.state else step, layer.outputs)
    yield Need(groups.joined_bytes(layer, grid, orders.CT, step), groups.joined_weights(layer, step))


def _norm(layer: LoopLayer, grid: Grid) -> Iterator[Need]:
    """All channels of a position, or one word of inputs, one of results and two statistics."""
    yield from _joined(layer, grid)
    words = inputs_of(layer, layer.word) * (layer.loaded > 0) + results_of(layer, layer.word) * (not layer.stays.output)
    yield Need(prod(grid.tile) * (words + 2 * layer.bits.sum_bytes), 0)


def _attention(layer: LoopLayer, grid: Grid) -> Iterator[Need]:
    """TB, with a single block or a word of keys at a time."""
    for block in {layer.keys, min(layer.word, attention.most_seen(layer, grid))}:
        yield Need(attention.tiles_blocks(layer, grid, block).activation_bytes, 0)


def _heads(layer: LoopLayer, grid: Grid) -> Iterator[Need]:
    """HP, with the sources on chip and a word of outputs at a time, or one head and few queries; or as they pass."""
    for mode, loops in by_heads.smallest_loops(layer, grid):
        yield Need(by_heads.heads_held(layer, grid, mode, loops), by_heads.heads_weights(layer, mode, loops))


def _apart(layer: LoopLayer, grid: Grid) -> Iterator[Need]:
    """CT of a word of channels."""
    weights = groups.apart_weights(layer, min(layer.word, max(layer.producers)))
    yield Need(min(groups.apart_bytes(layer, grid, mode, layer.word) for mode in grid.modes), weights)


def _dense(layer: LoopLayer, grid: Grid) -> Iterator[Need]:
    """TK and, with more than one word of inputs, BC: each with a word of outputs."""
    part, cells = layer.part, prod(grid.tile)
    together = round_up(layer, part.outputs) if layer.epilogue.by_position else layer.word
    sums, results = cells * together * layer.bits.sum_bytes, cells * results_at_once(layer, layer.word)
    outputs, results = min(layer.word, part.outputs), 0 if layer.stays.output else results
    yield Need(_window(grid) * part.room + results, stationary_bytes(layer, outputs, part.reduction))
    if max(units for units, _ in part.units) > 1 and not layer.epilogue.in_order:
        inputs = min(layer.word, part.reduction)
        held = min(mode.held for mode in grid.blocks)
        slices = held * inputs_of(layer, layer.word) * (layer.loaded > 0)
        yield Need(slices + sums, stationary_bytes(layer, outputs, inputs))


def _window(grid: Grid) -> int:
    """Return the least elements of one channel that stay from tile to tile."""
    return min(mode.held for mode in grid.modes)
