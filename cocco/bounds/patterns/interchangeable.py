"""Which tensors of a network are interchangeable to all that read them (cocco.search.exact.interchangeable)."""

from __future__ import annotations

from collections.abc import Hashable

from workloads.network.network import Network


def kinds_of(network: Network) -> tuple[int, ...]:
    """Return per tensor a number shared by all of its shape, or -1 if anything but a convolution reads it.

    A convolution reads the channels of its operands one after another, and all orders of these cost the same, unless
    groups of its channels see only some of them.
    """
    numbers: dict[Hashable, int] = {}
    found = []
    for u, (tensor, readers) in enumerate(zip(network.tensors, network.consumers)):
        is_plain = bool(readers) and not (
            u < len(network.layers) and (network.is_output[u] or network.layers[u].appended)
        )
        for v in readers:
            layer = network.layers[v]
            is_plain &= layer.op == "conv" and layer.groups == 1 and not layer.whole
            is_plain &= network.operands[v].count(u) == 1
        key = tensor.height, tensor.width, tensor.channels, tensor.number, u < len(network.layers)
        found.append(numbers.setdefault(key, len(numbers)) if is_plain else -1)
    return tuple(kind if found.count(kind) > 1 else -1 for kind in found)
