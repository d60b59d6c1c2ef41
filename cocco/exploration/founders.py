"""Founders: partitions that the islands of the search start from (Cocco, Sec. 4.4.1; which ones is our choice)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cocco.problem.problem import Problem, in_memory
from cocco.problem.stream import Stream
from cocco.search.baselines.dynamic import depth_order, dynamic
from cocco.search.baselines.greedy import greedy
from cocco.search.pricing.subgraphs import SubgraphCosts

NOISE = 0.3  #: of a greedy drawn at random; our choice: of 0.1 to 0.9 the best on NASNet and RandWire-B
GENERATION = 2**40  #: names the streams of the founders, which no generation of a search has
SHARE = 0.25  #: of the samples; no further founder is made once they have taken that much; our choice
LEAST_SAMPLES = 1  #: per layer, for any founder: greedy takes 0.1 to 0.7 on the nine networks
LEAST_SAMPLES_DYNAMIC = 8  #: per layer, for dp: it takes 0.1 to 2.7 on the nine networks

Costs = Callable[[Problem], SubgraphCosts]


class Founders(NamedTuple):
    """Labels of the partitions that each island starts from, and the samples that they took."""

    islands: list[list[list[int]]]
    samples: int


def founders(problem: Problem, costs: Costs, islands: int, samples: int, seed: int) -> Founders:
    """Return founders for so many islands, fewer or none where they would take too many of the samples.

    On given hardware: of the first island greedy and dp, of each other a greedy with noise. Where the memory is
    chosen, of each island a greedy in another memory, from small to large.
    """
    found: list[list[list[int]]] = []
    spent = 0
    if samples < LEAST_SAMPLES * problem.size:
        return Founders(found, spent)
    memory = costs(problem) if not problem.buffers else None
    for island in range(islands):
        if found and spent >= SHARE * samples:
            break
        if memory is None:
            share = (island + 1) / (islands + 1)
            given = in_memory(problem, [int(share * len(sizes)) for sizes in problem.candidates])
            prices = costs(given)
            found.append([greedy(given, prices)[0]])
            spent += prices.samples
            continue
        if island:
            found.append([greedy(problem, memory, Stream(seed, GENERATION, island), NOISE)[0]])
        else:
            found.append([greedy(problem, memory)[0]])
            if samples >= LEAST_SAMPLES_DYNAMIC * problem.size:
                found[0].append(dynamic(problem, memory, depth_order(problem))[0])
        spent = memory.samples
    return Founders(found, spent)
