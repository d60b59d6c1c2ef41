"""The choice of kept intervals as plain numbers: steps, tensors and bytes, without networks or prices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from simulator.partition.intervals import Span, Uses
from workloads.network.network import Network

#: bytes of a step beside what is kept there, given which of the tensors that it makes or reads are kept
Need = Callable[[int, frozenset[int]], int]


class KeepProblem(NamedTuple):
    """Which tensors may stay on chip over which steps, and the bytes that takes and saves; tensors are 0, 1, ...

    Step i with the kept tensors K runs if sum(whole[u] for u in K) + need(i, K of made[i] and read[i]) <= room[i] and
    at most spare[i] of K are neither made nor read there.
    """

    made: tuple[tuple[int, ...], ...]  #: per step the tensors that it makes and a later step reads
    read: tuple[tuple[int, ...], ...]  #: per step the tensors that it reads from elsewhere
    whole: tuple[int, ...]  #: per tensor the bytes on chip while it is kept
    moved: tuple[int, ...]  #: per tensor the bytes of one crossing of DRAM, all samples
    room: tuple[int, ...]  #: per step the bytes of the buffer
    least: tuple[int, ...] | None = None  #: per step what need never falls below; only makes the search faster
    spare: tuple[int, ...] | None = None  #: per step the regions left for what it does not touch; None: any number
    stored: frozenset[int] = frozenset()  #: tensors that are written to DRAM whatever is kept


class Chosen(NamedTuple):
    """Intervals and what they save."""

    spans: tuple[Span, ...]  #: (tensor, first step, last step), ascending
    saved_bytes: int  #: of DRAM, against nothing kept
    exact: bool  #: whether no choice of intervals saves more
    states: int  #: the most that were open after a step


def made_and_read(
    network: Network, subgraphs: Sequence[Sequence[int]]
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """Return made and read of a KeepProblem for subgraphs in execution order; tensors are the network's ids."""
    uses = Uses(network, subgraphs)
    made: list[list[int]] = [[] for _ in subgraphs]
    read: list[list[int]] = [[] for _ in subgraphs]
    for tensor in range(len(network.tensors)):
        steps = uses.reads(tensor)
        maker = uses.made(tensor)
        if steps and maker is not None:
            made[maker].append(tensor)
        for step in steps:
            read[step].append(tensor)
    return tuple(map(tuple, made)), tuple(map(tuple, read))
