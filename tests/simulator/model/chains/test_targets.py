"""What chains of two layers and inverted bottlenecks move at least, against layers by themselves (docs/model.md)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator import Accelerator, KiB
from simulator.model.price import Price
from simulator.model.pricing import SubgraphModel
from simulator.model.rules import PricingRules
from simulator.model.subgraph.subgraph import Geometry
from workloads import Builder
from workloads.network.network import Network


def typed(network, activations=8, sums=32):
    layers = tuple(
        replace(each, bits=replace(each.bits, activations=activations, sums=sums)) for each in network.layers
    )
    return Network(network.name, tuple(replace(each, bits=activations) for each in network.inputs), layers)


def feed_forward(rows, inputs, middle, outputs):
    b = Builder("two")
    b.fc("down", b.fc("up", b.input("x", rows, 1, inputs), middle), outputs)
    return b.build()


def gated(rows, inputs, middle):
    b = Builder("gated")
    x = b.input("x", rows, 1, inputs)
    b.fc("down", b.mul("gate", [b.fc("up", x, middle), b.fc("side", x, middle)]), inputs)
    return b.build()


def bottleneck(size, channels, padding):
    b = Builder("bottleneck")
    wide = b.conv("expand", b.input("x", size, size, channels), 6 * channels)
    b.conv("project", b.conv("dw", wide, 6 * channels, 3, padding=padding, groups=6 * channels), channels)
    return b.build()


TWO, FFN, GATED = feed_forward(512, 512, 512, 512), feed_forward(512, 768, 3072, 768), gated(256, 1024, 2816)
EARLY, LATE = bottleneck(28, 24, 0), bottleneck(14, 96, 1)

CASES = [
    (typed(TWO, sums=8), 129, 2_097_152),
    (typed(TWO, sums=8), 256.5, 1_572_864),
    (typed(TWO, sums=8), 264, 1_048_576),
    (FFN, 1536, 7_673_856),
    (typed(FFN, 16), 1536, 10_629_120),
    (typed(FFN, 16), 2048, 8_398_848),
    (typed(FFN, 16), 2560, 6_291_456),
    (typed(FFN, 16), 3072, 6_291_456),
    (typed(FFN, sums=8), 800, 5_505_024),
    (typed(FFN, sums=8), 1024, 5_505_024),
    (typed(FFN, sums=16), 1100, 7_704_576),
    (typed(GATED, 16), 1024, 18_104_320),
    (typed(GATED, 16), 1536, 15_138_816),
    (GATED, 1536, 9_175_040),
    (typed(GATED, sums=16), 1024, 9_175_040),
    (typed(GATED, 16), 2048, 9_699_328),
    (typed(GATED, 16), 3072, 9_699_328),
    (EARLY, 8, 191_448),
    (EARLY, 10, 130_800),
    (EARLY, 12, 43_248),
    (EARLY, 16, 43_248),
    (typed(EARLY, sums=8), 4, 248_448),
    (typed(EARLY, sums=8), 8, 101_616),
    (typed(EARLY, sums=8), 12, 43_248),
    (LATE, 32, 390_144),
    (LATE, 64, 211_368),
    (LATE, 96, 153_408),
    (LATE, 128, 153_408),
    (typed(LATE, sums=8), 32, 213_888),
    (typed(LATE, sums=8), 64, 153_408),
]


@pytest.mark.parametrize(("network", "kilobytes", "bytes_moved"), CASES)
def test_what_a_chain_moves(network, kilobytes, bytes_moved):
    """The least EMA in a shared buffer, by a study that executed these plans; none of them is higher."""
    chip = Accelerator(shared_buffer=int(kilobytes * KiB))
    rules = PricingRules(Geometry(network, chip.technology), chip, "exact", "ema")
    price = SubgraphModel(rules, range(len(network.layers))).price(int(kilobytes * KiB), 0)
    assert isinstance(price, Price)
    assert price.ema_bytes == bytes_moved
