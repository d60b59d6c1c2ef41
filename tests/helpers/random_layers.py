"""Networks of one small random layer: all operators, groups, dilation, strides, crops, spread maps, heads."""

from __future__ import annotations

import random

from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network

CHANNELS = (1, 3, 4, 8, 9, 12, 16, 20, 24)


def random_layer(rng: random.Random) -> Network:
    """Return a network of one layer."""
    kinds = (_window, _window, _window, _spread, _apart, _apart, _joined, _product, _product, _rearranged)
    while True:
        found = rng.choice(kinds)(rng)
        if found is not None:
            tensors, layer = found
            return Network("one", tuple(dict.fromkeys(tensors)), (layer,))


def _maps(rng, channels=CHANNELS, most=3):
    """Return one to three equal maps of some channels; sometimes one of them twice."""
    height, width = rng.randint(1, 9), rng.choice((1, rng.randint(1, 9)))
    count = rng.choice((1, 1, 1, 2, most))
    tensors = [Tensor(f"x{i}", height, width, rng.choice(channels)) for i in range(count)]
    return tensors + rng.choices(tensors, k=rng.random() < 0.1)


def _window_of(rng, extents, upsample=(1, 1)):
    """Return kernel, stride, padding, dilation and extents of a window that fits, or None."""
    kernel = rng.choice(((1, 1), (3, 3), (rng.randint(1, 4), rng.randint(1, 4)), extents))
    stride = (rng.choice((1, 1, 1, 2, 3)), rng.choice((1, 1, 2, 4)))
    dilation = (rng.choice((1, 1, 1, 2, 3)), rng.choice((1, 1, 1, 2)))
    reach = [(taps - 1) * apart + 1 for taps, apart in zip(kernel, dilation)]
    sides = [rng.choice((0, span // 2, span - 1, rng.randint(-1, span + 1))) for span in (*reach, *reach)]
    spread = [(extent - 1) * up + 1 for extent, up in zip(extents, upsample)]
    if any(min(sides[axis], 0) + min(sides[axis + 2], 0) <= -spread[axis] for axis in (0, 1)):
        return None
    sizes = [(spread[a] + sides[a] + sides[a + 2] - reach[a]) // stride[a] + 1 for a in (0, 1)]
    if min(sizes) < 1 or max(sizes) > 10:
        return None
    return sizes, kernel, stride, tuple(sides), dilation


def _window(rng):
    tensors = _maps(rng)
    channels = sum(t.channels for t in tensors)
    found = _window_of(rng, (tensors[0].height, tensors[0].width))
    groups = rng.choice([1, 1, 1, *(g for g in (2, 3, 4) if channels % g == 0)])
    if found is None:
        return None
    sizes, *window = found
    outputs = groups * rng.choice((1, 3, 8, 9, 16, 24))
    names = tuple(t.name for t in tensors)
    return tensors, Layer("n", "conv", names, *sizes, outputs, channels, *window, groups)


def _spread(rng):
    tensors = _maps(rng, most=2)
    channels = sum(t.channels for t in tensors)
    op = rng.choice(("conv_transpose", "resize"))
    upsample = (rng.choice((1, 2, 3, 4)), rng.choice((1, 2, 3)))
    found = _window_of(rng, (tensors[0].height, tensors[0].width), upsample)
    if found is None:
        return None
    sizes, kernel, stride, padding, dilation = found
    if op == "conv_transpose" and stride != (1, 1):
        return None
    outputs = channels if op == "resize" else rng.choice((3, 8, 16, 17))
    names = tuple(t.name for t in tensors)
    return tensors, Layer(
        "n", op, names, *sizes, outputs, channels, kernel, stride, padding, dilation, upsample=upsample
    )


def _apart(rng):
    op = rng.choice(("maxpool", "avgpool", "slice", "depthwise"))
    tensors = _maps(rng, (8, 16, 20, 72) if op == "depthwise" else (1, 5, 8, 20, 72))
    channels = sum(t.channels for t in tensors)
    found = _window_of(rng, (tensors[0].height, tensors[0].width))
    if found is None:
        return None
    sizes, kernel, stride, padding, dilation = found
    names = tuple(t.name for t in tensors)
    if op == "depthwise":
        return tensors, Layer(
            "n", "conv", names, *sizes, channels, channels, kernel, stride, padding, dilation, channels
        )
    if op == "slice":
        if kernel != (1, 1):
            return None
        channels_out = rng.randint(1, channels)
        return tensors, Layer("n", op, names, *sizes, channels_out, channels, kernel, stride, padding, dilation)
    return tensors, Layer("n", op, names, *sizes, channels, channels, kernel, stride, padding, dilation)


def _joined(rng):
    height, width, channels = rng.randint(1, 8), rng.randint(1, 8), rng.choice((1, 8, 20, 72))
    op = rng.choice(("add", "mul", "softmax", "layernorm"))
    full = Tensor("x", height, width, channels)
    tensors = [full]
    for i in range(rng.randint(0, 3) if op in ("add", "mul") else 0):
        other = Tensor(f"y{i}", *(extent if rng.random() < 0.6 else 1 for extent in (height, width, channels)))
        tensors.append(rng.choice((other, other, full)))
    rng.shuffle(tensors)
    names = tuple(t.name for t in tensors)
    whole = tuple(i for i, t in enumerate(tensors) if (t.height, t.width) != (height, width))
    return tensors, Layer("n", op, names, height, width, channels, channels, whole=whole)


def random_norm(rng: random.Random) -> Network:
    """Return a network of one softmax or norm, whole words of channels or not."""
    height, width, channels = rng.randint(1, 6), rng.randint(1, 6), rng.choice((1, 3, 8, 9, 20, 40, 72, 100))
    layer = Layer("n", rng.choice(("softmax", "layernorm", "lrn")), ("x",), height, width, channels, channels)
    return Network("one", (Tensor("x", height, width, channels),), (layer,))


def random_pool(rng: random.Random, least: int = 1) -> Network:
    """Return a network of one pool, resize or slice; least: rows of its result, and of its windows."""
    while True:
        found = rng.choice((_apart, _spread))(rng)
        if found is not None and not found[1].has_weights and min(found[1].height, found[1].kernel[0]) >= least:
            return Network("one", tuple(dict.fromkeys(found[0])), (found[1],))


def _product(rng):
    heads, inner, outer = rng.choice((1, 1, 2, 3)), rng.choice((1, 4, 8, 12, 24)), rng.choice((1, 3, 8, 16, 20))
    rows, columns = rng.randint(1, 10), rng.choice((1, 1, 2))
    first = Tensor("x", rows, columns, heads * inner)
    if rng.random() < 0.5:
        second = Tensor("y", outer, 1, heads * inner)
    else:
        second = Tensor("y", inner, 1, heads * outer)
    return (first, second), Layer(
        "n", "matmul", ("x", "y"), rows, columns, heads * outer, heads * inner, groups=heads, whole=(1,)
    )


def random_square(rng: random.Random) -> Network:
    """Return a network of one product of a map with itself, transposed or not."""
    heads, rows, columns = rng.choice((1, 2, 3)), rng.randint(1, 12), rng.choice((1, 1, 2))
    inner, is_turned = rng.choice((4, 8, 12, 24)), rng.random() < 0.7
    inner = inner if is_turned else rows * columns
    outer, channels = (rows * columns if is_turned else inner), heads * inner
    layer = Layer("n", "matmul", ("x", "x"), rows, columns, heads * outer, channels, groups=heads, whole=(1,))
    return Network("one", (Tensor("x", rows, columns, channels),), (layer,))


def _rearranged(rng):
    tensors = _maps(rng)
    channels = rng.choice((1, 5, 8))
    rows, columns = rng.randint(1, 6), rng.randint(1, 6)
    names = tuple(t.name for t in tensors)
    return tensors, Layer("n", "rearrange", names, rows, columns, channels, channels, whole=tuple(range(len(names))))


def random_reduction(rng: random.Random) -> Network:
    """Return a network of one dense convolution or product, with more channels than `random_layer` has."""
    while True:
        tensors, layer = _product(rng) if rng.random() < 0.25 else _plain(rng)
        if layer.height > 0 and layer.width > 0:
            return Network("one", tuple(tensors), (layer,))


def _plain(rng):
    height, width = rng.randint(3, 12), rng.randint(1, 12)
    taps, step, apart = rng.choice((1, 1, 3, 3, 5)), rng.choice((1, 1, 2)), rng.choice((1, 1, 2, 3))
    pad = rng.choice((0, (taps - 1) * apart // 2))
    sizes = [(extent + 2 * pad - (taps - 1) * apart - 1) // step + 1 for extent in (height, width)]
    x = Tensor("x", height, width, rng.choice((8, 16, 24, 32, 40, 64)))
    window = ((taps, taps), (step, step), (pad,) * 4, (apart, apart))
    outputs, groups = rng.choice((8, 16, 24, 40, 48, 64)), rng.choice((1, 1, 1, 1, 2, 4))
    return (x,), Layer("n", "conv", ("x",), *sizes, outputs, x.channels, *window, groups)
