from simulator.integers cimport ceil_div, i64, row_bytes
from simulator.model.layer.loop_layer cimport Grid, LoopLayer
from simulator.model.layer.orders cimport LoopPlan, Loops, Moved

cdef LoopPlan tiles_blocks(LoopLayer* layer, Grid* grid, i64 block) noexcept nogil
cdef i64 keys_bytes(LoopLayer* layer, i64 count) noexcept nogil
cdef i64 position_bytes(LoopLayer* layer, bint has_sums) noexcept nogil
