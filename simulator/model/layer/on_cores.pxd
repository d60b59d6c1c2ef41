from simulator.integers cimport ceil_div, i64
from simulator.model.layer.loop_layer cimport Grid, LoopLayer, Mode
from simulator.model.layer.orders cimport LoopPlan, Loops, LoopTotals

cdef LoopPlan together(LoopLayer* layer, Grid* grid, Mode* mode, LoopPlan plan) noexcept nogil
cdef LoopTotals added(LoopTotals one, LoopTotals other, i64 times) noexcept nogil
cdef LoopTotals shared(LoopLayer* layer, LoopTotals first, LoopTotals every) noexcept nogil
cdef LoopPlan again(LoopLayer* layer, Grid* grid, Mode* mode, LoopPlan plan) noexcept nogil
