from simulator.integers cimport ceil_div, i64, row_bytes
from simulator.model.chains.chain cimport Chain
from simulator.model.chains.rows cimport ChainBand, ChainRows
from simulator.model.layer.loop_layer cimport LoopLayer
from simulator.model.layer.orders cimport LoopPlan, Loops, LoopTotals, Moved


cdef struct Needs:
    i64 activation
    i64 weights
    i64 passing
    i64 reads
    i64 cuts


cdef Needs order_needs(i64 order, i64 mode, LoopLayer* layer, ChainBand* band, Loops loops) noexcept nogil
cdef ChainRows* rows_in(ChainBand* band, i64 order) noexcept nogil
cdef Needs middle_in_tiles(LoopLayer* layer, ChainBand* band, Loops loops) noexcept nogil
cdef Needs layers_in_tiles(LoopLayer* layer, ChainBand* band, Loops loops) noexcept nogil
cdef Needs slices_in_tiles(LoopLayer* layer, ChainBand* band, Loops loops) noexcept nogil
cdef Needs tiles_in_middle(LoopLayer* layer, i64 mode, ChainBand* band, Loops loops) noexcept nogil
cdef i64 once_bytes(LoopLayer* layer) noexcept nogil
cdef i64 x_bytes(LoopLayer* layer, ChainRows* rows) noexcept nogil
cdef i64 slice_bytes(LoopLayer* layer, ChainRows* rows, Loops loops) noexcept nogil
cdef i64 middle_bytes(LoopLayer* layer, ChainRows* rows, i64 chunk, i64 cuts) noexcept nogil
cdef i64 sum_row_bytes(LoopLayer* layer, i64 outputs) noexcept nogil
cdef i64 result_row_bytes(LoopLayer* layer, i64 outputs) noexcept nogil
cdef i64 opener_weights(Chain* chain, i64 inputs, i64 channels) noexcept nogil
cdef i64 chain_weights(Chain* chain, i64 channels) noexcept nogil
cdef i64 slot_bytes(Chain* chain, i64 inputs, i64 chunk, Loops loops) noexcept nogil
cdef i64 piece_count(i64 length, i64 step, i64 piece) noexcept nogil
cdef Moved chain_moved(
    LoopLayer* layer, ChainBand* band, ChainRows* rows, Loops loops, i64 passing, i64 reads, i64 cuts
) noexcept nogil
cdef LoopTotals made_again(LoopLayer* layer, ChainRows* rows, i64 slices, LoopTotals totals) noexcept nogil
cdef i64 tiles_weights(Chain* chain, ChainBand* band, ChainRows* rows, i64 slices, i64 channels) noexcept nogil
cdef LoopPlan chain_plan(
    i64 order, i64 mode, LoopLayer* layer, ChainBand* band, Loops loops, Needs needs
) noexcept nogil
