from simulator.integers cimport ceil_div, floor_div, i64
from simulator.model.subgraph.regions cimport Tiling
from simulator.model.subgraph.subgraph cimport COLUMNS, ROWS, Subgraph


cdef struct Updates:  # by value
    i64 first
    i64 step
    i64 extent
    i64 times


# compiled: updates_of
cdef void fill_updates(Subgraph* subgraph, Tiling* tiling, int axis, bint is_full, Updates* updates) noexcept nogil
cdef bint are_at_once(Tiling* tiling, int axis) noexcept nogil
cdef bint starts_full(Subgraph* subgraph, Tiling* tiling, int axis) noexcept nogil
