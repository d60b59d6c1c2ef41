"""What crosses DRAM in every partition because not everything fits on chip together: cheap, before any search.

A subgraph is convex: with two layers it has every layer between them, their hull. `may_fit` is necessary and monotone
(cocco.search.pricing.subgraphs), so where the hull of some layers fails it, no subgraph has them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cocco.bounds.floors.nests import lowered
from cocco.candidates.sets import Cones, members
from cocco.problem.problem import Problem, in_memory
from cocco.search.pricing.genomes import Group, Pricer
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.pricing import Price

MOST_PRICED = 200  #: our choice: layers that are priced where a price takes a few ms, on several cores


class Traffic(NamedTuple):
    """The least bytes that any partition of a network moves, for the whole batch."""

    weights: int  #: read from DRAM
    maps: int  #: inputs read from DRAM plus outputs written to it


class Hulls(Cones):
    """Convex hulls of layers: which layers lie between others, and whether they may fit on chip together."""

    def __init__(self, problem: Problem, costs: SubgraphCosts) -> None:
        super().__init__(problem.producers)
        self._may_fit, self._may_hold, self.nests = costs.may_fit, costs.may_hold, costs.nests
        self._most = problem.accelerator.max_regions
        self._near = problem.near

    def may_share(self, layers: Sequence[int], held: bool = False) -> bool:
        """Return False only if no subgraph can have all of these layers; held: if none that is held can."""
        hull = self.between(layers)
        if self._most is not None and 1 < hull.bit_count() > self._most:
            return False
        return (self._may_hold if held else self._may_fit)(tuple(members(hull)))

    def runs_alone(self, v: int, held: bool = False) -> bool:
        """Return True only if no subgraph has this layer and another; held: if none that is held has.

        Such a subgraph would have a layer joined with it.
        """
        return not any(self.may_share((u, v), held) for u in dict.fromkeys(self._near(v)))


def least_traffic(problem: Problem, hulls: Hulls | None = None) -> list[Traffic]:
    """Return per network what every partition moves at least; if the memory is chosen, in the largest candidates.

    * Each weight is read at least once, each model input that is read comes in once, each model output goes out once.
    * If no subgraph can hold a layer and all its readers, some reader is elsewhere, so the layer's tensor is written
      once and read once.
    * Readers that cannot be with their producer read its tensor from DRAM, and readers of which no two can be together
      each read it separately. Model inputs are never inside, so that holds for all their readers.
    * A layer that can be with none that it is joined with runs alone, at a price that is known on given hardware.

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
    return [size // most for size, most in zip(problem.brought_bytes, groups)]


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
    weights = sum(problem.brought_bytes[offset : offset + count])
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
    """Return what each layer that is never held with others moves beyond its weights, inputs and outputs once.

    Nothing for other layers, and if the memory is chosen: a price holds in one memory only. Extras of the layers of a
    nest add up to no more than it moves beyond.
    """
    if problem.buffers:
        return [Traffic(0, 0)] * problem.size
    found = alone_prices(problem, [(v,) for v in range(problem.size) if hulls.runs_alone(v, held=True)])
    alone = {group[0]: beyond_once(problem, group, price) for group, price in found.items()}
    nests = [nest for nest in hulls.nests if not alone.keys().isdisjoint(nest)]
    of_nests = {nest: beyond_once(problem, nest, each) for nest, each in alone_prices(problem, nests).items()}
    columns = []
    for i in range(len(Traffic._fields)):
        extras = [alone[v][i] if v in alone else 0 for v in range(problem.size)]
        columns.append(lowered(extras, [0] * problem.size, [(nest, each[i]) for nest, each in of_nests.items()]))
    return [Traffic(*each) for each in zip(*columns)]


def beyond_once(problem: Problem, group: Group, price: Price) -> Traffic:
    """Return what layers that run in this way move beyond their weights, inputs and outputs once."""
    i = problem.network_of[group[0]]
    geometry, inside = problem.rules[i].geometry, [v - problem.offsets[i] for v in group]
    reads = {u for v in inside for u in geometry.network.producers[v]} - set(inside)
    maps = price.ema_input_bytes - problem.accelerator.batch * sum([geometry.size_bytes[u] for u in reads])
    return Traffic(price.ema_weight_bytes - sum([geometry.weight_bytes[v] for v in inside]), maps)


def alone_prices(problem: Problem, groups: Iterable[Group]) -> dict[Group, Price]:
    """Return the prices of single layers, and of nests, on given hardware.

    Those that run in no loop order are left out (no partition has them, so there is nothing to bound). On several cores
    only the first MOST_PRICED are priced.
    """
    pricer, machine = Pricer(problem, model_memo=1, price_memo=1), problem.accelerator
    found = {}
    for group in list(groups)[: None if machine.cores == 1 else MOST_PRICED]:
        price = pricer.model(group).price(machine.activation_capacity, machine.weight_capacity)
        if isinstance(price, Price):
            found[group] = price
    return found
