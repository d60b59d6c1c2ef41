"""Where tensors lie while the steps of a plan run, in DRAM or on chip over several steps; found by running the steps.

Derived from layers and intervals alone, without prices or simulator.partition.steps. A step that reads a tensor that is
neither on chip nor in DRAM, or an interval that begins without its tensor, is a Miss.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from simulator.execution.count.miss import Miss
from workloads.network.network import Network

Interval = tuple[int, int, int]  #: tensor, first step, last step


class Lies(NamedTuple):
    """Where the tensors of one step lie."""

    on_chip: frozenset[int] = frozenset()  #: that it makes or reads, whole
    there: frozenset[int] = frozenset()  #: of these, that an earlier step left
    written: frozenset[int] | None = None  #: that it makes and DRAM gets; None: what others read, or nobody does
    kept: frozenset[int] = frozenset()  #: all that is on chip whole meanwhile
    ending: frozenset[int] = frozenset()  #: of those that an earlier step left, what this one reads, and none after it

    @property
    def elsewhere(self) -> int:
        """How many kept tensors the step does not use."""
        return len(self.kept) - len(self.on_chip)


NOTHING_STAYS = Lies()


def run_steps(network: Network, subgraphs: Sequence[Sequence[int]], intervals: Iterable[Interval]) -> list[Lies]:
    """Return where the tensors of each step lie; raises Miss."""
    kept: list[set[int]] = [set() for _ in subgraphs]
    left: list[set[int]] = [set() for _ in subgraphs]  # by an earlier step
    for tensor, first, last in intervals:
        for step in range(first, last + 1):
            kept[step].add(tensor)
            if step > first:
                left[step].add(tensor)
    reads = [{u for v in group for u in network.producers[v]} - set(group) for group in subgraphs]
    wanted = set().union(*(needed - there for needed, there in zip(reads, left)))  # from DRAM
    chip: set[int] = set()
    dram = set(range(len(network.layers), len(network.tensors)))
    found, unread = [], [set().union(*reads[step + 1 :]) for step in range(len(reads))]
    for step, group in enumerate(subgraphs):
        chip &= left[step]
        _check(network, step, chip, left[step], reads[step] - left[step], dram)
        written = {v for v in group if v in wanted or network.is_output[v]}
        touched = kept[step] & (set(group) | reads[step])
        there, ending = touched & chip, touched & chip & reads[step] - unread[step]
        found.append(Lies(*map(frozenset, (touched, there, written, kept[step], ending))))
        chip |= touched
        dram |= written
    return found


def _check(network: Network, step: int, chip: set[int], left: set[int], loads: set[int], dram: set[int]) -> None:
    """Raise Miss if a tensor that should be on chip or in DRAM is not there."""
    for u in sorted(left - chip):
        raise Miss(f"step {step}: tensor {network.tensors[u].name!r} is to be on chip, and no step has left it there")
    for u in sorted(loads - dram):
        raise Miss(f"step {step}: tensor {network.tensors[u].name!r} is to be loaded, and DRAM does not have it")
