"""A network with a layer of every kind."""

from __future__ import annotations

from workloads import Builder
from workloads.network.network import Network


def every_kind() -> Network:
    """Return products of activations, a softmax, a norm, grouped and depth-wise windows, a concat, a pool, a slice."""
    b = Builder("every_kind")
    x = b.conv("x", b.input("in", 12, 12, 24), 24, 1)
    deep = b.depthwise("deep", b.conv("groups", x, 24, 3, padding=1, groups=3))
    scores = b.softmax("softmax", b.matmul("scores", b.add("both", [deep, x]), x, transpose=True))
    mixed = b.layernorm("norm", b.matmul("mixed", scores, x))
    wide = b.conv("wide", b.concat("joined", [mixed, deep, x]), 40, 3)
    b.conv("end", b.mul("gated", [b.maxpool("pool", wide, 2, 2), b.global_avgpool("mean", wide)]), 16, 1)
    return b.build()
