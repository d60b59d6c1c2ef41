"""Independent groups of channels: a subgraph in which no group needs another runs group by group.

Scores, softmax and context of one head need no other head; depth-wise convolutions, pools and element-wise layers need
nothing across groups of 8 channels. If all layers of a subgraph keep g groups apart, its regions, and its weights on
chip, may be those of one group at a time. What goes off chip, what the buffers move and what is computed stay the same
(our choice: Cocco has all channels of a tile together). Each group fills the array anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import gcd, isqrt

from simulator.technology import Technology
from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import ELEMENTWISE_OPS, JOIN_OPS, POOL_OPS
from workloads.network.network import Network

ANY = 0  #: groups of any size: gcd(ANY, n) == n


def heads_of(network: Network) -> list[int]:
    """Return the number of heads of each tensor: those of a product, also for element-wise layers on its output."""
    found = [1] * len(network.tensors)
    for v, layer in enumerate(network.layers):
        if layer.op == "matmul":
            found[v] = layer.groups
        elif layer.op in ELEMENTWISE_OPS:
            found[v] = max(found[u] for u in network.operands[v])
    return found


def units_of(network: Network) -> list[int]:
    """Return a number per layer whose divisors are the numbers of groups that it keeps apart; ANY for any number.

    Examples
    --------
    >>> import workloads
    >>> network = workloads.load("gpt2", layers=1)
    >>> {layer.name: unit for layer, unit in zip(network.layers, units_of(network)) if unit != 1}
    {'l1_scores': 12, 'l1_softmax': 12, 'l1_context': 12, 'l1_add1': 0, 'l1_add2': 0}
    """
    heads = heads_of(network)
    return [_unit(network, v, heads) for v in range(len(network.layers))]


def _unit(network: Network, v: int, heads: list[int]) -> int:
    layer = network.layers[v]
    channels = [network.tensors[u].channels for u in network.operands[v]]
    if layer.op == "matmul":
        return layer.groups // layer.sharing
    if layer.op == "softmax":
        return heads[v]
    if layer.op in JOIN_OPS:
        return ANY if all(each == layer.channels for each in channels) else 1
    if len(channels) > 1 or layer.op not in POOL_OPS | {"conv", "conv_transpose", "slice"}:
        return 1
    if layer.has_weights:
        return ANY if layer.is_depthwise else layer.groups
    return ANY if layer.channels == layer.in_channels else 1


def most_groups(network: Network) -> list[int]:
    """Return per layer a bound of the groups that a subgraph of several layers with it runs in; 1 where in no more.

    In such a subgraph a layer has one that it shares a tensor with, and all between the two keep groups apart as well.

    Examples
    --------
    >>> import workloads
    >>> sorted(set(most_groups(workloads.load("resnet50"))))  # 2048 channels: the last sum and the pool that reads it
    [1, 2048]
    >>> network = workloads.load("gpt2", layers=1)
    >>> {layer.name: most for layer, most in zip(network.layers, most_groups(network)) if most > 1}
    {'l1_scores': 12, 'l1_softmax': 12, 'l1_context': 12}
    """
    units, found, between = units_of(network), [1] * len(network.layers), _between(network)
    apart = {v for v, unit in enumerate(units) if unit != 1}
    mask = sum(1 << v for v in apart)
    for v in apart:
        near = {u for t in (v, *network.producers[v]) for u in (t, *network.consumers[t])}
        near |= {u for w in network.consumers[v] for u in network.producers[w]}
        for u in near & apart - {v}:
            hull = 1 << u | 1 << v | between(min(u, v), max(u, v))
            if not hull & ~mask:
                layers = [w for w in range(min(u, v), max(u, v) + 1) if hull >> w & 1]
                channels = [network.tensors[t].channels for w in layers for t in (w, *network.producers[w])]
                found[v] = max(found[v], gcd(*channels, *(units[w] for w in layers)))
    return found


def _between(network: Network) -> Callable[[int, int], int]:
    """Return a function of two layers: the layers on paths from the first to the second, as bits."""
    count = len(network.layers)
    above, below = [0] * count, [0] * count
    for v in range(count):
        for u in network.producers[v]:
            if u < count:
                above[v] |= above[u] | 1 << u
    for v in reversed(range(count)):
        for w in network.consumers[v]:
            below[v] |= below[w] | 1 << w
    return lambda first, last: below[first] & above[last]


def one_group(layer: Layer, groups: int) -> Layer:
    """Return the part of a layer that computes one of this many groups, to count its cycles."""
    channels, inputs = layer.channels // groups, layer.in_channels // groups
    if layer.groups == 1:
        return replace(layer, channels=channels, in_channels=inputs)
    heads = max(1, layer.groups // groups), layer.operand_heads // groups
    return replace(layer, channels=channels, in_channels=inputs, groups=heads[0], operand_heads=heads[1])


def divisors_of(layer: Layer, unit: int) -> list[int]:
    """Return the numbers of groups above 1 in which a layer with this unit (`units_of`) can run at all, ascending."""
    most = gcd(unit, layer.channels)
    low = [each for each in range(1, isqrt(most) + 1) if most % each == 0]
    return sorted({*low, *(most // each for each in low)} - {1})


def groups_apart(
    network: Network, layers: Iterable[int], units: list[int], technology: Technology | None = None
) -> tuple[int, ...]:
    """Return the numbers of groups above 1 in which a subgraph may run, ascending.

    Heads have any number of channels; other groups are whole words of the layout, so that rounding up adds nothing.
    """
    layers = tuple(layers)
    whole = gcd(*[units[v] for v in layers])
    if whole == 1:
        return ()
    alignment = (technology or Technology()).channel_alignment
    tensors = {*layers, *(u for v in layers for u in network.producers[v])}
    channels = gcd(*[network.tensors[u].channels for u in tensors])
    if whole == ANY:
        whole = 1 if channels % alignment else channels // alignment
    whole = gcd(whole, channels)
    return tuple(g for g in range(2, whole + 1) if whole % g == 0)
