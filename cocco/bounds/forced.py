"""What crosses to DRAM in every partition, because not everything fits side by side: cheap, before any search.

A subgraph is convex: with two layers it has every layer between them, their hull. `may_fit` is necessary and monotone
(cocco.search.pricing.subgraphs), so where the hull of some layers fails it, no subgraph has them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cocco.problem.problem import Problem, in_memory
from cocco.search.pricing.genomes import Pricer
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.pricing import Price

MOST_PRICED = 200  #: our choice: layers too large for the memory that are priced, a few ms each


class Traffic(NamedTuple):
    """Bytes that no partition of a network goes below, for the whole batch."""

    weights: int  #: read from DRAM
    maps: int  #: inputs read from DRAM plus outputs written to it


class Hulls:
    """Sets of layers as integers: what lies between layers, and whether that may fit on chip."""

    def __init__(self, problem: Problem, costs: SubgraphCosts) -> None:
        self._may_fit = costs.may_fit
        self._most = problem.accelerator.max_regions
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
        """Return the set of these layers and of all that lie on paths from one of them to another."""
        above = below = 0
        for v in layers:
            above |= self.up[v]
            below |= self.down[v]
        return above & below

    def may_share(self, layers: Sequence[int]) -> bool:
        """Return False only where no subgraph has all of these layers."""
        hull = self.between(layers)
        if self._most is not None and 1 < hull.bit_count() > self._most:
            return False
        return self._may_fit(tuple(bits(hull)))


def least_traffic(problem: Problem) -> list[Traffic]:
    """Return per network what every partition moves, on the largest candidates where the memory is chosen.

    * Each weight is read once at least, each model input that is read comes in once, each model output goes out once.
    * A layer and all its readers that no subgraph can hold: some reader is elsewhere, so the layer's tensor is written
      once and read once.
    * Readers that cannot be with their producer read it from DRAM, and of those no two of which can be together each
      reads it for itself. Model inputs are never inside, so that holds for all their readers.
    * A layer that fails `may_fit` by itself is in no larger subgraph: it is streamed, at a price that is known, where
      the hardware is given.

    A larger memory only admits more subgraphs, so the largest candidates hold for all.
    """
    largest = in_memory(problem, [len(sizes) - 1 for sizes in problem.candidates])
    costs = SubgraphCosts(largest)
    hulls = Hulls(largest, costs)
    extras = streamed(problem, costs)
    return [_of_network(largest, hulls, i, extras) for i in range(len(problem.networks))]


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
    return Traffic(network.weight_bytes + sum(extras[offset + v].weights for v in range(count)), maps)


def _crossings(hulls: Hulls, u: int, readers: Sequence[int], is_output: bool) -> int:
    """Return how often the tensor of layer u crosses at least: written once, if at all, and read."""
    away = [v for v in readers if not hulls.may_share((u, v))]
    reads = _apart(hulls, away)
    if not reads and len(readers) > 1 and not hulls.may_share((u, *readers)):
        reads = 1
    return reads + (reads > 0 or is_output)


def _apart(hulls: Hulls, readers: Sequence[int]) -> int:
    """Return the size of a set of readers no two of which can be in one subgraph, chosen greedily."""
    chosen: list[int] = []
    for v in readers:
        if not any(hulls.may_share((u, v)) for u in chosen):
            chosen.append(v)
    return len(chosen)


def streamed(problem: Problem, costs: SubgraphCosts) -> list[Traffic]:
    """Return per layer what it moves beyond its weights, inputs and outputs once, where it must be streamed.

    Nothing where the memory is chosen: the price of a streamed layer is that of one memory.
    """
    extras = [Traffic(0, 0)] * problem.size
    if problem.buffers:
        return extras
    pricer, machine = Pricer(problem, model_memo=1, price_memo=1), problem.accelerator
    large = [v for v in range(problem.size) if not costs.may_fit((v,))]
    for v in large[:MOST_PRICED]:
        model = pricer.model((v,))
        price = model.price(machine.activation_capacity, machine.weight_capacity)
        assert isinstance(price, Price)
        maps = machine.batch * model.inputs
        extras[v] = Traffic(price.ema_weight_bytes - model.weights, price.ema_input_bytes - maps)
    return extras
