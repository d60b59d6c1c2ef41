"""Judges the run of a priced partition: derives what each step needs, and replays its transfers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from simulator.accelerator import Accelerator
from simulator.execution.count.checks import Check, bytes_per_cycle, check_memory, number_of
from simulator.execution.count.count import Plan, kept_bytes
from simulator.execution.count.layer_facts import with_experts
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.count.stays import Interval, Lies
from simulator.execution.judge import Counted, pair_of
from simulator.execution.places import judge_places
from simulator.execution.timed.held import held_needs
from simulator.execution.timed.held_bytes import Room
from simulator.execution.timed.looped import looped_needs
from simulator.execution.timed.needs import Needs
from simulator.execution.timed.replay import Kept, Replay
from workloads.network.network import Network


class Replayed(NamedTuple):
    """What a replay shows: when a run ends, and the most that each memory of a core holds."""

    cycles: float
    memories: tuple[Check, ...]


def judge_run(
    network: Network,
    accelerator: Accelerator,
    steps: Sequence[tuple[Plan, Counted]],
    intervals: Sequence[Interval],
    run: Iterable[Sequence[Any]],
    places: Iterable[Sequence[Any]] | None = None,
) -> Replayed | None:
    """Return what a replay of a run shows; raises Miss at the first thing that cannot be.

    None where cycles were not counted. steps: the choices of each step, and what was counted of it. intervals:
    tensor, first and last step of all that is kept. run: every transfer, as kind, step, layer, start, stop, bytes
    (`simulator.timing.Slice`). places: as `judge_places` takes them, where they are to be judged.
    """
    if any(found.count.compute_cycles is None for _, found in steps):
        return None
    network = with_experts(network, accelerator.batch)
    technology = accelerator.technology
    pairs = [pair_of(network, accelerator, plan) or (None, None) for plan, _ in steps]
    given = [pair[0] for pair in pairs]
    kept = [
        Kept(
            first,
            last - (given[last] == u),  # then a result lies in its place
            kept_bytes(network, Lies(kept=frozenset({u})), technology.channel_alignment, accelerator),
        )
        for u, first, last in intervals
    ]
    per_cycle = bytes_per_cycle(accelerator)
    crossing = per_cycle / (accelerator.cores * technology.crossbar_bytes_per_cycle)  # slots of a byte
    names = [tensor.name for tensor in network.tensors]
    replay = Replay(list(_needs(network, accelerator, steps, intervals)), kept, names, run, crossing.as_integer_ratio())
    if places is not None:
        firsts = {(u, first): n for n, (u, first, _) in enumerate(intervals)}
        heirs = [
            (u, firsts.get((pairs[last][1] or 0, last), -1) if given[last] == u else -1) for u, _, last in intervals
        ]
        judge_places(replay, heirs, places, _capacities(accelerator))
    return Replayed(replay.end / number_of(per_cycle), _memories(replay, accelerator))


def _needs(
    network: Network, accelerator: Accelerator, steps: Sequence[tuple[Plan, Counted]], intervals: Sequence[Interval]
) -> Iterator[Needs]:
    for step, (plan, found) in enumerate(steps):
        ends = {u: last for u, first, last in intervals if first <= step <= last}
        derive = held_needs if plan.loops is None else looped_needs
        yield derive(Part(network, plan.layers, plan.lies), plan, accelerator, found.count, ends)


def _capacities(accelerator: Accelerator) -> dict[str, int]:
    room = {"global": accelerator.activation_capacity, "weight": accelerator.weight_capacity}
    return {"shared": accelerator.activation_capacity} if accelerator.is_shared else room


def _memories(replay: Replay, accelerator: Accelerator) -> tuple[Check, ...]:
    """Return the checks of the most that is held; raises Miss where that is more than a memory has."""
    room = _capacities(accelerator)
    most = [0] * len(room)
    for time, *held in replay.room(Room()):
        sizes = [sum(held)] if accelerator.is_shared else held
        for (name, capacity), size in zip(room.items(), sizes):
            if size > capacity:
                raise Miss(f"{size} bytes are held at {time}, the {name} buffer has {capacity}")
        most = [max(pair) for pair in zip(most, sizes)]
    return tuple(check_memory(f"executed_{name}", room[name], [size]) for name, size in zip(room, most))
