"""Small networks worked by hand, and random ones, for the tests of the simulator."""

from __future__ import annotations

from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network


def conv(name, source, shape, in_channels, kernel=1, stride=1, padding=0, **more):
    """Return a convolution; `shape` is (height, width, channels) of its output."""
    pads = padding if isinstance(padding, tuple) else (padding,) * 4
    sources = (source,) if isinstance(source, str) else tuple(source)
    return Layer(name, "conv", sources, *shape, in_channels, (kernel, kernel), (stride, stride), pads, **more)


def add(name, sources, shape):
    """Return an element-wise addition."""
    return Layer(name, "add", tuple(sources), *shape, in_channels=shape[2])


def chain() -> Network:
    """x 16x16x8 -> a conv3x3 K=16 -> b conv3x3/2 K=16 -> c conv1x1 K=32 (spec section 8)."""
    return Network(
        "chain",
        (Tensor("x", 16, 16, 8),),
        (
            conv("a", "x", (16, 16, 16), 8, 3, 1, 1),
            conv("b", "a", (8, 8, 16), 16, 3, 2, 1),
            conv("c", "b", (8, 8, 32), 16),
        ),
    )


def resnet_block() -> Network:
    """ResNet50's first block: input pool1 56x56x64 (spec section 8)."""
    return Network(
        "block",
        (Tensor("pool1", 56, 56, 64),),
        (
            conv("shortcut", "pool1", (56, 56, 256), 64),
            conv("a", "pool1", (56, 56, 64), 64),
            conv("b", "a", (56, 56, 64), 64, 3, 1, 1),
            conv("c", "b", (56, 56, 256), 64),
            add("add", ("c", "shortcut"), (56, 56, 256)),
        ),
    )


def residual(height=12, width=14, channels=1) -> Network:
    """0 -> 1 (1x1) -> 2 (3x3, pad 1) -> 3 (add), 0 -> 3 (spec section 8); x feeds 0."""
    shape = (height, width, channels)
    return Network(
        "residual",
        (Tensor("0", *shape),),
        (
            conv("1", "0", shape, channels),
            conv("2", "1", shape, channels, 3, 1, 1),
            add("3", ("2", "0"), shape),
        ),
    )


def figure5() -> Network:
    """Cocco's Fig. 5 with F(0) = F(1) = 3, F(2) = 1 (spec section 8): s(0) = 2, s(1) = s(2) = 1; a long map."""
    size = 63
    return Network(
        "figure5",
        (Tensor("-2", size + 2, 1, 1), Tensor("-1", size, 1, 1)),
        (
            Layer("0", "conv", ("-2",), (size + 1) // 2, 1, 1, 1, (3, 1), (2, 1)),
            Layer("1", "conv", ("-2",), size, 1, 1, 1, (3, 1), (1, 1)),
            Layer("2", "add", ("-1", "1"), size, 1, 1, 1),
        ),
    )


def figure4() -> Network:
    """Cocco's Fig. 4: -1 -> 0 (5x5/2), -1 -> 1 (1x1), 1 -> 2 (3x3/2), {0, 2} -> 3 (add)."""
    return Network(
        "figure4",
        (Tensor("-1", 21, 21, 1),),
        (
            conv("0", "-1", (9, 9, 1), 1, 5, 2),
            conv("1", "-1", (21, 21, 1), 1),
            conv("2", "1", (9, 9, 1), 1, 3, 2, (-1, -1, -1, -1)),
            add("3", ("0", "2"), (9, 9, 1)),
        ),
    )
