"""What crosses between the chips that share a language model: sums of partial sums, and the columns of its head.

Chips stand in a ring. To add up a map, each passes on all parts of it but one as partial sums, and then as many as
results (all-reduce: Patarasuk and Yuan, 2009, Sec. 3); to gather columns, it passes on those of all chips but one.
Partial sums have the bits of sums, results those of the map, so that nothing is rounded before it is added up; where
both are of one width, that is 2 (N - 1) / N of the map. As much enters each chip at once. In a pipeline a
chip sends the rows that its last layer makes to the next one.
"""

from __future__ import annotations

from workloads.network.network import Network


def chips_of(network: Network) -> int:
    """Return of how many chips a network is the share of one; 1 where it is whole."""
    return next((int(note.op) for note in network.notes if note.how == "chips"), 1)


def link_bytes(network: Network) -> int:
    """Return the bytes that leave each chip for one sample.

    Examples
    --------
    >>> import workloads
    >>> link_bytes(workloads.load("llama3_8b", phase="decode", layers=1, chips=4))  # 2 maps, 3/4 (4 + 1) bytes each
    30720
    """
    chips, total = chips_of(network), 0
    for note in network.notes:
        if note.how in ("all-reduce", "all-gather", "send"):
            layer = network.layers[network.index[note.node]]
            if note.how == "all-gather":
                total += (chips - 1) * layer.size_bytes
            elif note.how == "send":
                total += layer.size_bytes
            else:
                sums = -(-layer.elements * layer.bits.sums // 8)
                total += -(-(chips - 1) * (sums + layer.size_bytes) // chips)
    return total
