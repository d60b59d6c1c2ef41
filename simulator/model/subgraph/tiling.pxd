from simulator.integers cimport FAR, FITS, LIMIT, OVERFLOW, SHORT, ceil_div, gcd, i64, lcm, product
from simulator.model.subgraph.subgraph cimport Subgraph


cdef struct Tile:
    i64 step
    i64 size
    i64 lead
    i64 updates


cdef struct AxisRates:
    i64* component
    i64* rate


cdef struct Steps:
    i64* step
    i64* updates
    i64* length


cdef int fill_tiles(
    Subgraph* subgraph, int axis, i64 output_tile, bint is_exact, bint both_ways, AxisRates* rates, Steps* steps,
    Tile* tiles
) noexcept nogil
cdef int derive_steps(Subgraph* subgraph, int axis, i64 output_tile, Steps* steps) noexcept nogil
cdef int derive_rates(Subgraph* subgraph, int axis, AxisRates* rates) noexcept nogil
cdef int count_updates(Subgraph* subgraph, AxisRates* rates, Steps* steps) noexcept nogil
cdef i64 derive_lead(Subgraph* subgraph, int axis, i64 u, bint both_ways, Steps* steps, Tile* tiles) noexcept nogil
cdef i64 exact_size(
    Subgraph* subgraph, int axis, i64 u, i64 step, i64 lead, bint both_ways, Tile* tiles
) noexcept nogil
cdef i64 paper_size(Subgraph* subgraph, int axis, i64 u, i64 step) noexcept nogil
# compiled: mirrored
