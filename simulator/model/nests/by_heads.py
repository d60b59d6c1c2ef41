"""The loop order of an attention with its projections: head by head, from the sources to the context.

Queries, keys and values of a head are made of their sources with the weights of that head alone, and are never whole:
only what is read later leaves. Then tiles of queries run as an attention in a single block (layer/attention.py).
Query heads that share a head of keys come one after the other.

(Our choice: Cocco holds all regions and weights of a subgraph.)
"""

from __future__ import annotations

from simulator.integers import ceil_div, row_bytes
from simulator.model.layer.axes import RING, WHOLE, Grid
from simulator.model.layer.goal import Place, holds, most, offer, without
from simulator.model.layer.loop_layer import LoopLayer, results_of, round_up
from simulator.model.layer.orders import HP, LoopPlan, Loops, LoopTotals


def heads_plan(layer: LoopLayer, grid: Grid, mode: str, loops: Loops) -> LoopPlan:
    """HP: key heads, `apart` at once; what is made for them; query heads; `chunk` rows of queries; tiles.

    mode: "whole" has the sources on chip over all heads, and makes `inner` outputs of one at once. "ring" has `kept` of
    their rows there; the others pass in tiles for each step of heads, with all weights of these heads on chip.
    """
    heads, tile, steps = layer.heads, grid.tile[0], ceil_div(layer.heads.groups, loops.apart)
    scores = layer.output_elements // layer.part.outputs * row_bytes(layer.keys, layer.bits.output)
    inputs, left, written, weights, updates = layer.stays.arriving_bytes, 0, scores, 0, 0
    read = scores
    for i in range(3):
        each, often = heads.operands[i], heads_of(layer, i)
        row, source = row_bytes(each.width, each.bits), each.made * row_bytes(each.reduction, each.source_bits)
        inputs += each.coming * row * often
        written += each.made * row * often
        left += each.made * row * often * each.leaves
        if i == 0:
            read += (each.loaded + each.made) * row * often
        else:
            read += grid.tiles * layer.keys * row * heads.groups * heads.sharing
        if each.source == i and not each.is_there:
            again = 0 if mode == WHOLE else max(0, each.made - loops.kept) * (steps - 1)
            inputs += source + again * row_bytes(each.reduction, each.source_bits)
        size = often * row_bytes(each.reduction * each.width, layer.bits.weights)
        weights += size
        if mode == WHOLE:
            read += source * often * ceil_div(each.width, loops.inner)
            updates += size * (grid.tiles if i == 0 and loops.chunk < each.made else 1)
        else:
            read += source * steps
            updates += size * (ceil_div(max(0, each.made - loops.kept), tile) + (1 if loops.kept > 0 else 0))
    samples = layer.batch * layer.repeat
    results = layer.output_bytes
    outputs = left + (results if layer.stays.is_written else 0)
    written += inputs + results
    totals = LoopTotals(
        samples * weights, samples * inputs, samples * outputs, samples * (read + written + outputs),
        samples * (weights + updates), samples * written, samples * weights, 0, 0, 0,
    )  # fmt: skip
    return LoopPlan(
        HP, mode, grid.tile, loops.apart, loops.chunk, loops.slice, loops.inner, 1, loops.kept,
        heads_held(layer, grid, mode, loops), heads_weights(layer, mode, loops), totals,
    )  # fmt: skip


def heads_of(layer: LoopLayer, operand: int) -> int:
    """Return the heads of queries (0), keys (1) or values (2)."""
    return layer.heads.groups * (layer.heads.sharing if operand == 0 else 1)


def heads_at_once(layer: LoopLayer, mode: str, loops: Loops, operand: int) -> int:
    """Return how many heads of an operand lie there at once: while sources pass, all that are made of them."""
    if mode == WHOLE or not layer.heads.operands[operand].made:
        return 1
    return loops.apart * (layer.heads.sharing if operand == 0 else 1)


def heads_held(layer: LoopLayer, grid: Grid, mode: str, loops: Loops) -> int:
    """Return the bytes of sources, queries, keys and values, scores and outputs of a tile."""
    held = grid.tile[0] * results_of(layer, layer.keys)
    if not layer.stays.output:
        held += grid.tile[0] * results_of(layer, layer.part.outputs)
    passing = 0
    for i in range(3):
        each = layer.heads.operands[i]
        rows = loops.chunk if i == 0 else each.loaded + each.made
        if not each.coming and not each.made:  # all of them are on chip, whole
            rows = 0
        held += heads_at_once(layer, mode, loops, i) * rows * row_bytes(round_up(layer, each.width), each.bits)
        if each.source == i and not each.is_there:
            position = row_bytes(round_up(layer, each.reduction), each.source_bits)
            there = each.made if mode == WHOLE else min(loops.kept, each.made)
            held += there * position
            passing = max(passing, min(grid.tile[0], each.made - there) * position)
    return held + passing


def heads_weights(layer: LoopLayer, mode: str, loops: Loops) -> int:
    """Return the bytes of the weights: a piece of one projection, or all of these heads that one source meets."""
    found = 0
    for i in range(3):
        size = 0
        for k in range(3):
            each = layer.heads.operands[k]
            if mode == WHOLE:
                size = max(size, row_bytes(each.reduction * min(loops.inner, each.width), layer.bits.weights))
            elif each.source == i:
                head = row_bytes(each.reduction * each.width, layer.bits.weights)
                size += heads_at_once(layer, mode, loops, k) * head
        found = max(found, size)
    return found


def heads_plans(at: Place) -> None:
    """Offer plans of a tile: sources stay, with as large pieces as fit; or pass, for as many heads at once as fit."""
    layer, grid, groups, widest, longest, position = at.layer, at.grid, at.layer.heads.groups, 0, 0, 0
    for i in range(3):
        each = layer.heads.operands[i]
        widest = max(widest, each.width if each.made else 0)
        if each.source == i and not each.is_there:
            longest = max(longest, each.made)
            position += row_bytes(round_up(layer, each.reduction), each.source_bits)
    queries = layer.heads.operands[0]
    rows = queries.made if queries.made else grid.tile[0]
    words = ceil_div(widest, layer.word)
    one = Loops(1, rows, 1, layer.word, 1, 0)
    left = without(at.room, heads_held(layer, grid, WHOLE, one), 0)
    fitting = min(most(left, 0, heads_weights(layer, WHOLE, one)), words - 1)
    if not _heads_offered(at, WHOLE, Loops(1, rows, 1, widest, 1, 0)) and fitting > 0:
        _heads_offered(at, WHOLE, Loops(1, rows, 1, ceil_div(words, ceil_div(words, fitting)) * layer.word, 1, 0))
    if grid.tiles == 1:
        return
    if queries.made:
        _heads_offered(at, WHOLE, Loops(1, grid.tile[0], 1, widest, 1, 0))
    one, two = Loops(1, rows, 1, widest, 1, 0), Loops(2, rows, 1, widest, 1, 0)
    held, weights = heads_held(layer, grid, RING, one), heads_weights(layer, RING, one)
    more, wider = heads_held(layer, grid, RING, two) - held, heads_weights(layer, RING, two) - weights
    fitting = min(groups, 1 + max(0, most(without(at.room, held, weights), more, wider)))
    if longest:
        apart = ceil_div(groups, ceil_div(groups, fitting))
        _heads_offered(at, RING, Loops(apart, rows, 1, widest, 1, 0))
        for k in range(2):
            apart = 1 if k else apart
            one = Loops(apart, rows, 1, widest, 1, 0)
            left = without(at.room, heads_held(layer, grid, RING, one), heads_weights(layer, RING, one))
            stay = min(most(left, position, 0), longest - 1)
            if stay > 0 and apart < groups:
                _heads_offered(at, RING, Loops(apart, rows, 1, widest, 1, stay))


def smallest_loops(layer: LoopLayer, grid: Grid) -> list[tuple[str, Loops]]:
    """Return the loops of a tile that hold least, each with its mode; the first moves everything once."""
    queries, widest = layer.heads.operands[0], max(each.width for each in layer.heads.operands if each.made)
    rows = queries.made or grid.tile[0]
    found = [
        (WHOLE, Loops(1, rows, 1, min(layer.word, widest), 1)),
        (WHOLE, Loops(1, grid.tile[0], 1, widest, 1)),
        (RING, Loops(1, rows, 1, widest, 1)),
    ]
    return found if grid.tiles > 1 else found[:1]


def _heads_offered(at: Place, mode: str, loops: Loops) -> bool:
    """Offer a plan if it fits, and return whether it does."""
    layer, grid = at.layer, at.grid
    if not holds(at.room, heads_held(layer, grid, mode, loops), heads_weights(layer, mode, loops)):
        return False
    offer(at, grid.whole, heads_plan(layer, grid, mode, loops))
    return True
