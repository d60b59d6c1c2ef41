from simulator.integers cimport floor_div, i64
from simulator.model.schemes.bands cimport Band, Bands
from simulator.model.subgraph.regions cimport Tiling
from simulator.model.subgraph.subgraph cimport COLUMNS, Subgraph
from simulator.model.subgraph.updates cimport Updates


cdef struct Sweep:  # by value
    Band band
    Updates updates


cdef struct ColumnsMet:  # by value
    i64 columns
    i64 crossing


# compiled: sweep_of, takes_all, columns_met
