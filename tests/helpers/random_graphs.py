"""Random connected graphs for the property tests: all operators, odd extents, strides, paddings, crops, spread maps."""

from __future__ import annotations

import random

from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network


def random_network(seed: int, most_layers: int = 8, whole: bool = False, channels: int = 2) -> Network:
    """Return a network of 2 to `most_layers` layers; with `whole`, some are products of two activations.

    channels: of the inputs; a convolution has as many at most.
    """
    rng = random.Random(seed)
    while True:
        found = _try_network(rng, rng.randint(2, most_layers), whole, channels)
        if found is not None:
            return found


def _try_network(rng: random.Random, count: int, whole: bool, most: int) -> Network | None:
    height, width = rng.randint(1, 14), 1 if rng.random() < 0.15 else rng.randint(1, 14)
    inputs = [Tensor("x", height, width, most)] + [Tensor("y", height, width, most)] * (rng.random() < 0.3)
    shapes = {tensor.name: (tensor.height, tensor.width, tensor.channels) for tensor in inputs}
    layers: list[Layer] = []
    for i in range(count):
        layer = _random_layer(rng, f"n{i}", shapes, whole, most)
        if layer is None:
            return None
        layers.append(layer)
        shapes[layer.name] = (layer.height, layer.width, layer.channels)
    return Network("random", tuple(inputs), tuple(layers))


def _random_layer(
    rng: random.Random, name: str, shapes: dict[str, tuple[int, int, int]], whole: bool, most: int
) -> Layer | None:
    source = rng.choice(list(shapes)[-4:])
    height, width, channels = shapes[source]
    equal = [other for other in shapes if shapes[other] == shapes[source] and other != source]
    draw = rng.random()
    if draw < 0.35 and equal:
        operands = (source, *rng.sample(equal, min(len(equal), rng.randint(1, 2))))
        return Layer(name, "add", operands, height, width, channels, channels)
    if whole and draw < 0.55:
        right = rng.choice(list(shapes))
        positions = shapes[right][0] * shapes[right][1]
        if shapes[right][2] == channels and positions < 60:
            return Layer(name, "matmul", (source, right), height, width, positions, channels, whole=(1,))
    if whole and draw < 0.62 and height * width < 60:
        return _random_rearrange(rng, name, (source, *equal[:1]), shapes, most)
    sources = (source,)
    beside = [other for other in shapes if shapes[other][:2] == (height, width) and other != source]
    if beside and rng.random() < 0.25:
        sources = (source, rng.choice(beside))
    random_kind = _random_spread if rng.random() < 0.25 else _random_window
    return random_kind(rng, name, sources, (height, width, sum(shapes[each][2] for each in sources)), most)


def _random_window(
    rng: random.Random, name: str, sources: tuple[str, ...], shape: tuple[int, int, int], most: int
) -> Layer | None:
    kernel = (1, 1) if rng.random() < 0.3 else (rng.randint(1, 5), rng.randint(1, 5))
    stride = (rng.choice((1, 1, 1, 2, 3)), rng.choice((1, 1, 1, 2)))
    dilation = rng.choice((1, 1, 1, 2))
    reach = [(taps - 1) * dilation + 1 for taps in kernel]
    if rng.random() < 0.5:
        before = after = [(span - 1) // 2 for span in reach]
    else:
        before, after = ([rng.randint(0, span - 1) for span in reach] for _ in range(2))
    if rng.random() < 0.05 and shape[0] > 3:
        before = [-1, 0]
    extents = [(shape[axis] + before[axis] + after[axis] - reach[axis]) // stride[axis] + 1 for axis in (0, 1)]
    if min(extents) < 1:
        return None
    op = rng.choice(("conv", "conv", "maxpool", "avgpool"))
    channels = rng.randint(1, most) if op == "conv" else shape[2]
    padding = (before[0], before[1], after[0], after[1])
    return Layer(name, op, sources, *extents, channels, shape[2], kernel, stride, padding, (dilation,) * 2)


def _random_spread(
    rng: random.Random, name: str, sources: tuple[str, ...], shape: tuple[int, int, int], most: int
) -> Layer | None:
    """Return a transposed convolution, a resize by any ratio, or a slice."""
    op = rng.choice(("conv_transpose", "resize", "resize", "slice"))
    upsample = (1, 1) if op == "slice" else (rng.choice((1, 2, 2, 3, 4)), rng.choice((1, 2, 2, 3)))
    stride = (1, 1) if op == "conv_transpose" else (rng.choice((1, 1, 2, 3)), rng.choice((1, 1, 1, 2)))
    kernel = (1, 1) if op == "slice" else (rng.randint(1, 6), rng.randint(1, 6))
    dilation = (1, 1) if op == "slice" else (rng.choice((1, 1, 2)),) * 2
    reach = [(taps - 1) * dilation[axis] + 1 for axis, taps in enumerate(kernel)]
    sides = [rng.randint(-1 if shape[0] > 3 and shape[1] > 3 else 0, span - 1) for span in (*reach, *reach)]
    spread = [(shape[axis] - 1) * upsample[axis] + 1 for axis in (0, 1)]
    extents = [(spread[axis] + sides[axis] + sides[axis + 2] - reach[axis]) // stride[axis] + 1 for axis in (0, 1)]
    if min(extents) < 1 or max(extents) > 40:
        return None
    channels = shape[2] if op == "resize" else rng.randint(1, min(shape[2], most))
    padding = (sides[0], sides[1], sides[2], sides[3])
    return Layer(name, op, sources, *extents, channels, shape[2], kernel, stride, padding, dilation, upsample=upsample)


def _random_rearrange(
    rng: random.Random, name: str, sources: tuple[str, ...], shapes: dict[str, tuple[int, int, int]], most: int
) -> Layer:
    """Return the elements of these maps in another shape."""
    count = sum(height * width * channels for height, width, channels in (shapes[each] for each in sources))
    width = rng.choice((1, 2, 3))
    channels = rng.randint(1, most)
    rows = max(1, min(20, count // (width * channels)))
    return Layer(name, "rearrange", sources, rows, width, channels, channels, whole=tuple(range(len(sources))))


def large_network(seed: int) -> Network:
    """Return 2 to 6 layers on maps of 24 to 40 rows and columns, so that every region has to slide."""
    rng = random.Random(seed)
    while True:
        shapes = {"x": (rng.randint(24, 40), rng.randint(24, 40), 1)}
        layers: list[Layer] = []
        for i in range(rng.randint(2, 6)):
            source = rng.choice(list(shapes)[-3:])
            height, width, _ = shapes[source]
            equal = [other for other in shapes if shapes[other] == shapes[source] and other != source]
            if equal and rng.random() < 0.5:
                layers.append(Layer(f"n{i}", "add", (source, rng.choice(equal)), height, width, 1, 1))
            else:
                taps, step = rng.choice((1, 1, 2, 3, 3, 5)), rng.choice((1, 1, 1, 1, 2))
                pad = rng.choice((taps // 2, taps // 2, taps // 2, 0))
                rows, columns = ((extent + 2 * pad - taps) // step + 1 for extent in (height, width))
                layers.append(
                    Layer(f"n{i}", "conv", (source,), rows, columns, 1, 1, (taps, taps), (step, step), (pad,) * 4)
                )
            shapes[f"n{i}"] = (layers[-1].height, layers[-1].width, 1)
        if min(layer.height for layer in layers) >= 4 and min(layer.width for layer in layers) >= 4:
            return Network("large", (Tensor("x", *shapes["x"]),), tuple(layers))
