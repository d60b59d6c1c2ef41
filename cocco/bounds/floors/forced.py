"""What crosses DRAM in every partition because not everything fits on chip together: cheap, before any search.

A subgraph is convex: with two layers it has every layer between them, their hull. `may_fit` is necessary and monotone
(cocco.search.pricing.subgraphs), so where the hull of some layers fails it, no subgraph has them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cocco.problem.problem import Problem, in_memory
from cocco.search.pricing.genomes import Pricer
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.pricing import Price

MOST_PRICED = 200  #: our choice: layers that are priced where a price takes a few ms, on several cores


class Traffic(NamedTuple):
    """The least bytes that any partition of a network moves, for the whole batch."""

    weights: int  #: read from DRAM
    maps: int  #: inputs read from DRAM plus outputs written to it


class Hulls:
    """Convex hulls of layers: which layers lie between others, and whether they may fit on chip together."""

    def __init__(self, problem: Problem, costs: SubgraphCosts) -> None:
        self._may_fit = costs.may_fit
        self._most = problem.accelerator.max_regions
        self._neighbours = [(*problem.producers[v], *problem.consumers[v]) for v in range(problem.size)]
        self.up = [0] * problem.size  # per layer: itself and its ancestors
        for v, producers in enumerate(problem.producers):
            self.up[v] = 1 << v
            for p in producers:
                self.up[v] |= self.up[p]
        self.down = [0] * problem.size  # per layer: itself and its descendants
        for v in reversed(range(problem.size)):
            self.down[v] = 1 << v
            for w in problem.consumers[v]:
                self.down[v] |= self.down[w]

    def between(self, layers: Sequence[int]) -> int:
        """Return the set of these layers and all that lie on paths from one of them to another."""
        above = below = 0
        for v in layers:
            above |= self.up[v]
            below |= self.down[v]
        return above & below

    def may_share(self, layers: Sequence[int]) -> bool:
        """Return False only if no subgraph can have all of these layers."""
        hull = self.between(layers)
        if self._most is not None and 1 < hull.bit_count() > self._most:
            return False
        return self._may_fit(tuple(bits(hull)))

    def runs_alone(self, v: int) -> bool:
        """Return True only if no subgraph has this layer and another: such a subgraph would have a neighbour of it."""
        return not any(self.may_share((u, v)) for u in self._neighbours[v])


def least_traffic(problem: Problem, hulls: Hulls | None = None) -> list[Traffic]:
    """Return per network what every partition moves at least; if the memory is chosen, in the largest candidates.

    * Each weight is read at least once, each model input that is read comes in once, each model output goes out once.
    * If no subgraph can hold a layer and all its readers, some reader is elsewhere, so the layer's tensor is written
      once and read once.
    * Readers that cannot be with their producer read its tensor from DRAM, and readers of which no two can be together
      each read it separately. Model inputs are never inside, so that holds for all their readers.
    * A layer that can be with none of its neighbours runs alone, at a price that is known on given hardware.

    A larger memory only admits more subgraphs, and no way to run one moves less than its weights, in(S) and out(S)
    once, so the bound in the largest candidates holds for all. hulls: of the largest candidates, if available.
    """
    hulls = hulls or largest_hulls(problem)
    extras = extras_alone(problem, hulls)
    return [_of_network(problem, hulls, i, extras) for i in range(len(problem.networks))]


def largest_hulls(problem: Problem) -> Hulls:
    """Return the hulls on given hardware; if the memory is chosen, those in the largest candidates."""
    largest = in_memory(problem, [len(sizes) - 1 for sizes in problem.candidates])
    return Hulls(largest, SubgraphCosts(largest))


def least_weights(problem: Problem) -> list[int]:
    """Return per layer the least bytes of weights that a subgraph with it holds, in all cores together.

    If layers may run one group of channels after another, the weights of one group suffice.
    """
    groups = [most for rules in problem.rules for most in rules.most_groups]
    return [size // most for size, most in zip(problem.weight_bytes, groups)]


def bits(mask: int) -> Iterator[int]:
    """Yield the layers of a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _of_network(problem: Problem, hulls: Hulls, i: int, extras: Sequence[Traffic]) -> Traffic:
    network, offset = problem.networks[i], problem.offsets[i]
    count = len(network.layers)
    outputs = set(network.outputs)
    crossings = 0
    for u, tensor in enumerate(network.tensors):
        readers = [offset + v for v in network.consumers[u]]
        if u >= count:
            times = _apart(hulls, readers)
        else:
            times = _crossings(hulls, offset + u, readers, u in outputs)
        crossings += times * tensor.size_bytes
    maps = problem.accelerator.batch * crossings + sum(extras[offset + v].maps for v in range(count))
    weights = sum(problem.weight_bytes[offset : offset + count])
    return Traffic(weights + sum(extras[offset + v].weights for v in range(count)), maps)


def _crossings(hulls: Hulls, u: int, readers: Sequence[int], is_output: bool) -> int:
    """Return how often the tensor of layer u crosses DRAM at least: written once, if at all, and read."""
    away = [v for v in readers if not hulls.may_share((u, v))]
    reads = _apart(hulls, away)
    if not reads and len(readers) > 1 and not hulls.may_share((u, *readers)):
        reads = 1
    return reads + (reads > 0 or is_output)


def _apart(hulls: Hulls, readers: Sequence[int]) -> int:
    """Return the size of a greedily chosen set of readers, no two of which can be in one subgraph."""
    chosen: list[int] = []
    for v in readers:
        if not any(hulls.may_share((u, v)) for u in chosen):
            chosen.append(v)
    return len(chosen)


def extras_alone(problem: Problem, hulls: Hulls) -> list[Traffic]:
    """Return what each layer that can only run alone moves beyond its weights, inputs and outputs once; else nothing.

    Nothing if the memory is chosen either: the price of a layer holds in one memory only.
    """
    extras = [Traffic(0, 0)] * problem.size
    if not problem.buffers:
        prices = alone_prices(problem, [v for v in range(problem.size) if hulls.runs_alone(v)])
        for v, price in prices.items():
            i = problem.network_of[v]
            geometry, u = problem.rules[i].geometry, v - problem.offsets[i]
            once = sum([geometry.size_bytes[each] for each in geometry.network.producers[u]])  # each once
            maps = price.ema_input_bytes - problem.accelerator.batch * once
            extras[v] = Traffic(price.ema_weight_bytes - geometry.weight_bytes[u], maps)
    return extras


def alone_prices(problem: Problem, layers: Iterable[int]) -> dict[int, Price]:
    """Return the prices of single layers on given hardware, by layer.

    Layers that run in no loop order are left out (no partition has them alone, so there is nothing to bound). On
    several cores only the first MOST_PRICED are priced.
    """
    pricer, machine = Pricer(problem, model_memo=1, price_memo=1), problem.accelerator
    found = {}
    for v in list(layers)[: None if machine.cores == 1 else MOST_PRICED]:
        price = pricer.model((v,)).price(machine.activation_capacity, machine.weight_capacity)
        if isinstance(price, Price):
            found[v] = price
    return found
