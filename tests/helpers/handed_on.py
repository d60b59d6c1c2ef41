"""A plan in which lies are planted: a held subgraph that hands on a tensor to a layer in a loop order."""

import workloads
from simulator import Partition


def plan():
    """Return a held subgraph with SIDE regions that hands on a tensor to a layer in chunks."""
    b = workloads.Builder("lies")
    c = b.conv("c", b.conv("a", b.input("x", 12, 60, 8), 8, 3, padding=1), 8, 3, padding=1)
    b.conv("f", c, 40, 3, padding=1)
    network = b.build()
    return network, Partition.from_groups(network, [["a", "c"], ["f"]], keep=["c"])
