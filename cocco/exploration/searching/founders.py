"""Founders: partitions that the islands of the search start from (Cocco, Sec. 4.4.1; which ones is our choice)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cocco.candidates.stream import FOUNDERS, Stream
from cocco.effort.planned import Memory
from cocco.effort.stages import tell
from cocco.effort.status import Unfinished
from cocco.effort.work_units import once, precompute, stored
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem, in_memory
from cocco.search.baselines.dynamic import depth_order, dynamic
from cocco.search.baselines.greedy import greedy
from cocco.search.pricing.compiled import subgraph_costs
from cocco.search.pricing.subgraphs import Spent

GREEDY_NOISE = 0.3  #: of a greedy drawn at random; our choice: of 0.1 to 0.9 the best on NASNet and RandWire-B
FIRST_SHARE = 0.5  #: of the samples, at most, for the first founder: a search seldom equals greedy on deep networks
OTHERS_SHARE = 0.25  #: of the samples, at most, for all others; our choices


@stored
class Founders(NamedTuple):
    """Labels of the partitions that each island starts from, the samples they took, and whether the user stopped it."""

    islands: list[list[list[int]]]
    samples: int
    is_stopped: bool = False


@stored
class Greedy(NamedTuple):
    """Labels of greedy's partition, None if it would price more layers than allowed; the number of layers priced."""

    labels: list[int] | None
    layers: int


def founders(problem: Problem, engine: EngineName, islands: int, samples: int, seed: int) -> Founders:
    """Return founders for so many islands; fewer or none if they would take too many of the samples.

    On given hardware, the first island gets greedy and dp, each other one a greedy with noise. Where the memory is
    chosen, each island gets a greedy in another memory, from small to large.
    """
    found: list[list[list[int]]] = []
    spent = [0]  # layers priced, in all memories
    try:
        make = _in_memories if problem.buffers else _on_hardware
        for labels in make(problem, engine, islands, samples, seed, spent):
            found.append(labels)
    except Spent:
        pass
    except Unfinished as stop:
        return Founders([*found, [stop.labels]], -(-spent[0] // problem.size), True)
    except KeyboardInterrupt:
        return Founders(found, -(-spent[0] // problem.size), True)
    return Founders(found, -(-spent[0] // problem.size))


Made = Iterator[list[list[int]]]


def _on_hardware(
    problem: Problem, engine: EngineName, islands: int, samples: int, seed: int, spent: list[int]
) -> Made:  # fmt: skip
    """Yield the founders of each island on given hardware; they share their prices."""
    memory = subgraph_costs(problem, engine)
    try:
        for island in range(islands):
            tell("founders", island, islands)
            memory.most_layers = _most(problem, island, samples)
            if island:
                yield [greedy(problem, memory, Stream(seed, FOUNDERS, island), GREEDY_NOISE)[0]]
                continue
            first = [greedy(problem, memory)[0]]
            memory.most_layers = int(OTHERS_SHARE * samples) * problem.size
            try:
                first.append(dynamic(problem, memory, depth_order(problem))[0])
            except (Spent, KeyboardInterrupt):
                yield first
                raise
            yield first
    finally:
        spent[0] = memory.layers_priced


def _in_memories(
    problem: Problem, engine: EngineName, islands: int, samples: int, seed: int, spent: list[int]
) -> Made:  # fmt: skip
    """Yield the founder of each island, each in its own memory; workers compute them independently."""
    jobs, last = [], 0
    for island in range(islands):
        share = (island + 1) / (islands + 1)
        memory = tuple(int(share * len(sizes)) for sizes in problem.candidates)
        jobs.append((problem, memory, engine, _most(problem, island, samples)))
    for island, (_, memory, _, most) in enumerate(jobs):
        tell("founders", island, islands)
        made, left = Greedy(None, 0), most - spent[0]
        if left >= last:  # else it would probably exceed what is left: let it fail at once
            precompute(greedy_in, jobs[island:])
            made = once(greedy_in, *jobs[island])
        if made.labels is None or made.layers > left:
            made = greedy_in(problem, memory, engine, left)
        last = made.layers
        spent[0] += made.layers
        if made.labels is None:
            raise Spent
        yield [made.labels]


def _most(problem: Problem, island: int, samples: int) -> int:
    return int((OTHERS_SHARE if island else FIRST_SHARE) * samples) * problem.size


def greedy_in(problem: Problem, memory: Memory, engine: EngineName, most: int) -> Greedy:
    """Return greedy's partition in one memory; it may price at most so many layers."""
    given = in_memory(problem, memory)
    costs = subgraph_costs(given, engine)
    costs.most_layers = most
    try:
        return Greedy(greedy(given, costs)[0], costs.layers_priced)
    except Spent:
        return Greedy(None, costs.layers_priced)
