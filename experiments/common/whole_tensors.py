"""A schedule of whole tensors as a plan of tiles: each layer a subgraph, each stay of a tensor a kept interval.

So the plans of COSMA are among those that the search with kept tensors chooses from, and it may start from one. What
differs is rounding: a kept tensor takes whole groups of eight channels, and a concatenation is no copy.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from simulator.partition.intervals import Span
from simulator.partition.partition import Partition
from simulator.schedule.operators import operators_of
from simulator.schedule.schedule import Operator, Schedule
from simulator.technology import CHANNEL_ALIGNMENT
from workloads.network.network import Network


def plan_of(network: Network, schedule: Schedule) -> Partition:
    """Return the partition that runs the layers one by one in the order of the schedule and keeps what that keeps."""
    ids = {tensor.name: u for u, tensor in enumerate(network.tensors)}
    layers = [name for name in schedule.order if name in ids and ids[name] < len(network.layers)]
    step_of = {name: step for step, name in enumerate(layers)}
    parts = _parts(network)
    stays: dict[str, set[int]] = defaultdict(set)
    for each in schedule.segments:
        steps = {step_of[name] for name in schedule.order[each.first : each.last + 1] if name in step_of}
        for name in parts.get(each.tensor, (each.tensor,)):
            if name in ids:
                stays[name] |= steps
    spans: list[Span] = []
    for name, there in stays.items():
        uses = {step_of[layer.name] for layer in network.layers if name in layer.inputs}
        if name in step_of:
            uses.add(step_of[name])
        spans += [(ids[name], first, last) for first, last in _runs(sorted(uses), there)]
    return Partition.from_ids(network, [(ids[name],) for name in layers], "ema", sorted(spans))


def rounded(network: Network) -> tuple[Operator, ...]:
    """Return the operators of a network, each tensor with the bytes that a kept one takes in the buffer."""
    sizes = {
        tensor.name: tensor.size_bytes // tensor.channels * _aligned(tensor.channels) for tensor in network.tensors
    }
    for name, parts in _parts(network).items():
        sizes[name] = sum(sizes[part] for part in parts)
    return tuple(replace(each, size=sizes[each.name]) for each in operators_of(network, parameters=True))


def _aligned(channels: int) -> int:
    return -(-channels // CHANNEL_ALIGNMENT) * CHANNEL_ALIGNMENT


def _parts(network: Network) -> dict[str, tuple[str, ...]]:
    """Return the tensors of the network in each concatenation, which is an operator of a schedule and no layer here."""
    parts: dict[str, tuple[str, ...]] = {}
    for concat in network.concats:
        parts[concat.name] = tuple(name for each in concat.inputs for name in parts.get(each, (each,)))
    return parts


def _runs(uses: list[int], there: set[int]) -> list[tuple[int, int]]:
    """Return the first and the last use of each stretch in which a tensor that is used does not leave."""
    runs: list[list[int]] = []
    for step in uses:
        if step not in there:
            continue
        if runs and there.issuperset(range(runs[-1][-1], step + 1)):
            runs[-1].append(step)
        else:
            runs.append([step])
    return [(run[0], run[-1]) for run in runs if len(run) > 1]
