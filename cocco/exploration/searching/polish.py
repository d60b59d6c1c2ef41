"""Polish: iterated order DP from the best genome of a search (our choice; the paper has no local search)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cocco.candidates.stream import KICKS, POLISH, Stream
from cocco.effort.stages import tell
from cocco.effort.work_units import stored
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem, in_memory
from cocco.search.baselines.dynamic import dissolved, improve
from cocco.search.kernel.compiled import Compiled, first_of
from cocco.search.pricing.subgraphs import SubgraphCosts

LEAST_SAMPLES = 3  #: per layer; a first round takes up to that much
KICK = 160  #: rounds without a better partition until a kick
KICKED = 12  #: subgraphs that a kick takes apart, at most
STALE = 2000  #: rounds without a better partition until the end; the optimum of GoogleNet takes up to 1200
MEMO = 2**17  #: prices remembered; some 15 MB compiled

# labels, number of the round -> labels, Formula 1, layers priced
Rounds = Callable[[Sequence[int], int], tuple[list[int], float, int]]


@stored
class Polished(NamedTuple):
    """Labels no worse than those given, the samples they took, and whether the user stopped the search."""

    labels: list[int]
    samples: int
    is_stopped: bool


def polish(
    problem: Problem, labels: Sequence[int], memory: Sequence[int], samples: int, seed: int, engine: EngineName
) -> Polished:
    """Return an improved partition for this memory (positions of its candidates).

    It takes at most so many samples, or one round. Samples are the layers priced over the layers of the problem,
    rounded up; a remembered price costs none. After KICK rounds without success the search continues from the best
    partition with many subgraphs taken apart; after STALE rounds it ends.
    """
    given = in_memory(problem, memory)
    rounds = _rounds(given, seed, engine)
    current = best = list(labels)
    least, priced, most, stale, call = math.inf, 0, 0, 0, 0
    try:
        while priced + most <= samples * problem.size and stale < STALE:
            tell("polish", priced // problem.size, samples, "samples")
            current, cost, count = rounds(current, call)
            if cost < least:
                best, least, stale = current, cost, 0
            else:
                stale += 1
            priced, most, call = priced + count, max(most, count), call + 1
            if stale and not stale % KICK:
                current = dissolved(given, best, Stream(seed, KICKS, call), KICKED)
    except KeyboardInterrupt:
        return Polished(best, -(-priced // problem.size), True)
    return Polished(best, -(-priced // problem.size), False)


def _rounds(given: Problem, seed: int, engine: EngineName) -> Rounds:
    costs = SubgraphCosts(given, memo=None)

    def reference(labels: Sequence[int], call: int) -> tuple[list[int], float, int]:
        if costs.remembered > MEMO:
            costs.forget()
        before = costs.layers_priced
        changed, value = improve(given, costs, labels, Stream(seed, POLISH, call), 1)
        return changed, value, costs.layers_priced - before

    if engine == "reference":
        return reference
    orders = Compiled(given).orders(MEMO)
    return first_of(lambda labels, call: orders.improve(labels, seed, POLISH, call, 1), reference)
