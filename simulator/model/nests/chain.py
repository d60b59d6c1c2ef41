"""A chain of layers as its loops see it, in plain integers: two dense layers with channel-wise ones in between.

x -> openers (one, or two whose results are multiplied or added) -> depth-wise convolution or pool, if any -> closer ->
addition of x, if any. E is what the openers make together, D what the closer reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from simulator.integers import ceil_div, row_bytes
from simulator.model.kept import Kept
from simulator.model.layer.axes import Axis, meet
from simulator.model.layer.loop_layer import CHAIN, NOTHING_STAYS, LoopBits, LoopLayer, Part, Stays
from simulator.model.nests.chain_rows import ChainBand, band_of
from simulator.model.subgraph.tiles import equal_sizes
from simulator.technology import Technology
from workloads.network.layers.layer import Layer
from workloads.network.network import Network


class _Fields(NamedTuple):
    """What a `Chain` is made of."""

    axes: tuple[Axis, Axis | None, Axis]  #: rows of the openers, of the middle layer, of the closer
    openers: int
    inputs: int  #: channels of x
    middle: int  #: channels of E and D
    outputs: int
    x_width: int  #: columns
    e_width: int
    d_width: int
    opener_taps: int
    middle_taps: int  #: of a depth-wise convolution; 0 without weights
    closer_taps: int
    x_bits: int
    first_bits: int  #: of what the first of two openers makes
    e_bits: int
    d_bits: int
    opener_bits: int  #: of weights
    second_bits: int  #: of weights, of the other opener
    middle_bits: int
    closer_bits: int
    opener_sums: int  #: bytes of a sum, of all openers together
    adds_x: int  #: whether x is added to what the closer makes
    e_operations: int  #: of a row of E, one sample: of openers and join
    d_operations: int  #: of a row of D, of the middle layer


class Chain(_Fields):
    """A chain as its loops see it, and what its tiles need, computed once."""

    @cached_property
    def has_middle(self) -> bool:
        """Whether E and D differ."""
        return self.axes[1] is not None

    @cached_property
    def bands(self) -> tuple[ChainBand, ...]:
        """The tiles that are tried, from the tallest."""
        height = self.axes[2].windows
        return tuple(band_of(self.axes, rows, bool(self.adds_x)) for rows in equal_sizes(height))

    @cached_property
    def e_rows(self) -> int:
        """Rows of E."""
        return self.axes[0].windows

    @cached_property
    def d_rows(self) -> int:
        """Rows of D, 0 where it is E."""
        return 0 if self.axes[1] is None else self.axes[1].windows

    @cached_property
    def band_count(self) -> int:
        """How many there are."""
        return len(self.bands)


class Links(NamedTuple):
    """Who is who in a chain, by layer id; x by tensor id."""

    x: int
    openers: tuple[int, ...]
    join: int | None
    middle: int | None
    closer: int
    residual: int | None


def links_of(network: Network, layers: Sequence[int]) -> Links | None:
    """Return who is who in a chain, None if these layers are none.

    Examples
    --------
    >>> from workloads import Builder
    >>> b = Builder("block")
    >>> x = b.input("x", 14, 14, 24)
    >>> y = b.conv("project", b.depthwise("dw", b.conv("expand", x, 144)), 24)
    >>> _ = b.add("sum", [x, y])
    >>> links_of(b.build(), [0, 1, 2, 3])
    Links(x=4, openers=(0,), join=None, middle=1, closer=2, residual=3)
    """
    left = sorted(layers)
    first = left[0]
    if len(left) < 2 or not _is_dense(network, first):
        return None
    (x,) = network.operands[first]
    openers = (first,)
    if _is_dense(network, left[1]) and network.operands[left[1]] == (x,):
        openers = first, left[1]
    at, made = len(openers), first
    join = middle = residual = None
    if len(openers) == 2:
        join = _next(network, left, at, openers, ("mul", "add"))
        if join is None:
            return None
        at, made = at + 1, join
    middle = _next(network, left, at, (made,), ("conv", "maxpool", "avgpool"))
    if middle is not None and network.layers[middle].is_depthwise:
        at, made = at + 1, middle
    else:
        middle = None
    closer = left[at] if at < len(left) else first
    if closer == first or not _is_dense(network, closer) or network.operands[closer] != (made,):
        return None
    residual = _next(network, left, at + 1, (closer, x), ("add",))
    found = Links(x, openers, join, middle, closer, residual)
    if len(left) != at + 1 + (residual is not None) or not _is_inside(network, left) or x in left:
        return None
    return found if _has_plain_windows(network, found) else None


def _next(
    network: Network, left: Sequence[int], at: int, operands: tuple[int, ...], ops: tuple[str, ...]
) -> int | None:
    """Return the layer at this place if it has one of these ops and these operands."""
    if at >= len(left) or network.layers[left[at]].op not in ops or network.layers[left[at]].whole:
        return None
    return left[at] if sorted(network.operands[left[at]]) == sorted(operands) else None


def _is_dense(network: Network, v: int) -> bool:
    layer = network.layers[v]
    is_plain = layer.frames is None and layer.experts is None and not layer.appended
    return layer.op in ("conv", "fc") and layer.groups == 1 and len(network.operands[v]) == 1 and is_plain


def _is_inside(network: Network, layers: Sequence[int]) -> bool:
    """Return whether only the last of these layers is read outside."""
    inside = set(layers)
    for v in layers[:-1]:
        if network.is_output[v] or any(v in network.operands[w] and w not in inside for w in network.consumers[v]):
            return False
    return True


def _has_plain_windows(network: Network, links: Links) -> bool:
    """Return whether openers have the same windows, and all windows meet every row and column."""
    layers = network.layers
    shapes = {(each.kernel, each.stride, each.padding, each.dilation) for each in map(layers.__getitem__, links.openers)}
    if len(shapes) > 1 or (links.middle is not None and layers[links.middle].frames is not None):
        return False
    for v in (links.openers[0], links.middle, links.closer):
        for axis in (0, 1) if v is not None else ():
            found = axis_of(network, v, axis)
            if meet(found, found.windows).union < found.extent:
                return False
    return True


def axis_of(network: Network, v: int, axis: int) -> Axis:
    """Return the windows of a layer along an axis."""
    layer, source = network.layers[v], network.tensors[network.operands[v][0]]
    return Axis(
        (source.height, source.width)[axis], (layer.height, layer.width)[axis], layer.kernel[axis], layer.stride[axis],
        layer.dilation[axis], layer.padding[axis], layer.upsample[axis],
    )  # fmt: skip


def chain_of(network: Network, links: Links, operations: Sequence[int]) -> Chain:
    """Return a chain as its loops see it; operations: of each layer of the network, one sample."""
    first, closer = network.layers[links.openers[0]], network.layers[links.closer]
    last, tensors = network.layers[links.openers[-1]], network.tensors
    opened = links.openers[0] if links.join is None else links.join
    before = opened if links.middle is None else links.middle
    middle = None if links.middle is None else network.layers[links.middle]
    of_e = sum(operations[v] for v in (*links.openers, links.join) if v is not None)
    return Chain(
        axes=(
            axis_of(network, links.openers[0], 0), None if links.middle is None else axis_of(network, links.middle, 0),
            axis_of(network, links.closer, 0),
        ),
        openers=len(links.openers),
        inputs=first.in_channels,
        middle=first.channels,
        outputs=closer.channels,
        x_width=tensors[links.x].width,
        e_width=first.width,
        d_width=first.width if middle is None else middle.width,
        opener_taps=_taps(first),
        middle_taps=_taps(middle) if middle is not None and middle.has_weights else 0,
        closer_taps=_taps(closer),
        x_bits=tensors[links.x].bits,
        first_bits=first.output_bits,
        e_bits=tensors[opened].bits,
        d_bits=tensors[before].bits,
        opener_bits=first.bits.weights,
        second_bits=last.bits.weights,
        middle_bits=8 if middle is None else middle.bits.weights,
        closer_bits=closer.bits.weights,
        opener_sums=sum(ceil_div(network.layers[v].bits.sums, 8) for v in links.openers),
        adds_x=int(links.residual is not None),
        e_operations=of_e // first.height,
        d_operations=0 if links.middle is None or middle is None else operations[links.middle] // middle.height,
    )  # fmt: skip


def _taps(layer: Layer) -> int:
    return layer.kernel[0] * layer.kernel[1]


def loop_layer_of(
    network: Network, links: Links, batch: int, technology: Technology, operations: Sequence[int], kept: Kept | None
) -> LoopLayer:
    """Return a chain as a layer: its windows are those of the closer, its input is x."""
    chain, word = chain_of(network, links, operations), technology.channel_alignment
    closer, output = network.layers[links.closer], links.closer if links.residual is None else links.residual
    x, room, stays = network.tensors[links.x], row_bytes(ceil_div(chain.inputs, word) * word, chain.x_bits), NOTHING_STAYS
    if kept is not None:
        is_there, arrives = links.x in kept.on_chip, links.x in kept.on_chip & kept.loaded
        stays = Stays((is_there,), (), 0, (), output in kept.on_chip, output in kept.written, arrives * x.size_bytes)
        room *= not is_there
    return LoopLayer(
        kind=CHAIN,
        rows=chain.axes[2],
        columns=axis_of(network, links.closer, 1),
        producers=(chain.inputs,),
        operands=(0,),
        part=Part(room, chain.outputs, chain.inputs, ((ceil_div(chain.inputs, word), 1),)),
        outputs=chain.outputs,
        weights=sum(network.layers[v].weight_bytes for v in (*links.openers, links.middle, links.closer) if v is not None),
        whole=(),
        unmet_bytes=0,
        batch=batch,
        repeat=1,
        word=word,
        at_most=1,
        squares=technology.tiles,
        stays=stays,
        bits=LoopBits((x.bits,), 8, network.tensors[output].bits, ceil_div(closer.bits.sums, 8)),
        chain=chain,
    )
