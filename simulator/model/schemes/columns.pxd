from simulator.integers cimport floor_div, i64
from simulator.model.schemes.bands cimport Band, Bands
from simulator.model.subgraph.regions cimport Tiling
from simulator.model.subgraph.subgraph cimport COLUMNS, Subgraph
from simulator.model.subgraph.updates cimport Updates


cdef struct Sweep:
    Band band
    Updates updates


cdef struct ColumnsMet:
    i64 columns
    i64 crossing


cdef Sweep sweep_of(
    Subgraph* subgraph, Tiling* tiling, Bands* bands, i64 v, i64 core, bint is_full
) noexcept nogil
cdef bint takes_all(Subgraph* subgraph, Tiling* tiling, Bands* bands) noexcept nogil
cdef ColumnsMet columns_met(Subgraph* subgraph, Bands* bands, i64 v, i64 u, i64 core, Sweep sweep) noexcept nogil
