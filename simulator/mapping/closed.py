"""Cycles of a layer on the PE array: the closed form over the ways to unroll it (model.md, section 4).

Each of the two axes of the 4 x 4 array unrolls one of K (output channels), C (input channels), P (rows) and
Q (columns) of the layer; both may take the same, which is then 16 wide (Cocco, Sec. 5.1.2: the parallelism of two
dimensions of the PE array is configured by the mapper).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import combinations_with_replacement, product

from simulator.mapping.architecture import Core
from simulator.mapping.judge import LayerCost, bound_cycles
from simulator.mapping.shapes import LayerShape
from simulator.technology import LANE_BITS, PE_COLUMNS, PE_ROWS, Technology
from workloads.network.layers.attention import steps_of
from workloads.network.layers.layer import Layer
from workloads.network.layers.mask import Mask
from workloads.network.layers.state import STEPS
from workloads.network.layers.types import INT8

SPLIT_AXES = "KCPQ"
Channels = tuple[int, int]  #: how many there are, and for each key that a row sees as many again
Masked = tuple[Mask, int]  #: a mask, and the keys that it is over
Asked = tuple[int, int, Channels, Channels, bool, tuple[int, int] | None, Masked | None]
# rows, columns, channels out and in, whether these are one for each of those; a tile; a mask


@lru_cache(maxsize=16)
def _unrollings(pe_rows: int, pe_columns: int) -> tuple[dict[str, int], ...]:
    found = []
    pairs = combinations_with_replacement(SPLIT_AXES, 2) if pe_rows == pe_columns else product(SPLIT_AXES, repeat=2)
    for first, second in pairs:
        widths = dict.fromkeys(SPLIT_AXES, 1)
        widths[first] *= pe_rows
        widths[second] *= pe_columns
        found.append(widths)
    return tuple(found)


UNROLLINGS = _unrollings(PE_ROWS, PE_COLUMNS)  #: the 10 choices: axis -> PEs along it


def layer_cycles(
    layer: Layer,
    samples: int = 1,
    bands: int = 1,
    tile: tuple[int, int] | None = None,
    technology: Technology | None = None,
) -> int:
    """Return the cycles of one core that computes `samples` samples of its band of columns of this layer.

    Conv and matmul reduce over 8 input channels per PE and cycle; depth-wise convolutions, pools and
    element-wise layers keep 4 channels of a PE busy (Cocco, Sec. 5.1.2; docs/model.md, section 4). Where a mask hides
    keys, a row has channels only for those that it sees, and rows that run in parallel wait for the one that sees most
    (our choice). Rows of a recurrent layer run one after the other.

    Parameters
    ----------
    layer : Layer
    samples : int
        That the core computes.
    bands : int
        Cores that share the columns of a map.
    tile : tuple of int, optional
        Rows and columns that run as one piece; the whole map unless given.
    technology : Technology, optional
        Other PEs than those of the paper.

    Returns
    -------
    int
        Cycles.

    Examples
    --------
    >>> import workloads
    >>> from simulator.mapping import layer_cycles
    >>> layer_cycles(workloads.load("vgg16").layers[1])
    1806336
    """
    if layer.op == "attention":
        return sum(layer_cycles(each, samples, bands, tile, technology) for each in steps_of(layer))
    if layer.state is not None:  # so they do, and all numbers of a state are channels apart
        row, state = replace(layer, op="slice", height=1, state=None, bits=INT8), layer.channels * layer.state.size
        turns = sum(
            times * layer_cycles(replace(row, channels=count), samples, bands, None, technology)
            for count, times in ((state, STEPS), (layer.state.weights, 1))
            if count
        )
        return layer.height * turns * lanes_of(layer)
    if layer.op == "recurrent":  # rows wait for one another
        row = replace(layer, op="fc", height=1)
        return layer.height * layer_cycles(row, samples, bands, None, technology)
    array = technology or Technology()
    asked = layer.height, -(-layer.width // bands), *_channels(layer), layer.is_depthwise, tile, _masked(layer)
    pes = array.pe_rows, array.pe_columns, array.pe_light_channels, array.pe_outputs, array.pe_inputs
    return _least_turns(asked, pes) * layer.taps * samples * lanes_of(layer)


def lanes_of(layer: Layer) -> int:
    """Return how many MACs of the array an operation of a layer takes, by its widest number (technology.LANE_BITS).

    Its own numbers say: weights and activations, of a product activations and cache.

    Examples
    --------
    >>> import workloads
    >>> [lanes_of(workloads.load("gpt2", layers=1).retyped(bits).layers[1]) for bits in ({}, {"weights": 16})]
    [1, 2]
    """
    bits = [layer.bits.activations]
    if layer.has_weights:
        bits.append(layer.bits.weights)
    if layer.op == "matmul":
        bits.append(layer.bits.cache)
    return -(-max(bits) // LANE_BITS)


def _channels(layer: Layer) -> tuple[Channels, Channels]:
    """Return the channels of outputs, and of inputs of one of them; of masked scores and contexts by key.

    A core that has some channels of a head has them whatever the mask.
    """
    inputs = layer.in_channels // layer.groups
    if layer.mask is None:
        return (layer.channels, 0), (inputs, 0)
    if layer.op == "matmul" and inputs == layer.keys:
        return (layer.channels, 0), (0, 1)
    if layer.channels % layer.keys:
        return (layer.channels, 0), (inputs, 0)
    return (0, layer.channels // layer.keys), (inputs, 0)


def _masked(layer: Layer) -> Masked | None:
    return None if layer.mask is None else (layer.mask, layer.keys)


@lru_cache(maxsize=1 << 14)
def _least_turns(asked: Asked, pes: tuple[int, int, int, int, int]) -> int:
    """Return the cycles of one tap in the best unrolling; layers that look alike are asked for once."""
    columns, tile = asked[1], asked[5]
    return min(
        _row_turns(asked, pes, width["P"], width["K"], width["C"]) * _turns(columns, tile and tile[1], width["Q"])
        for width in _unrollings(*pes[:2])
    )


def _row_turns(asked: Asked, pes: tuple[int, int, int, int, int], along: int, outward: int, inward: int) -> int:
    """Return the cycles of one tap and column with so many PEs along rows, outputs and inputs."""
    (rows, _, outputs, inputs, is_depthwise, tile, masked), (_, _, light_channels, pe_outputs, pe_inputs) = asked, pes
    found = 0
    for seen, turns in _seen_turns(rows, tile and tile[0], along, masked):
        made, read = (fixed + each * seen for fixed, each in (outputs, inputs))
        if is_depthwise:
            found += turns * _ceil(made, light_channels * outward)
        else:
            found += turns * _ceil(made, pe_outputs * outward) * _ceil(read, pe_inputs * inward)
    return found


@lru_cache(maxsize=1 << 8)
def _seen_turns(rows: int, size: int | None, width: int, masked: Masked | None) -> tuple[tuple[int, int], ...]:
    """Return how many keys the rows of a turn see at most, and how many turns are alike."""
    if masked is None:
        return ((0, _turns(rows, size, width)),)
    counts, size = masked[0].counts(rows, masked[1]), size or rows
    starts = (start for piece in range(0, rows, size) for start in range(piece, min(piece + size, rows), width))
    ends = ((start, min(start + width, start // size * size + size)) for start in starts)
    return tuple(Counter(max(counts[start:stop]) for start, stop in ends).items())


def cycles_of_lanes(layer: Layer, samples: int, technology: Technology | None = None) -> dict[int, int]:
    """Return, by the number of lanes along the columns, the fewest cycles that each filling of these lanes takes.

    `layer_cycles` is the least product of these cycles and how often a map's columns fill the lanes. The cycles are
    those of all rows and taps, and do not depend on how many columns the map has.
    """
    array = technology or Technology()
    found: dict[int, int] = {}
    asked = layer.height, 1, *_channels(layer), layer.is_depthwise, None, _masked(layer)
    pes = array.pe_rows, array.pe_columns, array.pe_light_channels, array.pe_outputs, array.pe_inputs
    for width in _unrollings(array.pe_rows, array.pe_columns):
        turns = _row_turns(asked, pes, width["P"], width["K"], width["C"])
        cycles = turns * layer.taps * samples * lanes_of(layer)
        found[width["Q"]] = min(cycles, found.get(width["Q"], cycles))
    return found


def _turns(extent: int, size: int | None, width: int) -> int:
    """Return how often an axis of so many lanes is filled along an extent that is cut into pieces."""
    return sum(times * _ceil(part, width) for part, times in _pieces(extent, size or extent))


def _ceil(value: int, divisor: int) -> int:
    return -(-value // divisor)


Axes = tuple[str, str]


def closed_form(
    shape: LayerShape, core: Core | None = None, tile: tuple[int, int] | None = None
) -> tuple[Axes, LayerCost]:
    """Return what the two axes of the PE array best unroll, and the cost of the layer so computed.

    Ties: fewest words read from the global buffer, then the order K, C, P, Q of the first axis, then of the second.
    The output channels of several groups fill the lanes, as in `layer_cycles`; depth-wise work never enters the lanes
    over C. Without local levels the energy of a
    MAC is OPERATION_PJ, which contains them; DRAM is read and written once (docs/mapping.md).

    Parameters
    ----------
    shape : LayerShape
    core : Core, optional
        That of Cocco unless given.
    tile : tuple of int, optional
        Rows and columns of the output that run as one piece, the last ones smaller; the whole map unless given.

    Returns
    -------
    tuple of (str, str) and LayerCost

    Examples
    --------
    >>> from simulator.mapping import LayerShape, closed_form
    >>> axes, cost = closed_form(LayerShape(r=3, s=3, p=14, q=14, c=256, k=256))
    >>> axes, cost
    (('C', 'C'), LayerCost(112,896 cycles, 100.0% of the lanes, 0.109 mJ))
    """
    core = core or Core()
    best = min(
        (_total(shape, core, axes, tile) + (position, axes) for position, axes in enumerate(_choices(core))),
        key=lambda found: (found[0], found[1]["global buffer"]["I"][0], found[2]),
    )
    compute, accesses, _, axes = best
    reads, writes = core.dram_read_words_per_cycle, core.dram_write_words_per_cycle
    moved = (shape.weight_words + shape.touched_words, shape.output_words)
    accesses["DRAM"] = {"W": (shape.weight_words, 0), "I": (shape.touched_words, 0), "O": (0, shape.output_words)}
    lanes = core.side**2 * core.light if shape.is_depthwise else core.macs
    cost = LayerCost(
        max(compute, moved[0] / reads, moved[1] / writes), compute, shape.macs / (core.macs * compute),
        bound_cycles(shape, lanes, reads, writes), accesses, _energy(shape, core, accesses),
    )  # fmt: skip
    return axes, cost


def _choices(core: Core) -> list[Axes]:
    if core.axes:
        return [(core.axes[0], core.axes[1])]
    return list(combinations_with_replacement(SPLIT_AXES, 2))


def _total(
    shape: LayerShape, core: Core, axes: Axes, tile: tuple[int, int] | None
) -> tuple[int, dict[str, dict[str, tuple[int, int]]]]:
    """Return the compute cycles and the words at the buffers when these axes are unrolled, over all tiles."""
    widths = dict.fromkeys(SPLIT_AXES, 1)
    for axis in axes:
        widths[axis] *= core.side
    cycles, inputs, weights = 0, 0, 0
    for p, q, times in tiles_of(shape, tile):
        one = _piece(shape, core, widths, p, q)
        cycles, inputs, weights = cycles + times * one[0], inputs + times * one[1], weights + times * one[2]
    return cycles, {
        "global buffer": {"I": (inputs, 0), "O": (0, shape.output_words)},
        "weight buffer": {"W": (weights, 0)},
    }


def tiles_of(shape: LayerShape, tile: tuple[int, int] | None) -> Iterator[tuple[int, int, int]]:
    """Yield columns and rows of the pieces of a map, and how many there are of that size."""
    if tile is None:
        yield shape.p, shape.q, 1
        return
    rows, columns = tile
    for p, across in _pieces(shape.p, columns):
        for q, down in _pieces(shape.q, rows):
            yield p, q, across * down


def _pieces(extent: int, size: int) -> list[tuple[int, int]]:
    found = [(min(size, extent), max(1, extent // size))]
    if extent > size and extent % size:
        found.append((extent % size, 1))
    return found


def _piece(shape: LayerShape, core: Core, width: dict[str, int], p: int, q: int) -> tuple[int, int, int]:
    """Return cycles, words of I read from the global buffer and of W from the weight buffer, of one tile."""
    k, across, down = shape.k // shape.groups, _ceil(p, width["P"]), _ceil(q, width["Q"])
    window = shape.footprint("I", {"R": shape.r, "S": shape.s, "P": p, "Q": q, "C": shape.c, "N": shape.n})
    held = shape.footprint(
        "I", {"R": shape.r, "S": shape.s, "P": across, "Q": down, "C": _ceil(shape.c, width["C"]), "N": 1}
    )
    if shape.is_depthwise:
        turns, passes, groups = _ceil(shape.k, core.light * width["K"]), 1, 1
        window *= shape.k
    else:
        turns = _ceil(shape.k, core.outputs * width["K"]) * _ceil(shape.c, core.inputs * width["C"])
        groups, passes = shape.groups, 1 if held <= core.input_entries else _ceil(k, core.outputs * width["K"])
    cycles = turns * across * down * shape.r * shape.s * shape.n
    # the sums of a lane stay in the PE, so weights are read again for every so many positions
    return cycles, groups * window * passes, shape.weight_words * _ceil(across * down * shape.n, core.sums)


def _energy(shape: LayerShape, core: Core, accesses: dict[str, dict[str, tuple[int, int]]]) -> float:
    technology = Technology()
    of_word = {
        "global buffer": technology.sram_pj_per_byte(core.global_buffer),
        "weight buffer": technology.sram_pj_per_byte(core.weight_buffer),
        "DRAM": technology.dram_pj_per_byte,
    }
    moved = (of_word[level] * sum(map(sum, each.values())) for level, each in accesses.items())
    return technology.operation_pj * shape.macs + math.fsum(moved)
