"""Every plan of a small layer: all tiles, chunks, slices and samples at once, of every order that fits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from simulator.model.layer import groups, orders
from simulator.model.layer.goal import Goal, Room, energy_of, holds, least_idle, least_slots
from simulator.model.layer.loops import LoopLayer
from simulator.model.layer.orders import LoopPlan, Loops


def every_plan(layer: LoopLayer, room: Room) -> Iterator[LoopPlan]:
    """Yield all plans that fit; groups and heads run one after the other."""
    room = Room(room.activation, None) if layer.is_product else room
    plans = {"apart": _apart, "join": _joined, "mixed": _joined, "norm": _norm}.get(layer.kind, _dense)
    for at_once, rows, columns in product(
        range(1, layer.batch + 1), range(1, layer.rows.windows + 1), range(1, layer.columns.windows + 1)
    ):
        for plan in plans(layer, orders.grid_of(layer, (rows, columns)), at_once):
            if holds(room, plan.activation_bytes, plan.weight_bytes):
                yield plan


def _sizes(whole: int, word: int) -> list[int]:
    return [*range(word, whole, word), whole]


def _dense(layer, grid, at_once):
    part = layer.part
    chunks, slices = _sizes(part.outputs, layer.word), _sizes(part.reduction, layer.word)[:-1]
    for chunk in chunks:
        loops = Loops(1, chunk, part.reduction, chunk, at_once)
        for mode in grid.modes:
            yield orders.tiles_chunks(layer, grid, mode, loops)
            yield orders.chunks_tiles(layer, grid, mode, loops)
            for kept in chunks[:-1]:
                yield orders.tiles_partly(layer, grid, mode, loops._replace(kept=kept))
            for kept in range(1, grid.rows.union + 1) if mode.name == "ring" else ():
                yield orders.chunks_partly(layer, grid, mode, loops._replace(kept=kept))
            for inputs in slices:
                yield orders.tiles_slices(layer, grid, mode, loops._replace(slice=inputs))
        yield orders.whole_chunks(layer, grid, grid.whole, loops)
        yield orders.chunks_whole(layer, grid, grid.whole, loops)
    units = max(units for units, _ in part.units)
    for mode in grid.blocks:
        for chunk, words in product(chunks, range(1, units)):
            for inner in _sizes(chunk, layer.word) if mode.name == "block" else [chunk]:
                yield orders.block_slices(layer, grid, mode, Loops(1, chunk, words * layer.word, inner, at_once))


def _apart(layer, grid, at_once):
    if not layer.weights:
        yield groups.running_sums(layer)
    for mode, step in product(grid.modes, _sizes(max(layer.producers), layer.word)):
        yield groups.channels_tiles(layer, grid, mode, step, at_once)


def _joined(layer, grid, at_once):
    for step in _sizes(layer.outputs, layer.word) if layer.kind == "join" else [layer.outputs]:
        yield groups.joined(layer, grid, orders.CT, step)
        yield groups.joined(layer, grid, orders.TC, step)


def _norm(layer, grid, at_once):
    yield from _joined(layer, grid, at_once)
    for kept in [0, *_sizes(layer.outputs, layer.word)]:
        yield groups.two_passes(layer, grid, kept)


def key(goal: Goal, plan: LoopPlan) -> tuple[float, ...]:
    """Return the sort key, smaller is better: the metric, then EMA, energy, the larger tile, fewer bytes held."""
    ema, slots = plan.ema_bytes, least_slots(goal, plan.totals)
    energy = energy_of(goal, plan.totals, slots, least_idle(goal, plan.totals))
    first = {"ema": (ema, energy), "energy": (energy, ema), "latency-sum": (slots, ema, energy)}[goal.metric]
    return (*first, -plan.tile[0] * plan.tile[1], plan.activation_bytes + plan.weight_bytes)
