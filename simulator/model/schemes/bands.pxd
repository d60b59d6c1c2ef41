from simulator.integers cimport FAR, FITS, OVERFLOW, ceil_div, i64, product
from simulator.model.subgraph.subgraph cimport COLUMNS, Subgraph
from simulator.model.subgraph.tiling cimport AxisRates


cdef struct Band:
    i64 border
    i64 late
    i64 stop
    i64 is_mirrored


cdef struct Bands:
    i64* unit
    i64* most


cdef Band band_of(Bands* bands, i64 tensor, i64 core, i64 width) noexcept nogil
cdef int lay_bands(Subgraph* subgraph, AxisRates* rates, i64 cores, Bands* bands) noexcept nogil
cdef bint has_border(Subgraph* subgraph, Bands* bands) noexcept nogil
