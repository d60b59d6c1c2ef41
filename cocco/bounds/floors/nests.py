"""What several layers move at least where they run as one loop nest, shared out over the layers.

Other floors say what a layer adds in a subgraph that is held, or alone. A nest may move less than its layers one by
one: some results are neither written nor read. The floors of its layers must not add up to more than it moves. So they
are lowered until they do not, for each nest that may run, first those of the layers that are in most nests: what is
taken from them counts for all of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from simulator.model.equivalence import Alike
from simulator.model.pricing import Price, PricingRules, Shortage, SubgraphModel

AMPLE = 2**50  #: bytes: everything fits

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


@lru_cache(maxsize=64)
def least_of_nests(rules: PricingRules) -> tuple[tuple[Group, Own], ...]:
    """Return each nest with what it moves at least in any memory: that is what it moves where everything fits."""
    alike, prices, found = Alike(rules), dict[Hashable, Price | Shortage](), list[tuple[Group, Own]]()
    for nest in rules.nests:
        key = alike.key(nest)
        if key not in prices:
            prices[key] = SubgraphModel(rules, nest).price(AMPLE, AMPLE)
        price = prices[key]
        if isinstance(price, Price):
            found.append((nest, own_of(price)))
    return tuple(found)


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
