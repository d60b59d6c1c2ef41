"""What a subgraph does step by step: which bytes are loaded, how long each layer computes, which bytes are stored.

A stage is one row operation of the tiling (model.md, section 2): everything that starts at the same time. Inside it,
tiles of columns load, compute and store in turn; in total that takes as long as doing each for all, as drawn here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import accumulate

from simulator.model.layer.loop_layer import Shared
from simulator.model.price import Price
from simulator.model.pricing import SubgraphModel
from simulator.model.subgraph.regions import Tiling
from simulator.model.subgraph.subgraph import ROWS, Subgraph
from simulator.model.subgraph.updates import starts_full
from simulator.technology import Rate
from simulator.timing.course import Course, Stage
from simulator.timing.crossing import crossing_of
from simulator.timing.loops import loop_course

MOST_STEPS = 1_000  #: of the loops of one layer; our choice: in a memory far too small a layer has millions
MOST_EVENTS = 10_000  #: of one subgraph; our choice: beyond it neighbouring row operations are taken together

Rows = dict[int, int]  #: by tensor id, the rows that exist


def course_of(model: SubgraphModel, price: Price, rate: Rate) -> Course:
    """Return the stages of a priced subgraph. Bytes and slots add up to those of the price."""
    if price.loops is None:
        return held_course(model, price, rate)
    loops, layers = model.loop_way(price).loops, model.subgraph.layers
    course = loop_course(loops, price.loops, layers[-1], rate.slots(price.compute_cycles), MOST_STEPS)
    if len(layers) > 1:
        cycles = model.layer_cycles(price)
        ends = [rate.slots(each) for each in accumulate([cycles[v] for v in layers], initial=0)]  # which add up
        return of_all_layers(course, {v: last - first for v, first, last in zip(layers, ends, ends[1:])})
    return with_crossing(course, model, price, loops.team.shared) if price.crossbar_bytes else course


def of_all_layers(course: Course, slots: dict[int, int]) -> Course:
    """Return the stages of a nest with what they compute shared out to its layers, which have so many slots in all.

    The first layer waits for the weights of a stage.
    """
    total, ends = sum(slots.values()), [0]
    for stage in course.stages:
        ends.append(ends[-1] + sum(each for _, each in stage.computing))
    stages = [
        stage._replace(
            weights=tuple((next(iter(slots)), size) for _, size in stage.weights),
            computing=tuple((v, each * last // total - each * first // total) for v, each in slots.items()),
        )
        for stage, first, last in zip(course.stages, ends, ends[1:])
    ]
    return course._replace(stages=tuple(stages))


def with_crossing(course: Course, model: SubgraphModel, price: Price, shared: Shared) -> Course:
    """Return the stages of a layer in a loop order with what crosses from and to the DRAM ports of other cores.

    It crosses with the loads and stores: in each stage in proportion to the traffic that all cores share.
    """
    (v,) = model.subgraph.layers
    sizes = [
        stage.input_bytes * (shared != "weights")
        + sum(size for _, size in stage.weights) * (shared != "inputs")
        + stage.output_bytes * (shared == "all")
        for stage in course.stages
    ]
    crossing, ends = Crossing(model, price), list(accumulate(sizes, initial=0))
    found = [
        stage._replace(crossing=crossing.between([(v, first, last, ends[-1])]))
        for stage, first, last in zip(course.stages, ends, ends[1:])
    ]
    return course._replace(stages=tuple(found))


class Crossing:
    """What crosses between cores for a subgraph, layer by layer, in bytes that add up to those of its price."""

    def __init__(self, model: SubgraphModel, price: Price) -> None:
        self.port, self.width = model.subgraph.geometry.technology.crossing(model.rules.cores)
        self.sizes = crossing_of(model, price) if price.crossbar_bytes else {}

    def between(self, parts: Iterable[tuple[int, int, int, int]]) -> tuple[tuple[int, int, int], ...]:
        """Return (layer, bytes, slots) for each (layer, from, to, whole): the part of its bytes that crosses.

        Slots are whole, and bytes those of the layer that have passed in them, and in those before.
        """
        found = []
        for v, start, stop, whole in parts:
            if size := self.sizes.get(v):
                ends = [-(-(size * each // whole) * self.port // self.width) for each in (start, stop)]
                done = [min(size, slots * self.width // self.port) for slots in ends]
                if ends[1] > ends[0]:
                    found.append((v, done[1] - done[0], ends[1] - ends[0]))
        return tuple(found)


def held_course(model: SubgraphModel, price: Price, rate: Rate) -> Course:
    """Return the row operations of a subgraph whose weights and regions are all held."""
    subgraph, held, way = model.subgraph, model.residency(price), model.way(price)
    height = subgraph.geometry.extent[ROWS]
    slots = {v: rate.slots(cycles) for v, cycles in model.layer_cycles(price).items()}
    done = row_operations(subgraph, held.tiling)
    rows = {u: way.samples * way.row_bytes(u) for u in subgraph.tensors}
    steps = list(zip([dict.fromkeys(subgraph.tensors, 0), *done], done))
    resident = {u for u in subgraph.tensors if held.regions[u].main_bytes >= height[u] * rows[u]} | subgraph.on_chip

    rounds = -(-model.rules.batch // way.samples)

    def whole(tensors: tuple[int, ...], before: Rows, after: Rows) -> int:
        """Bytes in one core of rows."""
        return sum((after[u] - before[u]) * rows[u] for u in tensors)

    def outside(tensors: tuple[int, ...], before: Rows, after: Rows) -> int:
        """Bytes in one core of rows that their region cannot hold in addition to those in use."""
        return whole(tuple(u for u in tensors if u not in resident), before, after)

    crossing = Crossing(model, price)
    return Course(
        tuple(
            _stage(model, slots, crossing, *step)._replace(
                ahead_bytes=outside(subgraph.loaded, *step),
                behind_bytes=outside(subgraph.outputs, *step),
                early_bytes=whole(subgraph.loaded, *step) * (rounds == 1),
                late_bytes=whole(subgraph.outputs, *step) * rounds,
            )
            for step in _coarser(steps, len(subgraph.tensors))
        )
    )


def row_operations(subgraph: Subgraph, tiling: Tiling) -> list[Rows]:
    """Return what exists after each row operation, from the first; the last has every row of every tensor.

    Update i of a tensor starts at time (i - 1) / updates, in elementary operations, and ends at row step i + lead.
    If the first updates fit into the regions together with everything before them (i <= 0), they take it all.
    """
    updates = {u: tile.step * tile.updates // tiling.merged[u] for u, tile in tiling.rows.items()}
    times, is_full = math.lcm(*updates.values()), starts_full(subgraph, tiling, ROWS)
    made: dict[int, Rows] = {}
    for u in subgraph.tensors:
        for update, row in _updates(subgraph, tiling, u, is_full):
            made.setdefault((update - 1) * times // updates[u], {})[u] = row
    done, found = dict.fromkeys(subgraph.tensors, 0), []
    for time in sorted(made):
        done = done | made[time]
        found.append(done)
    return found


def _updates(subgraph: Subgraph, tiling: Tiling, u: int, is_full: bool) -> Iterator[tuple[int, int]]:
    """Yield the updates of a tensor that make rows, with the row at which each ends."""
    height, step, lead = subgraph.geometry.extent[ROWS][u], tiling.merged[u], tiling.rows[u].lead
    update, done = 1 if is_full else min(1, -(lead // step)), 0
    while done < height:
        row = min(max(step * update + lead, 0), height)
        if row > done:
            yield update, row
        update, done = update + 1, row


def _coarser(steps: list[tuple[Rows, Rows]], width: int) -> list[tuple[Rows, Rows]]:
    """Return the steps, combined evenly if necessary so that there are few enough events."""
    together = -(-len(steps) * (width + 1) // MOST_EVENTS)
    groups = (steps[i : i + together] for i in range(0, len(steps), together))
    return [(group[0][0], group[-1][1]) for group in groups]


def _bringing(subgraph: Subgraph, before: Rows, made: list[int]) -> set[int]:
    """Return the layers that are the first to use their weights, when these begin or go on."""
    geometry, used = subgraph.geometry, {subgraph.geometry.shares[v] for v in subgraph.layers if before[v]} - {0}
    return {v for v in geometry.bringing(made) if geometry.shares[v] not in used}


def _stage(model: SubgraphModel, slots: dict[int, int], crossing: Crossing, before: Rows, after: Rows) -> Stage:
    subgraph, geometry, batch = model.subgraph, model.subgraph.geometry, model.rules.batch
    height, width = geometry.extent

    def moved(tensors: tuple[int, ...]) -> int:
        return batch * sum((after[u] - before[u]) * width[u] * geometry.row_bytes[u] for u in tensors)

    made = [v for v in subgraph.layers if after[v] > before[v]]
    return Stage(
        moved(subgraph.loaded),
        tuple((v, geometry.weight_bytes[v]) for v in made if not before[v] and v in _bringing(subgraph, before, made)),
        tuple((v, slots[v] * after[v] // height[v] - slots[v] * before[v] // height[v]) for v in made),
        moved(subgraph.outputs),
        crossing.between((v, before[v], after[v], height[v]) for v in made),
    )
