from simulator.integers cimport i64


cdef struct ChainRows:
    i64 x_most
    i64 x_tile
    i64 x_read
    i64 e_most
    i64 e_made
    i64 e_read
    i64 e_tiles
    i64 d_most
    i64 d_made
    i64 d_read
    i64 d_tiles


cdef struct ChainBand:
    i64 tile[2]
    i64 rows
    i64 tiles
    ChainRows* anew
    ChainRows* ring
