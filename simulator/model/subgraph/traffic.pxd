from simulator.integers cimport ceil_div, floor_div, i64
from simulator.model.subgraph.regions cimport Tiling
from simulator.model.subgraph.subgraph cimport COLUMNS, ROWS, Geometry, Subgraph
from simulator.model.subgraph.updates cimport Updates


cdef struct Window:
    i64 reach
    i64 stride
    i64 padding
    i64 upsample


cdef i64 windows_met(Geometry* geometry, i64 layer, i64 producer, Updates rows, Updates columns) noexcept nogil
cdef i64 window_elements(Geometry* geometry, int axis, i64 layer, i64 producer, Updates updates) noexcept nogil
cdef i64 window_sum(Window window, i64 floor, i64 source, i64 start, Updates updates) noexcept nogil
cdef i64 clip(i64 element, i64 floor, i64 source) noexcept nogil
cdef i64 window_start(Window window, i64 output) noexcept nogil
cdef i64 window_end(Window window, i64 outputs) noexcept nogil
cdef i64 rows_again(
    Subgraph* subgraph, Tiling* tiling, i64 tensor, i64 room, i64 kept, bint is_full
) noexcept nogil
cdef i64 taken_again(
    Subgraph* subgraph, Tiling* tiling, i64 tensor, i64 room, i64 kept, i64 operation
) noexcept nogil
cdef i64 rows_before(Subgraph* subgraph, Tiling* tiling, i64 tensor, i64 operation) noexcept nogil
cdef Window window_of_layer(Geometry* geometry, int axis, i64 layer) noexcept nogil
cdef Window mirror(Window window) noexcept nogil
