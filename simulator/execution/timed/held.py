"""What the row operations of a subgraph need whose regions and weights are all on chip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from simulator.accelerator import Accelerator
from simulator.execution.cores.count import derive_team, layer_cycles, samples_of
from simulator.execution.cores.team import Team
from simulator.execution.count.array import array_cycles, works_of
from simulator.execution.count.checks import bytes_per_cycle
from simulator.execution.count.count import Count, Plan
from simulator.execution.count.layer_facts import loaded_by, position_bytes, row_bytes, tensor_of, weight_bytes
from simulator.execution.count.part import COLUMNS, ROWS, Part
from simulator.execution.count.scheme import Scheme, derive_scheme
from simulator.execution.group import group_of
from simulator.execution.timed.needs import Input, Needs, Output, Weights

EVENTS = 10_000  #: of one subgraph that a run tells apart; of more operations, neighbouring ones are taken together

Rows = Mapping[int, int]  #: by tensor id, the rows that there are


class _Held(NamedTuple):
    """Rows after each operation, cycles of the array for each layer, and the room in a core of a row of each tensor."""

    done: Sequence[Rows]
    cycles: dict[int, int]
    room: dict[int, int]  #: of all samples, which an operation makes
    whole: set[int]  #: tensors whose region has all rows of all samples


def held_needs(part: Part, plan: Plan, accelerator: Accelerator, count: Count, ends: Mapping[int, int]) -> Needs:
    """Return what the row operations of a part need.

    count: of the part; ends: the last step of each tensor that is kept now.
    """
    held, network, batch = _held(part, plan, accelerator), part.network, accelerator.batch
    computing = _slots(held.cycles, count.compute_cycles or 0, accelerator)
    together = -(-len(held.done) * (len(part.tensors) + 1) // EVENTS)
    done = [*held.done[together - 1 :: together]]
    done += [held.done[-1]] if len(held.done) % together else []
    steps = [(dict.fromkeys(part.tensors, 0), done[0]), *zip(done, done[1:])]
    height, width = part.extent
    inputs, outputs, first = list[Input](), list[Output](), dict[int, int]()
    for k, (before, after) in enumerate(steps):
        new = {u: after[u] - before[u] for u in part.tensors}
        coming = []
        for u in part.loaded:
            if new[u]:
                size = batch * new[u] * width[u] * position_bytes(network, u)
                coming.append(Input(k, size, new[u] * held.room[u], 0 if u in held.whole else k, ((u, after[u]),)))
        inputs += sorted(coming, key=lambda each: (each.since == k, each.room_bytes / each.size_bytes))
        leaving = []
        for u in part.outputs:
            size = batch * new[u] * width[u] * position_bytes(network, u)
            since = ends.get(u, -1) if u in held.whole else None
            leaving += [Output(k, size, new[u] * held.room[u], since, u, after[u])] if size else []
        outputs += sorted(leaving, key=lambda each: -2 if each.since is None else each.since)
        for v in part.layers:
            if new[v]:
                first.setdefault(v, k)
    own, all_of_them = count.weight_bytes or 0, count.ema_weight_bytes or 1
    weights, come, last = [], 0, len(steps) - 1
    order = [v for _, v in sorted((k, v) for v, k in first.items())]
    for v in loaded_by(network, order) if accelerator.cores == 1 else order:
        k, size = first[v], weight_bytes(network, v)
        rooms = [-(-each * own // all_of_them) for each in (come, come + size)]
        weights += [Weights(k, v, size, rooms[1] - rooms[0], last)] if size else []
        come += size
    slots = {v: [0, *(total * rows[v] // height[v] for rows in done)] for v, total in computing.items()}
    return Needs(slots, inputs, weights, outputs, count.activation_bytes or 0, count.crossbar_bytes or 0)


def _held(part: Part, plan: Plan, accelerator: Accelerator) -> _Held:
    technology = accelerator.technology
    if accelerator.cores > 1:
        team = derive_team(part, plan, accelerator)
        cycles, samples = layer_cycles(team, technology), max(samples_of(plan, accelerator))
        return _with_rows(team.scheme, team, samples, {v: samples * each for v, each in cycles.items()})
    one = part if plan.channel_groups == 1 else group_of(part, plan.channel_groups)
    scheme = derive_scheme(one, plan.tile, technology.channel_alignment, plan.at_once)
    often = accelerator.batch * plan.channel_groups
    cycles = {v: often * sum(array_cycles(work, technology) for work in works_of(one.network, v)) for v in one.layers}
    found = _with_rows(scheme, None, often, cycles)
    if one is part:
        return found
    names = {one.network.index[part.name(u)]: u for u in part.tensors}
    done = [{names[u]: count for u, count in rows.items()} for rows in found.done]
    room = {}  # of all groups, side by side
    for u in part.tensors:
        tensor = tensor_of(part.network, u)
        channels = -(-tensor.channels // technology.channel_alignment) * technology.channel_alignment
        room[u] = accelerator.batch * tensor.width * row_bytes(channels, tensor.bits)
    return _Held(done, {names[v]: each for v, each in found.cycles.items()}, room, set(part.lies.on_chip))


def _slots(cycles: Mapping[int, int], counted: int, accelerator: Accelerator) -> dict[int, int]:
    """Return the slots of each layer; counted: cycles of all, more than those of the array where ports are slower."""
    found, array, done, last = {}, sum(cycles.values()), 0, 0
    for v, each in cycles.items():
        done += each
        stop = done * counted // array
        found[v], last = ceil((stop - last) * bytes_per_cycle(accelerator)), stop
    return found


def _with_rows(scheme: Scheme, team: Team | None, samples: int, cycles: dict[int, int]) -> _Held:
    part, cells = scheme.part, scheme.cells
    width = part.extent[COLUMNS]
    room, whole = {}, set(part.lies.on_chip)
    for u in part.tensors:
        if team is None:
            sizes = [(width[u], cells[u])]
        else:
            sizes = [(share.extent(u), each[u]) for share, each in zip(team.shares, team.cells)]
        room[u] = max(across * row_bytes(each.channels, each.bits) * samples for across, each in sizes)
        is_whole = all(each.rows >= part.extent[ROWS][u] and each.columns >= across for across, each in sizes)
        if is_whole and all(each.samples >= samples for _, each in sizes):
            whole.add(u)
    return _Held(list(_rows_done(scheme)), cycles, room, whole)


def _rows_done(scheme: Scheme) -> Iterator[Rows]:
    """Yield the rows that there are after each operation: what starts at the same time is one."""
    done: dict[int, int] = dict.fromkeys(scheme.part.tensors, 0)
    last = None
    for time, event in scheme.rows.timed({u: cells.rows for u, cells in scheme.cells.items()}):
        if last is not None and time != last:
            yield dict(done)
        done[event.tensor], last = event.stop, time
    yield done
