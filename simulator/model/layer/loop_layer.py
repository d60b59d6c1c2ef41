"""A layer as its loops see it, in plain integers: axes, channels, groups, operands, and what stays on chip."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, NamedTuple

from simulator.integers import ceil_div, row_bytes
from simulator.model.layer.axes import Axis, Grid, Met, grid_of, in_flight, meet

Kind = Literal[
    "dense", "transposed", "product", "apart", "join", "mixed", "copy", "norm", "attention", "heads", "chain"
]  # fmt: skip
DENSE: Kind = "dense"
TRANSPOSED: Kind = "transposed"
PRODUCT: Kind = "product"
APART: Kind = "apart"
JOIN: Kind = "join"
MIXED: Kind = "mixed"
COPY: Kind = "copy"
NORM: Kind = "norm"
ATTENTION: Kind = "attention"
HEADS: Kind = "heads"
CHAIN: Kind = "chain"
KINDS: dict[Kind, str] = {
    "dense": "a convolution that reduces over channels",
    "transposed": "a product with the rows of its second operand, head by head",
    "product": "a product with the columns of its second operand, head by head",
    "apart": "each output channel reads one input channel: pools, resizes, slices, depth-wise convolutions",
    "join": "element-wise, each channel on its own",
    "mixed": "over all channels of a position: local response normalization, and the rows of a scan",
    "copy": "the elements in another order",
    "norm": "as mixed, by two statistics of a position: softmax, layer normalization",
    "attention": "scores, softmax and context, head by head, in blocks of keys and values",
    "heads": "an attention head by head, with the projections that make its queries, keys and values",
    "chain": "two dense layers, with channel-wise ones in between, whose middle channels pass in chunks",
}

Shared = Literal["", "inputs", "weights", "all"]
INPUTS_SHARED: Shared = "inputs"
WEIGHTS_SHARED: Shared = "weights"
ALL_SHARED: Shared = "all"


class Part(NamedTuple):
    """The channels that run together: a layer, a group of a convolution, a head."""

    room: int  #: bytes of a position of its inputs in a buffer, rounded up
    outputs: int
    reduction: int
    units: tuple[tuple[int, int], ...]  #: (words of inputs, how many parts of the layer have so many)

    @property
    def unit_count(self) -> int:
        """How many different numbers of words there are."""
        return len(self.units)


class Stays(NamedTuple):
    """The tensors that a layer finds or leaves on chip, whole: they take no room of their own and are not moved.

    producers and whole are flags in the order of LoopLayer's; empty where none stays.
    """

    producers: tuple[bool, ...] = ()
    whole: tuple[bool, ...] = ()
    second_bytes: int = 0  #: of the second operand of a product
    second_rows: tuple[tuple[int, int], ...] = ()  #: the same as rows of it, first and last + 1
    output: bool = False
    is_written: bool = True  #: whether the output goes to DRAM
    arriving_bytes: int = 0  #: of inputs that are loaded once, to be kept from here on; one sample

    @property
    def second_count(self) -> int:
        """How many runs of rows of the second operand are on chip."""
        return len(self.second_rows)


NOTHING_STAYS = Stays()


class Team(NamedTuple):
    """How several cores share a layer in the same loop order; the layer is the part of the core with the most."""

    cores: int = 1  #: of the machine, each with a port to DRAM
    alike: int = 1  #: cores with as much as this one, itself among them
    others: tuple[LoopLayer, ...] = ()  #: smaller parts, each with the number of its cores in `team.alike`
    shared: Shared = ""  #: what comes once for all, by all ports, and crosses to who hears it

    @property
    def other_count(self) -> int:
        """How many smaller parts there are."""
        return len(self.others)


ONE_CORE = Team()


class Map(NamedTuple):
    """A map that is needed in full."""

    rows: int
    columns: int
    channels: int
    bits: int = 8


class LoopBits(NamedTuple):
    """Bits of the numbers of a layer; of producers, where empty, 8 each."""

    producers: tuple[int, ...] = ()
    weights: int = 8  #: or of the second operand of a product
    output: int = 8
    sum_bytes: int = 4  #: of what is not added up yet
    used: int = 1  #: experts whose weights are loaded, for each so many
    active: int = 1  #: that take part


INT8_BITS = LoopBits()


class Sight(NamedTuple):
    """Which keys a row of queries sees: workloads.Mask in plain integers."""

    is_masked: bool = False  #: whether any row sees less than all
    behind: int = 0  #: positions before its own, at most
    ahead: int = 0  #: positions after its own, at most
    chunk: int = 0  #: positions of a chunk, of which it sees its own; 0: all are one
    together: int = 1  #: rows at one position


ALL_SEEN = Sight()


class Epilogue(NamedTuple):
    """What element-wise layers add to a dense layer that they follow in one nest: bytes, of one sample except for room.

    Each is applied to a word of results when it is made. A map between that leaves, and one of which a norm needs all
    channels of a position at once, is stored where the results lie, and read again.
    """

    room: int = 0  #: held beside: operands that are broadcast, of all samples, and a word of one that passes
    loaded: int = 0  #: operands from DRAM
    left: int = 0  #: maps between that go to DRAM as well
    traffic: int = 0  #: of the activation buffer beside the DRAM side: operands read, maps stored and read
    written: int = 0  #: of traffic
    bits: int = 0  #: of a number that is stored, at most
    by_position: int = 0  #: 1 where all channels of a position are needed at once
    in_order: int = 0  #: 1 where rows are made one after the other, each from the one before
    passing: tuple[int, ...] = ()  #: bits of each operand from DRAM that is not broadcast
    leaving: tuple[int, ...] = ()  #: bits of each map between that goes to DRAM


NO_EPILOGUE = Epilogue()


class _Fields(NamedTuple):
    """What a `LoopLayer` is made of."""

    kind: Kind  #: what it does with channels, see `KINDS`
    rows: Axis
    columns: Axis
    producers: tuple[int, ...]  #: channels of each input read through windows, each once, or again for each group
    operands: tuple[int, ...]  #: which of them each operand is
    part: Part  #: what runs together
    outputs: int
    weights: int  #: bytes; of the second operand of a product, of keys and values
    whole: tuple[Map, ...]  #: maps that are needed in full, each once: broadcast, or rearranged
    unmet_bytes: int  #: of the input that no window meets, one sample: they pass by once (our choice, as where it fits)
    batch: int  #: samples that share the weights
    repeat: int  #: samples one after the other that share nothing
    word: int  #: channels are rounded up to so many (Cocco, Fig. 7)
    at_most: int  #: channels that fill the array, where each is on its own
    squares: tuple[int, ...]  #: tiles that are tried, from the largest
    stays: Stays = NOTHING_STAYS  #: on chip, whole; part.room is of the others
    bits: LoopBits = INT8_BITS
    team: Team = ONE_CORE
    keys: int = 0  #: positions of keys, and of values
    sight: Sight = ALL_SEEN  #: of an attention
    heads: Any = None  #: of an attention with projections: simulator.model.nests.by_heads.Heads
    epilogue: Epilogue = NO_EPILOGUE  #: of a dense layer; bits.output and stays are then those of the last layer
    chain: Any = None  #: of a chain of layers: simulator.model.nests.chain.Chain
    state: int = 0  #: numbers for each output channel that go from row to row: of a scan
    cut: int = 0  #: producers of a scan, the first, of which a block of channels needs no other channels
    apiece: int = 0  #: weights of a scan for each channel; 0 if heads share them


class LoopLayer(_Fields):
    """A layer as its loops see it: plain integers, and what follows from them, computed once."""

    @cached_property
    def passing(self) -> tuple[int, ...]:
        """Channels of each producer that come from DRAM through the windows, 0 for one that is on chip."""
        if not self.stays.producers:
            return self.producers
        return tuple(0 if is_kept else size for size, is_kept in zip(self.producers, self.stays.producers))

    @cached_property
    def loaded(self) -> int:
        """Bytes of a position that come from DRAM through windows."""
        return sum(row_bytes(channels, bits) for channels, bits in zip(self.passing, self.producer_bits))

    @cached_property
    def producer_bits(self) -> tuple[int, ...]:
        """Bits of each producer."""
        return self.bits.producers or (8,) * len(self.producers)

    @cached_property
    def most_bits(self) -> int:
        """The most bits of a producer that comes from DRAM, in any core of its team."""
        own = max((bits for bits, each in zip(self.producer_bits, self.passing) if each), default=8)
        return max([own, *(other.most_bits for other in self.team.others)])

    @cached_property
    def broadcast(self) -> tuple[Map, ...]:
        """Those of `whole` that come from DRAM."""
        if not self.stays.whole:
            return self.whole
        return tuple(each for each, is_kept in zip(self.whole, self.stays.whole) if not is_kept)

    @cached_property
    def window_bytes(self) -> int:
        """Bytes of a position that are read through windows."""
        return sum(row_bytes(channels, bits) for channels, bits in zip(self.producers, self.producer_bits))

    @cached_property
    def result_bits(self) -> int:
        """The most bits of a number that lies where results do."""
        return max(self.bits.output, self.epilogue.bits)

    @cached_property
    def output_bytes(self) -> int:
        """Bytes of the output, one sample."""
        return self.rows.windows * self.columns.windows * row_bytes(self.outputs, self.bits.output)

    @cached_property
    def output_elements(self) -> int:
        """Elements of the output, one sample."""
        return self.rows.windows * self.columns.windows * self.outputs

    @cached_property
    def has_second(self) -> bool:
        """Whether all of the second operand of a product is on chip."""
        return self.stays.second_bytes > 0 and self.coming == 0

    @cached_property
    def coming(self) -> int:
        """Bytes of the weights, or of the part of a second operand that is not on chip."""
        return self.weights - self.stays.second_bytes

    @cached_property
    def is_product(self) -> bool:
        """Whether it multiplies activations; all operands but the first are then held as weights are."""
        return self.kind in (TRANSPOSED, PRODUCT, ATTENTION)

    @cached_property
    def producer_count(self) -> int:
        """How many inputs are read through windows."""
        return len(self.producers)

    @cached_property
    def whole_count(self) -> int:
        """How many maps are needed in full."""
        return len(self.whole)

    @cached_property
    def broadcast_count(self) -> int:
        """How many of them come from DRAM."""
        return len(self.broadcast)

    @cached_property
    def operand_bytes(self) -> int:
        """Bytes of a position of all operands: of a producer again for each that it is."""
        return sum(row_bytes(self.producers[each], self.producer_bits[each]) for each in self.operands)

    @cached_property
    def operands_loaded(self) -> int:
        """The same of those that come from DRAM."""
        return sum(row_bytes(self.passing[each], self.producer_bits[each]) for each in self.operands)

    @cached_property
    def often(self) -> int:
        """How many operands are the same input, at most."""
        return max((self.operands.count(each) for each in self.operands), default=0)

    @cached_property
    def words(self) -> int:
        """Words of outputs of a part."""
        return ceil_div(self.part.outputs, self.word)

    @cached_property
    def row(self) -> Met:
        """What tiles of one row meet."""
        return meet(self.rows, 1)

    @cached_property
    def row_grid(self) -> Grid:
        """The grid of tiles of one row."""
        return grid_of(self.rows, self.columns, (1, self.columns.windows))

    @cached_property
    def map_grid(self) -> Grid:
        """The grid of one tile, the whole map."""
        return grid_of(self.rows, self.columns, (self.rows.windows, self.columns.windows))

    @cached_property
    def flying(self) -> int:
        """Output rows that are begun and not finished, at most, where the input comes row by row."""
        return in_flight(self.rows)[0]

    @cached_property
    def additions(self) -> int:
        """Additions of rows to running sums."""
        return in_flight(self.rows)[1]


def round_up(layer: LoopLayer, channels: int) -> int:
    """Return the number of channels rounded up as in a buffer."""
    return ceil_div(channels, layer.word) * layer.word


def results_of(layer: LoopLayer, channels: int) -> int:
    """Return the bytes that this many channels of a result take in a buffer."""
    return row_bytes(round_up(layer, channels), layer.result_bits)


def results_at_once(layer: LoopLayer, channels: int) -> int:
    """Return the bytes of a position's results that lie in a buffer while this many channels are made."""
    return results_of(layer, layer.part.outputs if layer.epilogue.by_position else channels)


def inputs_of(layer: LoopLayer, channels: int) -> int:
    """Return the bytes that this many channels of the widest input take in a buffer."""
    return row_bytes(round_up(layer, channels), layer.most_bits)


def stationary_bytes(layer: LoopLayer, outputs: int, inputs: int) -> int:
    """Return the bytes of the weights of this many outputs and inputs, or of that part of the second operand."""
    bits = layer.bits.weights
    if layer.has_second:
        return 0
    if layer.kind == TRANSPOSED:
        return outputs * row_bytes(round_up(layer, inputs), bits)
    if layer.kind == PRODUCT:
        return inputs * row_bytes(round_up(layer, outputs), bits)
    elements = outputs * inputs * layer.rows.taps * layer.columns.taps
    if layer.bits.used == layer.bits.active:
        return row_bytes(elements, bits)
    return ceil_div(elements * bits * layer.bits.used, 8 * layer.bits.active)


def coming_after(layer: LoopLayer, outputs: int) -> int:
    """Return the bytes, not on chip yet, of the weights of all outputs of a part after the first `outputs`."""
    after = layer.weights * (layer.part.outputs - outputs) // layer.part.outputs
    if layer.kind != TRANSPOSED:
        return after * layer.coming // layer.weights if layer.coming < layer.weights else after
    there = 0
    for i in range(layer.stays.second_count):
        there += max(0, layer.stays.second_rows[i][1] - max(layer.stays.second_rows[i][0], outputs))
    return after - layer.weights * there // layer.part.outputs
