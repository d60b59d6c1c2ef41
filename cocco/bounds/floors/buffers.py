"""What every partition moves at least through the on-chip buffers: by the least number of pieces that make a layer.

On given hardware a layer runs alone, at a known price, or in a subgraph of several layers with all regions and weights
on chip. There it is made piece by piece (model/subgraph/updates.py). A piece of r x c outputs lies in the region of
the result, and the windows that it meets lie in the regions of the operands (windows.py), for all samples at once; all
this and the layer's weights must fit. So there are at least as many pieces as it takes to cover the map, and

* weights are read from their buffer once for each piece, in each round of samples;
* elements that windows meet are read once, and again where two pieces border; operands needed in full for each piece.

Either way a layer reads no less than the smaller of the two cases. Each of the two sums is a bound by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from cocco.bounds.floors.forced import Hulls, alone_prices
from cocco.bounds.floors.nests import Group, Own, least_of_nests, lowered, own_of
from cocco.bounds.floors.windows import Window, least_met, least_read, window_of
from cocco.problem.problem import Problem
from simulator.model.pricing import Price, PricingRules
from simulator.model.subgraph.subgraph import COLUMNS, ROWS
from simulator.model.subgraph.tiles import equal_sizes

Pair = tuple[int, int]  #: of rows and of columns


class Buffered(NamedTuple):
    """Bytes that the layers of a network read at least from the on-chip buffers, for the whole batch."""

    operands: int  #: from the global buffer, beside what is written to DRAM
    weights: int  #: from the weight buffer


class Operand(NamedTuple):
    """A tensor that a layer reads."""

    extent: Pair
    channels: int
    element_bytes: int  #: of all channels of a position in a region
    windows: tuple[Window, Window] | None  #: through which it is read
    is_whole: bool  #: whether it is needed in full

    def held(self, bands: int, heights: Sequence[int], widths: Sequence[int]) -> list[list[int]]:
        """Return, by height and width of pieces, the least bytes of its region (SubgraphCosts.least_activation)."""
        height, width = self.extent
        if self.is_whole or self.windows is None:
            return [[height * width * self.element_bytes] * len(widths)] * len(heights)
        band = -(-width // bands)
        side = min(self.windows[ROWS].slack, height) * band
        across = [min(self.windows[COLUMNS].held(outputs), band) for outputs in widths]
        return [
            [min(rows * columns + side, height * columns, rows * band) * self.element_bytes for columns in across]
            for rows in map(self.windows[ROWS].held, heights)
        ]

    def read(self, rows: Sequence[int], columns: Sequence[int]) -> list[list[int]]:
        """Return the least bytes that are read, by the number of rows and columns of pieces."""
        height, width = self.extent
        whole = self.is_whole * self.channels * height * width
        if self.windows is None:
            return [[whole * down * across for across in columns] for down in rows]
        reads = [self.channels * least_read(self.windows[COLUMNS], across) for across in columns]
        return [
            [whole * down * across + least * read for across, read in zip(columns, reads)]
            for down, least in zip(rows, [least_read(self.windows[ROWS], down) for down in rows])
        ]


class Inside(NamedTuple):
    """A layer in a subgraph of several layers."""

    extent: Pair
    element_bytes: int
    weights: int
    operands: tuple[Operand, ...]
    bands: int
    batch: int
    samples: int  #: of one core

    def held(self, heights: Sequence[int], widths: Sequence[int]) -> list[list[int]]:
        """Return, by height and width of pieces, the least bytes of one sample's regions."""
        band = -(-self.extent[COLUMNS] // self.bands)
        result = [[rows * min(columns, band) * self.element_bytes for columns in widths] for rows in heights]
        return _sums([result, *[operand.held(self.bands, heights, widths) for operand in self.operands]])


class Choices(NamedTuple):
    """The room that pieces of a layer need and what is then read at least: choices with ascending room."""

    rooms: list[int]  #: bytes of one sample's regions
    operands: list[int]  #: bytes of one sample that are read
    pieces: list[int]

    def within(self, room: int) -> int | None:
        """Return the position of the last choice that fits into a room; None if none does."""
        return bisect_right(self.rooms, room) - 1 if self.rooms and self.rooms[0] <= room else None


def least_buffered(problem: Problem, hulls: Hulls) -> list[Buffered]:
    """Return per network what every partition reads at least from the on-chip buffers.

    That is each element that a window meets, and each weight, once, if the memory is chosen, several cores share
    layers, a mapper moves words in another way, or regions are as small as the paper's, which do not hold all rows of a
    row operation.
    """
    machine, prices = problem.accelerator, dict[Group, Price]()
    if not problem.buffers and machine.cores == 1 and machine.mapper.is_flat and problem.tile_rule == "exact":
        prices = alone_prices(problem, [*[(v,) for v in range(problem.size)], *hulls.nests])
    found, fitting = [], set(hulls.nests)
    for i, (rules, offset) in enumerate(zip(problem.rules, problem.offsets)):
        layers = once_each(rules)
        for v, once in enumerate(layers):
            if (offset + v,) in prices:
                room = 0 if hulls.runs_alone(offset + v, held=True) else machine.activation_capacity
                least = _of_layer(rules, v, prices[offset + v,], room)
                layers[v] = Buffered(*map(max, zip(once, least)))
        nests = dict[Group, Own]()
        for nest, own in least_of_nests(problem, i).items():
            group = tuple([offset + v for v in nest])
            if group in fitting:
                nests[nest] = own_of(prices[group]) if group in prices else own
        found.append(in_nests(rules, layers, nests))
    return found


def once_each(rules: PricingRules) -> list[Buffered]:
    """Return what each layer reads of the on-chip buffers if it reads everything once, and is in no nest."""
    weights = rules.geometry.weight_bytes
    return [Buffered(rules.batch * met_bytes(rules, v), size) for v, size in enumerate(weights)]


def in_nests(rules: PricingRules, layers: Sequence[Buffered], nests: Mapping[Group, Own]) -> Buffered:
    """Return what layers read at least if some may be in nests that move so much; results not written count as well."""
    results = [rules.batch * size for size in rules.geometry.size_bytes[: len(layers)]]
    maps = [each.operands + result for each, result in zip(layers, results)]
    maps = lowered(maps, [0] * len(layers), [(nest, own.maps) for nest, own in nests.items()])
    weights = [each.weights for each in layers]
    weights = lowered(weights, [0] * len(layers), [(nest, own.weights) for nest, own in nests.items()])
    return Buffered(sum(maps) - sum(results), sum(weights))


def _of_layer(rules: PricingRules, v: int, price: Price, room: int) -> Buffered:
    """Return what a layer reads at least: alone at this price, or with other layers in so much room."""
    results = rules.batch * rules.geometry.size_bytes[v]
    alone = Buffered(
        price.global_buffer_bytes - price.ema_input_bytes - price.ema_output_bytes - results,
        price.weight_buffer_bytes - price.ema_weight_bytes,
    )
    inside = least_inside(inside_of(rules, v), room_inside(rules, v, room))
    return alone if inside is None else Buffered(*map(min, zip(alone, inside)))


def room_inside(rules: PricingRules, v: int, capacity: int) -> int:
    """Return the most bytes of one core that regions may take around a layer's weights, of one group of channels."""
    weights = -(-rules.geometry.weight_bytes[v] // rules.cores) // rules.most_groups[v]
    return capacity - weights if rules.is_shared else capacity


def least_inside(layer: Inside, room: int) -> Buffered | None:
    """Return what a layer reads at least in a subgraph of several; None if no piece fits, so there is no such subgraph.

    room: bytes of one core for its regions.
    """
    choices = choices_of(layer)
    last = choices.within(room)
    if last is None:
        return None
    weights = []
    for at_once in {-(-layer.samples // rounds) for rounds in range(1, layer.samples + 1)}:
        at = choices.within(room // at_once)
        if at is not None:
            weights.append(-(-layer.samples // at_once) * choices.pieces[at] * layer.weights)
    return Buffered(layer.batch * choices.operands[last], min(weights))


@lru_cache(maxsize=1 << 12)
def choices_of(layer: Inside) -> Choices:
    """Return the choices of pieces of a layer for any room: computed once for all memories."""
    (height, width), (heights, widths) = layer.extent, map(equal_sizes, layer.extent)
    rows, columns = [-(-height // each) for each in heights], [-(-width // each) for each in widths]
    reads = _sums([[[0] * len(columns)] * len(rows), *[operand.read(rows, columns) for operand in layer.operands]])
    held = layer.held(heights, widths)
    found, places = Choices([], [], []), [(i, j) for i in range(len(heights)) for j in range(len(widths))]
    for room, read, pieces in sorted([(held[i][j], reads[i][j], rows[i] * columns[j]) for i, j in places]):
        least = (read, pieces)
        if found.rooms:
            before = found.operands[-1], found.pieces[-1]
            least = min(read, before[0]), min(pieces, before[1])
            if least == before:
                continue
        for values, value in zip(found, (room, *least)):
            values.append(value)
    return found


def _sums(tables: Sequence[Sequence[Sequence[int]]]) -> list[list[int]]:
    return [[sum(values) for values in zip(*rows)] for rows in zip(*tables)]


def inside_of(rules: PricingRules, v: int) -> Inside:
    """Return a layer as part of a subgraph of several layers."""
    geometry = rules.geometry

    def element(tensor: int) -> int:
        return geometry.held_bytes(tensor, rules.most_groups[v])

    operands = []
    for u, local, whole in _operands(rules, v):
        windows = (window_of(geometry, ROWS, v, u), window_of(geometry, COLUMNS, v, u)) if local else None
        extent = geometry.extent[ROWS][u], geometry.extent[COLUMNS][u]
        operands.append(Operand(extent, geometry.row_bytes[u], element(u), windows, whole))
    extent = geometry.extent[ROWS][v], geometry.extent[COLUMNS][v]
    return Inside(
        extent, element(v), geometry.weight_bytes[v], tuple(operands), rules.bands, rules.batch, rules.samples
    )


def _operands(rules: PricingRules, v: int) -> Iterator[tuple[int, bool, bool]]:
    """Yield the tensors that a layer reads, whether through its windows, and whether in full."""
    for u in dict.fromkeys(rules.geometry.network.operands[v]):
        reader = next(each for each in rules.geometry.readers[u] if each.layer == v)
        yield u, reader.local, reader.whole


def met_bytes(rules: PricingRules, v: int) -> int:
    """Return the bytes of one sample that a layer reads at least, in any order and any pieces."""
    geometry, total = rules.geometry, 0
    axes = rules.loop_layer(v).rows, rules.loop_layer(v).columns
    for u, local, whole in _operands(rules, v):
        total += whole * geometry.size_bytes[u]
        if local:
            rows, columns = (least_met(window_of(geometry, axis, v, u), axes[axis]) for axis in (ROWS, COLUMNS))
            total += rows * columns * geometry.row_bytes[u]
    return total
