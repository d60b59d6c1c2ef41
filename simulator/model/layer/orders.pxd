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


cdef struct LoopTotals:  # by value
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


cdef struct LoopPlan:  # by value
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


cdef struct Moved:  # by value
    i64 weight_reads
    i64 input_reads
    i64 traffic
    i64 weight_traffic
    i64 copied
    i64 rescalings


cdef struct Loops:  # by value
    i64 apart
    i64 chunk
    i64 slice
    i64 inner
    i64 at_once
    i64 kept


# compiled: dense_plan, tiles_chunks, chunks_tiles, whole_chunks, chunks_whole, tiles_partly, chunks_partly,
# tiles_slices, block_slices, chunks_of, rounds_of, has_positions, weight_updates, input_bytes, held_sums, sum_traffic,
# held_plan, plan_of, totals_of
