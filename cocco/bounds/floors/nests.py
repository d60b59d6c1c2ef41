"""What several layers move at least where they run as one loop nest, shared out over the layers.

Other floors say what a layer adds in a subgraph that is held, or alone. A nest may move less than its layers one by
one: some results are neither written nor read. The floors of its layers must not add up to more than it moves. So they
are lowered until they do not, for each nest that may run, first those of the layers that are in most nests: what is
taken from them counts for all of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from cocco.problem.floor import floor_of_all
from cocco.problem.problem import Problem, part_of
from cocco.search.kernel.choice import engine_name
from cocco.search.kernel.compiled import first_of, twin_of
from simulator.model.cost import Totals, total
from simulator.model.kept import Kept, Reserved
from simulator.model.pricing import Price, SubgraphModel
from simulator.sizes import MAX_CAPACITY

Group = tuple[int, ...]
Number = TypeVar("Number", int, float)


class Own(NamedTuple):
    """Bytes that layers move in the buffers beside what crosses DRAM on their behalf, for the whole batch."""

    maps: int  #: written to and read from the global buffer
    weights: int  #: read from the weight buffer


def own_of(price: Price) -> Own:
    """Return what a price moves in the buffers beside what crosses DRAM."""
    maps = price.global_buffer_bytes - price.ema_input_bytes - price.ema_output_bytes
    return Own(maps, price.weight_buffer_bytes - price.ema_weight_bytes)


def least_of_nests(problem: Problem, i: int = 0) -> dict[Group, Own]:
    """Return what each nest of a network moves at least in any memory: that is what it moves where everything fits.

    An operand that two of its layers read comes twice from DRAM, so it may not run as a nest there, but where that
    operand is kept.
    """
    key = least_of_nests, i
    if key not in problem.remembered:
        problem.remembered[key] = dict(_least_of_nests(part_of(problem, i)))
    found: dict[Group, Own] = problem.remembered[key]
    return found


def _least_of_nests(part: Problem) -> Iterator[tuple[Group, Own]]:
    (rules,), (models,), known = part.rules, part.models, dict[Hashable, list[Totals]]()
    if part.accelerator.has_tables:  # which end somewhere
        part = replace(part, accelerator=floor_of_all(part), buffers={}, objective=replace(part.objective, alpha=None))
    for nest in rules.nests:
        key = models.alike.key(nest)
        if key not in known:
            rows = [_in_ample_room(part, nest), _on_chip(part, nest) if part.keep == "auto" else None]
            known[key] = [row for row in rows if row is not None]
        once, each = rules.geometry.weights_of(nest), sum([rules.geometry.weight_bytes[v] for v in nest])
        owns = [
            Own(row.global_buffer_bytes - (row.ema_bytes - once), row.weight_buffer_bytes - each) for row in known[key]
        ]
        if owns:
            yield nest, Own(*map(min, zip(*owns)))


def _in_ample_room(part: Problem, nest: Group) -> Totals | None:
    """Return what a nest adds to the totals where everything fits; None if it runs in no memory."""

    def readable(layers: Group) -> Totals | None:
        price = SubgraphModel(part.rules[0], layers).price(MAX_CAPACITY, MAX_CAPACITY)
        return total([price], part.accelerator) if isinstance(price, Price) else None

    def compiled(layers: Group) -> Totals | None:
        row = twin_of(part).price(layers, MAX_CAPACITY, MAX_CAPACITY)
        return None if row is None else Totals(*row)

    return readable(nest) if engine_name(None, part) == "reference" else first_of(compiled, readable)(nest)


def _on_chip(part: Problem, nest: Group) -> Totals | None:
    """Return the same where all is kept that it touches; None where no two of its layers read the same."""
    (rules,), network = part.rules, part.networks[0]
    reads = [u for v in nest for u in {*network.producers[v]} if u not in nest]
    if len({*reads}) == len(reads):
        return None
    touched = {*reads, *[v for v in nest if not {*nest}.issuperset(network.consumers[v])]}
    kept = Kept(frozenset(touched), frozenset(), frozenset([v for v in nest if network.is_output[v]]))
    room = Reserved(sum([rules.whole_bytes(u) for u in touched]))
    price = SubgraphModel(rules, nest, kept).price(MAX_CAPACITY, MAX_CAPACITY, room)
    return total([price], part.accelerator) if isinstance(price, Price) else None


def lowered(values: Sequence[Number], least: Sequence[Number], nests: Iterable[tuple[Group, Number]]) -> list[Number]:
    """Return floors of layers, lowered until those of no nest add up to more than it takes.

    least: they do not fall below these, which do not add up to more. nests: sets of layers, with what they take.

    Examples
    --------
    What is taken from layer 1 counts for both nests:

    >>> lowered([10, 10, 10], [0, 0, 0], [((0, 1), 18), ((1, 2), 16)])
    [10, 6, 10]
    """
    found, listed = list(values), list(nests)
    often = Counter(v for nest, _ in listed for v in nest)
    for nest, takes in listed:
        over = sum([found[v] for v in nest]) - takes
        for v in sorted(nest, key=lambda v: (-often[v], -v)):
            if over <= 0:
                break
            less = min(over, found[v] - least[v])
            found[v] -= less
            over -= less
    return found
