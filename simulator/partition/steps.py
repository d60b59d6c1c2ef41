"""Where the tensors of every step lie: what is kept on chip, what is read from DRAM, what is written there.

Of an interval [a, z] the steps after a read the tensor on chip; where a does not make it, a itself loads it from DRAM.
Readers outside any interval read DRAM. A tensor is written to DRAM, by the step that makes it, if and only if it is a
model output or some step reads it from DRAM. Without intervals, loaded is in(S) and written is out(S) of model.md,
section 1. Tensor ids only: bytes are for the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from simulator.partition.intervals import Span
from simulator.partition.partition import Partition
from workloads.network.network import Network


class Step(NamedTuple):
    """Where the tensors of one step lie, by id."""

    kept: tuple[int, ...]  #: on chip, whole, during the step; ascending
    loaded: tuple[int, ...]  #: of in(S), read from DRAM: also those that are loaded to be kept
    on_chip: tuple[int, ...]  #: of in(S), kept by an earlier step
    written: tuple[int, ...]  #: of S, written to DRAM; ascending
    touched: frozenset[int]  #: of kept, those in S or in(S): no MAIN and no SIDE
    layers: tuple[int, ...]  #: ascending
    last: frozenset[int]  #: of on_chip, those that no later step reads


def steps_of(network: Network, partition: Partition) -> tuple[Step, ...]:
    """Return where the tensors of each step of a partition lie, in execution order."""
    return steps_with(network, partition.subgraphs, [interval.span for interval in partition.keep])


def steps_with(network: Network, subgraphs: Sequence[Sequence[int]], spans: Iterable[Span]) -> tuple[Step, ...]:
    """Return the same for subgraphs in execution order and valid intervals: (tensor, first step, last step)."""
    kept: list[set[int]] = [set() for _ in subgraphs]
    begins: list[set[int]] = [set() for _ in subgraphs]
    for tensor, start, end in spans:
        begins[start].add(tensor)
        for step in range(start, end + 1):
            kept[step].add(tensor)
    inputs = [_inputs(network, group) for group in subgraphs]
    loaded = [
        tuple(u for u in needed if u not in kept[step] or u in begins[step]) for step, needed in enumerate(inputs)
    ]
    from_dram = {tensor for needed in loaded for tensor in needed}
    found, last_reader = [], {u: step for step, needed in enumerate(inputs) for u in needed}
    for step, (group, needed) in enumerate(zip(subgraphs, inputs)):
        on_chip = tuple(u for u in needed if u in kept[step] and u not in begins[step])
        written = tuple(v for v in sorted(group) if v in from_dram or network.is_output[v])
        touched = frozenset(kept[step].intersection((*group, *needed)))
        last = frozenset(u for u in on_chip if last_reader[u] == step)
        found.append(
            Step(tuple(sorted(kept[step])), loaded[step], on_chip, written, touched, tuple(sorted(group)), last)
        )
    return tuple(found)


def _inputs(network: Network, group: Sequence[int]) -> tuple[int, ...]:
    """Return in(S): the producers outside, each once, in the order in which the layers read them."""
    inside = set(group)
    return tuple(dict.fromkeys(p for v in sorted(group) for p in network.producers[v] if p not in inside))
