"""The cheapest loop order of one layer in a given memory: tries tiles, chunks, slices and samples at once.

For a tile and an order the chunk is the largest that fits, then evened out over the same number of passes (Cocco leaves
it open; our choice: brute force over all chunks moves no fewer bytes, tests/simulator/model/test_cheapest.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from math import prod
from typing import Literal, NamedTuple

from simulator.model.layer import attention, groups, orders
from simulator.model.layer.goal import ANY_NUMBER, Goal, Moving, Room, goal_of
from simulator.model.layer.loop_layer import LoopLayer, inputs_of, results_of, stationary_bytes
from simulator.model.layer.on_cores import together
from simulator.model.layer.orders import Grid, LoopPlan, Loops, Mode
from simulator.model.layer.tiles import equal_sizes

__all__ = [
    "ANY_NUMBER",
    "MORE_CHUNKS",
    "Goal",
    "Moving",
    "Room",
    "Tiles",
    "cheapest_plan",
    "goal_of",
    "plans_of",
    "tiles_of",
]

Tiles = Literal["bands", "equal", "all"]
MORE_CHUNKS = 4  #: least numbers of chunks tried where sums stay; our choice: there the fewest are not always cheapest


@lru_cache(maxsize=1 << 14)
def cheapest_plan(layer: LoopLayer, room: Room, goal: Goal, tiles: Tiles = "bands") -> LoopPlan | None:
    """Return the cheapest way to run a layer in this memory, None if none fits.

    Parameters
    ----------
    layer : LoopLayer
        From `loops.loop_layer`; for several cores from `schemes.looped.loop_ways`: then the sum over all cores counts.
    room : Room
        Bytes of one core.
    goal : Goal
        What is to be least.
    tiles : {"bands", "equal", "all"}
        "bands": squares, the whole map, and bands of full width and ceil(H / n) rows. "equal": also rectangles of
        ceil(H / n) x ceil(W / m). "all": all rectangles, for small maps.

    Returns
    -------
    LoopPlan or None
        Ties go to the least EMA, energy, the larger tile, fewer bytes, the first order of the table.

    Examples
    --------
    A product of 512 x 512 x 512 in 64 KB reads 1,527,808 bytes of its operands and writes 262,144.

    >>> from simulator.model.layer.loops import loop_layer
    >>> from workloads import Builder
    >>> b = Builder("product")
    >>> _ = b.matmul("c", b.input("a", 512, 1, 512), b.input("b", 512, 1, 512))
    >>> plan = cheapest_plan(loop_layer(b.build(), 0), Room(64 * 1024, None), Goal("ema", 100.0, 1.0, 1.0))
    >>> plan.order, plan.ema_bytes
    ('KP', 1789952)
    """
    return min((together(layer, plan) for plan in plans_of(layer, room, tiles)), key=goal.key, default=None)


def tiles_of(layer: LoopLayer, tiles: Tiles) -> list[tuple[int, int]]:
    """Return the output tiles to try as (rows, columns), each once.

    Examples
    --------
    >>> from simulator.model.layer.loops import loop_layer
    >>> from workloads import Builder
    >>> b = Builder("one")
    >>> _ = b.conv("a", b.input("x", 5, 9, 8), 8, 1)
    >>> tiles_of(loop_layer(b.build(), 0), "bands")
    [(5, 9), (3, 9), (2, 9), (1, 9), (5, 8), (4, 4), (2, 2), (1, 1)]
    """
    height, width = layer.rows.windows, layer.columns.windows
    if tiles == "all":
        return [(rows, columns) for rows in range(height, 0, -1) for columns in range(width, 0, -1)]
    squares = [(min(side, height), min(side, width)) for side in layer.squares]
    widths = equal_sizes(width) if tiles == "equal" else [width]
    return list(dict.fromkeys([*((rows, columns) for rows in equal_sizes(height) for columns in widths), *squares]))


def plans_of(layer: LoopLayer, room: Room, tiles: Tiles) -> Iterator[LoopPlan]:
    """Yield every plan tried that fits."""
    if layer.kind == "copy":
        yield from _fitting(room, groups.copy(layer))
        return
    if layer.kind == "apart" and not layer.weights:
        yield from _fitting(room, groups.running_sums(layer))
    of_kind = {
        "join": _joined_plans, "mixed": _joined_plans, "norm": _norm_plans, "apart": _apart_plans,
        "attention": _attention_plans,
    }  # fmt: skip
    inside = of_kind.get(layer.kind, _dense_plans)
    if layer.is_product:
        room = Room(room.activation, None)
    for tile in tiles_of(layer, tiles):
        for at_once in _samples(layer):
            yield from inside(Place(layer, orders.grid_of(layer, tile), at_once, room))


def _fitting(room: Room, *plans: LoopPlan) -> Iterator[LoopPlan]:
    yield from (plan for plan in plans if room.holds(plan.activation_bytes, plan.weight_bytes))


def _samples(layer: LoopLayer) -> list[int]:
    """Return how many samples may run at once: powers of two and all."""
    return [1 << i for i in range((layer.batch - 1).bit_length())] + [layer.batch]


class Place(NamedTuple):
    """A tile of some samples, and the memory available to it."""

    layer: LoopLayer
    grid: Grid
    at_once: int
    room: Room

    @property
    def positions(self) -> int:
        """Positions of its outputs."""
        return self.at_once * prod(self.grid.tile)

    @property
    def sum_bytes(self) -> int:
        """Bytes of a word of sums of its outputs."""
        return self.positions * self.layer.word * self.layer.bits.sum_bytes

    @property
    def result_bytes(self) -> int:
        """Bytes of a word of its outputs where results have a region of their own."""
        return 0 if self.layer.stays.output else self.positions * results_of(self.layer, self.layer.word)

    def beside(self, mode: Mode) -> Room:
        """Return the room that its input leaves."""
        return self.room.without(self.at_once * mode.held * self.layer.part.room, 0)

    def most_words(self, room: Room, word_bytes: int, inputs: int) -> int:
        """Return how many words of outputs fit at once with their weights for this many inputs, at most all."""
        outputs, word = self.layer.part.outputs, self.layer.word
        words = -(-outputs // word)
        if room.holds(words * word_bytes, stationary_bytes(self.layer, outputs, inputs)):
            return words
        return min(words - 1, room.most(word_bytes, stationary_bytes(self.layer, word, inputs)))


def _joined_plans(place: Place) -> Iterator[LoopPlan]:
    """Yield both orders of element-wise layers with the most channels at once that fit, or all where they mix."""
    layer, grid, _, room = place
    steps = range(layer.at_most, 0, -layer.word) if layer.kind == "join" else [layer.outputs]
    (mode,) = orders.modes_of(grid)
    for order in (groups.joined_channels, groups.joined_tiles):
        plans = (order(layer, grid, mode, min(step, layer.outputs)) for step in steps)
        yield from islice((plan for plan in plans if room.holds(plan.activation_bytes, 0)), 1)


def _norm_plans(place: Place) -> Iterator[LoopPlan]:
    """Yield the orders of element-wise layers, then two passes with the most channels that can stay in between."""
    yield from _joined_plans(place)
    layer, grid, _, room = place
    outputs = room.without(place.result_bytes + 2 * layer.bits.sum_bytes * prod(grid.tile), 0)
    words = outputs.most(place.positions * inputs_of(layer, layer.word) if layer.loaded else 0, 0)
    if words > 0:  # all of them, or one passes beside the others
        kept = layer.outputs if words * layer.word >= layer.outputs else (words - 1) * layer.word
        yield groups.two_passes(layer, grid, next(orders.modes_of(grid)), kept)


def _attention_plans(place: Place) -> Iterator[LoopPlan]:
    """Yield the order of an attention."""
    yield from attention.plans_of_tile(place.layer, place.grid, place.room)


def _apart_plans(place: Place) -> Iterator[LoopPlan]:
    """Yield the orders with independent channels: as many at once as fit and fill the array."""
    layer, grid, at_once, room = place
    largest = max(layer.producers)
    weights = groups.apart_weights(layer, min(layer.word, largest))
    for mode in orders.modes_of(grid):
        words = room.most(at_once * groups.apart_bytes(layer, grid, mode, layer.word), weights)
        if words:
            yield groups.channels_tiles(layer, grid, mode, min(words * layer.word, layer.at_most, largest), at_once)


def _dense_plans(place: Place) -> Iterator[LoopPlan]:
    """Yield the orders of a layer that reduces over channels; groups and heads run one after the other."""
    layer, grid, at_once, _ = place
    for mode in orders.modes_of(grid):
        yield from _chunked(place, mode, (orders.tiles_chunks, orders.chunks_tiles))
        yield from _sliced(place, mode)
        yield from _partly(place, mode)
    whole = (orders.whole_chunks, orders.chunks_whole) if at_once < layer.batch else (orders.whole_chunks,)
    yield from _chunked(place, orders.whole_mode(grid), whole)
    for mode in orders.block_modes(layer, grid):
        yield from _blocks(place, mode, False)
        if mode.name == "block":
            yield from _blocks(place, mode, True)


def _chunked(
    place: Place, mode: Mode, nests: tuple[Callable[[LoopLayer, Grid, Mode, Loops], LoopPlan], ...]
) -> Iterator[LoopPlan]:
    """Yield orders with the fewest chunks that fit, of equal size."""
    layer, part = place.layer, place.layer.part
    most = place.most_words(place.beside(mode), place.result_bytes, part.reduction)
    if most > 0:
        outputs = _evened(part.outputs, most, layer.word)
        loops = Loops(1, outputs, part.reduction, outputs, place.at_once)
        yield from (order(layer, place.grid, mode, loops) for order in nests)


def _partly(place: Place, mode: Mode) -> Iterator[LoopPlan]:
    """Yield the orders that keep what fits along with a chunk: weights of other outputs, or rows of a ring."""
    layer, part, room = place.layer, place.layer.part, place.beside(mode)
    word = stationary_bytes(layer, layer.word, part.reduction)
    row = layer.batch * part.room * place.grid.columns.union
    for outputs in _chunks(place, place.most_words(room, place.result_bytes, part.reduction)):
        left = room.without(
            -(-outputs // layer.word) * place.result_bytes, stationary_bytes(layer, outputs, part.reduction)
        )
        loops = Loops(1, outputs, part.reduction, outputs, place.at_once)
        kept = left.most(0, word) * layer.word
        if outputs < part.outputs and 0 < kept < part.outputs:
            yield orders.tiles_partly(layer, place.grid, mode, loops._replace(kept=kept))
        rows = min(left.most(row, 0), place.grid.rows.union) if row else 0
        if outputs < part.outputs and mode.name == "ring" and rows:
            yield orders.chunks_partly(layer, place.grid, mode, loops._replace(kept=rows))


def _sliced(place: Place, mode: Mode) -> Iterator[LoopPlan]:
    """Yield the order that cuts the weights of a tile's outputs into as few equal slices as fit."""
    layer, part, sums = place.layer, place.layer.part, place.sum_bytes
    room, units = place.beside(mode), -(-part.reduction // layer.word)
    for outputs in _chunks(place, place.most_words(room, sums, min(layer.word, part.reduction))):
        left = room.without(-(-outputs // layer.word) * sums, 0)
        most = left.most(0, stationary_bytes(layer, outputs, layer.word))
        if 0 < most < units:  # a single slice would be TK
            loops = Loops(1, outputs, _evened(units * layer.word, most, layer.word), outputs, place.at_once)
            yield orders.tiles_slices(layer, place.grid, mode, loops)


def _blocks(place: Place, mode: Mode, is_inner: bool) -> Iterator[LoopPlan]:
    """Yield the order that cuts a block's inputs into as few equal slices as fit.

    is_inner: hold the weights of one word of outputs, not of the whole chunk.
    """
    layer, part, sums = place.layer, place.layer.part, place.sum_bytes
    each, units = (
        place.at_once * mode.held * inputs_of(layer, layer.word) * (layer.loaded > 0),
        max(units for units, _ in part.units),
    )
    word = stationary_bytes(layer, min(layer.word, part.outputs), min(layer.word, part.reduction))
    room = place.room.without(each, word if is_inner else 0)
    for outputs in _chunks(place, place.most_words(room, sums, 0 if is_inner else min(layer.word, part.reduction))):
        inner = min(layer.word, outputs) if is_inner else outputs
        left = place.room.without(-(-outputs // layer.word) * sums, 0)
        most = left.most(each, stationary_bytes(layer, inner, min(layer.word, part.reduction)))
        if most < units:  # a single slice would be TK
            loops = Loops(1, outputs, _evened(units * layer.word, most, layer.word), inner, place.at_once)
            yield orders.block_slices(layer, place.grid, mode, loops)


def _chunks(place: Place, most: int) -> list[int]:
    """Return the chunk sizes to try, in outputs: for the fewest chunks, for a few more, and a single word."""
    outputs, word = place.layer.part.outputs, place.layer.word
    if most < 1:
        return []
    words = -(-outputs // word)
    fewest = -(-words // most)
    tried = [_evened(outputs, -(-words // (fewest + more)), word) for more in range(MORE_CHUNKS)]
    return list(dict.fromkeys([*tried, min(word, outputs)]))


def _evened(size: int, most: int, word: int) -> int:
    """Return the size of equal pieces, as few as possible, of at most this many words: whole words, or everything.

    Examples
    --------
    >>> _evened(100, 8, 8)
    56
    """
    words = -(-size // word)
    return min(size, -(-words // -(-words // most)) * word)
