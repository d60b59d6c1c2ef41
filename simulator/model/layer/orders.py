"""Loop orders of one layer: a table of small functions, each of which says what an order holds and moves.

All are our choice (Cocco leaves open how a layer that does not fit runs); executing the loops confirms every count
(tests/simulator/model/test_orders.py). Dense layers and products of two activations are here, in the order of
docs/model.md; layers that do not reduce over channels, and groups that run one after the other, are in groups.py.

The outputs of a tile (or of all tiles of a pass) need rows and columns of the input; axes.py says how many. A chunk is
a number of outputs, a multiple of 8; a slice is a number of inputs of the reduction; `at_once` samples share the
weights. A product takes its second operand as weights, head by head, new for each sample, in the activation buffer.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

from simulator.model.layer.axes import Met, meet
from simulator.model.layer.loop_layer import LoopLayer, coming_after, inputs_of, results_of, round_up, stationary_bytes
from workloads.network.layers.types import row_bytes


class Grid(NamedTuple):
    """The tiles of a map and what their windows meet, in elements of one channel."""

    tile: tuple[int, int]
    rows: Met
    columns: Met

    @property
    def tiles(self) -> int:
        """How many there are."""
        return self.rows.tiles * self.columns.tiles

    @property
    def windows(self) -> int:
        """Elements met, summed over the tiles."""
        return self.rows.visits * self.columns.visits

    @property
    def union(self) -> int:
        """Elements that some tile meets."""
        return self.rows.union * self.columns.union


class Mode(NamedTuple):
    """What stays of the input from tile to tile, in elements of one channel."""

    name: str
    held: int
    reads: int  #: from DRAM in one pass over the tiles
    side: int  #: copied to SIDE and back in one pass


class LoopPlan(NamedTuple):
    """How a layer runs, and the bytes that it takes and moves for the whole batch."""

    order: str
    mode: str  #: what stays of the input from tile to tile
    tile: tuple[int, int]
    apart: int  #: channels, groups or heads that run together
    chunk: int  #: outputs of a part between two passes over its inputs
    slice: int  #: inputs of a part between two passes over its sums
    inner: int  #: outputs of a chunk whose weights are held
    at_once: int  #: samples
    kept: int  #: what stays: weights of outputs over the tiles (TP), input rows over the chunks (KP), channels (TCC)
    activation_bytes: int
    weight_bytes: int
    ema_weight_bytes: int
    ema_input_bytes: int
    ema_output_bytes: int
    global_buffer_bytes: int
    weight_buffer_bytes: int
    global_written_bytes: int = 0  #: of global_buffer_bytes, what is written and not read
    weight_written_bytes: int = 0  #: of weight_buffer_bytes: all that come from DRAM, in each core that hears them
    second_bytes: int = 0  #: of ema_input_bytes, those of the second operand of a product
    crossbar_bytes: int = 0  #: from core to core
    rescalings: int = 0  #: operations of an attention in blocks, beyond its own

    def choices(self) -> dict[str, Any]:
        """Return the choices of the plan, without what follows from them."""
        return {name: getattr(self, name) for name in self._fields[:9]}

    @property
    def ema_bytes(self) -> int:
        """External memory access."""
        return self.ema_weight_bytes + self.ema_input_bytes + self.ema_output_bytes


class Moved(NamedTuple):
    """Bytes that an order moves: weights for the batch, everything else for one sample."""

    weight_reads: int
    input_reads: int
    traffic: int  #: of the activation buffer beside the DRAM side: windows, SIDE, sums
    weight_traffic: int  #: from the weight buffer
    copied: int = 0  #: of traffic, what is written: SIDE and sums


class Loops(NamedTuple):
    """The loops of an order around a tile."""

    apart: int
    chunk: int
    slice: int
    inner: int
    at_once: int
    kept: int = 0


def grid_of(layer: LoopLayer, tile: tuple[int, int]) -> Grid:
    """Return the grid of tiles with this many rows and columns of outputs."""
    return Grid(tile, meet(layer.rows, tile[0]), meet(layer.columns, tile[1]))


def modes_of(grid: Grid) -> Iterator[Mode]:
    """Yield what can stay of the input from tile to tile, taken row by row.

    ring: tiles of full width; rows that are needed again stay. rows: tiles of full width; nothing stays (holes of
    dilation make a ring longer than a window). side: MAIN slides along the columns, SIDE keeps rows for the next row of
    tiles. slide: the same without SIDE. block: nothing stays.
    """
    rows, columns = grid.rows, grid.columns
    if columns.tiles == 1:
        yield Mode("ring", rows.ring * columns.union, rows.union * columns.union, 0)
        if rows.most < rows.ring:
            yield Mode("rows", rows.most * columns.union, rows.visits * columns.union, 0)
        return
    main = rows.most * columns.ring
    if rows.live:
        again = 2 * (rows.visits - rows.union) * columns.union
        yield Mode("side", main + rows.live * columns.union, rows.union * columns.union, again)
    yield Mode("slide", main, rows.visits * columns.union, 0)
    if columns.most < columns.ring:
        yield Mode("block", rows.most * columns.most, rows.visits * columns.visits, 0)


def whole_mode(grid: Grid) -> Mode:
    """Return the mode that keeps all of the input that any window meets."""
    return Mode("whole", grid.union, grid.union, 0)


def tiles_chunks(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """TK: tiles; chunks. The input of a tile stays while the chunks pass. With one chunk the weights stay."""
    chunks, rounds = _passes(layer, loops)
    updates = layer.weights * grid.tiles * rounds
    traffic = layer.window_bytes * grid.windows * chunks + layer.loaded * mode.side
    copied = layer.loaded * mode.side // 2
    weight_reads = layer.coming * (1 if chunks == 1 else grid.tiles * rounds)
    moved = Moved(weight_reads, layer.loaded * mode.reads, traffic, updates, copied)
    return plan_of(layer, "TK", mode, grid, loops, _held(layer, grid, mode, loops), moved)


def chunks_tiles(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """KT: chunks; samples; tiles. The weights of a chunk stay; the input passes once for each chunk."""
    chunks, rounds = _passes(layer, loops)
    traffic = (layer.window_bytes * grid.windows + layer.loaded * mode.side) * chunks
    reads = layer.loaded * mode.reads * chunks
    copied = layer.loaded * mode.side // 2 * chunks
    moved = Moved(layer.coming, reads, traffic, layer.weights * grid.tiles * rounds, copied)
    return plan_of(layer, "KT", mode, grid, loops, _held(layer, grid, mode, loops), moved)


def whole_chunks(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """WK: samples; the whole input; chunks; tiles. Weights pass once for all samples that run at once."""
    chunks, rounds = _passes(layer, loops)
    traffic = layer.window_bytes * grid.windows * chunks
    weight_reads = layer.coming * (1 if chunks == 1 else rounds)
    moved = Moved(weight_reads, layer.loaded * grid.union, traffic, layer.weights * grid.tiles * rounds)
    return plan_of(layer, "WK", mode, grid, loops, _held(layer, grid, mode, loops), moved)


def chunks_whole(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """KS: chunks; whole samples; tiles. Pays where not all samples fit at once."""
    chunks, rounds = _passes(layer, loops)
    traffic = layer.window_bytes * grid.windows * chunks
    reads = layer.loaded * grid.union * chunks
    moved = Moved(layer.coming, reads, traffic, layer.weights * grid.tiles * rounds)
    return plan_of(layer, "KS", mode, grid, loops, _held(layer, grid, mode, loops), moved)


def tiles_partly(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """TP: as TK, but the weights of some outputs stay over all tiles; the others pass in chunks."""
    outputs, (_, rounds) = layer.part.outputs, _passes(layer, loops)
    chunks = -(-loops.kept // loops.chunk) - (loops.kept - outputs) // loops.chunk
    updates, passing = grid.tiles * rounds, coming_after(layer, loops.kept)
    activation, weights = _held(layer, grid, mode, loops)
    weights += stationary_bytes(layer, loops.kept, layer.part.reduction)
    traffic = layer.window_bytes * grid.windows * chunks + layer.loaded * mode.side
    weight_reads = layer.coming + (updates - 1) * passing
    copied = layer.loaded * mode.side // 2
    moved = Moved(weight_reads, layer.loaded * mode.reads, traffic, layer.weights * updates, copied)
    return plan_of(layer, "TP", mode, grid, loops, (activation, weights), moved)


def chunks_partly(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """KP: as KT with a ring, but some input rows of all samples stay over all chunks."""
    chunks, rounds = _passes(layer, loops)
    stay = loops.kept * grid.columns.union
    activation, weights = _held(layer, grid, mode, loops)
    activation += layer.batch * stay * layer.part.room
    reads = layer.loaded * (mode.reads * chunks - stay * (chunks - 1))
    moved = Moved(layer.coming, reads, layer.window_bytes * grid.windows * chunks, layer.weights * grid.tiles * rounds)
    return plan_of(layer, "KP", mode, grid, loops, (activation, weights), moved)


def tiles_slices(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """TKC: tiles; chunks; slices of the inputs. Sums of a tile's chunk stay while slices of its weights pass."""
    part = layer.part
    chunks, rounds = _passes(layer, loops)
    slices = -(-part.reduction // loops.slice)
    updates = layer.weights * grid.tiles * rounds
    copies = layer.loaded * mode.side + _sum_bytes(layer, slices - 1)
    traffic = layer.window_bytes * grid.windows * chunks + copies
    activation = _input(layer, mode, loops) + _held_sums(layer, grid, loops)
    held = activation, stationary_bytes(layer, loops.chunk, min(loops.slice, part.reduction))
    weight_reads = layer.coming * grid.tiles * rounds
    moved = Moved(weight_reads, layer.loaded * mode.reads, traffic, updates, copies // 2)
    return plan_of(layer, "TKC", mode, grid, loops, held, moved)


def block_slices(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """BC: blocks; chunks; slices of the inputs; inner chunks. Sums of a block stay while slices of its input pass.

    An input that is several operands passes once for each. mode: "block" holds all that the block meets; "block-row"
    holds what one row of it meets, and reads the weights of a slice from their buffer again for each row.
    """
    part = layer.part
    chunks, rounds = _passes(layer, loops)
    rows = meet(layer.rows, 1) if mode.name == "block-row" else grid.rows
    sizes = [row_bytes(*each) for each in zip(layer.producers, layer.producer_bits)]
    each_window = sum(sizes[operand] for operand in layer.operands)
    full, rest = divmod(part.outputs, loops.chunk)
    passes = full * -(-loops.chunk // loops.inner) - -rest // loops.inner
    parts = sum(count for _, count in part.units)
    cuts = sum((-(-units * layer.word // loops.slice) - 1) * count for units, count in part.units)
    sums = _sum_bytes(layer, cuts) // parts
    traffic = each_window * rows.visits * grid.columns.visits * passes + sums
    comes = sum(sizes[operand] for operand in layer.operands if layer.passing[operand])
    held = (
        loops.at_once * inputs_of(layer, loops.slice) * mode.held * (comes > 0) + _held_sums(layer, grid, loops),
        stationary_bytes(layer, loops.inner, min(loops.slice, part.reduction)),
    )
    updates = layer.weights * rounds
    moved = Moved(
        layer.coming * rounds * grid.tiles, comes * grid.windows * chunks, traffic,
        updates * rows.tiles * grid.columns.tiles, sums // 2,
    )  # fmt: skip
    return plan_of(layer, "BC", mode, grid, loops, held, moved)


def block_modes(layer: LoopLayer, grid: Grid) -> Iterator[Mode]:
    """Yield how much of its input a block holds: all that it meets, or what one row of it meets."""
    yield Mode("block", grid.rows.most * grid.columns.most, grid.windows, 0)
    if grid.tile[0] > 1:
        rows = meet(layer.rows, 1).ring
        if rows < grid.rows.most:
            yield Mode("block-row", rows * grid.columns.most, grid.windows, 0)


def _passes(layer: LoopLayer, loops: Loops) -> tuple[int, int]:
    """Return the numbers of chunks and of rounds of samples."""
    return -(-layer.part.outputs // loops.chunk), -(-layer.batch // loops.at_once)


def _held(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> tuple[int, int]:
    results = 0 if layer.stays.output else _chunk_bytes(layer, grid, loops)
    return _input(layer, mode, loops) + results, stationary_bytes(layer, loops.chunk, layer.part.reduction)


def _input(layer: LoopLayer, mode: Mode, loops: Loops) -> int:
    return loops.at_once * mode.held * layer.part.room


def _chunk_bytes(layer: LoopLayer, grid: Grid, loops: Loops) -> int:
    """Return the bytes of the results of a tile of the chunk."""
    return loops.at_once * prod(grid.tile) * results_of(layer, loops.chunk)


def _held_sums(layer: LoopLayer, grid: Grid, loops: Loops) -> int:
    """Return the bytes of the sums of a tile of the chunk."""
    return loops.at_once * prod(grid.tile) * round_up(layer, loops.chunk) * layer.bits.sum_bytes


def _sum_bytes(layer: LoopLayer, cuts: int) -> int:
    """Return the traffic of sums, which are written and read again for each slice but one."""
    return 2 * layer.bits.sum_bytes * cuts * layer.output_elements


def plan_of(
    layer: LoopLayer, order: str, mode: Mode, grid: Grid, loops: Loops, held: tuple[int, int], moved: Moved
) -> LoopPlan:
    """Return the plan for all samples. A product's second operand is an activation: read, held and moved as such."""
    repeat, samples = layer.repeat, layer.repeat * layer.batch
    activation, weights = held
    weight_reads, weight_traffic = repeat * moved.weight_reads, repeat * moved.weight_traffic
    inputs = samples * (moved.input_reads + layer.unmet_bytes + layer.stays.arriving_bytes)
    results = samples * layer.output_bytes
    outputs = results if layer.stays.is_written else 0
    buffered, second = samples * moved.traffic + results + outputs, 0
    if layer.is_product:
        activation, weights, second = activation + weights, 0, weight_reads
        inputs, buffered = inputs + weight_reads, buffered + weight_traffic
        weight_reads = weight_traffic = 0
    return LoopPlan(
        order, mode.name, grid.tile, *loops, activation, weights, weight_reads, inputs, outputs,
        inputs + buffered, weight_reads + weight_traffic, inputs + results + samples * moved.copied,
        weight_reads, second,
    )  # fmt: skip
