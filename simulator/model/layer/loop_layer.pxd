# A layer as its loops see it. What LoopLayer derives as a property is a field here, filled in once.

from simulator.integers cimport ceil_div, i64, row_bytes
from simulator.model.chains.chain cimport Chain

cdef enum:  # KINDS, in its order
    DENSE
    TRANSPOSED
    PRODUCT
    APART
    JOIN
    MIXED
    COPY
    NORM
    ATTENTION
    HEADS
    CHAIN

cdef enum:
    MOST_SECOND = 4     # inputs held as weights are: workloads.network.layers.attention.MOST_INPUTS without the queries

cdef enum:  # what comes once for all cores: Shared, in its order
    NOTHING_SHARED
    INPUTS_SHARED
    WEIGHTS_SHARED
    ALL_SHARED


cdef struct Met:
    i64 tiles
    i64 visits
    i64 most
    i64 union "united"  # a word of C
    i64 ring
    i64 live


cdef enum:  # axes.Mode: MODES of cocco/search/kernel/model/loop_layers.pxi
    RING
    WHOLE_ROWS
    SIDE
    SLIDE
    BLOCK
    BLOCK_ROW
    WHOLE
    ROW
    WORD


cdef struct Mode:
    i64 name
    i64 held
    i64 reads
    i64 side


cdef struct Grid:
    i64 tile[2]
    Met rows
    Met columns
    i64 tiles
    i64 windows
    i64 union "united"
    i64 area
    i64 mode_count
    Mode* modes[3]
    i64 block_count
    Mode* blocks[2]
    Mode* whole
    Mode room[6]        # where they are


cdef struct LoopAxis:   # of Axis, what the text reads
    i64 windows
    i64 taps


cdef struct Part:
    i64 room
    i64 outputs
    i64 reduction
    i64 unit_count
    i64 (*units)[2]


cdef struct Stays:
    i64 second_count
    i64 second_rows[MOST_SECOND][2]
    i64 output
    i64 is_written
    i64 arriving_bytes


cdef struct Team:
    i64 cores
    i64 alike
    i64 shared
    i64 other_count
    LoopLayer** others


cdef struct Map:  # by value
    i64 rows
    i64 columns
    i64 channels
    i64 bits


cdef struct LoopBits:
    i64 weights
    i64 output
    i64 sum_bytes
    i64 used
    i64 active


cdef struct Sight:
    i64 is_masked
    i64 behind
    i64 ahead
    i64 chunk
    i64 together


cdef struct Operand:
    i64 width
    i64 bits
    i64 source


cdef struct Heads:      # simulator.model.nests.by_heads
    Operand operands[3]
    i64 rows[3]
    i64 groups
    i64 sharing


cdef struct Epilogue:
    i64 room
    i64 loaded
    i64 left
    i64 traffic
    i64 written
    i64 bits
    i64 by_position
    i64 in_order


cdef struct LoopLayer:
    i64 is_large        # 64 bits may not hold what a plan moves; then nothing else is filled in
    i64 kind
    LoopAxis rows
    LoopAxis columns
    i64 producer_count
    i64* producers
    i64* producer_bits
    i64* passing
    Part part
    i64 outputs
    i64 weights
    i64 whole_count
    Map* whole
    i64 unmet_bytes
    i64 batch
    i64 repeat
    i64 word
    i64 at_most
    Stays stays
    LoopBits bits
    Team team
    i64 keys
    Sight sight
    Heads heads
    Epilogue epilogue
    i64 result_bits
    Chain* chain        # of a chain
    i64 state
    i64 cut
    i64 apiece
    i64 loaded
    i64 most_bits
    i64 broadcast_count
    Map* broadcast
    i64 window_bytes
    i64 output_bytes
    i64 output_elements
    i64 has_second
    i64 coming
    i64 is_product
    i64 operand_bytes
    i64 operands_loaded
    i64 often
    i64 words
    Met row
    Grid* row_grid
    Grid* map_grid
    i64 flying
    i64 additions
    i64 grid_count
    Grid** grids        # of the tiles tried: cheapest.tiles_of


# compiled: round_up, results_of, results_at_once, inputs_of, stationary_bytes, coming_after
