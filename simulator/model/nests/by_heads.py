"""The loop order of an attention with its projections: head by head, from the sources to the context.

Queries, keys and values of a head are made of their sources with the weights of that head alone, and are never whole.
Then tiles of queries run as an attention in a single block (layer/attention.py). Query heads that share a head of keys
come one after the other. (Our choice: Cocco holds all regions and weights of a subgraph.)
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.integers import ceil_div, row_bytes
from simulator.model.layer.axes import RING, WHOLE, Grid
from simulator.model.layer.goal import Place, holds, most, offer, without
from simulator.model.layer.loop_layer import LoopLayer, results_of, round_up
from simulator.model.layer.orders import HP, LoopPlan, Loops, LoopTotals


class Operand(NamedTuple):
    """Queries, keys or values."""

    width: int  #: channels of a head
    bits: int
    source: int  #: the producer whose rows they are made of


class Heads(NamedTuple):
    """The heads of an attention with projections; its producers are the sources."""

    operands: tuple[Operand, ...]  #: queries, keys, values
    rows: tuple[int, ...]  #: of each source
    groups: int  #: heads of keys and values
    sharing: int  #: heads of queries for each of them


def heads_plan(layer: LoopLayer, grid: Grid, mode: str, loops: Loops) -> LoopPlan:
    """HP: key heads, `apart` at once; what is made for them; query heads; `chunk` rows of queries; tiles.

    mode: "whole" has the sources on chip over all heads, and makes `inner` outputs of one at once. "ring" has `kept` of
    their rows there; the others pass in tiles for each step of heads, with all weights of these heads on chip.
    """
    heads, steps = layer.heads, ceil_div(layer.heads.groups, loops.apart)
    scores = layer.output_elements // layer.part.outputs * row_bytes(layer.keys, layer.bits.output)
    inputs, written, read, weights, updates = layer.stays.arriving_bytes, scores, scores, 0, 0
    for k in range(layer.producer_count):
        again = 0 if mode == WHOLE else max(0, heads.rows[k] - loops.kept) * (steps - 1)
        inputs += (heads.rows[k] + again) * row_bytes(layer.passing[k], layer.producer_bits[k])
    for i in range(3):
        each, often = heads.operands[i], heads.groups * (heads.sharing if i == 0 else 1)
        rows, row, reduction = heads.rows[each.source], row_bytes(each.width, each.bits), layer.producers[each.source]
        source, size = rows * row_bytes(reduction, layer.producer_bits[each.source]), often * weights_of(layer, i, 0)
        written += rows * row * often
        read += rows * row * often if i == 0 else grid.tiles * layer.keys * row * heads.groups * heads.sharing
        weights += size
        if mode == WHOLE:
            read += source * often * ceil_div(each.width, loops.inner)
            updates += size * (grid.tiles if i == 0 and loops.chunk < rows else 1)
        else:
            read += source * steps
            updates += size * (ceil_div(max(0, rows - loops.kept), grid.tile[0]) + (1 if loops.kept > 0 else 0))
    samples = layer.batch * layer.repeat
    outputs = layer.epilogue.left + (layer.output_bytes if layer.stays.is_written else 0)
    written += inputs + layer.output_bytes
    totals = LoopTotals(
        samples * weights, samples * inputs, samples * outputs, samples * (read + written + outputs),
        samples * (weights + updates), samples * written, samples * weights, 0, 0, 0, 0, 0,
    )  # fmt: skip
    return LoopPlan(
        HP, mode, grid.tile, loops.apart, loops.chunk, loops.slice, loops.inner, 1, loops.kept,
        heads_held(layer, grid, mode, loops), heads_weights(layer, mode, loops), totals,
    )  # fmt: skip


def weights_of(layer: LoopLayer, operand: int, inner: int) -> int:
    """Return the bytes of the weights of a head, or of so many outputs of it."""
    each = layer.heads.operands[operand]
    width = min(inner, each.width) if inner > 0 else each.width
    return row_bytes(layer.producers[each.source] * width, layer.bits.weights)


def heads_at_once(layer: LoopLayer, mode: str, loops: Loops, operand: int) -> int:
    """Return how many heads of queries (0), keys (1) or values (2) lie there at once: all that one pass makes."""
    return 1 if mode == WHOLE else loops.apart * (layer.heads.sharing if operand == 0 else 1)


def heads_held(layer: LoopLayer, grid: Grid, mode: str, loops: Loops) -> int:
    """Return the bytes of sources, queries, keys and values, scores and outputs of a tile."""
    held, passing = grid.tile[0] * results_of(layer, layer.keys), 0
    if not layer.stays.output:
        held += grid.tile[0] * results_of(layer, layer.part.outputs)
    for i in range(3):
        each = layer.heads.operands[i]
        rows = loops.chunk if i == 0 else layer.keys
        held += heads_at_once(layer, mode, loops, i) * rows * row_bytes(round_up(layer, each.width), each.bits)
    for k in range(layer.producer_count):
        rows = layer.heads.rows[k]
        there = rows if mode == WHOLE else min(loops.kept, rows)
        position = row_bytes(round_up(layer, layer.passing[k]), layer.producer_bits[k])
        held += there * position
        passing = max(passing, min(grid.tile[0], rows - there) * position)
    return held + passing


def heads_weights(layer: LoopLayer, mode: str, loops: Loops) -> int:
    """Return the bytes of the weights: a piece of one projection, or all of these heads that one source meets."""
    found = 0
    for k in range(layer.producer_count):
        size = 0
        for i in range(3):
            if mode == WHOLE:
                size = max(size, weights_of(layer, i, loops.inner))
            elif layer.heads.operands[i].source == k:
                size += heads_at_once(layer, mode, loops, i) * weights_of(layer, i, 0)
        found = max(found, size)
    return found


def heads_plans(at: Place) -> None:
    """Offer plans of a tile: sources stay, with as large pieces as fit; or pass, for as many heads at once as fit."""
    layer, grid, groups, position, longest = at.layer, at.grid, at.layer.heads.groups, 0, 0
    for k in range(layer.producer_count):
        longest = max(longest, layer.heads.rows[k])
        position += row_bytes(round_up(layer, layer.passing[k]), layer.producer_bits[k])
    rows, tile, widest = layer.rows.windows, grid.tile[0], max(layer.part.outputs, layer.part.reduction)
    words = ceil_div(widest, layer.word)
    one = Loops(1, rows, 1, layer.word, 1, 0)
    left = without(at.room, heads_held(layer, grid, WHOLE, one), 0)
    fitting = min(most(left, 0, heads_weights(layer, WHOLE, one)), words - 1)
    if not heads_offered(at, WHOLE, Loops(1, rows, 1, widest, 1, 0)) and fitting > 0:
        heads_offered(at, WHOLE, Loops(1, rows, 1, ceil_div(words, ceil_div(words, fitting)) * layer.word, 1, 0))
    if grid.tiles == 1:
        return
    heads_offered(at, WHOLE, Loops(1, tile, 1, widest, 1, 0))
    if position == 0:
        return
    one, two = Loops(1, rows, 1, widest, 1, 0), Loops(2, rows, 1, widest, 1, 0)
    held, weights = heads_held(layer, grid, RING, one), heads_weights(layer, RING, one)
    more, wider = heads_held(layer, grid, RING, two) - held, heads_weights(layer, RING, two) - weights
    fitting = min(groups, 1 + max(0, most(without(at.room, held, weights), more, wider)))
    apart = ceil_div(groups, ceil_div(groups, fitting))
    heads_offered(at, RING, Loops(apart, rows, 1, widest, 1, 0))
    for k in range(2):  # what is left to rows that stay: beside these heads, or one
        apart = apart if k == 0 else 1
        one = Loops(apart, rows, 1, widest, 1, 0)
        left = without(at.room, heads_held(layer, grid, RING, one), heads_weights(layer, RING, one))
        stay = min(most(left, position, 0), longest - 1)
        if stay > 0 and apart < groups:
            heads_offered(at, RING, Loops(apart, rows, 1, widest, 1, stay))


def smallest_loops(layer: LoopLayer, grid: Grid) -> list[tuple[str, Loops]]:
    """Return the loops of a tile that hold least, each with its mode; the first moves everything once."""
    rows, widest = layer.rows.windows, max(layer.part.outputs, layer.part.reduction)
    found = [
        (WHOLE, Loops(1, rows, 1, min(layer.word, widest), 1)),
        (WHOLE, Loops(1, grid.tile[0], 1, widest, 1)),
        (RING, Loops(1, rows, 1, widest, 1)),
    ]
    return found if grid.tiles > 1 else found[:1]


def heads_offered(at: Place, mode: str, loops: Loops) -> bool:
    """Offer a plan if it fits, and return whether it does."""
    layer, grid = at.layer, at.grid
    if not holds(at.room, heads_held(layer, grid, mode, loops), heads_weights(layer, mode, loops)):
        return False
    offer(at, grid.whole, heads_plan(layer, grid, mode, loops))
    return True
