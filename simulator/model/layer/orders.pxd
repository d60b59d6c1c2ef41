from simulator.integers cimport ceil_div, i64
from simulator.model.layer.loop_layer cimport BLOCK_ROW, Grid, LoopLayer, Mode

cdef enum:  # their names: ORDERS of cocco/search/kernel/model/loop_layers.pxi
    TK
    KT
    WK
    KS
    TP
    KP
    TKC
    BC
    CT
    TC
    RS
    COPIED
    TCC
    TB
    HP
    TM
    TW
    TS
    MT


cdef struct LoopTotals:
    i64 ema_weight_bytes
    i64 ema_input_bytes
    i64 ema_output_bytes
    i64 global_buffer_bytes
    i64 weight_buffer_bytes
    i64 global_written_bytes
    i64 weight_written_bytes
    i64 second_bytes
    i64 crossbar_bytes
    i64 rescalings
    i64 again_extra
    i64 again_cycles


cdef struct LoopPlan:
    i64 order
    i64 mode
    i64 tile[2]
    i64 apart
    i64 chunk
    i64 slice
    i64 inner
    i64 at_once
    i64 kept
    i64 activation_bytes
    i64 weight_bytes
    LoopTotals totals


cdef struct Moved:
    i64 weight_reads
    i64 input_reads
    i64 traffic
    i64 weight_traffic
    i64 copied
    i64 rescalings


cdef struct Loops:
    i64 apart
    i64 chunk
    i64 slice
    i64 inner
    i64 at_once
    i64 kept


cdef LoopPlan dense_plan(i64 order, LoopLayer* layer, Grid* grid, Mode* mode, Loops loops) noexcept nogil
cdef LoopPlan tiles_chunks(LoopLayer* layer, Grid* grid, Mode* mode, Loops loops) noexcept nogil
cdef LoopPlan chunks_tiles(LoopLayer* layer, Grid* grid, Mode* mode, Loops loops) noexcept nogil
cdef LoopPlan whole_chunks(LoopLayer* layer, Grid* grid, Mode* mode, Loops loops) noexcept nogil
cdef LoopPlan chunks_whole(LoopLayer* layer, Grid* grid, Mode* mode, Loops loops) noexcept nogil
cdef LoopPlan tiles_partly(LoopLayer* layer, Grid* grid, Mode* mode, Loops loops) noexcept nogil
cdef LoopPlan chunks_partly(LoopLayer* layer, Grid* grid, Mode* mode, Loops loops) noexcept nogil
cdef LoopPlan tiles_slices(LoopLayer* layer, Grid* grid, Mode* mode, Loops loops) noexcept nogil
cdef LoopPlan block_slices(LoopLayer* layer, Grid* grid, Mode* mode, Loops loops) noexcept nogil
cdef i64 chunks_of(LoopLayer* layer, Loops loops) noexcept nogil
cdef i64 rounds_of(LoopLayer* layer, i64 at_once) noexcept nogil
cdef bint has_positions(LoopLayer* layer, i64 order, i64 chunk) noexcept nogil
cdef i64 weight_updates(LoopLayer* layer, Grid* grid, i64 at_once) noexcept nogil
cdef i64 input_bytes(LoopLayer* layer, Mode* mode, Loops loops) noexcept nogil
cdef i64 held_sums(LoopLayer* layer, Grid* grid, Loops loops) noexcept nogil
cdef i64 sum_traffic(LoopLayer* layer, i64 cuts) noexcept nogil
cdef LoopPlan held_plan(
    LoopLayer* layer, i64 order, Mode* mode, Grid* grid, Loops loops, i64 activation, i64 weights, Moved moved
) noexcept nogil
cdef LoopPlan plan_of(
    LoopLayer* layer, i64 order, i64 mode, Grid* grid, Loops loops, i64 activation, i64 weights, Moved moved
) noexcept nogil
cdef LoopTotals totals_of(LoopLayer* layer, Moved moved) noexcept nogil
