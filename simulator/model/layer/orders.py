"""Loop orders of one layer: a table of small functions, each of which says what an order holds and moves.

All are our choice (Cocco leaves open how a layer that does not fit runs); executing the loops confirms every count
(tests/simulator/model/test_orders.py). Dense layers and products of two activations are here, in the order of
docs/model.md; layers that do not reduce over channels, and groups that run one after the other, are in groups.py.

The outputs of a tile (or of all tiles of a pass) need rows and columns of the input; axes.py says how many. A chunk is
a number of outputs, a multiple of 8; a slice is a number of inputs of the reduction; `at_once` samples share the
weights. A product takes its second operand as weights, head by head, new for each sample, in the activation buffer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from simulator.integers import ceil_div
from simulator.model.layer import axes
from simulator.model.layer.axes import BLOCK_ROW, Grid, Mode
from simulator.model.layer.loop_layer import (
    LoopLayer,
    coming_after,
    inputs_of,
    results_at_once,
    round_up,
    stationary_bytes,
)

TK, KT, WK, KS, TP, KP, TKC, BC = "TK", "KT", "WK", "KS", "TP", "KP", "TKC", "BC"  #: dense orders
CT, TC, RS, COPIED, TCC, TB = "CT", "TC", "RS", "copy", "TCC", "TB"  #: of groups.py and attention.py
HP = "HP"  #: of heads.py
TM, TW, TS, MT = "TM", "TW", "TS", "MT"  #: of chains/orders.py


class LoopTotals(NamedTuple):
    """What a loop order moves for the whole batch, bytes."""

    ema_weight_bytes: int
    ema_input_bytes: int
    ema_output_bytes: int
    global_buffer_bytes: int
    weight_buffer_bytes: int
    global_written_bytes: int  #: of global_buffer_bytes, what is written and not read
    weight_written_bytes: int  #: of weight_buffer_bytes: all that come from DRAM, in each core that hears them
    second_bytes: int  #: of ema_input_bytes, those of the second operand of a product
    crossbar_bytes: int  #: from core to core
    rescalings: int  #: operations beyond the layers' own: of an attention in blocks, of rows that are made again
    again_extra: int = 0  #: of these, what they take beyond INT8 (technology.operation_units)
    again_cycles: int = 0  #: of the PE array, beyond the layers' own


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
    totals: LoopTotals

    def choices(self) -> dict[str, Any]:
        """Return the choices of the plan, without what follows from them."""
        return {name: getattr(self, name) for name in self._fields[:9]}

    @property
    def ema_bytes(self) -> int:
        """External memory access."""
        return sum(self.totals[:3])


class Moved(NamedTuple):
    """What an order moves, bytes: weights for the batch, everything else for one sample."""

    weight_reads: int
    input_reads: int
    traffic: int  #: of the activation buffer beside the DRAM side: windows, SIDE, sums
    weight_traffic: int  #: from the weight buffer
    copied: int  #: of traffic, what is written: SIDE and sums
    rescalings: int


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
    return axes.grid_of(layer.rows, layer.columns, tile)


def dense_plan(order: str, layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """Return the plan of an order of a layer that reduces over channels."""
    if order == TK:
        return tiles_chunks(layer, grid, mode, loops)
    if order == KT:
        return chunks_tiles(layer, grid, mode, loops)
    if order == WK:
        return whole_chunks(layer, grid, mode, loops)
    if order == KS:
        return chunks_whole(layer, grid, mode, loops)
    if order == TP:
        return tiles_partly(layer, grid, mode, loops)
    if order == KP:
        return chunks_partly(layer, grid, mode, loops)
    return tiles_slices(layer, grid, mode, loops) if order == TKC else block_slices(layer, grid, mode, loops)


def tiles_chunks(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """TK: tiles; chunks. The input of a tile stays while the chunks pass. With one chunk the weights stay."""
    chunks, side = chunks_of(layer, loops), layer.loaded * mode.side
    reads = layer.coming if chunks == 1 else layer.coming * grid.tiles * rounds_of(layer, loops.at_once)
    traffic = layer.window_bytes * grid.windows * chunks + side
    moved = Moved(reads, layer.loaded * mode.reads, traffic, weight_updates(layer, grid, loops.at_once), side // 2, 0)
    return held_plan(layer, TK, mode, grid, loops, 0, 0, moved)


def chunks_tiles(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """KT: chunks; samples; tiles. The weights of a chunk stay; the input passes once for each chunk."""
    chunks, side = chunks_of(layer, loops), layer.loaded * mode.side
    reads, traffic = layer.loaded * mode.reads * chunks, (layer.window_bytes * grid.windows + side) * chunks
    moved = Moved(layer.coming, reads, traffic, weight_updates(layer, grid, loops.at_once), side // 2 * chunks, 0)
    return held_plan(layer, KT, mode, grid, loops, 0, 0, moved)


def whole_chunks(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """WK: samples; the whole input; chunks; tiles. Weights pass once for all samples that run at once."""
    chunks = chunks_of(layer, loops)
    reads = layer.coming if chunks == 1 else layer.coming * rounds_of(layer, loops.at_once)
    traffic = layer.window_bytes * grid.windows * chunks
    moved = Moved(reads, layer.loaded * grid.union, traffic, weight_updates(layer, grid, loops.at_once), 0, 0)
    return held_plan(layer, WK, mode, grid, loops, 0, 0, moved)


def chunks_whole(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """KS: chunks; whole samples; tiles. Pays where not all samples fit at once."""
    chunks = chunks_of(layer, loops)
    reads, traffic = layer.loaded * grid.union * chunks, layer.window_bytes * grid.windows * chunks
    moved = Moved(layer.coming, reads, traffic, weight_updates(layer, grid, loops.at_once), 0, 0)
    return held_plan(layer, KS, mode, grid, loops, 0, 0, moved)


def tiles_partly(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """TP: as TK, but the weights of some outputs stay over all tiles; the others pass in chunks."""
    chunks = ceil_div(loops.kept, loops.chunk) + ceil_div(layer.part.outputs - loops.kept, loops.chunk)
    updates, side = grid.tiles * rounds_of(layer, loops.at_once), layer.loaded * mode.side
    reads = layer.coming + (updates - 1) * coming_after(layer, loops.kept)
    traffic = layer.window_bytes * grid.windows * chunks + side
    moved = Moved(reads, layer.loaded * mode.reads, traffic, layer.weights * updates, side // 2, 0)
    stay = stationary_bytes(layer, loops.kept, layer.part.reduction)
    return held_plan(layer, TP, mode, grid, loops, 0, stay, moved)


def chunks_partly(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """KP: as KT with a ring, but some input rows of all samples stay over all chunks."""
    chunks, stay = chunks_of(layer, loops), loops.kept * grid.columns.union
    reads = layer.loaded * (mode.reads * chunks - stay * (chunks - 1))
    traffic = layer.window_bytes * grid.windows * chunks
    moved = Moved(layer.coming, reads, traffic, weight_updates(layer, grid, loops.at_once), 0, 0)
    return held_plan(layer, KP, mode, grid, loops, layer.batch * stay * layer.part.room, 0, moved)


def tiles_slices(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """TKC: tiles; chunks; slices of the inputs. Sums of a tile's chunk stay while slices of its weights pass."""
    reduction = layer.part.reduction
    copies = layer.loaded * mode.side + sum_traffic(layer, ceil_div(reduction, loops.slice) - 1)
    traffic = layer.window_bytes * grid.windows * chunks_of(layer, loops) + copies
    reads = layer.coming * grid.tiles * rounds_of(layer, loops.at_once)
    updates = weight_updates(layer, grid, loops.at_once)
    moved = Moved(reads, layer.loaded * mode.reads, traffic, updates, copies // 2, 0)
    held = input_bytes(layer, mode, loops) + held_sums(layer, grid, loops)
    weights = stationary_bytes(layer, loops.chunk, min(loops.slice, reduction))
    return plan_of(layer, TKC, mode.name, grid, loops, held, weights, moved)


def block_slices(layer: LoopLayer, grid: Grid, mode: Mode, loops: Loops) -> LoopPlan:
    """BC: blocks; chunks; slices of the inputs; inner chunks. Sums of a block stay while slices of its input pass.

    An input that is several operands passes once for each. mode: "block" holds all that the block meets; "block-row"
    holds what one row of it meets, and reads the weights of a slice from their buffer again for each row.
    """
    part, parts, cuts = layer.part, 0, 0
    for i in range(part.unit_count):
        parts += part.units[i][1]
        cuts += (ceil_div(part.units[i][0] * layer.word, loops.slice) - 1) * part.units[i][1]
    sums = sum_traffic(layer, cuts) // parts
    visits = layer.row.visits if mode.name == BLOCK_ROW else grid.rows.visits
    tiles = layer.row.tiles if mode.name == BLOCK_ROW else grid.rows.tiles
    full, rest = part.outputs // loops.chunk, part.outputs % loops.chunk
    passes = full * ceil_div(loops.chunk, loops.inner) + ceil_div(rest, loops.inner)
    rounds = rounds_of(layer, loops.at_once)
    traffic = layer.operand_bytes * visits * grid.columns.visits * passes + sums
    reads = layer.operands_loaded * grid.windows * chunks_of(layer, loops)
    updates = layer.weights * rounds * tiles * grid.columns.tiles
    moved = Moved(layer.coming * grid.tiles * rounds, reads, traffic, updates, sums // 2, 0)
    held = held_sums(layer, grid, loops)
    if layer.operands_loaded:
        held += loops.at_once * inputs_of(layer, loops.slice) * mode.held
    weights = stationary_bytes(layer, loops.inner, min(loops.slice, part.reduction))
    return plan_of(layer, BC, mode.name, grid, loops, held, weights, moved)


def chunks_of(layer: LoopLayer, loops: Loops) -> int:
    """Return the number of chunks."""
    return ceil_div(layer.part.outputs, loops.chunk)


def rounds_of(layer: LoopLayer, at_once: int) -> int:
    """Return the number of rounds of samples."""
    return ceil_div(layer.batch, at_once)


def has_positions(layer: LoopLayer, order: str, chunk: int) -> bool:
    """Return whether an order has all channels of a position at once, and no other rows, where a layer needs that."""
    if not layer.epilogue.by_position or order == TK or order == TP:  # their tiles hold results of all chunks
        return True
    return order != KP and chunk >= layer.part.outputs and not layer.epilogue.in_order


def weight_updates(layer: LoopLayer, grid: Grid, at_once: int) -> int:
    """Return the bytes of weights, once for each tile and round of samples."""
    return layer.weights * grid.tiles * rounds_of(layer, at_once)


def input_bytes(layer: LoopLayer, mode: Mode, loops: Loops) -> int:
    """Return the bytes of the input that stay."""
    return loops.at_once * mode.held * layer.part.room


def held_sums(layer: LoopLayer, grid: Grid, loops: Loops) -> int:
    """Return the bytes of the sums of a tile of the chunk."""
    return loops.at_once * grid.area * round_up(layer, loops.chunk) * layer.bits.sum_bytes


def sum_traffic(layer: LoopLayer, cuts: int) -> int:
    """Return the traffic of sums, which are written and read again for each slice but one."""
    return 2 * layer.bits.sum_bytes * cuts * layer.output_elements


def held_plan(
    layer: LoopLayer, order: str, mode: Mode, grid: Grid, loops: Loops, activation: int, weights: int, moved: Moved
) -> LoopPlan:
    """Return the plan of an order that holds the input of a mode, a tile of a chunk, its weights, and these bytes."""
    activation += input_bytes(layer, mode, loops)
    if not layer.stays.output:
        activation += loops.at_once * grid.area * results_at_once(layer, loops.chunk)
    weights += stationary_bytes(layer, loops.chunk, layer.part.reduction)
    return plan_of(layer, order, mode.name, grid, loops, activation, weights, moved)


def plan_of(
    layer: LoopLayer, order: str, mode: str, grid: Grid, loops: Loops, activation: int, weights: int, moved: Moved
) -> LoopPlan:
    """Return the plan for all samples. A product's second operand is an activation: read, held and moved as such."""
    if layer.is_product:
        activation, weights = activation + weights, 0
    activation += layer.epilogue.room
    return LoopPlan(
        order, mode, grid.tile, loops.apart, loops.chunk, loops.slice, loops.inner, loops.at_once, loops.kept,
        activation, weights, totals_of(layer, moved),
    )  # fmt: skip


def totals_of(layer: LoopLayer, moved: Moved) -> LoopTotals:
    """Return what an order moves for all samples."""
    samples, second = layer.repeat * layer.batch, 0
    weight_reads, weight_traffic = layer.repeat * moved.weight_reads, layer.repeat * moved.weight_traffic
    inputs = samples * (moved.input_reads + layer.unmet_bytes + layer.stays.arriving_bytes + layer.epilogue.loaded)
    results = samples * layer.output_bytes
    outputs = samples * layer.epilogue.left + (results if layer.stays.is_written else 0)
    buffered = samples * (moved.traffic + layer.epilogue.traffic) + results + outputs
    copied = samples * (moved.copied + layer.epilogue.written)
    if layer.is_product:
        second = weight_reads
        inputs, buffered = inputs + weight_reads, buffered + weight_traffic
        weight_reads = weight_traffic = 0
    return LoopTotals(
        weight_reads, inputs, outputs, inputs + buffered, weight_reads + weight_traffic,
        inputs + results + copied, weight_reads, second, 0, samples * moved.rescalings, 0, 0,
    )  # fmt: skip
