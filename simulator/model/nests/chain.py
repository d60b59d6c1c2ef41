"""Chains: two dense layers, and what keeps channels apart between them, in one nest of loops.

An opener (or two, of the same windows, whose results a layer multiplies or adds), a depth-wise convolution or a pool or
neither, a closer that reduces over the middle channels, and perhaps the addition of what the openers read. Nothing else
reads the maps between them, and all windows together meet every row and column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from simulator.integers import ceil_div, row_bytes
from simulator.model.chains.chain import Chain
from simulator.model.chains.orders import rows_of
from simulator.model.kept import Kept
from simulator.model.layer.axes import Axis, meet
from simulator.model.layer.loop_layer import CHAIN, NOTHING_STAYS, LoopBits, LoopLayer, Part, Stays
from simulator.model.layer.orders import LoopPlan
from simulator.model.nests.nest import Other
from simulator.technology import Technology
from workloads.network.layers.layer import Layer
from workloads.network.network import Network

MOST_LAYERS = 6  #: of a chain: two openers, join, middle, closer, addition


class Links(NamedTuple):
    """Who is who in a chain, by layer id; x by tensor id. A `Nest`."""

    x: int
    openers: tuple[int, ...]
    join: int | None
    middle: int | None
    closer: int
    residual: int | None
    others: tuple[Other, ...] = ()
    leaving: tuple[int, ...] = ()

    @property
    def layers(self) -> tuple[int, ...]:
        """Their ids, ascending."""
        every = (*self.openers, self.join, self.middle, self.closer, self.residual)
        return tuple(sorted(v for v in every if v is not None))

    @property
    def operands(self) -> tuple[int, ...]:
        """What the openers read."""
        return (self.x,)

    @property
    def result(self) -> int:
        """The layer that makes the output."""
        return self.closer if self.residual is None else self.residual

    @property
    def inner(self) -> frozenset[int]:
        """All others."""
        return frozenset(self.layers) - {self.result}

    @property
    def opened(self) -> tuple[int, ...]:
        """The layers that make E: the openers and what joins them."""
        return self.openers if self.join is None else (*self.openers, self.join)

    def layer(self, network: Network) -> Layer:
        """Return an opener, which reads x."""
        return network.layers[self.openers[0]]

    def loops(self, network: Network, batch: int, technology: Technology, kept: Kept | None) -> LoopLayer:
        """Return the chain as a layer: its windows are those of the closer, its input is x."""
        word, closer, x = technology.channel_alignment, network.layers[self.closer], network.tensors[self.x]
        room, stays = row_bytes(ceil_div(x.channels, word) * word, x.bits), NOTHING_STAYS
        if kept is not None:
            is_there, arrives = self.x in kept.on_chip, self.x in kept.on_chip & kept.loaded
            written, output = self.result in kept.written, self.result in kept.on_chip
            stays = Stays((is_there,), (), 0, (), output, written, arrives * x.size_bytes)
            room *= not is_there
        return LoopLayer(
            kind=CHAIN,
            rows=axis_of(network, self.closer, 0),
            columns=axis_of(network, self.closer, 1),
            producers=(x.channels,),
            operands=(0,),
            part=Part(room, closer.channels, x.channels, ((ceil_div(x.channels, word), 1),)),
            outputs=closer.channels,
            weights=sum(network.layers[v].weight_bytes for v in self.layers),
            whole=(),
            unmet_bytes=0,
            batch=batch,
            repeat=1,
            word=word,
            at_most=1,
            squares=technology.tiles,
            stays=stays,
            bits=LoopBits((x.bits,), 8, network.tensors[self.result].bits, ceil_div(closer.bits.sums, 8)),
            chain=chain_of(network, self),
        )

    def cycles_of(self, layer: LoopLayer, plan: LoopPlan, cycles: Callable[[int], int]) -> dict[int, int]:
        """Return the cycles of each layer in a plan; cycles: of a layer that makes each row once."""
        rows, slices = rows_of(layer.chain, plan), ceil_div(layer.outputs, plan.slice)
        found = {v: cycles(v) for v in self.layers}
        for v in self.opened:
            found[v] = ceil_div(found[v] * slices * rows.e_made, layer.chain.e_rows)
        if self.middle is not None:
            found[self.middle] = ceil_div(found[self.middle] * slices * rows.d_made, layer.chain.d_rows)
        return found

    def with_work(self, layer: LoopLayer, extra: Sequence[int], cycles: Callable[[int], int]) -> LoopLayer:
        """Return the chain with what it takes to make rows again: extra units (of a layer), cycles (of all samples)."""
        height, chain = layer.chain.e_rows, layer.chain
        again = (*map(cycles, self.opened), 0, 0)[:3]
        chain = chain._replace(e_extra=sum(extra[v] for v in self.opened) // height, e_cycles=again)
        if self.middle is not None:
            chain = chain._replace(d_extra=extra[self.middle] // chain.d_rows, d_cycles=cycles(self.middle))
        return layer._replace(chain=chain)


def chains(network: Network) -> Iterator[Links]:
    """Yield the chains of a network, with and without the addition of what they read.

    Examples
    --------
    >>> from workloads import Builder
    >>> b = Builder("block")
    >>> x = b.input("x", 14, 14, 24)
    >>> _ = b.add("sum", [x, b.conv("project", b.depthwise("dw", b.conv("expand", x, 144)), 24)])
    >>> [each.layers for each in chains(b.build())]
    [(0, 1, 2), (0, 1, 2, 3)]
    """
    for first in range(len(network.layers)):
        if _is_dense(network, first):
            (x,) = network.operands[first]
            others = [v for v in network.consumers[x] if v > first and _is_dense(network, v)]
            for layers in [[first], *([first, other] for other in others)]:
                made = _reader(network, first)
                while made is not None and len(layers) < MOST_LAYERS:
                    layers, made = [*layers, made], _reader(network, made)
                    links = links_of(network, layers)
                    if links is not None:
                        yield links


def _reader(network: Network, v: int) -> int | None:
    """Return the only layer that reads a layer."""
    readers = network.consumers[v]
    return readers[0] if len(readers) == 1 else None


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
    Links(x=4, openers=(0,), join=None, middle=1, closer=2, residual=3, others=(), leaving=())
    """
    left = sorted(layers)
    first = left[0]
    if len(left) < 2 or not _is_dense(network, first):
        return None
    (x,) = network.operands[first]
    openers: tuple[int, ...] = (first,)
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
    shapes = {
        (each.kernel, each.stride, each.padding, each.dilation) for each in map(layers.__getitem__, links.openers)
    }
    if len(shapes) > 1 or (links.middle is not None and layers[links.middle].frames is not None):
        return False
    for v in (links.openers[0], links.middle, links.closer):
        axes = [] if v is None else [axis_of(network, v, axis) for axis in (0, 1)]
        if any(meet(each, each.windows).union < each.extent for each in axes):
            return False
    return True


def axis_of(network: Network, v: int, axis: int) -> Axis:
    """Return the windows of a layer along an axis."""
    layer, source = network.layers[v], network.tensors[network.operands[v][0]]
    return Axis(
        (source.height, source.width)[axis], (layer.height, layer.width)[axis], layer.kernel[axis], layer.stride[axis],
        layer.dilation[axis], layer.padding[axis], layer.upsample[axis],
    )  # fmt: skip


def chain_of(network: Network, links: Links) -> Chain:
    """Return a chain in integers."""
    first, closer = network.layers[links.openers[0]], network.layers[links.closer]
    last, tensors = network.layers[links.openers[-1]], network.tensors
    middle = None if links.middle is None else network.layers[links.middle]
    of_e = sum(layer.macs + layer.light_ops for layer in map(network.layers.__getitem__, links.opened))
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
        out_width=closer.width,
        opener_taps=_taps(first),
        middle_taps=_taps(middle) if middle is not None and middle.has_weights else 0,
        closer_taps=_taps(closer),
        x_bits=tensors[links.x].bits,
        first_bits=tensors[links.openers[0]].bits,
        e_bits=tensors[links.opened[-1]].bits,
        d_bits=tensors[links.opened[-1] if links.middle is None else links.middle].bits,
        opener_bits=first.bits.weights,
        second_bits=last.bits.weights,
        middle_bits=8 if middle is None else middle.bits.weights,
        closer_bits=closer.bits.weights,
        opener_sums=sum(ceil_div(network.layers[v].bits.sums, 8) for v in links.openers),
        adds_x=int(links.residual is not None),
        e_operations=of_e // first.height,
        d_operations=0 if middle is None else (middle.macs + middle.light_ops) // middle.height,
    )  # fmt: skip


def _taps(layer: Layer) -> int:
    return layer.kernel[0] * layer.kernel[1]
