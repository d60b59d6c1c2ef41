"""The cheapest loop order of one layer in a given memory: tries tiles, chunks, slices and samples at once.

For a tile and an order the chunk is the largest that fits, then evened out over the same number of passes (Cocco leaves
it open; our choice: brute force over all chunks moves no fewer bytes, tests/simulator/model/test_cheapest.py). Orders
of a tile are skipped where what they move at least already comes after the best plan so far.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from simulator.integers import ceil_div, row_bytes
from simulator.model.chains.plans import chain_plans
from simulator.model.layer.attention import keys_bytes, most_seen, position_bytes, tiles_blocks
from simulator.model.layer.dense import dense_plans
from simulator.model.layer.goal import SHARED, Best, Goal, Place, Room, holds, may_win, most, offer, without
from simulator.model.layer.groups import (
    apart_bytes,
    apart_weights,
    broadcast_bytes,
    channels_tiles,
    copy,
    joined,
    joined_bytes,
    joined_traffic,
    joined_weights,
    running_sums,
    two_passes,
)
from simulator.model.layer.loop_layer import (
    APART,
    ATTENTION,
    CHAIN,
    COPY,
    HEADS,
    JOIN,
    MIXED,
    NORM,
    LoopLayer,
    inputs_of,
    results_of,
    round_up,
)
from simulator.model.layer.orders import (
    CT,
    TC,
    LoopPlan,
    grid_of,
    weight_updates,
)
from simulator.model.nests.by_heads import heads_plans
from simulator.model.subgraph.tiles import equal_sizes

Tiles = Literal["bands", "equal", "all"]


@lru_cache(maxsize=1 << 14)
def cheapest_plan(layer: LoopLayer, room: Room, goal: Goal, tiles: Tiles = "bands") -> LoopPlan | None:
    """Return the cheapest way to run a layer in this memory, None if none fits.

    layer: for several cores from `schemes.looped.loop_ways`: then the sum over all cores counts. room: bytes of one
    core. tiles: "bands": squares, the whole map, and bands of full width and ceil(H / n) rows; "equal": also
    rectangles of ceil(H / n) x ceil(W / m); "all": all rectangles, for small maps. Ties go to the least EMA,
    energy, the larger tile, fewer bytes, the first order of the table.

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
    best = Best()
    find_cheapest(_place(layer, room, goal, best, tiles))
    return best.plan if best.found else None


class _Every(Best):
    """Takes every plan, none of which is the best so far."""

    def __init__(self) -> None:
        self.plans: list[LoopPlan] = []

    found = property(lambda self: 0, lambda self, value: None)
    plan = property(lambda self: self.plans[-1], lambda self, plan: self.plans.append(plan))


def plans_of(layer: LoopLayer, room: Room, tiles: Tiles) -> list[LoopPlan]:
    """Return every plan tried that fits, as all cores run it."""
    every = _Every()
    find_cheapest(_place(layer, room, Goal("ema", 0.0, 0.0, 0.0), every, tiles))
    return every.plans


def _place(layer: LoopLayer, room: Room, goal: Goal, best: Best, tiles: Tiles) -> Place:
    return Place(layer, room, goal, best, [grid_of(layer, tile) for tile in tiles_of(layer, tiles)])


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
    if layer.epilogue.in_order:
        return [(1, 1)]
    height, width = layer.rows.windows, layer.columns.windows
    if layer.kind == CHAIN:  # has bands of its own
        return [(height, width)]
    if tiles == "all":
        return [(rows, columns) for rows in range(height, 0, -1) for columns in range(width, 0, -1)]
    squares = [(min(side, height), min(side, width)) for side in layer.squares]
    widths = equal_sizes(width) if tiles == "equal" else [width]
    return list(dict.fromkeys([*((rows, columns) for rows in equal_sizes(height) for columns in widths), *squares]))


def find_cheapest(at: Place) -> None:
    """Offer all plans that fit."""
    layer = at.layer
    if layer.kind == CHAIN:
        chain_plans(at)
        return
    if layer.kind == COPY:
        _offer_fitting(at, copy(layer))
        return
    if layer.kind == APART and not layer.weights:
        _offer_fitting(at, running_sums(layer))
    if layer.is_product:
        at.room = Room(at.room.activation, SHARED)
    at.room = without(at.room, layer.epilogue.room, 0)
    for i in range(at.grid_count):
        at.grid, at.at_once = at.grids[i], 1
        while at.at_once < layer.batch:  # powers of two, and all samples
            _plans_of_tile(at)
            at.at_once *= 2
        at.at_once = layer.batch
        _plans_of_tile(at)


def _offer_fitting(at: Place, plan: LoopPlan) -> None:
    """Offer a plan without tiles to choose, where it fits."""
    if holds(at.room, plan.activation_bytes, plan.weight_bytes):
        offer(at, at.grid.whole, plan)


def _plans_of_tile(at: Place) -> None:
    layer, grid = at.layer, at.grid
    if layer.kind == JOIN or layer.kind == MIXED or layer.kind == NORM:
        _joined_plans(at)
        if layer.kind == NORM:
            _norm_plans(at)
        return
    if layer.kind == ATTENTION:
        _attention_plans(at)
        return
    if layer.kind == HEADS:
        heads_plans(at)
        return
    windows, updates = layer.window_bytes * grid.windows, weight_updates(layer, grid, at.at_once)
    if may_win(at, layer.coming, layer.loaded * grid.union, windows, updates):
        if layer.kind == APART:
            _apart_plans(at)
        else:
            dense_plans(at)


def _joined_plans(at: Place) -> None:
    """Offer both orders of element-wise layers with the most channels at once that fit, or all where they mix.

    A scan in blocks of channels runs each through all rows, so only CT has them.
    """
    layer, grid = at.layer, at.grid
    step = layer.at_most if layer.kind == JOIN else round_up(layer, layer.outputs)
    reads = layer.loaded * grid.union + broadcast_bytes(layer)
    if may_win(at, 0, reads, joined_traffic(layer, grid, ceil_div(layer.outputs, step)), 0):
        _joined_plan(at, CT, step)
        _joined_plan(at, TC, step)


def _joined_plan(at: Place, order: str, step: int) -> None:
    layer = at.layer
    while step > 0:
        channels = min(step, layer.outputs)
        if holds(at.room, joined_bytes(layer, at.grid, order, channels), joined_weights(layer, channels)):
            offer(at, at.grid.modes[0], joined(layer, at.grid, order, channels))
            return
        step = step - layer.word if layer.kind == JOIN or (layer.state and order == CT) else 0


def _norm_plans(at: Place) -> None:
    """Offer two passes with the most channels that can stay in between: all, or one passes beside the others."""
    layer, grid, reads = at.layer, at.grid, 0
    results = 0 if layer.stays.output else at.at_once * results_of(layer, layer.word)
    left = without(at.room, (results + 2 * layer.bits.sum_bytes) * grid.area, 0)
    words = most(left, at.at_once * grid.area * inputs_of(layer, layer.word) if layer.loaded else 0, 0)
    if words <= 0:
        return
    kept = layer.outputs if words >= ceil_div(layer.outputs, layer.word) else (words - 1) * layer.word
    if layer.loaded:
        reads = grid.windows * (2 * layer.loaded - row_bytes(kept, layer.most_bits))
    if may_win(at, 0, reads, 2 * grid.windows * layer.window_bytes, 0):
        offer(at, grid.modes[0], two_passes(layer, grid, kept))


def _attention_plans(at: Place) -> None:
    """Offer a plan with a single block where that fits, and one with as few equal blocks as fit."""
    layer, grid, mode = at.layer, at.grid, at.grid.modes[0]
    seen = most_seen(layer, grid)
    words = ceil_div(seen, layer.word)
    if holds(at.room, keys_bytes(layer, seen), 0):
        plan = tiles_blocks(layer, grid, seen)
        if holds(at.room, plan.activation_bytes, plan.weight_bytes):
            offer(at, mode, plan)
    left = without(at.room, mode.held * layer.part.room + grid.area * position_bytes(layer, True), 0)
    word = grid.area * results_of(layer, layer.word) + keys_bytes(layer, layer.word)
    fitting = min(most(left, word, 0), words - 1)
    if fitting > 0:
        offer(at, mode, tiles_blocks(layer, grid, ceil_div(words, ceil_div(words, fitting)) * layer.word))


def _apart_plans(at: Place) -> None:
    """Offer the orders with independent channels: as many at once as fit and fill the array."""
    layer, grid, largest = at.layer, at.grid, 0
    for i in range(layer.producer_count):
        largest = max(largest, layer.producers[i])
    weights = apart_weights(layer, min(layer.word, largest))
    for number in range(grid.mode_count):
        mode = grid.modes[number]
        words = most(at.room, at.at_once * apart_bytes(layer, grid, mode, layer.word), weights)
        if words:
            step = min(words * layer.word, layer.at_most, largest)
            offer(at, mode, channels_tiles(layer, grid, mode, step, at.at_once))
