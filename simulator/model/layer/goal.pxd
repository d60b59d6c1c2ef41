from simulator.integers cimport ceil_div, i64
from simulator.model.layer.loop_layer cimport Grid, LoopLayer, Mode
from simulator.model.layer.orders cimport LoopPlan, LoopTotals, Moved

cdef enum:  # simulator.technology
    OPERATION_UNITS = 64

cdef enum:
    SHARED = -0x7fffffffffffffff
    SAME = -1
    ANY_NUMBER = 0x10000000000

cdef enum:  # simulator.metrics.METRIC_NAMES, in its order
    EMA
    ENERGY
    LATENCY


cdef struct Room:  # by value
    i64 activation
    i64 weights


cdef struct LoopGoal:
    i64 metric
    double dram
    double activation
    double weights
    double activation_write
    double weights_write
    double static "static_pj"
    i64 cycles
    double crossbar
    i64 widths[2]
    double operation
    double idle
    i64 macs
    i64 operations
    i64 rate[2]
    i64 ports[2]


cdef struct Best:
    i64 found
    i64 slots
    i64 ema
    double energy
    i64 area
    LoopPlan plan


cdef struct Place:
    LoopLayer* layer
    Room room
    LoopGoal* goal
    Best* best
    i64 grid_count
    Grid** grids
    Grid* grid
    i64 at_once


# compiled: without, most, holds
cdef i64 ema_of(LoopTotals moving) noexcept nogil
cdef i64 computing_cycles(i64 cycles, i64 activations, i64 weights, i64* ports) noexcept nogil
cdef i64 least_cycles(LoopGoal* goal, LoopTotals moving) noexcept nogil
cdef i64 least_slots(LoopGoal* goal, LoopTotals moving) noexcept nogil
# compiled: idle_cycles
cdef i64 least_idle(LoopGoal* goal, LoopTotals moving) noexcept nogil
cdef double energy_of(LoopGoal* goal, LoopTotals moving, i64 slots, i64 idle) noexcept nogil
cdef double buffer_energy(double read, double write, i64 moved, i64 written) noexcept nogil
# compiled: offer
cdef i64 compare(LoopGoal* goal, Best* best, i64 slots, i64 ema, double energy, i64 area) noexcept nogil
# compiled: may_win
