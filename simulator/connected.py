"""Which layers may share a subgraph: what connects them.

The paper's subgraphs are connected by the edges among their own layers. Ours may also be joined by what they have in
common with layers outside: layers that read the same tensor load it once if they run together, and the branches of a
concatenation, which is no layer here, make one tensor for its readers (our choice). So a module whose branches read one
input is a subgraph, as a person would draw it.

    edge             one of the layers reads the other
    common input     both read the same tensor: the output of a layer, inside the subgraph or not, or a model input
    concatenation    one layer reads the channels of both one after the other (conv, fc, pool, concat, resize)

The operands of an addition or a product are not joined by it: it is a layer, which may be in the subgraph itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Literal, get_args

from workloads.network.network import Network

Connected = Literal["all", "paper"]
CONNECTED: tuple[Connected, ...] = get_args(Connected)


def siblings(network: Network, connected: Connected) -> tuple[tuple[int, ...], ...]:
    """Return the sets of layers that are joined without an edge: none by the paper's rule."""
    return network.siblings if connected == "all" else ()


def connected_parts(network: Network, group: Iterable[int], connected: Connected = "all") -> list[list[int]]:
    """Return the connected parts of a set of layers, by their first layers; each ascending."""
    remaining, parts = set(group), []
    unseen = set(range(len(network.siblings))) if connected == "all" and len(remaining) > 1 else set[int]()
    for root in sorted(remaining):
        if root not in remaining:
            continue
        remaining.discard(root)
        part, stack = [], [root]
        while stack:
            layer = stack.pop()
            part.append(layer)
            found = [network.producers[layer], network.consumers[layer]]
            for i in unseen.intersection(network.siblings_of[layer]) if unseen else ():
                unseen.discard(i)
                found.append(network.siblings[i])
            for near in chain.from_iterable(found):
                if near in remaining:
                    remaining.discard(near)
                    stack.append(near)
        parts.append(sorted(part))
    return parts


def neighbours(network: Network, connected: Connected) -> list[list[int]]:
    """Return per layer those that it is joined with: the layers that it reads, those that read it, its siblings."""
    count, beside = len(network.layers), siblings(network, connected)
    found: list[list[int]] = []
    for v in range(count):
        sets = [beside[i] for i in network.siblings_of[v]] if beside else []
        near = dict.fromkeys(chain(network.producers[v], network.consumers[v], *sets))
        found.append([u for u in near if u < count and u != v])
    return found
