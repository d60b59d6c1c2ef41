# The price model in machine integers: what its unit gives to the others, and what it works on.

from simulator.integers cimport FITS, OVERFLOW, SHORT, ceil_div, floor_div, i64, imax, imin, row_bytes, u64
from simulator.model.layer.loop_layer cimport MOST_SECOND, LoopLayer
from simulator.model.schemes.bands cimport Bands
from simulator.model.subgraph.regions cimport Region, Tiling
from simulator.model.subgraph.subgraph cimport Geometry, Nest, Reader, Subgraph
from simulator.model.subgraph.tiling cimport AxisRates, Steps, Tile
from simulator.model.subgraph.updates cimport Updates

ctypedef Geometry Net

cdef enum:  # what the cores share (simulator.model.schemes.ways); the first also of one core
    BY_CHANNELS = 0
    BY_COLUMNS = 1
    BY_SAMPLES = 2


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
    i64 handed          # bytes of a result that takes the place of an operand, unless all regions are held
    i64 at[2]           # positions of the buffers among the candidates


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
    i64 rate[2]         # DRAM bytes of all cores, in so many cycles
    i64 ports[2]        # of all cores to each buffer: simulator.technology.Ports
    double per_cycle
    i64 port            # slots, and the bytes that cross in them: simulator.technology.Technology.crossing
    i64 crossbar_port
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
    i64 idle_macs       # of all cores, where they take energy when idle
    double idle         # pJ


cdef enum:
    ROW_NUMBERS = 10


cdef struct Row:  # what a subgraph adds to the totals, in the order of simulator.model.cost.Totals
    i64 ema
    i64 global_buffer
    i64 weight_buffer
    i64 crossbar
    i64 operations
    i64 slots
    i64 global_written
    i64 weight_written
    i64 operation_extra
    i64 idle


cdef extern from *:
    """
    #define GAMMA 0x9E3779B97F4A7C15ULL
    """
    u64 GAMMA


cdef struct Print:  # of layers that are priced in some memory: 128 bits that none share by chance
    u64 first
    u64 second


cdef struct Entry:  # a price that is kept, and the answer; two lines of a cache
    Print key
    i64 status          # 1 + what price says; 0: not known
    Row row
    i64 spare[3]


cdef struct Memo:  # subgraphs return again and again; never changes a result
    Entry* entries
    u64 last            # of them; their number is a power of two
    Print* layer        # by layer; a set has the sum of its layers


cdef struct Work:  # scratch space of one thread; arrays by tensor id
    Net* net            # of the subgraph that was collected last
    Machine* machine
    i64 stamp
    i64* seen           # stamp of the last subgraph that a layer was in, below 0 where it was an input
    Subgraph subgraph
    Reader* readers     # of all its tensors
    AxisRates rates[2]
    AxisRates* across       # those of columns
    Steps steps
    Tile* tiles[2]
    i64 columns         # of the tile whose columns are in tiles[1]; 0: none yet
    Tiling tiling
    i64* cell_bytes     # of a position, in a core, of one group of channels
    Region* regions
    Updates* updates[2]
    i64 way             # in which cores share it
    i64 groups          # of channels, one after the other: simulator.model.subgraph.apart
    i64 is_held         # all weights by every core, where it matters
    Bands bands         # where columns are shared
    i64 weights
    i64 inputs
    i64 outputs
    i64 arriving        # bytes of inputs that are loaded to be kept
    Memo nests          # prices of nests, by what costs the same: simulator.model.equivalence


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
    i64* inputs         # tensors that it reads, each once
    i64 input_count
    i64 made            # and that it makes
    i64 other_count     # what layers that follow read besides: a tensor, its bytes, then those held of it or of a word
    i64 (*others)[4]
    i64 leaving_count
    i64* leaving        # tensors in between that are read elsewhere


cdef inline u64 mix(u64 value) noexcept nogil:
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL
    return value ^ (value >> 31)


cdef inline Print print_of_memory(Memory* memory) noexcept nogil:
    cdef Print found
    found.first = mix(mix(<u64>memory.activations + GAMMA) + <u64>memory.weights)
    if memory.reserved or memory.handed:
        found.first = mix(mix(found.first + <u64>memory.reserved) + <u64>memory.handed)
    found.second = mix(found.first + GAMMA)
    return found


cdef inline Entry* entry_of(Memo* memo, Print key) noexcept nogil:
    """The entry of a print; its status is 0 where it is new, and takes the place of another."""
    cdef Entry* entry = &memo.entries[key.first & memo.last]
    if entry.key.first != key.first or entry.key.second != key.second:
        entry.key, entry.status = key, 0
    return entry


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


cdef int price(Net* net, Machine* m, Work* w, const i64* layers, i64 count, Memory* memory, Row* row) noexcept nogil
cdef int price_beside(
    Net* net, Machine* m, Work* w, const i64* layers, i64 count, Memory* memory, Kept* kept, KeptLayer* also, i64* spare,
    Row* row
) noexcept nogil
cdef Nest* nest_of(Net* net, const i64* layers, i64 count) noexcept nogil


cdef i64 pairs_of(Net* net, const i64* layers, i64 count, i64** pairs) noexcept nogil


cdef i64 handed_bytes(
    Net* net, const i64* whole, const i64* layers, i64 count, const u64* on_chip, const u64* loaded, const u64* last
) noexcept nogil
cdef bint in_nest(Net* net, Machine* m, const i64* layers, i64 count, Memory* memory) noexcept nogil
cdef void collect(Net* net, Machine* m, Work* w, const i64* layers, i64 count) noexcept nogil
cdef int spread_all_rates(Work* w) noexcept nogil
cdef int derive_tiling(Work* w, i64 rows, i64 columns) noexcept nogil
cdef void deal_out(Work* w, i64 way, i64 groups) noexcept nogil
cdef i64 allocate_regions(Work* w) noexcept nogil
cdef i64 dealt_weights(Work* w) noexcept nogil


cdef class LoopLayers:
    cdef LoopLayer* layers
    cdef object kept    # arrays behind the pointers, by layer
    cdef i64* _hold(self, array) except NULL
    cdef _fill(self, LoopLayer* into, layer, tiles)
    cdef _fill_chain(self, LoopLayer* into, chain)
