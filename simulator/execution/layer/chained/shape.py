"""What both runs of a chain take from its layers: widths, channels, bits, bytes, and the rows that each tile needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from simulator.execution.count.layer_facts import bits_of, has_weights, row_bytes
from simulator.execution.layer.chained.links import Lined, Lines, Links, lines_of_chain
from workloads.network.layers.layer import Layer
from workloads.network.network import Network


class ChainShape:
    """A chain: x, E (what the openers make together), D (what the closer reads), the output."""

    def __init__(self, network: Network, links: Links) -> None:
        self.network, self.links, self.lined = network, links, lines_of_chain(network, links)
        x, lined = network.tensors[links.x], self.lined
        self.inputs, self.middle = x.channels, self.layer(links.openers[0]).channels
        self.outputs = self.layer(links.closer).channels
        self.width, self.e_width, self.out_width = x.width, lined.openers[1].outputs, lined.closer[1].outputs
        self.d_width = self.e_width if lined.middle is None else lined.middle[1].outputs
        self.bits_x, self.bits_out = bits_of(network, links.x), bits_of(network, links.last)
        self.opened_bits = [bits_of(network, v) for v in links.opened]  #: of what the first opener makes, of E
        self.bits_d = self.opened_bits[-1] if links.middle is None else bits_of(network, links.middle)

    def layer(self, v: int) -> Layer:
        """Return a layer."""
        return self.network.layers[v]

    def name(self, v: int | None) -> str:
        """Return the name of a map."""
        return "" if v is None else self.network.tensors[v].name

    def sum_bytes(self, v: int) -> int:
        """Return the bytes of a sum of a layer."""
        return -(-self.layer(v).bits.sums // 8)

    def weight_bytes(self, v: int, outputs: int, inputs: int) -> int:
        """Return the bytes of the weights of so many outputs and inputs; 0 of a pool."""
        layer = self.layer(v)
        taps = layer.kernel[0] * layer.kernel[1] * has_weights(layer)
        return row_bytes(outputs * inputs * taps, layer.bits.weights)

    def stay_bytes(self, channels: int) -> int:
        """Return the bytes of the weights of so many middle channels in all layers."""
        size = sum(self.weight_bytes(v, channels, self.inputs) for v in self.links.openers)
        size += 0 if self.links.middle is None else self.weight_bytes(self.links.middle, channels, 1)
        return size + self.weight_bytes(self.links.closer, self.outputs, channels)


def rows_met(lines: Lines, rows: Iterable[int]) -> set[int]:
    """Return the rows that some of these outputs meet."""
    return {row for r in rows for _, row in lines[0].met(r)}


class Need(NamedTuple):
    """The rows that a tile needs, in a pass over the tiles of all middle channels or of a chunk."""

    x: set[int]
    e_made: list[int]  #: of what the openers make
    e_read: set[int]
    d_made: list[int]  #: of what the middle layer makes
    d_read: set[int]


def needs_of(lined: Lined, tiles: Sequence[range], is_ring: bool, has_residual: bool) -> list[Need]:
    """Return what each tile needs. is_ring: rows of the middle maps stay for later tiles; else they are made anew."""
    found, e_there, d_there = [], set[int](), set[int]()
    for tile in tiles:
        d_read = rows_met(lined.closer, tile)
        d_made = d_read - d_there
        e_read = d_read if lined.middle is None else rows_met(lined.middle, d_made)
        e_made = e_read - e_there
        x = rows_met(lined.openers, e_made) | (set(tile) if has_residual else set())
        found.append(Need(x, sorted(e_made), e_read, sorted(d_made), d_read))
        if is_ring:
            e_there, d_there = e_there | e_made, d_there | d_made
    return found


def later(sets: Sequence[set[int]]) -> list[set[int]]:
    """Return what each tile or one after it needs."""
    found = [set[int]()]
    for each in reversed(sets):
        found.append(found[-1] | each)
    return found[:0:-1]
