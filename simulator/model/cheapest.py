"""The cheapest loop order of one layer in given memory: tiles, chunks, slices and samples at once are tried.

For a tile and an order the chunk is the largest that fits, evened out over as many passes (Cocco leaves it open; our
choice: brute force over all chunks found no fewer bytes off chip, tests/simulator/model/test_cheapest.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import prod
from typing import Literal, NamedTuple

from simulator.model.groups import channels_tiles, copy, joined_channels, joined_tiles, most_often, running_sums
from simulator.model.loops import LoopLayer, Part, part_of
from simulator.model.orders import (
    SUM_BYTES,
    Grid,
    LoopPlan,
    Loops,
    Mode,
    block_modes,
    block_slices,
    chunks_tiles,
    chunks_whole,
    grid_of,
    modes_of,
    tiles_chunks,
    tiles_slices,
    whole_chunks,
    whole_mode,
)  # fmt: skip

Tiles = Literal["bands", "all"]
MORE_CHUNKS = 4  #: least numbers of chunks tried where sums stay; our choice: there the fewest are not always cheapest


class Room(NamedTuple):
    """Bytes of one core for activations and weights; weights None where they share the first."""

    activation: int
    weights: int | None

    def without(self, activation: int, weights: int) -> Room:
        """Return what is left beside these bytes, below 0 where they do not fit."""
        if self.weights is None:
            return Room(self.activation - activation - weights, None)
        return Room(self.activation - activation, self.weights - weights)

    def most(self, activation: int, weights: int) -> int:
        """Return how often so many bytes of activations (perhaps none) and so many of weights fit."""
        if self.weights is None:
            return max(0, self.activation // (activation + weights))
        if self.activation < 0 or self.weights < 0:
            return 0
        limits = [have // each for have, each in ((self.activation, activation), (self.weights, weights)) if each]
        return min(limits)

    def holds(self, activation: int, weights: int) -> bool:
        """Return whether that fits."""
        if self.weights is None:
            return activation + weights <= self.activation
        return activation <= self.activation and weights <= self.weights


class Goal(NamedTuple):
    """What is to be least, and pJ per byte: DRAM, activation buffer, weight buffer."""

    metric: Literal["ema", "energy"]
    dram: float
    activation: float
    weights: float

    def key(self, plan: LoopPlan) -> tuple[float, ...]:
        """Return what to compare: the metric, then EMA, energy, the larger tile, fewer bytes held."""
        ema = plan.ema_weight_bytes + plan.ema_input_bytes + plan.ema_output_bytes
        energy = self.dram * ema + self.activation * plan.global_buffer_bytes + self.weights * plan.weight_buffer_bytes
        first = (ema, energy) if self.metric == "ema" else (energy, ema)
        return (*first, -plan.tile[0] * plan.tile[1], plan.activation_bytes + plan.weight_bytes)


@lru_cache(maxsize=1 << 14)
def cheapest_plan(layer: LoopLayer, room: Room, goal: Goal, tiles: Tiles = "bands") -> LoopPlan | None:
    """Return the cheapest way to run a layer in this memory, None if none fits.

    Parameters
    ----------
    layer : LoopLayer
        From `loops.loop_layer`.
    room : Room
        Bytes of one core.
    goal : Goal
        What is to be least.
    tiles : {"bands", "all"}
        Squares, the whole map and bands of full width and equal height; or all rectangles of equal tiles.

    Returns
    -------
    LoopPlan or None
        Ties go to the least EMA, energy, the larger tile, fewer bytes, the first order of the table.

    Examples
    --------
    A product of 512 x 512 x 512 in 64 KB reads 1.5 MB beside its result of 256 KB.

    >>> from simulator.model.loops import loop_layer
    >>> from workloads import Builder
    >>> b = Builder("product")
    >>> _ = b.matmul("c", b.input("a", 512, 1, 512), b.input("b", 512, 1, 512))
    >>> plan = cheapest_plan(loop_layer(b.build(), 0), Room(64 * 1024, None), Goal("ema", 100.0, 1.0, 1.0))
    >>> plan.ema_bytes
    1835008
    """
    return min(plans_of(layer, room, tiles), key=goal.key, default=None)


def tiles_of(layer: LoopLayer, tiles: Tiles) -> list[tuple[int, int]]:
    """Return the tiles of outputs tried, rows and columns.

    Squares and the whole map; "bands" also full width and heights ceil(H / n), "all" all ceil(H / n) x ceil(W / m).
    """
    height, width = layer.rows.windows, layer.columns.windows
    squares = [(min(side, height), min(side, width)) for side in layer.squares]
    widths = _equal_sizes(width) if tiles == "all" else [width]
    return list(dict.fromkeys([*((rows, columns) for rows in _equal_sizes(height) for columns in widths), *squares]))


def _equal_sizes(extent: int) -> list[int]:
    """Return the different sizes ceil(extent / n), from the largest."""
    sizes = [extent]
    while sizes[-1] > 1:
        sizes.append(-(-extent // ((extent - 1) // (sizes[-1] - 1) + 1)))
    return sizes


def plans_of(layer: LoopLayer, room: Room, tiles: Tiles) -> Iterator[LoopPlan]:
    """Yield every plan that is tried and fits."""
    if layer.kind in ("transposed", "product"):
        room = Room(room.activation, None)
    if layer.kind == "copy":
        alone = [copy(layer)]
    else:
        alone = [running_sums(layer)] if layer.kind == "apart" and not layer.weights else []
    yield from (plan for plan in alone if room.holds(plan.activation_bytes, plan.weight_bytes))
    inside = _INSIDE.get(layer.kind, _dense_plans)
    for tile in tiles_of(layer, tiles) if layer.kind != "copy" else ():
        yield from inside(layer, grid_of(layer, tile), room)


def _joined_plans(layer: LoopLayer, grid: Grid, room: Room) -> Iterator[LoopPlan]:
    step = layer.outputs if layer.kind == "mixed" else min(layer.at_most, layer.round_up(layer.outputs))
    (mode,) = modes_of(grid)
    for order in (joined_channels, joined_tiles):
        for channels in range(step, 0, -layer.word) if layer.kind == "join" else (step,):
            plan = order(layer, grid, mode, min(channels, layer.outputs))
            if room.holds(plan.activation_bytes, plan.weight_bytes):
                yield plan
                break


def _apart_plans(layer: LoopLayer, grid: Grid, room: Room) -> Iterator[LoopPlan]:
    largest, often = max(layer.producers), most_often(layer)
    weights = often * layer.rows.taps * layer.columns.taps if layer.weights else 0
    for at_once in _samples(layer):
        for mode in modes_of(grid):
            each = (mode.held + often * prod(grid.tile)) * at_once
            words = room.most(each * layer.word, weights * layer.word)
            step = min(words * layer.word, layer.at_most, largest)
            if step > 0:
                yield channels_tiles(layer, grid, mode, step, at_once)


def _dense_plans(layer: LoopLayer, grid: Grid, room: Room) -> Iterator[LoopPlan]:
    """Yield the orders of a layer that reduces over channels: of a group or head, or of several with all held."""
    part = part_of(layer, 1)
    for at_once in _samples(layer):
        for mode in modes_of(grid):
            yield from _together(layer, grid, mode, at_once, room)
            yield from _chunked(layer, part, grid, mode, at_once, room, (tiles_chunks, chunks_tiles))
            yield from _sliced(layer, part, grid, mode, at_once, room)
        orders = (whole_chunks, chunks_whole) if at_once < layer.batch else (whole_chunks,)
        yield from _chunked(layer, part, grid, whole_mode(grid), at_once, room, orders)
        for mode in block_modes(layer, grid):
            yield from _blocks(layer, part, grid, mode, at_once, room)


_INSIDE = {"join": _joined_plans, "mixed": _joined_plans, "apart": _apart_plans}


def _samples(layer: LoopLayer) -> list[int]:
    """Return how many samples may run at once: powers of two and all."""
    return [1 << i for i in range((layer.batch - 1).bit_length())] + [layer.batch]


Order = Callable[[LoopLayer, Part, Grid, Mode, Loops], LoopPlan]


def _chunked(
    layer: LoopLayer, part: Part, grid: Grid, mode: Mode, at_once: int, room: Room, orders: tuple[Order, ...]
) -> Iterator[LoopPlan]:
    """Yield orders with the fewest chunks that fit, evened out."""
    fixed, each = at_once * mode.held * part.channels, at_once * prod(grid.tile) * layer.word
    chunk = _evened(layer, part.outputs, room, fixed, each, part.reduction)
    if chunk:
        loops = Loops(1, chunk, part.reduction, chunk, at_once)
        yield from (order(layer, part, grid, mode, loops) for order in orders)


def _evened(layer: LoopLayer, outputs: int, room: Room, fixed: int, each: int, inputs: int) -> int:
    """Return the outputs of a chunk: the fewest chunks that fit, each as large; 0 if a word of outputs is too many."""
    words = -(-outputs // layer.word)
    if room.holds(fixed + each * words, layer.stationary_bytes(outputs, inputs)):
        return outputs
    most = room.without(fixed, 0).most(each, layer.stationary_bytes(layer.word, inputs))
    if most < 1:
        return 0
    return min(outputs, -(-words // -(-words // most)) * layer.word)


def _together(layer: LoopLayer, grid: Grid, mode: Mode, at_once: int, room: Room) -> Iterator[LoopPlan]:
    """Yield several groups that run together with all their weights, as many as fit, evened out."""
    for together in _divided(layer.groups):
        part = part_of(layer, together)
        loops = Loops(together, part.outputs, part.reduction, part.outputs, at_once)
        plan = tiles_chunks(layer, part, grid, mode, loops)
        if room.holds(plan.activation_bytes, plan.weight_bytes):
            yield plan
            return


def _divided(groups: int) -> Iterator[int]:
    """Yield half of it and so on, from all to two."""
    while groups > 1:
        yield groups
        groups = -(-groups // 2) if groups > 2 else 1


def _sliced(layer: LoopLayer, part: Part, grid: Grid, mode: Mode, at_once: int, room: Room) -> Iterator[LoopPlan]:
    """Yield the order that cuts the weights of a tile's outputs into slices, as few as fit, evened out."""
    words, reduction = -(-part.outputs // layer.word), -(-part.reduction // layer.word)
    sums = SUM_BYTES * at_once * prod(grid.tile) * layer.word
    left = room.without(at_once * mode.held * part.channels, 0)
    for chunk in _chunk_words(words, left.most(sums, layer.stationary_bytes(layer.word, layer.word))):
        outputs = min(chunk * layer.word, part.outputs)
        most = left.without(chunk * sums, 0).most(0, layer.stationary_bytes(outputs, layer.word))
        if 0 < most < reduction:
            inputs = -(-reduction // -(-reduction // most)) * layer.word
            yield tiles_slices(layer, part, grid, mode, Loops(1, outputs, inputs, outputs, at_once))


def _chunk_words(words: int, most: int) -> list[int]:
    """Return the words of a chunk tried: those of the fewest chunks, of a few more, and one."""
    if most < 1:
        return []
    fewest = -(-words // most)
    return list(dict.fromkeys([*(-(-words // min(words, fewest + i)) for i in range(MORE_CHUNKS)), 1]))


def _blocks(layer: LoopLayer, part: Part, grid: Grid, mode: Mode, at_once: int, room: Room) -> Iterator[LoopPlan]:
    """Yield the order that cuts a block's inputs into slices: chunks, and the weights of all of one or of a word."""
    words, units = -(-part.outputs // layer.word), max(units for units, _ in part.units)
    sums = SUM_BYTES * at_once * prod(grid.tile) * layer.word
    each = at_once * mode.held * layer.word
    word = layer.stationary_bytes(layer.word, layer.word)
    for is_inner in (False, True) if mode.name == "block" else (False,):
        left = room.without(each, word if is_inner else 0)
        for chunk in _chunk_words(words, left.most(sums, 0 if is_inner else word)):
            outputs = min(chunk * layer.word, part.outputs)
            inner = layer.word if is_inner else outputs
            most = room.without(chunk * sums, 0).most(each, layer.stationary_bytes(inner, layer.word))
            if most < units and (chunk > 1 or not is_inner):  # in one slice it is TK
                inputs = -(-units // -(-units // most)) * layer.word
                yield block_slices(layer, part, grid, mode, Loops(1, outputs, inputs, inner, at_once))
