"""Judges the run of a priced partition: derives what each step needs, replays its transfers, and checks what it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from simulator.accelerator import Accelerator
from simulator.execution.count.count import Count, Plan, kept_bytes
from simulator.execution.count.layer_facts import with_experts
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.count.stays import Interval, Lies
from simulator.execution.timed.held import held_needs
from simulator.execution.timed.looped import looped_needs
from simulator.execution.timed.needs import Needs
from simulator.execution.timed.replay import Kept, Replay
from workloads.network.network import Network


class Replayed(NamedTuple):
    """When a run ends, in slots, and the most bytes of activations and of weights that a core holds."""

    end: int
    activation_bytes: int
    weight_bytes: int
    together: int  #: most of both at once


def judge_run(
    network: Network,
    accelerator: Accelerator,
    plans: Sequence[Plan],
    counts: Sequence[Count],
    intervals: Iterable[Interval],
    run: Iterable[Sequence[Any]],
) -> Replayed:
    """Return what a replay of a run shows; raises Miss at the first thing that cannot be.

    Parameters
    ----------
    network : Network
        What is computed.
    accelerator : Accelerator
        The hardware.
    plans : sequence of Plan
        The choices of each step.
    counts : sequence of Count
        What was counted of each step.
    intervals : iterable of (int, int, int)
        Tensor, first and last step of all that is kept.
    run : iterable of sequences
        Every transfer: kind, step, layer, start, stop, bytes (`simulator.timing.Slice`).
    """
    network, spans = with_experts(network, accelerator.batch), list(intervals)
    steps = list(_needs(network, accelerator, plans, counts, spans))
    word = accelerator.technology.channel_alignment
    kept = [
        Kept(first, last, kept_bytes(network, Lies(kept=frozenset({u})), word, accelerator)) for u, first, last in spans
    ]
    technology = accelerator.technology
    ports = technology.dram_bytes_per_cycle, technology.crossbar_bytes_per_cycle
    replay = Replay(steps, kept, [tensor.name for tensor in network.tensors], run, ports)
    return _held(replay, accelerator)


def _needs(
    network: Network, accelerator: Accelerator, plans: Sequence[Plan], counts: Sequence[Count], spans: list[Interval]
) -> Iterator[Needs]:
    for step, (plan, count) in enumerate(zip(plans, counts)):
        part = Part(network, plan.layers, plan.lies)
        ends = {u: last for u, first, last in spans if first <= step <= last}
        yield (held_needs if plan.loops is None else looped_needs)(part, plan, accelerator, count, ends)


def _held(replay: Replay, accelerator: Accelerator) -> Replayed:
    """Return the most that is held; raises Miss where that is more than a memory has."""
    most, own = 0, [0, 0]
    for time, *held in replay.room():
        if accelerator.is_shared:
            sizes = [("shared", sum(held), accelerator.activation_capacity)]
        else:
            sizes = [
                ("global", held[0], accelerator.activation_capacity),
                ("weight", held[1], accelerator.weight_capacity),
            ]
        for name, size, capacity in sizes:
            if size > capacity:
                raise Miss(f"at {time}: {size} bytes are held, the {name} buffer has {capacity}")
        most, own = max(most, sum(held)), [max(pair) for pair in zip(own, held)]
    return Replayed(replay.end, *own, most)
