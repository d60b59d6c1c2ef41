"""The four orders of a chain with its middle channels outermost: what each holds and moves, in closed form.

A tile has some rows of the output, a chunk some of the M middle channels, a slice some of the K outputs. The openers
make pieces of a chunk, the closer pieces of a slice; the weights of a piece come by themselves, through one slot. The
fields of a plan mean: chunk m, slice q, apart and inner the outputs of a piece of an opener and of the closer, kept the
middle channels whose weights stay (TM, TW) or the channels of a slice of x (TS). (Our choice, as all orders of a layer;
executing the loops confirms every count, tests/simulator/model/nests.)
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.integers import ceil_div, row_bytes
from simulator.model.chains.chain import Chain
from simulator.model.chains.rows import ChainBand, ChainRows
from simulator.model.layer.axes import WHOLE
from simulator.model.layer.loop_layer import LoopLayer, round_up
from simulator.model.layer.orders import MT, TM, TS, TW, LoopPlan, Loops, LoopTotals, Moved, totals_of


class Needs(NamedTuple):
    """What an order holds, without the room of its epilogue, and what comes more than once."""

    activation: int  #: bytes
    weights: int
    passing: int  #: middle channels whose weights come in each tile
    reads: int  #: bytes of x, one sample
    cuts: int  #: of the inputs of the openers, each of which has their sums written and read again


def chain_order(order: str, mode: str, layer: LoopLayer, band: ChainBand, loops: Loops) -> LoopPlan:
    """Return the plan of an order of a chain."""
    return chain_plan(order, mode, layer, band, loops, order_needs(order, mode, layer, band, loops))


def order_needs(order: str, mode: str, layer: LoopLayer, band: ChainBand, loops: Loops) -> Needs:
    """Return what an order holds and passes."""
    if order == TM:
        return middle_in_tiles(layer, band, loops)
    if order == TW:
        return layers_in_tiles(layer, band, loops)
    return slices_in_tiles(layer, band, loops) if order == TS else tiles_in_middle(layer, mode, band, loops)


def rows_of(chain: Chain, plan: LoopPlan) -> ChainRows:
    """Return what the tiles of a plan make, read and hold."""
    return rows_in(next(band for band in chain.bands if band.rows == plan.tile[0]), plan.order)


def rows_in(band: ChainBand, order: str) -> ChainRows:
    """Return what the tiles of an order make, read and hold."""
    return band.ring if order == TW or order == MT else band.anew


def middle_in_tiles(layer: LoopLayer, band: ChainBand, loops: Loops) -> Needs:
    """TM: tiles; slices; chunks. Each slice of a tile makes its middle rows anew; the weights of some chunks stay."""
    chain, rows = layer.chain, band.anew
    chunks, passing = ceil_div(chain.middle, loops.chunk), chain.middle - loops.kept
    held = x_bytes(layer, rows) + middle_bytes(layer, rows, loops.chunk, 0)
    if chunks > 1:
        held += band.rows * sum_row_bytes(layer, loops.slice)
    else:
        held += band.rows * result_row_bytes(layer, loops.slice)
    weights = chain_weights(chain, loops.kept)
    if passing:
        weights += slot_bytes(chain, chain.inputs, min(loops.chunk, passing), loops)
    return Needs(held, weights, passing, once_bytes(layer), 0)


def layers_in_tiles(layer: LoopLayer, band: ChainBand, loops: Loops) -> Needs:
    """TW: tiles; layer after layer, all middle channels. Middle rows stay for later tiles, all weights or none."""
    chain, rows = layer.chain, band.ring
    passing = chain.middle - loops.kept
    held = x_bytes(layer, rows) + middle_bytes(layer, rows, chain.middle, 0)
    held += band.rows * result_row_bytes(layer, loops.inner)
    weights = slot_bytes(chain, chain.inputs, chain.middle, loops) if passing else chain_weights(chain, chain.middle)
    return Needs(held, weights, passing, once_bytes(layer), 0)


def slices_in_tiles(layer: LoopLayer, band: ChainBand, loops: Loops) -> Needs:
    """TS: tiles; slices; chunks; slices of x, which come anew for each. Sums of E are in its place."""
    chain, rows = layer.chain, band.anew
    chunks, cuts, reads = ceil_div(chain.middle, loops.chunk), ceil_div(chain.inputs, loops.kept) - 1, 0
    held = middle_bytes(layer, rows, loops.chunk, cuts)
    if chunks > 1:
        held += slice_bytes(layer, rows, loops) + band.rows * sum_row_bytes(layer, loops.slice)
    else:  # results leave through the room of a slice of x
        held += max(slice_bytes(layer, rows, loops), band.rows * result_row_bytes(layer, loops.inner))
    if layer.loaded:
        row = chain.x_width * row_bytes(chain.inputs, chain.x_bits)
        reads = chunks * ceil_div(chain.outputs, loops.slice) * rows.x_read * row
        if chain.adds_x:
            reads += once_bytes(layer)
    return Needs(held, slot_bytes(chain, loops.kept, loops.chunk, loops), chain.middle, reads, cuts)


def tiles_in_middle(layer: LoopLayer, mode: str, band: ChainBand, loops: Loops) -> Needs:
    """MT: chunks; samples; tiles. Middle rows stay for later tiles, sums of all tiles; x stays, or comes anew."""
    chain, rows = layer.chain, band.ring
    chunks, reads = ceil_div(chain.middle, loops.chunk), once_bytes(layer)
    held = middle_bytes(layer, rows, loops.chunk, 0)
    if mode == WHOLE:
        held += layer.batch * chain.x_rows * chain.x_width * layer.part.room
    else:
        held += x_bytes(layer, rows)
        reads = chunks * reads
    if chunks > 1:
        held += layer.batch * layer.rows.windows * sum_row_bytes(layer, chain.outputs)
    else:
        held += band.rows * result_row_bytes(layer, chain.outputs)
    return Needs(held, chain_weights(chain, loops.chunk), 0, reads, 0)


def once_bytes(layer: LoopLayer) -> int:
    """Return the bytes of x, one sample; 0 if it is on chip."""
    return layer.chain.x_rows * layer.chain.x_width * layer.loaded


def x_bytes(layer: LoopLayer, rows: ChainRows) -> int:
    """Return the bytes of the rows of x that stay."""
    return rows.x_most * layer.chain.x_width * layer.part.room


def slice_bytes(layer: LoopLayer, rows: ChainRows, loops: Loops) -> int:
    """Return the bytes of a slice of the rows of x that a tile reads; 0 if x is on chip."""
    if not layer.loaded:
        return 0
    return rows.x_tile * layer.chain.x_width * row_bytes(round_up(layer, loops.kept), layer.chain.x_bits)


def middle_bytes(layer: LoopLayer, rows: ChainRows, chunk: int, cuts: int) -> int:
    """Return the bytes of the rows of a chunk of both middle maps; E has sums if its inputs are cut."""
    chain, channels = layer.chain, round_up(layer, chunk)
    size = channels * chain.opener_sums
    if not cuts:
        size = row_bytes(channels, chain.e_bits)
        if chain.openers > 1:
            size = max(size, row_bytes(channels, chain.first_bits))
    held = rows.e_most * chain.e_width * size
    if chain.has_middle:
        held += rows.d_most * chain.d_width * row_bytes(channels, chain.d_bits)
    return held


def sum_row_bytes(layer: LoopLayer, outputs: int) -> int:
    """Return the bytes of the sums of a row of so many outputs."""
    return layer.columns.windows * round_up(layer, outputs) * layer.bits.sum_bytes


def result_row_bytes(layer: LoopLayer, outputs: int) -> int:
    """Return the bytes of the results of a row of so many outputs; 0 if the output is kept."""
    if layer.stays.output:
        return 0
    return layer.columns.windows * row_bytes(round_up(layer, outputs), layer.result_bits)


def opener_weights(chain: Chain, inputs: int, channels: int) -> int:
    """Return the bytes of the weights of both openers for so many inputs and middle channels."""
    elements = inputs * channels * chain.opener_taps
    size = row_bytes(elements, chain.opener_bits)
    return size + row_bytes(elements, chain.second_bits) if chain.openers > 1 else size


def chain_weights(chain: Chain, channels: int) -> int:
    """Return the bytes of the weights of so many middle channels in all layers."""
    size = opener_weights(chain, chain.inputs, channels) + row_bytes(channels * chain.middle_taps, chain.middle_bits)
    return size + row_bytes(channels * chain.outputs * chain.closer_taps, chain.closer_bits)


def slot_bytes(chain: Chain, inputs: int, chunk: int, loops: Loops) -> int:
    """Return the bytes of the largest piece of weights of a chunk."""
    opener = inputs * min(loops.apart, chunk) * chain.opener_taps
    size = row_bytes(opener, chain.opener_bits)
    if chain.openers > 1:
        size = max(size, row_bytes(opener, chain.second_bits))
    size = max(size, row_bytes(chunk * chain.middle_taps, chain.middle_bits))
    return max(size, row_bytes(chunk * loops.inner * chain.closer_taps, chain.closer_bits))


def piece_count(length: int, step: int, piece: int) -> int:
    """Return how many pieces there are in all steps of a length."""
    return length // step * ceil_div(step, piece) + ceil_div(length % step, piece)


def chain_moved(
    layer: LoopLayer, band: ChainBand, rows: ChainRows, loops: Loops, passing: int, reads: int, cuts: int
) -> Moved:
    """Return what an order moves that passes this (see `Needs`)."""
    chain, samples = layer.chain, layer.batch
    slices, chunks = ceil_div(chain.outputs, loops.slice), ceil_div(chain.middle, loops.chunk)
    opened, apart = slices * rows.e_made * chain.e_width, slices * rows.d_made * chain.d_width
    e_row, d_row = row_bytes(chain.middle, chain.e_bits), row_bytes(chain.middle, chain.d_bits)
    # windows of x and D, again for each piece of the outputs
    read = (
        chain.openers
        * piece_count(chain.middle, loops.chunk, loops.apart)
        * slices
        * rows.x_read
        * (chain.x_width * row_bytes(chain.inputs, chain.x_bits))
    )
    read += piece_count(chain.outputs, loops.slice, loops.inner) * rows.d_read * chain.d_width * d_row
    written = opened * e_row
    if chain.openers > 1:  # what the first makes is read where the result of the join takes its place
        written += opened * row_bytes(chain.middle, chain.first_bits)
        read += opened * row_bytes(chain.middle, chain.first_bits)
    if chain.has_middle:
        read += slices * rows.e_read * chain.e_width * e_row
        written += apart * d_row
    results = layer.rows.windows * layer.columns.windows
    if chain.adds_x:
        read += results * row_bytes(chain.outputs, chain.x_bits)
    sums = cuts * opened * chain.middle * chain.opener_sums
    sums += (chunks - 1) * results * chain.outputs * layer.bits.sum_bytes
    return Moved(
        chain_weights(chain, chain.middle - passing) + samples * tiles_weights(chain, band, rows, slices, passing),
        reads, read + written + 2 * sums, samples * tiles_weights(chain, band, rows, slices, chain.middle),
        written + sums, 0,
    )  # fmt: skip


def made_again(layer: LoopLayer, rows: ChainRows, slices: int, totals: LoopTotals) -> LoopTotals:
    """Return totals with what it takes to make rows of the middle maps more than once."""
    chain, e, d = layer.chain, slices * rows.e_made, slices * rows.d_made
    more_e, more_d, cycles = layer.batch * (e - chain.e_rows), layer.batch * (d - chain.d_rows), 0
    for i in range(3):
        cycles += ceil_div(chain.e_cycles[i] * e, chain.e_rows) - chain.e_cycles[i]
    if chain.has_middle:
        cycles += ceil_div(chain.d_cycles * d, chain.d_rows) - chain.d_cycles
    else:
        more_d = 0
    return LoopTotals(
        totals.ema_weight_bytes, totals.ema_input_bytes, totals.ema_output_bytes, totals.global_buffer_bytes,
        totals.weight_buffer_bytes, totals.global_written_bytes, totals.weight_written_bytes, totals.second_bytes,
        totals.crossbar_bytes, more_e * chain.e_operations + more_d * chain.d_operations,
        more_e * chain.e_extra + more_d * chain.d_extra, cycles,
    )  # fmt: skip


def tiles_weights(chain: Chain, band: ChainBand, rows: ChainRows, slices: int, channels: int) -> int:
    """Return the bytes of the weights of so many middle channels, once for each tile and slice that uses them."""
    size = slices * rows.e_tiles * opener_weights(chain, chain.inputs, channels)
    size += slices * rows.d_tiles * row_bytes(channels * chain.middle_taps, chain.middle_bits)
    return size + band.tiles * row_bytes(channels * chain.outputs * chain.closer_taps, chain.closer_bits)


def chain_plan(order: str, mode: str, layer: LoopLayer, band: ChainBand, loops: Loops, needs: Needs) -> LoopPlan:
    """Return the plan of an order that needs this, for all samples."""
    rows, slices = rows_in(band, order), ceil_div(layer.outputs, loops.slice)
    moved = chain_moved(layer, band, rows, loops, needs.passing, needs.reads, needs.cuts)
    totals = made_again(layer, rows, slices, totals_of(layer, moved))
    return LoopPlan(
        order, mode, band.tile, loops.apart, loops.chunk, loops.slice, loops.inner, 1, loops.kept,
        needs.activation + layer.epilogue.room, needs.weights, totals,
    )  # fmt: skip
