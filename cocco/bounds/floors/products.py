"""What a network multiplies, for a bound of any schedule: classes of numbers, and products of two of them.

A *class* is a set of numbers that are on chip one for the other: a weight; an element of a model input; an element that
a dense layer makes, with its partial sums; and with each the elements that element-wise layers, norms, pools and
depth-wise layers make of it, each of one that it cannot be made without. A *family* is all classes of
one kind: those of the weights of a layer, of a model input, of the result of a layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd
from typing import NamedTuple

from workloads.network.layers.layer import Layer, Tensor
from workloads.network.layers.ops import ELEMENTWISE_OPS, POOL_OPS
from workloads.network.network import Network

ROWS, COLUMNS = 0, 1


@dataclass
class Family:
    """Classes of numbers of one kind: how many, and the least bytes that one takes on chip or moves."""

    count: int
    bytes: float
    is_remade: bool  #: whether other layers read them on chip, so that they may be made again in place of loaded


class Product(NamedTuple):
    """All products of a layer with one family of inputs; numbers are places in `Products.families`."""

    inputs: int
    weights: int
    results: int
    total: int  #: products of two numbers that exist: not with padding
    least: int  #: in the sum of a result, at least
    reuse: int  #: most taps, and experts, that meet one input


@dataclass
class Products:
    """The families of a network and the products of each layer, in the order of the layers."""

    families: list[Family] = field(default_factory=list)
    layers: list[list[Product]] = field(default_factory=list)

    @property
    def most_inputs(self) -> int:
        """The most families of inputs that one layer reads."""
        return max(map(len, self.layers), default=0)


class _Part(NamedTuple):
    """Channels of a map, each element of another class of a family."""

    family: int
    channels: int


def products_of(network: Network, batch: int) -> Products:
    """Return what a network multiplies in a batch of samples, experts included (`Network.in_batch`).

    Left out is what no class can be named for: maps behind attention, or behind a mask, products of two maps that are
    made, rearranged, spread or broadcast; what reads them multiplies numbers that may take no room.
    """
    return _Reading(network, batch).found


class _Reading:
    def __init__(self, network: Network, batch: int) -> None:
        self.network, self.batch, self.found = network, batch, Products()
        self.parts: dict[int, list[_Part] | None] = {}  #: by tensor; None: of no class
        for u, tensor in enumerate(network.inputs, len(network.layers)):
            self.parts[u] = [_Part(self._new(batch * tensor.elements, tensor.bits, False), tensor.channels)]
        for v, layer in enumerate(network.layers):
            self.parts[v] = self._made(v, layer)
        for v, parts in self.parts.items():
            for part in parts or ():
                family = self.found.families[part.family]
                family.bytes = min(family.bytes, network.tensors[v].bits / 8)

    def _new(self, count: int, bits: int, is_remade: bool) -> int:
        self.found.families.append(Family(count, bits / 8, is_remade))
        return len(self.found.families) - 1

    def _made(self, v: int, layer: Layer) -> list[_Part] | None:
        """Return the classes of what a layer makes."""
        operands = [self.parts[u] for u in self.network.operands[v]]
        if layer.frames is not None or layer.mask is not None:  # what a mask hides is no number
            return None
        if layer.op in ELEMENTWISE_OPS:
            shape = _shape(layer)
            whole = (u for u in self.network.operands[v] if _shape(self.network.tensors[u]) == shape)
            return next((parts for u in whole if (parts := self.parts[u]) is not None), None)
        if layer.op in POOL_OPS or layer.op == "slice" or (layer.has_weights and layer.is_depthwise):
            joined = [part for parts in operands for part in parts or ()]
            is_known = all(parts is not None for parts in operands) and self._is_one_to_one(v, layer)
            if not is_known or (layer.channels < layer.in_channels and len(joined) > 1):
                return None
            if layer.has_weights:
                for part in joined:
                    family = self.found.families[part.family]
                    family.bytes = min(family.bytes, layer.bits.sums / 8)
            return joined if len(joined) > 1 else [_Part(joined[0].family, layer.channels)]
        if layer.has_weights:
            return self._dense(v, layer, operands)
        if layer.op == "matmul":
            return self._matmul(v, layer)
        return None

    def _is_one_to_one(self, v: int, layer: Layer) -> bool:
        """Return whether some tap meets the map at every position, each time at another one."""
        if layer.upsample != (1, 1):
            return False
        source = self.network.tensors[self.network.operands[v][0]]
        for axis, extent, outputs in ((ROWS, source.height, layer.height), (COLUMNS, source.width, layer.width)):
            before, apart = layer.padding[axis], layer.dilation[axis]
            last = (outputs - 1) * layer.stride[axis] - before
            if not any(tap * apart >= before and last + tap * apart < extent for tap in range(layer.kernel[axis])):
                return False
        return True

    def _taps(self, v: int, layer: Layer) -> Iterator[_Taps]:
        source = self.network.tensors[self.network.operands[v][0]]
        for axis, extent, outputs in ((ROWS, source.height, layer.height), (COLUMNS, source.width, layer.width)):
            yield _taps(
                extent, outputs, layer.kernel[axis], layer.stride[axis], layer.padding[axis], layer.dilation[axis],
                layer.upsample[axis],
            )  # fmt: skip

    def _result(self, v: int, layer: Layer) -> int:
        bits = min(layer.output_bits, layer.bits.sums)
        return self._new(self.batch * layer.elements, bits, bool(self.network.consumers[v]))

    def _dense(self, v: int, layer: Layer, operands: Sequence[list[_Part] | None]) -> list[_Part] | None:
        """Return the results of a layer with weights, a family of their own, and note its products."""
        by_family: dict[int, list[int]] = {}
        for part in (part for parts in operands for part in parts or ()):
            by_family.setdefault(part.family, []).append(part.channels)
        whole = len(by_family) == 1 and None not in operands
        rows, columns = self._taps(v, layer)
        if layer.groups > 1 and not whole or not by_family or layer.shared:
            return None
        result, products = self._result(v, layer), []
        experts = 1 if layer.experts is None else layer.experts.active
        for family, channels in by_family.items():
            share = layer.in_channels if whole else sum(channels)
            reduced = share // layer.groups
            weights = self._new(-(-layer.weight_elements * share // layer.in_channels), layer.bits.weights, False)
            products.append(Product(
                family, weights, result, self.batch * rows.met * columns.met * layer.channels * reduced,
                rows.least * columns.least * reduced, rows.most * columns.most * len(channels) * experts,
            ))  # fmt: skip
        self.found.layers.append(products)
        return [_Part(result, layer.channels)]

    def _matmul(self, v: int, layer: Layer) -> list[_Part] | None:
        """The same of a product of two maps, if its second operand is a model input that nothing else reads."""
        ids = self.network.operands[v]
        first = self.parts[ids[0]]
        is_input = len(ids) == 2 and ids[1] >= len(self.network.layers) and self.network.consumers[ids[1]] == (v,)
        if not is_input or ids[0] == ids[1] or first is None or len(first) > 1:
            return None
        result, reduced = self._result(v, layer), layer.in_channels // layer.groups
        second = self.parts[ids[1]]
        assert second is not None, "a model input"
        count = self.batch * layer.macs
        self.found.layers.append([Product(first[0].family, second[0].family, result, count, reduced, 1)])
        return [_Part(result, layer.channels)]


def _shape(each: Layer | Tensor) -> tuple[int, int, int]:
    return each.height, each.width, each.channels


class _Taps(NamedTuple):
    """Of the windows over one axis."""

    met: int  #: taps that meet the map, in all windows together
    least: int  #: in one window
    most: int  #: that meet the same row


@lru_cache(maxsize=1 << 12)
def _taps(extent: int, outputs: int, kernel: int, stride: int, before: int, apart: int, upsample: int) -> _Taps:
    most = min(-(-kernel // (stride // gcd(stride, apart))), outputs)
    if kernel == 1 and before == 0 and upsample == 1 and (outputs - 1) * stride < extent:
        return _Taps(outputs, 1, most)
    spread = (extent - 1) * upsample
    met = [
        sum(0 <= row <= spread and row % upsample == 0 for row in range(first, first + kernel * apart, apart))
        for first in range(-before, outputs * stride - before, stride)
    ]
    return _Taps(sum(met), min(met), most)
