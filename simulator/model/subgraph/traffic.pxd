from simulator.integers cimport ceil_div, floor_div, i64
from simulator.model.subgraph.regions cimport Tiling
from simulator.model.subgraph.subgraph cimport COLUMNS, ROWS, Geometry, Subgraph
from simulator.model.subgraph.updates cimport Updates


cdef struct Window:  # by value
    i64 reach
    i64 stride
    i64 padding
    i64 upsample


# compiled: windows_met
cdef i64 window_elements(Geometry* geometry, int axis, i64 layer, i64 producer, Updates updates) noexcept nogil
# compiled: window_sum, clip, window_start, window_end, rows_again, taken_again, rows_before
cdef Window window_of_layer(Geometry* geometry, int axis, i64 layer) noexcept nogil
# compiled: mirror
