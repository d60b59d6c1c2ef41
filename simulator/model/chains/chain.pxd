# What Chain derives as a property is a field here, filled in once, in the order of NUMBERS of loop_layers.pxi.

from simulator.integers cimport i64
from simulator.model.chains.rows cimport ChainBand


cdef struct Chain:
    i64 x_rows
    i64 e_rows
    i64 d_rows
    i64 has_middle
    i64 band_count
    i64 openers
    i64 inputs
    i64 middle
    i64 outputs
    i64 x_width
    i64 e_width
    i64 d_width
    i64 opener_taps
    i64 middle_taps
    i64 closer_taps
    i64 x_bits
    i64 first_bits
    i64 e_bits
    i64 d_bits
    i64 opener_bits
    i64 second_bits
    i64 middle_bits
    i64 closer_bits
    i64 opener_sums
    i64 adds_x
    i64 e_operations
    i64 d_operations
    i64 e_extra
    i64 d_extra
    i64 e_cycles[3]
    i64 d_cycles
    ChainBand** bands
