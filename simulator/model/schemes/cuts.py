"""The parts into which loops cut the channels of a layer: they must fill whole bytes.

Loops take words of channels (`Technology.channel_alignment`), and layers that do not reduce over them as many as fill
the PE array. What is left at the end rounds up once, as the whole does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise

from simulator.model.layer.loop_layer import APART, ATTENTION, COPY, DENSE, JOIN, PRODUCT, TRANSPOSED
from simulator.model.layer.loops import apiece, kind_of
from simulator.technology import Technology
from workloads.errors import NetworkError
from workloads.network.layers.layer import Layer
from workloads.network.layers.types import Experts
from workloads.network.network import Network

Numbers = tuple[int, int]  #: how many that are moved together, and the bits of each
REDUCING = (DENSE, TRANSPOSED, PRODUCT)
WHOLE = (COPY, ATTENTION)  #: these are not cut by channels


def check_cuts(network: Network, technology: Technology) -> None:
    """Raise NetworkError for a layer whose loops may cut it into parts that do not fill whole bytes.

    Examples
    --------
    >>> from workloads import Bits, Builder
    >>> b = Builder("one")
    >>> _ = b.conv("a", b.input("x", 4, 4, 8), 36)
    >>> check_cuts(b.build().with_bits(Bits(activations=12)), Technology(channel_alignment=1))
    Traceback (most recent call last):
    ...
    workloads.errors.NetworkError: layer 'a' has no price with channel_alignment 1: 1 x 12 bits do not fill whole bytes
    """
    word = technology.channel_alignment
    light = technology.pe_rows * technology.pe_columns * technology.pe_light_channels
    for v, layer in enumerate(network.layers):
        bits = {layer.bits.weights, *(network.tensors[u].bits for u in (v, *network.operands[v]))}
        if layer.experts is not None or any(each % 8 for each in bits):
            _check(layer, f"channel_alignment {word}", _words(network, v, word))
            _check(layer, f"channel_alignment {word}", _weights(network, v, word), layer.experts)
            _check(layer, f"pe_rows x pe_columns x pe_light_channels {light}", _filling(network, v, word, light))


def _check(layer: Layer, what: str, parts: Iterable[Numbers], experts: Experts | None = None) -> None:
    used, active = (1, 1) if experts is None else (experts.in_use(layer.height * layer.width), experts.active)
    for count, bits in parts:
        if count * bits * used % (8 * active):
            raise NetworkError(
                f"layer {layer.name!r} has no price with {what}: {count} x {bits} bits do not fill whole bytes"
            )


def _words(network: Network, v: int, word: int) -> Iterator[Numbers]:
    """Yield a word of channels of each tensor that has more: of a group or head, where they run apart."""
    layer, kind = network.layers[v], kind_of(network, v)
    groups = layer.groups if kind in REDUCING else 1
    for u in (v, *network.operands[v]):
        if kind not in WHOLE and network.tensors[u].channels // groups > word:
            yield word, network.tensors[u].bits


def _weights(network: Network, v: int, word: int) -> Iterator[Numbers]:
    """Yield the weights of a word of outputs, of a word of inputs, and of both."""
    layer, kind = network.layers[v], kind_of(network, v)
    if not layer.has_weights:
        return
    taps, outputs = layer.kernel[0] * layer.kernel[1], layer.channels // layer.groups
    if kind != DENSE:  # each channel has its own, but in a scan whose heads share them
        if layer.channels > word:
            yield word * (taps if layer.state is None else apiece(layer)), layer.bits.weights
        return
    size, ends = layer.in_channels // layer.groups, accumulate(network.tensors[u].channels for u in network.operands[v])
    for inputs in {b - a for a, b in pairwise(sorted({0, *ends, *range(size, layer.in_channels, size)}))}:
        made, read = min(word, outputs), min(word, inputs)
        yield from ((count * taps, layer.bits.weights) for count in {made * inputs, outputs * read, made * read})


def _filling(network: Network, v: int, word: int, light: int) -> Iterator[Numbers]:
    """Yield the channels that fill the PE array, of each operand that has more, and their weights."""
    layer, kind = network.layers[v], kind_of(network, v)
    least = (light - 1) % word + 1 if kind == JOIN else light  # element-wise layers take a word less until it fits
    for u in network.operands[v]:
        if kind in (APART, JOIN) and network.tensors[u].channels > least:
            yield least, network.tensors[u].bits
            if layer.has_weights:
                yield least * layer.kernel[0] * layer.kernel[1], layer.bits.weights
