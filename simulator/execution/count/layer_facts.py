"""What a layer needs, derived a second time: its weights, operations and taps, and the bytes of a tensor.

It uses only the shapes of its operands and its configuration (operator, kernel, channels, groups, heads, bits,
experts). The code that prices uses the properties of workloads.network.layers.layer; neither this file nor the code
that counts calls any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import astuple, replace
from decimal import ROUND_CEILING, Context, Decimal
from functools import lru_cache
from math import prod

from workloads.network.layers.layer import Layer, Tensor
from workloads.network.layers.mask import Mask
from workloads.network.layers.types import Experts, Number
from workloads.network.network import Network

WEIGHTED = ("conv", "fc", "conv_transpose", "recurrent")
COMBINING = ("add", "mul", "lrn", "softmax", "layernorm")  #: of each operand an element
EXACT = Context(prec=80)
NEARLY = Decimal("1e-40")  #: what rounding leaves of a whole number of experts


def with_experts(network: Network, samples: int) -> Network:
    """Return the network with the number of experts that all tokens of this many samples use."""
    if all(layer.experts is None or layer.experts.used is not None for layer in network.layers):
        return network
    layers = tuple(replace(layer, experts=_experts(layer, samples)) for layer in network.layers)
    return replace(network, layers=layers)


def _experts(layer: Layer, samples: int) -> Experts | None:
    if layer.experts is None or layer.experts.used is not None:
        return layer.experts
    count, active, _ = astuple(layer.experts)
    return Experts(count, active, distinct(count, active, samples * layer.height * layer.width))


def distinct(count: int, active: int, tokens: int) -> int:
    """Return how many experts the tokens are expected to use, rounded up: each token leaves 1 - active / count unused.

    Examples
    --------
    >>> [distinct(8, 2, tokens) for tokens in (1, 4, 8, 512)]
    [2, 6, 8, 8]
    """
    left = EXACT.multiply(EXACT.power(EXACT.divide(Decimal(count - active), Decimal(count)), tokens), Decimal(count))
    return int((count - left - NEARLY).to_integral_value(ROUND_CEILING))


def has_weights(layer: Layer) -> bool:
    """Return whether a layer reads a weight tensor."""
    return layer.op in WEIGHTED or (layer.state is not None and layer.state.weights > 0)


def state_of(layer: Layer) -> tuple[int, int]:
    """Return how many numbers a scan carries for each channel, and how many its decays are made of; else 0."""
    return (0, 0) if layer.state is None else (layer.state.size, layer.state.weights)


def state_bytes(layer: Layer, channels: int) -> int:
    """Return the bytes of what this many channels of a scan carry from row to row, as sums; 0 for other layers."""
    return state_of(layer)[0] * channels * -(-layer.bits.sums // 8)


def apiece(layer: Layer) -> int:
    """Return how many weights of a scan each channel has of its own, 0 where heads of channels share them."""
    size, weights = state_of(layer)
    return weights // layer.channels if weights in (layer.channels, layer.channels * size) else 0


def of_own_channels(network: Network, v: int) -> list[int]:
    """Return the operands of a scan of which a channel needs one number: those before the first with other numbers."""
    layer, ids, found = network.layers[v], network.operands[v], list[int]()
    for u in ids[:-2] if layer.op == "scan" else ():
        if network.tensors[u].channels != layer.channels or u in ids[-2:]:
            break
        found.append(u)
    return found


def is_depthwise(layer: Layer) -> bool:
    """Return whether each output channel depends on a single input channel: no sum over channels."""
    if layer.op in WEIGHTED:
        return 1 < layer.groups == layer.channels == layer.in_channels
    return layer.op not in ("matmul", "attention")


def second_heads(layer: Layer) -> int:
    """Return the heads of the second operand of a product, those of all blocks of positions together."""
    return layer.operand_heads if layer.operand_heads > 0 else layer.groups


def heads_of_channels(layer: Layer) -> int:
    """Return the heads that lie side by side in the channels of a second operand: blocks are further positions."""
    return min(layer.groups, second_heads(layer))


def reach(layer: Layer) -> tuple[int, int]:
    """Return the rows and columns from the first tap of a window to its last."""
    down, across = (1 + gap * (taps - 1) for gap, taps in zip(layer.dilation, layer.kernel))
    return down, across


def output_bits(layer: Layer) -> int:
    """Return the bits of an element of the output."""
    return layer.bits.cache if layer.appended else layer.bits.activations


def row_bytes(channels: int, bits: int) -> int:
    """Return the whole bytes that this many numbers of a position take.

    Examples
    --------
    >>> row_bytes(3, 4), row_bytes(5, 8)
    (2, 5)
    """
    return len(range(0, channels * bits, 8))


def position_bytes(network: Network, u: int) -> int:
    """Return the bytes of all channels of a position of a tensor."""
    return row_bytes(network.tensors[u].channels, bits_of(network, u))


def size_bytes(network: Network, u: int) -> int:
    """Return the bytes of a tensor, one sample."""
    tensor = network.tensors[u]
    return tensor.height * tensor.width * position_bytes(network, u)


def bits_of(network: Network, u: int) -> int:
    """Return the bits of an element of a tensor."""
    return tensor_of(network, u).bits


def number(network: Network, u: int) -> Number:
    """Return the number type of the elements of a tensor."""
    tensor = tensor_of(network, u)
    return Number(tensor.bits, tensor.number_as)


def tensor_of(network: Network, u: int) -> Tensor:
    """Return a tensor by its id: a model input, or the output of a layer."""
    if u >= len(network.layers):
        return network.inputs[u - len(network.layers)]
    layer = network.layers[u]
    kind = layer.bits.cache_as if layer.appended else layer.bits.activations_as
    return Tensor(layer.name, layer.height, layer.width, layer.channels, bits=output_bits(layer), number_as=kind)


def elements(layer: Layer) -> int:
    """Return the elements of the output, one sample."""
    return prod((layer.height, layer.width, layer.channels))


def taps(network: Network, v: int) -> int:
    """Return how many elements of an input channel an output element reads; element-wise: one of each operand.

    Examples
    --------
    >>> import workloads
    >>> network = workloads.load("resnet50")
    >>> [taps(network, network.index[name]) for name in ("conv1", "pool1", "s1b1_add")]
    [49, 9, 2]
    """
    layer = network.layers[v]
    if layer.op in COMBINING:
        return len(network.operands[v])
    found = 1 if layer.frames is None else layer.frames.kernel
    for axis, windows in enumerate((layer.height, layer.width)):
        spread, gap = layer.upsample[axis], layer.dilation[axis]
        rests = Counter(tap * gap % spread for tap in range(layer.kernel[axis]))  # those with the same meet elements
        met = max(rests.values())
        if layer.op == "resize":  # an element that repeats is met once; so many lie under all windows, without padding
            span = layer.stride[axis] * (windows - 1) + reach(layer)[axis]
            after = layer.padding[axis + 2]
            span -= layer.padding[axis] + (after if after < 0 else len(range(layer.stride[axis] - 1, after)))
            met = min(met, max(1, len(range(0, span, spread))))
        found *= met
    return found


def _inputs(network: Network, v: int) -> int:
    """Return the channels of all operands that an output channel depends on."""
    layer, channels = network.layers[v], [network.tensors[u].channels for u in network.operands[v]]
    return (channels[0] if layer.op in ("matmul", "attention") else sum(channels)) // layer.groups


def matrix(network: Network, v: int) -> int:
    """Return the number of weights that apply to a position; 0 without weights."""
    layer = network.layers[v]
    if layer.op == "scan":
        return state_of(layer)[1]
    if layer.op not in WEIGHTED:
        return 0
    window = prod(layer.kernel) * (1 if layer.frames is None else layer.frames.kernel)
    return layer.channels * window * _inputs(network, v)


def loaded_bytes(layer: Layer, weights: int, bits: int | None = None) -> int:
    """Return the bytes of this many weights of a position, including those of the other experts in use."""
    experts = _experts(layer, 1)
    used, active = (1, 1) if experts is None or experts.used is None else (experts.used, experts.active)
    return -(-weights * used * (layer.bits.weights if bits is None else bits) // (8 * active))


def weight_bytes(network: Network, v: int) -> int:
    """Return the bytes of the weights that are loaded; `with_experts` has set the experts in use.

    Examples
    --------
    >>> import workloads
    >>> vgg16 = workloads.load("vgg16")
    >>> weight_bytes(vgg16, vgg16.index["fc6"])
    102760448
    """
    return loaded_bytes(network.layers[v], matrix(network, v))


def loaded_by(network: Network, layers: Iterable[int]) -> list[int]:
    """Return those of some layers, in this order, that load their weights: not those of a name that has come."""
    found, names = list[int](), set[str]()
    for v in layers:
        name = network.layers[v].shared
        if name not in names:
            found.append(v)
        names |= {name} - {""}
    return found


def keys_of(network: Network, v: int) -> int:
    """Return the positions of the keys of an attention: the first half of its operands after the queries."""
    operands = network.operands[v]
    keys = (network.tensors[u] for u in operands[1 : 1 + len(operands) // 2])
    return sum(tensor.height * tensor.width for tensor in keys)


def sees(layer: Layer) -> tuple[range, ...]:
    """Return which keys each row of an attention, or of one of its three layers, sees.

    Examples
    --------
    >>> from workloads import Builder, Mask
    >>> b = Builder("one")
    >>> _ = b.attention("mix", *(b.input(each, 3, 1, 8) for each in "qkv"), mask=Mask(behind=1))
    >>> sees(b.build().layers[0])
    (range(0, 1), range(0, 2), range(1, 3))
    """
    return _seen(layer.mask, layer.height, layer.keys)


@lru_cache(maxsize=1 << 4)
def _seen(mask: Mask | None, rows: int, count: int) -> tuple[range, ...]:
    if mask is None:
        return (range(count),) * rows
    keys, found = range(count), []
    for row in range(rows):
        place = count - (rows - row - 1) // mask.together - 1
        near = range(place - (place if mask.behind is None else mask.behind), place + 1)
        far = count if mask.ahead is None else near.stop + mask.ahead
        own = range(place - place % mask.chunk, count)[: mask.chunk] if mask.chunk else keys
        found.append(range(max(0, near.start, own.start), min(count, far, own.stop)))
    return tuple(found)


def is_scores(network: Network, v: int) -> bool:
    """Return whether a product has a channel for each key: it multiplies with the rows of its second operand."""
    layer, second = network.layers[v], [network.tensors[u] for u in network.operands[v][1:]]
    positions = sum(each.height * each.width for each in second)
    has_rows = second[0].channels * layer.groups == layer.in_channels * second_heads(layer)
    return has_rows and positions * layer.groups == layer.channels


def operations(network: Network, v: int, made: int) -> int:
    """Return the MACs or light operations of this many output elements.

    Where a mask hides keys, of all elements: rows differ.

    In an attention each score takes one MAC per channel of a query, a power, and one MAC per channel of an output head.
    In a scan each row decays the state, adds to it and reads it, and meets each weight.
    In a transposed convolution every input meets every tap, however many outputs are made.
    """
    layer = network.layers[v]
    if layer.op == "scan":
        size, weights = state_of(layer)
        return made // layer.channels * (layer.channels * (size + size + size) + weights)
    if layer.op == "conv_transpose":
        source = network.tensors[network.operands[v][0]]
        return source.height * source.width * matrix(network, v)
    if layer.mask is not None and layer.op != "attention":
        assert made == elements(layer), (layer, made)
        each = layer.channels // layer.keys
        if layer.op == "matmul":
            each = layer.in_channels if is_scores(network, v) else layer.channels
        return each * sum(map(len, sees(layer)))
    if layer.op == "attention":
        width, seen = layer.channels // layer.groups, keys_of(network, v) * layer.height * layer.width
        if layer.mask is not None:
            seen = sum(map(len, sees(layer)))
        return made * seen * layer.groups // elements(layer) * (_inputs(network, v) + 1 + width)
    return made * taps(network, v) * (_inputs(network, v) if layer.op in (*WEIGHTED, "matmul") else 1)


def macs(network: Network, v: int) -> int:
    """Return how many operations of a layer are multiply-accumulates; the others are light."""
    layer = network.layers[v]
    if layer.op == "attention":
        every = operations(network, v, elements(layer))
        widths = _inputs(network, v), layer.channels // layer.groups
        return every // (1 + sum(widths)) * sum(widths)
    return operations(network, v, elements(layer)) if layer.op in (*WEIGHTED, "matmul", "scan") else 0
