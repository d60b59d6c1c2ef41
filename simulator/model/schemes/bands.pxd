from simulator.integers cimport FAR, FITS, OVERFLOW, ceil_div, i64, product
from simulator.model.subgraph.subgraph cimport COLUMNS, Subgraph
from simulator.model.subgraph.tiling cimport AxisRates


cdef struct Band:  # by value
    i64 border
    i64 late
    i64 stop
    i64 is_mirrored


cdef struct Bands:
    i64* unit
    i64* most


# compiled: band_of
cdef int fill_bands(Subgraph* subgraph, AxisRates* rates, i64 cores, Bands* bands) noexcept nogil
# compiled: has_border
