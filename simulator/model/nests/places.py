"""Which result of a step may lie where one of its operands lay, if no later step reads that operand.

The results of an element-wise layer, alone or as what follows a dense layer or a chain, replace those of an operand
element by element, each after the only step of the loops that reads it; so do those of a scan, which also reads a row
of its own channels once. Windows, whole operands and products read elements again: their operands keep their place.
(Our choice: Cocco has no tensors that stay on chip.)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from simulator.model.layer.loops import own_channels
from simulator.model.nests.epilogue import Followed
from simulator.model.nests.nest import Nest
from workloads.network.layers.ops import JOIN_OPS, NORM_OPS
from workloads.network.network import Network

Pair = tuple[int, int]  #: an operand and a result, tensor ids


def places_of(network: Network, layers: tuple[int, ...], nest: Nest | None = None) -> tuple[Pair, ...]:
    """Return each operand with each result that may take its place, in the order in which they are tried.

    nest: of several layers, None where they are none.

    Examples
    --------
    >>> from workloads import Builder
    >>> b = Builder("block")
    >>> x = b.input("x", 8, 8, 16)
    >>> _ = b.add("sum", [b.conv("a", x, 16, 3, padding=1), b.conv("b", x, 16)])
    >>> places_of(b.build(), (2,))
    ((0, 2), (1, 2))
    """
    pairs = _of_layer(network, layers[0]) if len(layers) == 1 else _of_followed(network, nest)
    return tuple(pair for pair in pairs if _are_alike(network, *pair))


def _of_layer(network: Network, v: int) -> Iterator[Pair]:
    layer, operands = network.layers[v], network.operands[v]
    if layer.op in JOIN_OPS | NORM_OPS:
        yield from ((u, v) for i, u in enumerate(operands) if i not in layer.whole and operands.count(u) == 1)
    yield from ((u, v) for u in own_channels(network, v) if operands.count(u) == 1)


def _of_followed(network: Network, nest: Nest | None) -> Iterator[Pair]:
    """Yield the pairs of a layer and those that follow it.

    What is stored in between lies in the place of the result, so nothing may be stored before the operand is read.
    """
    if not isinstance(nest, Followed):
        return
    passing = {u for u, is_gate in nest.others if not is_gate} - {*nest.operands}
    for at, (before, v) in enumerate(pairwise(nest.made), 1):
        if before in nest.leaving or (at > 1 and network.layers[before].op not in JOIN_OPS):
            return
        made = (nest.result, *(w for w in nest.made[at:-1] if w in nest.leaving))
        yield from ((u, w) for u in network.operands[v] if u in passing for w in made)


def _are_alike(network: Network, operand: int, result: int) -> bool:
    one, other = network.tensors[operand], network.tensors[result]
    return (one.height, one.width, one.channels, one.bits) == (other.height, other.width, other.channels, other.bits)
