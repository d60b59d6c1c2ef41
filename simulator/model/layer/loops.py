"""Layers of a network as their loops see them: derives `LoopLayer` from shapes, operands and what is kept."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, takewhile

from simulator.model.kept import Kept
from simulator.model.layer.axes import Axis, Met, in_flight, meet
from simulator.model.layer.loop_layer import (
    ALL_SEEN,
    INT8_BITS,
    KINDS,
    NO_EPILOGUE,
    NOTHING_STAYS,
    ONE_CORE,
    Epilogue,
    Kind,
    LoopBits,
    LoopLayer,
    Map,
    Part,
    Shared,
    Sight,
    Stays,
    Team,
)
from simulator.technology import Technology
from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import JOIN_OPS, NORM_OPS, PRODUCT_OPS, WINDOW_OPS
from workloads.network.layers.types import row_bytes
from workloads.network.network import Network

__all__ = [
    "INT8_BITS",
    "KINDS",
    "NOTHING_STAYS",
    "ONE_CORE",
    "Axis",
    "Kind",
    "LoopBits",
    "LoopLayer",
    "Met",
    "Part",
    "Shared",
    "Stays",
    "Team",
    "apiece",
    "in_flight",
    "kind_of",
    "loop_layer",
    "meet",
]


def loop_layer(
    network: Network, v: int, batch: int = 1, technology: Technology | None = None, kept: Kept | None = None
) -> LoopLayer:
    """Return a layer as its loops see it.

    An input that is several operands is one producer; for a grouped convolution, where each group reads a part of
    it, it counts as several. kept: which of its tensors stay on chip, and whether its output is written to DRAM.

    Examples
    --------
    >>> from workloads import Builder
    >>> b = Builder("one")
    >>> _ = b.conv("a", b.input("x", 8, 8, 16), 24, 3, padding=1)
    >>> loop_layer(b.build(), 0).part
    Part(room=16, outputs=24, reduction=16, units=((2, 1),))
    """
    technology = technology or Technology()
    layer, operands, kind = network.layers[v], network.operands[v], kind_of(network, v)
    local = [u for i, u in enumerate(operands) if i not in layer.whole]
    whole = dict.fromkeys(u for i, u in enumerate(operands) if i in layer.whole and layer.op not in PRODUCT_OPS)
    distinct = local if kind == "dense" and layer.groups > 1 else list(dict.fromkeys(local))
    # heads of the first operand that share one of the second are rows; blocks of positions are heads
    sharing, blocks = layer.sharing, layer.blocks
    producers = tuple(network.tensors[u].channels * blocks // sharing for u in distinct)
    places = tuple(range(len(local))) if distinct is local else tuple(map(distinct.index, local))
    rows, columns, samples = _axis(network, v, 0), _axis(network, v, 1), (batch, 1) if layer.has_weights else (1, batch)
    stays = NOTHING_STAYS if kept is None else _stays(network, v, kept, distinct, list(whole))
    bits = _bits(network, v, distinct)
    coming = [u for u in set(local) if kept is None or u not in kept.on_chip]
    unmet = rows.extent * columns.extent - meet(rows, rows.windows).union * meet(columns, columns.windows).union
    epilogue = NO_EPILOGUE
    if layer.op == "recurrent":  # it needs all of a row, and holds the one before
        row = row_bytes(
            -(-layer.channels // technology.channel_alignment) * technology.channel_alignment, layer.output_bits
        )
        epilogue = Epilogue(room=batch * row, by_position=1, in_order=1)
    if layer.state is not None:  # all of its state is read and written in each row, but for the first and the last
        carried = (layer.height - 1) * layer.channels * layer.state.size * bits.sum_bytes
        epilogue = Epilogue(traffic=2 * carried, written=carried, in_order=1)
    return LoopLayer(
        kind=kind,
        rows=rows,
        columns=columns,
        producers=producers,
        operands=places,
        part=_part(layer, producers, places, technology.channel_alignment, stays.producers, bits.producers),
        outputs=layer.channels * blocks // sharing,
        weights=sum(network.tensors[u].size_bytes for u in operands[1:])
        if layer.op in PRODUCT_OPS
        else layer.weight_bytes,
        whole=tuple(Map(t.height, t.width, t.channels, t.bits) for t in (network.tensors[u] for u in whole)),
        unmet_bytes=unmet * sum(row_bytes(network.tensors[u].channels, network.tensors[u].bits) for u in coming),
        batch=samples[0],
        repeat=samples[1],
        word=technology.channel_alignment,
        at_most=technology.pe_light_channels * technology.pe_rows * technology.pe_columns,
        squares=technology.tiles,
        stays=stays,
        bits=bits,
        keys=layer.keys,
        epilogue=epilogue,
        state=0 if layer.state is None else layer.state.size,
        cut=len(own_channels(network, v)),
        apiece=apiece(layer),
        sight=_sight(layer),
    )


def own_channels(network: Network, v: int) -> list[int]:
    """Return the operands of a scan, the first, that have a number for each channel, and are not b or c as well."""
    layer, operands = network.layers[v], network.operands[v]
    if layer.op != "scan":
        return []
    channels = [each.channels for each in network.tensors]
    return list(takewhile(lambda u: channels[u] == layer.channels and u not in operands[-2:], dict.fromkeys(operands)))


def apiece(layer: Layer) -> int:
    """Return how many weights of a scan belong to each channel, 0 if heads share them."""
    state = layer.state
    if state is None or state.weights not in (layer.channels, layer.channels * state.size):
        return 0
    return state.weights // layer.channels


def _sight(layer: Layer) -> Sight:
    """Return which keys the rows of an attention see; other layers with a mask move all that it hides."""
    mask = layer.mask
    if mask is None or layer.op != "attention":
        return ALL_SEEN
    sharing = layer.groups // layer.second_heads
    behind, ahead = (layer.keys if far is None else far for far in (mask.behind, mask.ahead))
    return Sight(True, behind, ahead, mask.chunk, mask.together * sharing)


def _bits(network: Network, v: int, producers: list[int]) -> LoopBits:
    """Return the bits of a layer's numbers; empty where all are those of the paper."""
    layer, tensors = network.layers[v], network.tensors
    bits = LoopBits(
        tuple(tensors[u].bits for u in producers),
        tensors[network.operands[v][1]].bits if layer.op in PRODUCT_OPS else layer.bits.weights,
        layer.output_bits, -(-layer.bits.sums // 8),
    )  # fmt: skip
    experts = layer.experts
    if experts is not None and (used := experts.in_use(layer.height * layer.width)) > experts.active:
        return bits._replace(used=used, active=experts.active)
    is_plain = {*bits.producers, bits.weights, bits.output} == {8} and bits.sum_bytes == 4
    return INT8_BITS if is_plain else bits


def _stays(network: Network, v: int, kept: Kept, producers: list[int], whole: list[int]) -> Stays:
    operands, second = network.operands[v], []
    if network.layers[v].op in PRODUCT_OPS:
        blocks = network.layers[v].blocks
        extents = [network.tensors[u].height * network.tensors[u].width // blocks for u in operands[1:]]
        ends = list(accumulate(extents, initial=0))
        second = [each for each in zip(operands[1:], zip(ends, ends[1:])) if each[0] in kept.on_chip]
    return Stays(
        producers=tuple(u in kept.on_chip for u in producers),
        whole=tuple(u in kept.on_chip for u in whole),
        second_bytes=sum(network.tensors[u].size_bytes for u, _ in second),
        second_rows=tuple(rows for _, rows in second),
        output=v in kept.on_chip,
        is_written=v in kept.written,
        arriving_bytes=sum(network.tensors[u].size_bytes for u in set(operands) & kept.loaded & kept.on_chip),
    )


def _part(
    layer: Layer,
    producers: tuple[int, ...],
    places: tuple[int, ...],
    word: int,
    is_kept: tuple[bool, ...],
    bits: tuple[int, ...],
) -> Part:
    """Return the channels that run together: a group of a convolution, a head, or all that a layer reduces over."""
    reduction, outputs, groups = layer.in_channels // layer.groups, layer.channels // layer.groups, layer.second_heads
    comes = [not each for each in is_kept] or [True] * len(producers)
    sizes = [row_bytes(word, each) for each in bits] or [word] * len(producers)  # bytes of a word, 0 if it is on chip
    sizes = [size * is_coming for size, is_coming in zip(sizes, comes)]
    if groups == 1:
        words = [-(-channels // word) for channels in producers]
        held = sum(each * size for each, size in zip(words, sizes))
        return Part(held, outputs, reduction, ((sum(words[each] for each in places), 1),))
    if reduction == 1:  # one channel, and so one word, of one producer
        return Part(max(sizes), outputs, 1, ((1, groups),))
    ends = list(accumulate(producers, initial=0))
    words, held = [], 0
    for first in range(0, ends[-1], reduction):
        overlaps = [min(b, first + reduction) - max(a, first) for a, b in zip(ends, ends[1:])]
        units = [-(-max(0, channels) // word) for channels in overlaps]
        words.append(sum(units))
        held = max(held, sum(each * size for each, size in zip(units, sizes)))
    return Part(held, outputs, reduction, tuple(Counter(words).items()))


def kind_of(network: Network, v: int) -> Kind:
    """Return what a layer does with channels."""
    layer = network.layers[v]
    if layer.op == "matmul":
        second = [network.tensors[u] for u in network.operands[v][1:]]
        has_rows = second[0].channels * layer.sharing == layer.in_channels
        positions = sum(each.height * each.width for each in second) // layer.blocks
        return "transposed" if has_rows and positions * layer.groups == layer.channels else "product"
    if layer.op == "attention":
        return "attention"
    if layer.op == "rearrange":
        return "copy"
    if layer.op in WINDOW_OPS:
        return "apart" if layer.is_depthwise else "dense"
    if layer.op in JOIN_OPS:
        return "join"
    return "norm" if layer.op in NORM_OPS else "mixed"


def _axis(network: Network, v: int, axis: int) -> Axis:
    layer = network.layers[v]
    windows = (layer.height, layer.width)[axis]
    if layer.op not in WINDOW_OPS:
        if layer.blocks > 1:  # all of a block are rows
            windows = layer.height * layer.width // layer.blocks if axis == 0 else 1
        windows *= layer.sharing if axis == 0 else 1
        return Axis(windows, windows)
    source = network.tensors[network.operands[v][0]]
    return Axis(
        (source.height, source.width)[axis], windows, layer.kernel[axis], layer.stride[axis], layer.dilation[axis],
        layer.padding[axis], layer.upsample[axis],
    )  # fmt: skip
