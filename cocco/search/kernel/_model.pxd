# The price model in machine integers: what its unit gives to the others, and what it works on.

from simulator.integers cimport ceil_div, floor_div, i64, imax, imin, row_bytes, u64
from simulator.model.layer.loop_layer cimport MOST_SECOND, LoopLayer

cdef enum:
    FITS = 0
    SHORT = 1
    OVERFLOW = 2


cdef enum:  # what the cores share (simulator.model.schemes.ways); the first also of one core
    CHANNELS = 0
    COLUMNS = 1
    SAMPLES = 2


cdef struct Net:  # shapes and windows by tensor id (layers first, then model inputs), as simulator.model.subgraph.subgraph.Geometry
    i64 count           # layers
    i64 tensors
    i64* extent[2]      # rows, columns, by tensor
    i64* channels       # by tensor
    i64* bits           # of an element
    i64* row_bytes      # of a position
    i64* size_bytes     # by tensor
    i64* weight_bytes   # by layer, as everything below
    i64* operations
    i64* operation_extra  # what they take beyond INT8, in units
    i64* alone          # whether it runs in no subgraph of several: simulator.model.holding.Holding
    i64* unit           # by layer: simulator.model.subgraph.apart.units_of, where machine.is_apart
    i64* apart          # by layer: groups, and the cycles of all of them one after the other (simulator.model.subgraph.apart)
    i64* apart_start
    i64* is_output      # by layer: simulator.model.subgraph.subgraph.Subgraph.outputs, whoever reads it
    i64* cycles         # on one core, or of the one that has the most channels
    i64* lane_cycles    # by layer and m.lanes, each time they are filled along the columns
    i64* dealt_weights  # bytes of the core that has the most channels
    i64* reach[2]
    i64* stride[2]
    i64* upsample[2]
    i64* padding[2]
    i64* is_square      # by tensor: whether its rows are as its columns, and its windows
    i64* producers      # tensor ids, each once, in operand order
    i64* producer_start
    i64* readers        # by tensor: layer, local, whole
    i64* reader_start
    i64* heard          # by reader: simulator.model.schemes.dealing.Heard.total, and without its own
    i64* passed
    LoopLayer* loops    # by layer, of several cores each in its ways: from loop_start[v] to loop_start[v + 1]
    i64* loop_start
    i64* loop_cycles    # by entry of `loops`, of the core that has most
    i64* whole          # by tensor: bytes while it is kept (this and the next: where tensors may be kept)
    i64* moved          # bytes of one crossing of DRAM, all samples


cdef struct ByteCost:  # pJ per byte of a buffer: simulator.memory.table.SramRow
    double read
    double write


cdef struct Memory:  # the buffers that a subgraph is priced in
    i64 activations     # bytes of one core
    i64 weights
    ByteCost activation_pj   # per byte
    ByteCost weight_pj
    double static_pj      # per slot
    i64 reserved        # bytes of the activations that kept tensors take: simulator.model.kept.Reserved
    i64 elsewhere       # how many of them the subgraph does not touch


cdef struct Machine:  # what PricingRules holds
    i64 is_shared
    i64 is_exact
    i64 cores
    i64 batch
    i64 samples         # of one core where samples are shared
    i64 is_apart        # whether subgraphs may run in groups of channels
    i64 teams           # of cores, with samples of their own
    i64 bands           # cores of a team
    i64 max_regions     # 0: no limit
    i64 bandwidth       # DRAM bytes per cycle of all cores
    i64 port            # and of one
    i64 crossbar_port   # bytes per cycle of the crossbar, by the rule of Price.slots
    i64 alignment       # channels of a layout word (this and the next: simulator.technology.Technology)
    i64 lane_count      # different numbers of lanes along the columns
    i64* lanes
    i64 tile_count
    i64* tiles          # output tiles tried, from the largest
    i64 has_loops       # whether single layers always run in loop orders
    i64 metric          # that is to be least: 0 ema, 1 energy, 2 latency
    double dram         # pJ per byte
    double crossbar
    double operation    # pJ


cdef struct Row:  # what a subgraph adds to the totals (simulator.model.cost.Totals)
    i64 ema
    i64 global_buffer
    i64 weight_buffer
    i64 crossbar
    i64 operations
    i64 slots
    i64 global_written
    i64 weight_written
    i64 operation_extra


cdef struct Axis:  # tiles of one axis by local tensor
    i64* step
    i64* size
    i64* lead
    i64* updates
    i64* ends           # of layers: where the first update ends, and how many there are
    i64* count


cdef struct Work:  # scratch space of one thread
    i64 room            # local tensors that fit
    i64 stamp
    i64* seen           # by tensor: stamp of the subgraph it is in
    i64* local          # by tensor: its local number
    i64 layers          # of the subgraph
    i64 tensors
    i64* ids            # local -> tensor id
    i64* first          # local -> position of its readers
    i64* reader         # local number of the reader
    i64* is_local
    i64* is_whole
    i64* heard
    i64* passed
    i64* any_whole      # by local tensor
    i64* component[2]
    i64* rate[2]
    i64* numerator
    i64* denominator
    i64* stack
    i64* length         # by component
    Axis axis[2]
    i64* merged
    i64* held
    i64* main_rows
    i64* main_columns
    i64* side_rows
    i64* side_columns
    i64* main_bytes
    i64* side_bytes
    i64 way             # in which cores share it
    i64 groups          # of channels, one after the other: simulator.model.subgraph.apart
    i64 is_held         # all weights by every core, where it matters
    i64* unit           # where columns are shared: those between two borders, and the most that a core has
    i64* most
    i64 has_whole
    i64 is_square       # whether rows advance as columns do in square tiles
    i64 columns         # of the tile whose columns are in axis[1]; 0: none yet
    i64 alone           # all tensors are held over their full width
    i64 one_operation   # and from top to bottom
    i64 weights
    i64 inputs
    i64 outputs
    i64* on_chip        # by local tensor: whether it is kept whole; all 0 where any_kept is
    i64 any_kept
    i64 arriving        # bytes of inputs that are loaded to be kept


cdef struct Kept:  # simulator.model.kept.Kept: sets of tensor ids, rows of 64-bit words
    const u64* on_chip
    const u64* loaded
    const u64* written


cdef struct KeptLayer:  # which tensors a layer's inputs are, and what is needed to count again what comes from DRAM
    i64* producers      # tensor of each of LoopLayer.producers
    i64* is_new         # whether it is none of those before
    i64* places         # LoopLayer.operands
    i64 place_count
    i64* whole          # tensor of each of LoopLayer.whole
    i64 second_count    # inputs that are the second operand of a product
    i64 second[MOST_SECOND]
    i64 second_rows[MOST_SECOND]
    i64 holes           # positions of the input that no window meets
    i64 groups


cdef inline double buffer_pj(ByteCost* rates, i64 moved, i64 written) noexcept nogil:
    """simulator.memory.table.SramRow.energy_pj."""
    if rates.read == rates.write:
        return rates.read * <double>moved
    return rates.read * <double>(moved - written) + rates.write * <double>written


cdef inline i64 element_bytes(Net* net, Machine* m, i64 t, i64 groups, i64 cores) noexcept nogil:
    """simulator.model.subgraph.subgraph.Geometry.held_bytes: bytes of a position of a tensor, of a group, in one of the cores."""
    cdef i64 channels = net.channels[t] if groups == 1 else ceil_div(net.channels[t], groups)
    return row_bytes(ceil_div(channels, m.alignment * cores) * m.alignment, net.bits[t])


cdef inline bint has(const u64* members, i64 v) noexcept nogil:
    return (members[v >> 6] >> (v & 63)) & 1


cdef int price(
    Net* net, Machine* m, Work* w, const i64* layers, i64 count, Memory* memory, Row* row
) noexcept nogil
cdef int price_beside(
    Net* net, Machine* m, Work* w, const i64* layers, i64 count, Memory* memory, Kept* kept, LoopLayer* loops, Row* row
) noexcept nogil
cdef void collect(Net* net, Work* w, const i64* layers, i64 count) noexcept nogil
cdef int spread_all_rates(Net* net, Work* w) noexcept nogil
cdef int derive_tiling(Net* net, Machine* m, Work* w, i64 rows, i64 columns) noexcept nogil
cdef i64 allocate_regions(Net* net, Machine* m, Work* w) noexcept nogil
cdef i64 dealt_weights(Net* net, Machine* m, Work* w) noexcept nogil
cdef LoopLayer layer_beside(Net* net, KeptLayer* also, i64 v, Kept* kept, i64* spare) noexcept nogil


cdef class LoopLayers:
    cdef LoopLayer* layers
    cdef object kept    # arrays behind the pointers, by layer
    cdef i64* _hold(self, array) except NULL
    cdef _fill(self, LoopLayer* into, layer, tiles)
