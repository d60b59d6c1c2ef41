"""Founders: partitions that the islands of the search start from (Cocco, Sec. 4.4.1; which ones is our choice)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cocco.problem.problem import Problem, in_memory
from cocco.problem.stages import tell
from cocco.problem.status import Unfinished
from cocco.problem.steps import stored
from cocco.problem.stream import Stream
from cocco.search.baselines.dynamic import depth_order, dynamic
from cocco.search.baselines.greedy import greedy
from cocco.search.pricing.subgraphs import Spent, SubgraphCosts

NOISE = 0.3  #: of a greedy drawn at random; our choice: of 0.1 to 0.9 the best on NASNet and RandWire-B
GENERATION = 2**40  #: names the streams of the founders, which no generation of a search has
FIRST = 0.5  #: of the samples, at most, for the first founder: a search seldom equals greedy on deep networks
SHARE = 0.25  #: of the samples, at most, for all others; our choices

Costs = Callable[[Problem], SubgraphCosts]


@stored
class Founders(NamedTuple):
    """Labels of the partitions that each island starts from, the samples they took, and whether Ctrl-C came."""

    islands: list[list[list[int]]]
    samples: int
    is_stopped: bool = False


def founders(problem: Problem, costs: Costs, islands: int, samples: int, seed: int) -> Founders:
    """Return founders for so many islands, fewer or none where they would take too many of the samples.

    On given hardware: of the first island greedy and dp, of each other a greedy with noise. Where the memory is
    chosen, of each island a greedy in another memory, from small to large.
    """
    found: list[list[list[int]]] = []
    memory = costs(problem) if not problem.buffers else None
    spent, is_stopped = 0, False  # layers priced in memories before
    prices = memory
    try:
        for island in range(islands):
            tell("founders", island, islands)
            most = int((SHARE if found else FIRST) * samples) * problem.size
            if memory is None:
                spent += prices.layers_priced if prices is not None else 0
                share = (island + 1) / (islands + 1)
                given = in_memory(problem, [int(share * len(sizes)) for sizes in problem.candidates])
                prices = costs(given)
                prices.most_layers = most - spent
                found.append([greedy(given, prices)[0]])
                continue
            memory.most_layers = most
            if island:
                found.append([greedy(problem, memory, Stream(seed, GENERATION, island), NOISE)[0]])
            else:
                found.append([greedy(problem, memory)[0]])
                memory.most_layers = int(SHARE * samples) * problem.size
                found[0].append(dynamic(problem, memory, depth_order(problem))[0])
    except Spent:
        pass
    except Unfinished as stop:
        found, is_stopped = [*found, [stop.labels]], True
    except KeyboardInterrupt:
        is_stopped = True
    spent += prices.layers_priced if prices is not None else 0
    return Founders(found, -(-spent // problem.size), is_stopped)
