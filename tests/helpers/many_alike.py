"""Networks with many inputs, features, readers and outputs: as many as words have bits, and one less or more."""

from __future__ import annotations

import random

from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network

COUNTS = (1, 30, 62, 63, 64, 65, 66, 126, 127, 128, 129, 130, 200)


def many(inputs: int = 1, features: int = 0, readers: int = 3, outputs: int = 0, shapes: int = 1) -> Network:
    """Return 1x1 convolutions on maps of 4x4; shapes: how many numbers of channels there are, of 2, 3, ...

    The features read an input each, the readers all features, or all inputs where there are none; the outputs read the
    first of these. Nobody reads readers and outputs.
    """
    channels = {f"x{i}": 2 + i % shapes for i in range(inputs)}
    tensors = tuple(Tensor(name, 4, 4, count) for name, count in channels.items())
    layers = [_conv(f"f{i}", (f"x{i % inputs}",), 2 + i % shapes, channels) for i in range(features)]
    channels |= {layer.name: layer.channels for layer in layers}
    read = tuple(layer.name for layer in layers) or tuple(tensor.name for tensor in tensors)
    layers += [_conv(f"r{i}", read, 2, channels) for i in range(readers)]
    layers += [_conv(f"o{i}", read[:1], 2, channels) for i in range(outputs)]
    return Network(f"many_{inputs}_{features}_{readers}_{outputs}_{shapes}", tensors, tuple(layers))


def random_many(seed: int) -> Network:
    """Return one of them with one number drawn from COUNTS, sometimes also that of outputs; the others are small."""
    rng = random.Random(seed)
    counts = {"inputs": rng.randint(1, 4), "readers": rng.randint(1, 3), "outputs": rng.randint(0, 2)}
    for name in (rng.choice(("inputs", "features", "readers", "outputs")), "outputs")[: rng.choice((1, 1, 2))]:
        counts[name] = rng.choice(COUNTS)
    return many(**counts, shapes=rng.choice((1, 1, 2, 5, 200)))


def _conv(name: str, sources: tuple[str, ...], made: int, channels: dict[str, int]) -> Layer:
    return Layer(name, "conv", sources, 4, 4, made, sum(channels[source] for source in sources))
