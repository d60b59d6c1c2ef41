from simulator.integers cimport FITS, LIMIT, OVERFLOW, i64, product
from simulator.model.subgraph.subgraph cimport COLUMNS, ROWS, Shape, Subgraph, is_kept, shape
from simulator.model.subgraph.tiling cimport Tile


cdef struct Region:
    Shape main
    Shape side
    i64 main_bytes
    i64 side_bytes


cdef struct Tiling:
    Tile* rows
    Tile* columns
    i64 is_exact
    i64* merged
    i64* held
    i64 rows_run_alone
    i64 is_one_operation


cdef int join_axes(Subgraph* subgraph, i64* widths, Tiling* tiling) noexcept nogil
cdef i64 fill_regions(
    Subgraph* subgraph, Tiling* tiling, i64* widths, i64* cell_bytes, i64 samples, Region* regions
) noexcept nogil
