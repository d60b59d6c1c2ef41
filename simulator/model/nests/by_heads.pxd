from simulator.integers cimport ceil_div, i64, row_bytes
from simulator.model.layer.goal cimport Place
from simulator.model.layer.loop_layer cimport RING, WHOLE, Grid, LoopLayer
from simulator.model.layer.orders cimport HP, LoopPlan, Loops, LoopTotals

cdef LoopPlan heads_plan(LoopLayer* layer, Grid* grid, i64 mode, Loops loops) noexcept nogil
cdef i64 weights_of(LoopLayer* layer, i64 operand, i64 inner) noexcept nogil
cdef i64 heads_at_once(LoopLayer* layer, i64 mode, Loops loops, i64 operand) noexcept nogil
cdef i64 heads_held(LoopLayer* layer, Grid* grid, i64 mode, Loops loops) noexcept nogil
cdef i64 heads_weights(LoopLayer* layer, i64 mode, Loops loops) noexcept nogil
cdef void heads_plans(Place* at) noexcept nogil
cdef bint heads_offered(Place* at, i64 mode, Loops loops) noexcept nogil
