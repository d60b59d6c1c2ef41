"""What DRAM and the array have to do for a partition, in order of need, and the room in which it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simulator.model.price import Price
from simulator.model.priced import PricedPartition
from simulator.model.pricing import SubgraphModel
from simulator.timing.course import Course


class Load(NamedTuple):
    """Rows, or weights of a layer, that come from DRAM for an operation."""

    part: int  #: that needs it: a layer of an operation
    operation: int
    step: int
    layer: int  #: whose weights
    size: int  #: bytes, over all cores
    room: (
        int  #: bytes of one core that it takes before its operation, while its step runs; 0 where there is always room
    )
    before: int  #: bytes of one core that it takes before its step
    is_early: bool  #: whether it may come before its step


class Store(NamedTuple):
    """Rows that go to DRAM when an operation has computed."""

    operation: int
    step: int
    size: int  #: bytes, over all cores
    room: int  #: bytes of one core that it takes while later operations of its step compute
    late: int  #: while later steps run
    until: int  #: the last step that holds them anyway, because they are kept
    is_mixed: bool  #: whether it is of several tensors: then its room is free when all of it has left


class Part(NamedTuple):
    """A layer of an operation: what the array computes at once."""

    layer: int
    slots: int
    passing: int  #: slots in which bytes cross between cores
    crossing_bytes: int


class Work(NamedTuple):
    """All of it. An operation is a stage of a course, counted over all steps; so is a part, over all operations."""

    rows: list[Load]  #: in order of need
    weights: list[Load]  #: in order of need
    stores: list[Store]
    parts: list[Part]
    first_part: list[int]  #: of each operation, and the number of parts
    first_operation: list[int]  #: of each step, and the number of operations
    after: list[int]  #: of each step, the last operation whose rows it may load from DRAM; -1 if none
    rows_kept: list[int]  #: of each operation, bytes of one core to leave for rows ahead and behind from here on
    room: list[int]  #: of each step, bytes of the activation buffer for what lies beside its regions (and weights, if
    #: shared): all that is free, or as many as the plan says
    weight_room: list[int]  #: of each step, of the weight buffer beside its weights; the same list if shared
    is_streamed: list[bool]  #: of each step


class Holds(NamedTuple):
    """What a step holds, bytes of one core."""

    weight_bytes: int
    early_rows: int  #: that its regions have for what it loads, and may come before it starts
    early_weights: int  #: over all cores: that may come before it starts
    until: int  #: the last step in which the rows that it writes stay on chip
    is_mixed: bool  #: whether it writes several tensors


def work_of(priced: PricedPartition, prices: Sequence[Price], courses: Sequence[Course]) -> Work:
    """Return what the courses of a priced partition load, compute and store."""
    models = priced.models
    work = Work([], [], [], [], [0], [0], _after(models, courses), [], *_rooms(priced, prices), [])
    kept = {(each.tensor_id, each.from_step): each.until_step for each in priced.partition.keep}
    for step, (model, price, course) in enumerate(zip(models, prices, courses)):
        until = min((kept.get((u, step), step) for u in model.subgraph.outputs), default=step)
        arriving = _arriving(model, price) if course.stages[0].early_bytes else 0
        early = price.weight_bytes if price.channel_groups > 1 else price.ema_weight_bytes
        add_step(
            work,
            course,
            Holds(price.weight_bytes, arriving, early, until, len(model.subgraph.outputs) > 1),
        )
    return work


def _rooms(priced: PricedPartition, prices: Sequence[Price]) -> tuple[list[int], list[int]]:
    chip, ahead = priced.accelerator, priced.partition.ahead or (None,) * len(prices)
    held = [price.kept_bytes + price.activation_bytes + price.weight_bytes * chip.is_shared for price in prices]
    free = [chip.activation_capacity - each for each in held]
    room = [size if most is None else min(size, most) for size, most in zip(free, ahead)]
    return room, room if chip.is_shared else [chip.weight_capacity - price.weight_bytes for price in prices]


def _after(models: Sequence[SubgraphModel], courses: Sequence[Course]) -> list[int]:
    """Return for each step the last operation of the last step whose tensors it loads."""
    last, ends, count = dict[int, int](), [], -1
    for model, course in zip(models, courses):
        ends.append(max((last.get(u, -1) for u in model.subgraph.loaded), default=-1))
        count += len(course.stages)
        last |= dict.fromkeys(model.subgraph.outputs, count)
    return ends


def add_step(work: Work, course: Course, holds: Holds) -> None:
    """Add the stages of a step to the work."""
    step, first = len(work.is_streamed), len(work.rows_kept)
    share = _Share(holds.weight_bytes, sum(size for stage in course.stages for _, size in stage.weights))
    early = holds.early_weights
    for operation, stage in enumerate(course.stages, first):
        part, places = len(work.parts), dict[int, int]()
        crossing = {v: (slots, size) for v, size, slots in stage.crossing}
        for v, slots in stage.computing or ((-1, 0),):
            places[v] = len(work.parts)
            work.parts.append(Part(v, slots, *crossing.get(v, (0, 0))))
        whole = operation > first
        early_rows = holds.early_rows * stage.input_bytes // stage.early_bytes if stage.early_bytes else 0
        for size, is_early in _pieces(stage.input_bytes, 0 if whole else early_rows):
            before = -(-stage.early_bytes * size // stage.input_bytes)
            work.rows.append(Load(part, operation, step, 0, size, stage.ahead_bytes * whole, before, is_early))
        for v, size in stage.weights:
            place, chunk = places.get(v, part), stage.chunk_bytes
            if course.is_streamed:
                work.weights.append(Load(place, operation, step, v, size, chunk, chunk, True))
                continue
            for piece, is_early in _pieces(size, early):
                work.weights.append(Load(place, operation, step, v, piece, 0, share.next(piece), is_early))
            early = max(0, early - size)
        if stage.output_bytes:
            rooms = stage.behind_bytes, stage.late_bytes
            work.stores.append(Store(operation, step, stage.output_bytes, *rooms, holds.until, holds.is_mixed))
        work.first_part.append(len(work.parts))
    work.rows_kept.extend(_rows_kept(course, work.room[step]))
    work.first_operation.append(len(work.rows_kept))
    work.is_streamed.append(course.is_streamed)


def _pieces(size: int, early: int) -> list[tuple[int, bool]]:
    """Return a transfer as what may come before its step and what may not."""
    return [each for each in ((min(size, early), True), (max(0, size - early), False)) if each[0]]


class _Share:
    """How much of one core each transfer of a subgraph's weights takes: its share, whole bytes in all."""

    def __init__(self, own: int, whole: int) -> None:
        self.own, self.whole, self.done = own, whole, 0

    def next(self, size: int) -> int:
        before, self.done = self.done, self.done + size
        return -(-self.done * self.own // self.whole) + -before * self.own // self.whole


def _arriving(model: SubgraphModel, price: Price) -> int:
    """Return the bytes of one core that the regions of a step have for what it loads, with what it loads to keep."""
    subgraph, regions = model.subgraph, model.residency(price).regions
    whole = sum(subgraph.geometry.size_bytes[u] for u in subgraph.arriving)
    return whole + sum(regions[u].main_bytes for u in subgraph.loaded if u in regions and u not in subgraph.on_chip)


def _rows_kept(course: Course, room: int) -> list[int]:
    """Return what to leave for rows from each stage on: the most input rows ahead, if they fit, and so output rows."""
    stages, found = course.stages, []
    ahead = behind = 0
    for k in reversed(range(len(stages))):
        behind = max(behind, stages[k - 1].behind_bytes) if k else behind
        first = ahead if ahead <= room else 0
        found.append(first + (behind if first + behind <= room else 0))
        ahead = max(ahead, stages[k].ahead_bytes)
    return found[::-1]
