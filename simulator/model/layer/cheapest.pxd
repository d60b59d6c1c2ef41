from simulator.integers cimport ceil_div, i64, row_bytes
from simulator.model.layer.goal cimport Place, Room
from simulator.model.layer.loop_layer cimport LoopLayer, Mode
from simulator.model.layer.orders cimport LoopPlan

cdef void find_cheapest(Place* at) noexcept nogil
cdef void _offer_fitting(Place* at, LoopPlan plan) noexcept nogil
cdef void _plans_of_tile(Place* at) noexcept nogil
cdef void _joined_plans(Place* at) noexcept nogil
cdef void _joined_plan(Place* at, i64 order, i64 step) noexcept nogil
cdef void _norm_plans(Place* at) noexcept nogil
cdef void _attention_plans(Place* at) noexcept nogil
cdef void _apart_plans(Place* at) noexcept nogil
