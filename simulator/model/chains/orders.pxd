from simulator.integers cimport ceil_div, i64, row_bytes
from simulator.model.chains.chain cimport Chain
from simulator.model.chains.rows cimport ChainBand, ChainRows
from simulator.model.layer.loop_layer cimport LoopLayer
from simulator.model.layer.orders cimport LoopPlan, Loops, LoopTotals, Moved


cdef struct Needs:  # by value
    i64 activation
    i64 weights
    i64 passing
    i64 reads
    i64 cuts


# compiled: order_needs, rows_in, middle_in_tiles, layers_in_tiles, slices_in_tiles, tiles_in_middle, once_bytes,
# x_bytes, slice_bytes, middle_bytes, sum_row_bytes, result_row_bytes, opener_weights, chain_weights, slot_bytes,
# piece_count, chain_moved, made_again, tiles_weights, chain_plan
