"""A layer as its loops see it: what the windows of a tile meet, tap by tap, its channels, groups and operands.

A tile of t outputs meets the union of their windows; holes of dilation and empty rows of spread maps are not met. Six
numbers of all tiles of an axis are all that loop orders (orders.py, groups.py) need to know of it.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import accumulate
from math import gcd
from typing import Literal, NamedTuple

from simulator.model.kept import Kept
from simulator.technology import Technology
from workloads.network.layer import Layer
from workloads.network.network import Network
from workloads.network.ops import JOIN_OPS, NORM_OPS, WINDOW_OPS
from workloads.network.types import row_bytes

Kind = Literal["dense", "transposed", "product", "apart", "join", "mixed", "copy", "norm"]
KINDS: dict[Kind, str] = {
    "dense": "a convolution that reduces over channels",
    "transposed": "a product with the rows of its second operand, head by head",
    "product": "a product with the columns of its second operand, head by head",
    "apart": "each output channel reads one input channel: pools, resizes, slices, depth-wise convolutions",
    "join": "element-wise, each channel on its own",
    "mixed": "element-wise over all channels of a position: local response normalization",
    "copy": "the elements in another order",
    "norm": "as mixed, by two statistics of a position: softmax, layer normalization",
}

Shared = Literal["", "inputs", "weights", "all"]


class Axis(NamedTuple):
    """One axis of a layer: which rows of the input each row of the output meets."""

    extent: int  #: rows of the input
    windows: int  #: rows of the output
    taps: int = 1
    stride: int = 1
    dilation: int = 1
    padding: int = 0  #: before the first row; negative crops
    upsample: int = 1  #: the window slides over the map with upsample - 1 empty rows in between

    def met(self, window: int) -> range:
        """Return the rows of the input that a window meets.

        Row r lies at position r u, tap f of the window at i s - pad + f d: the rows that meet one are d / gcd(u, d)
        apart.

        Examples
        --------
        >>> list(Axis(extent=8, windows=8, taps=3, dilation=2, padding=2).met(3))
        [1, 3, 5]
        """
        start = window * self.stride - self.padding
        common = gcd(self.upsample, self.dilation)
        first, apart = max(0, -(-start // self.upsample)), self.dilation // common
        if start % common:
            return range(first, first)
        first += (start // common * pow(self.upsample // common, -1, apart) - first) % apart
        stop = (start + (self.taps - 1) * self.dilation) // self.upsample + 1
        first = min(first, self.extent)
        return range(first, max(first, min(stop, self.extent)), apart)


class Met(NamedTuple):
    """What the tiles of an axis meet, in rows of the input."""

    tiles: int
    visits: int  #: rows met, summed over the tiles
    most: int  #: rows that one tile meets, at most
    union: int  #: rows that some tile meets
    ring: int  #: rows met by now and from now on, at most: held where each is to be read once
    live: int  #: rows met before a tile and needed by it or later, at most


@lru_cache(maxsize=1 << 14)
def meet(axis: Axis, tile: int) -> Met:
    """Return what tiles of so many outputs meet, the last as many as are left.

    Parameters
    ----------
    axis : Axis
        The windows.
    tile : int
        Outputs of a tile on this axis, at least 1.

    Returns
    -------
    Met
        Counted tile by tile.

    Examples
    --------
    >>> meet(Axis(extent=8, windows=8, taps=3, padding=1), 4)
    Met(tiles=2, visits=10, most=5, union=8, ring=5, live=2)
    """
    bounds = _bounds(axis)
    if bounds is None:
        return _meet_with_holes(axis, tile)
    firsts, stops = bounds[0][::tile], bounds[1][tile - 1 :: tile]
    if len(stops) < len(firsts):
        stops.append(bounds[1][-1])
    met = [stop - first for first, stop in zip(firsts, stops)]
    live = max((stop - first for first, stop in zip(firsts[1:], stops)), default=0)
    return Met(len(met), sum(met), max(met), stops[-1] - firsts[0], max(met), live)


@lru_cache(maxsize=1 << 10)
def _bounds(axis: Axis) -> tuple[list[int], list[int]] | None:
    """Return first and last row + 1 of each window, None where they leave rows out."""
    windows = [axis.met(i) for i in range(axis.windows)]
    firsts, stops = [each.start for each in windows], [each.stop for each in windows]
    is_orderly = firsts == sorted(firsts) and stops == sorted(stops)  # not where windows between others meet nothing
    has_holes = any(each.step > 1 for each in windows) or any(b > a for a, b in zip(stops, firsts[1:]))
    return (firsts, stops) if is_orderly and not has_holes else None


def _meet_with_holes(axis: Axis, tile: int) -> Met:
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    visits = []
    for i in range(-(-axis.windows // tile)):
        met = {row for j in range(i * tile, min((i + 1) * tile, axis.windows)) for row in axis.met(j)}
        visits.append(len(met))
        for row in met:
            first.setdefault(row, i)
            last[row] = i
    arrived, left = [0] * len(visits), [0] * (len(visits) + 1)
    for row in first:
        arrived[first[row]] += 1
        left[last[row] + 1] += 1
    held = list(accumulate(came - went for came, went in zip(arrived, left)))
    live = max(now - came for now, came in zip(held, arrived))
    return Met(len(visits), sum(visits), max(visits), len(first), max(held), live)


@lru_cache(maxsize=1 << 10)
def in_flight(axis: Axis) -> tuple[int, int]:
    """Return how many outputs are begun and not finished, at most, where the input comes row by row, and additions.

    An output of n rows takes n - 1 additions to its running sum.

    Examples
    --------
    >>> in_flight(Axis(extent=8, windows=4, taps=3, stride=2))
    (2, 7)
    """
    windows = [met for met in map(axis.met, range(axis.windows)) if met]
    begun, ended = [0] * (axis.extent + 1), [0] * (axis.extent + 1)
    for met in windows:
        begun[met[0]] += 1
        ended[met[-1] + 1] += 1
    flying = accumulate(start - end for start, end in zip(begun, ended))
    return max(flying), sum(len(met) - 1 for met in windows)


class Part(NamedTuple):
    """The channels that run together: a layer, a group of a convolution, a head."""

    room: int  #: bytes of a position of its inputs in a buffer, rounded up
    outputs: int
    reduction: int
    units: tuple[tuple[int, int], ...]  #: (words of inputs, how many parts of the layer have so many)


class Stays(NamedTuple):
    """Which of its tensors a layer finds and leaves on chip, whole: they take no room of their own and are not moved.

    producers and whole are flags in the order of LoopLayer's; empty where none stays.
    """

    producers: tuple[bool, ...] = ()
    whole: tuple[bool, ...] = ()
    second_bytes: int = 0  #: of the second operand of a product
    second_rows: tuple[tuple[int, int], ...] = ()  #: the same as rows of it, first and last + 1
    output: bool = False
    is_written: bool = True  #: whether the output goes to DRAM
    arriving_bytes: int = 0  #: of inputs that are loaded once, to be kept from here on; one sample


NOTHING_STAYS = Stays()


class Team(NamedTuple):
    """What several cores run of a layer in the same loop order: this is the part of the core that has the most."""

    cores: int = 1  #: of the machine, each with a port to DRAM
    alike: int = 1  #: cores with as much as this one, itself among them
    others: tuple[tuple[LoopLayer, int], ...] = ()  #: smaller parts, and how many cores have each
    shared: Shared = ""  #: what comes once for all, by all ports, and crosses to who hears it


ONE_CORE = Team()


class LoopBits(NamedTuple):
    """Bits of the numbers of a layer, in the order of LoopLayer's fields; empty: 8 each."""

    producers: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()
    weights: int = 8  #: or of the second operand of a product
    output: int = 8
    sum_bytes: int = 4  #: of what is not added up yet
    used: int = 1  #: experts whose weights are loaded, for each so many
    active: int = 1  #: that take part


INT8_BITS = LoopBits()


class LoopLayer(NamedTuple):
    """A layer as its loops see it: plain integers."""

    kind: Kind  #: what it does with channels, see `KINDS`
    rows: Axis
    columns: Axis
    producers: tuple[int, ...]  #: channels of each input read through windows, each once, or again for each group
    operands: tuple[int, ...]  #: which of them each operand is
    part: Part  #: what runs together
    outputs: int
    weights: int  #: bytes; of the second operand of a product
    whole: tuple[tuple[int, int, int], ...]  #: maps that are needed in full, each once: broadcast, or rearranged
    unmet_bytes: int  #: of the input that no window meets, one sample: they pass by once (our choice, as where it fits)
    batch: int  #: samples that share the weights
    repeat: int  #: samples one after the other that share nothing
    word: int  #: channels are rounded up to so many (Cocco, Fig. 7)
    at_most: int  #: channels that fill the array, where each is on its own
    squares: tuple[int, ...]  #: tiles that are tried, from the largest
    stays: Stays = NOTHING_STAYS  #: on chip, whole; part.room is of the others
    bits: LoopBits = INT8_BITS
    team: Team = ONE_CORE

    @property
    def passing(self) -> tuple[int, ...]:
        """Channels of each producer that comes from DRAM through the windows, 0 of one that is on chip."""
        if not self.stays.producers:
            return self.producers
        return tuple(0 if is_kept else size for size, is_kept in zip(self.producers, self.stays.producers))

    @property
    def loaded(self) -> int:
        """Bytes of a position that come from DRAM through windows."""
        return sum(row_bytes(channels, bits) for channels, bits in zip(self.passing, self.producer_bits))

    @property
    def producer_bits(self) -> tuple[int, ...]:
        """Bits of each producer."""
        return self.bits.producers or (8,) * len(self.producers)

    @property
    def whole_bits(self) -> tuple[int, ...]:
        """Bits of each of `whole`."""
        return self.bits.whole or (8,) * len(self.whole)

    @property
    def broadcast_bits(self) -> tuple[int, ...]:
        """Bits of each of `broadcast`."""
        if not self.stays.whole:
            return self.whole_bits
        return tuple(bits for bits, is_kept in zip(self.whole_bits, self.stays.whole) if not is_kept)

    @property
    def most_bits(self) -> int:
        """The most bits of a producer that comes from DRAM."""
        return max((bits for bits, each in zip(self.producer_bits, self.passing) if each), default=8)

    @property
    def broadcast(self) -> tuple[tuple[int, int, int], ...]:
        """What of `whole` comes from DRAM."""
        if not self.stays.whole:
            return self.whole
        return tuple(each for each, is_kept in zip(self.whole, self.stays.whole) if not is_kept)

    @property
    def window_bytes(self) -> int:
        """Bytes of a position that are read through windows."""
        return sum(row_bytes(channels, bits) for channels, bits in zip(self.producers, self.producer_bits))

    @property
    def output_bytes(self) -> int:
        """Bytes of the output, one sample."""
        return self.rows.windows * self.columns.windows * row_bytes(self.outputs, self.bits.output)

    @property
    def output_elements(self) -> int:
        """Elements of the output, one sample."""
        return self.rows.windows * self.columns.windows * self.outputs

    @property
    def has_second(self) -> bool:
        """Whether all of the second operand of a product is on chip."""
        return self.stays.second_bytes > 0 and self.coming == 0

    @property
    def coming(self) -> int:
        """Bytes of the weights, or of a second operand what is not on chip."""
        return self.weights - self.stays.second_bytes

    def coming_after(self, outputs: int) -> int:
        """Bytes of the weights of all outputs of a part but the first so many, as far as they are not on chip."""
        after = self.weights * (self.part.outputs - outputs) // self.part.outputs
        if self.kind != "transposed":
            return after * self.coming // self.weights if self.weights else 0
        there = sum(max(0, end - max(first, outputs)) for first, end in self.stays.second_rows)
        return after - self.weights * there // self.part.outputs

    @property
    def is_product(self) -> bool:
        """Whether it multiplies two activations."""
        return self.kind in ("transposed", "product")

    def round_up(self, channels: int) -> int:
        """Return the channels that so many take in a buffer."""
        return -(-channels // self.word) * self.word

    def results(self, channels: int) -> int:
        """Return the bytes that so many channels of a result take in a buffer."""
        return row_bytes(self.round_up(channels), self.bits.output)

    def inputs(self, channels: int) -> int:
        """Return the bytes that so many channels of an input take in a buffer, of the widest."""
        return row_bytes(self.round_up(channels), self.most_bits)

    def stationary_bytes(self, outputs: int, inputs: int) -> int:
        """Return the bytes that weights of so many outputs and inputs take, or that part of the second operand."""
        if self.has_second:
            return 0
        bits = self.bits.weights
        if self.kind == "transposed":
            return outputs * row_bytes(self.round_up(inputs), bits)
        if self.kind == "product":
            return inputs * row_bytes(self.round_up(outputs), bits)
        elements = outputs * inputs * self.rows.taps * self.columns.taps
        return -(-elements * bits * self.bits.used // (8 * self.bits.active))


def loop_layer(
    network: Network, v: int, batch: int = 1, technology: Technology | None = None, kept: Kept | None = None
) -> LoopLayer:
    """Return a layer as its loops see it.

    Parameters
    ----------
    network : Network
        Where it stands.
    v : int
        Its id.
    batch : int
        Samples.
    technology : Technology, optional
        Channel alignment and PE array; the defaults otherwise.
    kept : Kept, optional
        Which of its tensors stay on chip, and whether its output is written to DRAM.

    Returns
    -------
    LoopLayer
        An input that is several operands is one producer; groups of a convolution, which see parts of it, read it as
        several.

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
    whole = dict.fromkeys(u for i, u in enumerate(operands) if i in layer.whole and layer.op != "matmul")
    distinct = local if kind == "dense" and layer.groups > 1 else list(dict.fromkeys(local))
    sharing = layer.groups // layer.second_heads  # heads of the first operand that share one of the second: more rows
    producers = tuple(network.tensors[u].channels // sharing for u in distinct)
    places = tuple(range(len(local))) if distinct is local else tuple(map(distinct.index, local))
    rows, columns, samples = _axis(network, v, 0), _axis(network, v, 1), (batch, 1) if layer.has_weights else (1, batch)
    stays = NOTHING_STAYS if kept is None else _stays(network, v, kept, distinct, list(whole))
    bits = _bits(network, v, distinct, list(whole))
    coming = [u for u in set(local) if kept is None or u not in kept.on_chip]
    unmet = rows.extent * columns.extent - meet(rows, rows.windows).union * meet(columns, columns.windows).union
    return LoopLayer(
        kind=kind,
        rows=rows,
        columns=columns,
        producers=producers,
        operands=places,
        part=_part(layer, producers, places, technology.channel_alignment, stays.producers, bits.producers),
        outputs=layer.channels // sharing,
        weights=sum(network.tensors[u].size_bytes for u in operands[1:])
        if layer.op == "matmul"
        else layer.weight_bytes,
        whole=tuple((t.height, t.width, t.channels) for t in (network.tensors[u] for u in whole)),
        unmet_bytes=unmet * sum(row_bytes(network.tensors[u].channels, network.tensors[u].bits) for u in coming),
        batch=samples[0],
        repeat=samples[1],
        word=technology.channel_alignment,
        at_most=technology.pe_light_channels * technology.pe_rows * technology.pe_columns,
        squares=technology.tiles,
        stays=stays,
        bits=bits,
    )


def _bits(network: Network, v: int, producers: list[int], whole: list[int]) -> LoopBits:
    """Return the bits of a layer's numbers; nothing is said where all have those of the paper."""
    layer, tensors = network.layers[v], network.tensors
    bits = LoopBits(
        tuple(tensors[u].bits for u in producers), tuple(tensors[u].bits for u in whole),
        tensors[network.operands[v][1]].bits if layer.op == "matmul" else layer.bits.weights,
        layer.output_bits, -(-layer.bits.sums // 8),
    )  # fmt: skip
    if layer.experts is not None and layer.experts.used > layer.experts.active:
        return bits._replace(used=layer.experts.used, active=layer.experts.active)
    is_plain = {*bits.producers, *bits.whole, bits.weights, bits.output} == {8} and bits.sum_bytes == 4
    return INT8_BITS if is_plain else bits


def _stays(network: Network, v: int, kept: Kept, producers: list[int], whole: list[int]) -> Stays:
    operands, second = network.operands[v], []
    if network.layers[v].op == "matmul":
        extents = [network.tensors[u].height * network.tensors[u].width for u in operands[1:]]
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
    """Return a group of a convolution, a head, or all that a layer reduces over."""
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
        has_rows = second[0].channels // layer.second_heads == layer.in_channels // layer.groups
        positions = sum(each.height * each.width for each in second)
        return "transposed" if has_rows and positions * layer.groups == layer.channels else "product"
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
        windows *= layer.groups // layer.second_heads if axis == 0 else 1
        return Axis(windows, windows)
    source = network.tensors[network.operands[v][0]]
    return Axis(
        (source.height, source.width)[axis], windows, layer.kernel[axis], layer.stride[axis], layer.dilation[axis],
        layer.padding[axis], layer.upsample[axis],
    )  # fmt: skip
