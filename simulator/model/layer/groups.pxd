from simulator.integers cimport ceil_div, i64, row_bytes
from simulator.model.layer.loop_layer cimport Grid, LoopLayer, Map, Mode
from simulator.model.layer.orders cimport LoopPlan, Loops, Moved

cdef LoopPlan channels_tiles(LoopLayer* layer, Grid* grid, Mode* mode, i64 step, i64 at_once) noexcept nogil
cdef i64 apart_bytes(LoopLayer* layer, Grid* grid, Mode* mode, i64 step) noexcept nogil
cdef i64 apart_weights(LoopLayer* layer, i64 step) noexcept nogil
cdef LoopPlan joined(LoopLayer* layer, Grid* grid, i64 order, i64 step) noexcept nogil
cdef i64 joined_bytes(LoopLayer* layer, Grid* grid, i64 order, i64 step) noexcept nogil
cdef i64 joined_traffic(LoopLayer* layer, Grid* grid, i64 steps) noexcept nogil
cdef LoopPlan two_passes(LoopLayer* layer, Grid* grid, i64 kept) noexcept nogil
cdef LoopPlan running_sums(LoopLayer* layer) noexcept nogil
cdef LoopPlan copy(LoopLayer* layer) noexcept nogil
cdef Loops equal_loops(i64 step, i64 at_once, i64 kept) noexcept nogil
cdef i64 broadcast_bytes(LoopLayer* layer) noexcept nogil
cdef i64 map_bytes(Map each) noexcept nogil
