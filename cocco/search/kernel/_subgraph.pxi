# The network in machine integers, and one subgraph of it: simulator/model/subgraph/subgraph.py

cdef extern from *:
    """
    static int mul_overflows(long long a, long long b, long long *r) { return __builtin_mul_overflow(a, b, r); }
    """
    int mul_overflows(long long a, long long b, long long* r) noexcept nogil

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


cdef inline double buffer_pj(ByteCost* rates, i64 moved, i64 written) noexcept nogil:
    """simulator.memory.table.SramRow.energy_pj."""
    if rates.read == rates.write:
        return rates.read * <double>moved
    return rates.read * <double>(moved - written) + rates.write * <double>written


cdef inline i64 ceil_div(i64 a, i64 b) noexcept nogil:
    """For b > 0; C's division cuts towards zero, which is up where a < 0."""
    return (a + b - 1) // b if a > 0 else a // b


cdef inline i64 floor_div(i64 a, i64 b) noexcept nogil:
    return -ceil_div(-a, b)


cdef inline i64 row_bytes(i64 channels, i64 bits) noexcept nogil:
    """workloads.network.layers.types.row_bytes"""
    return channels if bits == 8 else ceil_div(channels * bits, 8)


cdef inline i64 gcd(i64 a, i64 b) noexcept nogil:
    cdef i64 t
    if a == 1 or b == 1:
        return 1
    while b:
        t = a % b
        a = b
        b = t
    return a


cdef inline i64 element_bytes(Net* net, Machine* m, i64 t, i64 groups, i64 cores) noexcept nogil:
    """simulator.model.subgraph.subgraph.Geometry.held_bytes: bytes of a position of a tensor, of a group, in one of the cores."""
    cdef i64 channels = net.channels[t] if groups == 1 else ceil_div(net.channels[t], groups)
    return row_bytes(ceil_div(channels, m.alignment * cores) * m.alignment, net.bits[t])


cdef inline i64 lcm(i64 a, i64 b, int* overflow) noexcept nogil:
    cdef long long r
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if mul_overflows(a // gcd(a, b), b, &r) or r > (<i64>1 << 40):
        overflow[0] = 1
        return 1
    return r


cdef inline i64 imin(i64 a, i64 b) noexcept nogil:
    return a if a < b else b


cdef inline i64 imax(i64 a, i64 b) noexcept nogil:
    return a if a > b else b


cdef void collect(Net* net, Work* w, const i64* layers, i64 count) noexcept nogil:
    """The subgraph of these layers (ascending): in(S), out(S), readers inside (simulator.model.subgraph.subgraph.Subgraph)."""
    cdef i64 i, j, u, v, n, total, here
    w.stamp += 1
    w.layers = count
    w.weights = w.inputs = w.outputs = w.has_whole = w.columns = w.any_kept = w.arriving = 0
    w.way, w.groups = CHANNELS, 1
    w.is_square = 1
    for i in range(count):
        v = layers[i]
        w.seen[v] = w.stamp
        w.local[v] = i
        w.ids[i] = v
        w.weights += net.weight_bytes[v]
    n = count
    for i in range(count):
        v = layers[i]
        for j in range(net.producer_start[v], net.producer_start[v + 1]):
            u = net.producers[j]
            if w.seen[u] != w.stamp:
                w.seen[u] = w.stamp
                w.local[u] = n
                w.ids[n] = u
                w.inputs += net.size_bytes[u]
                n += 1
    w.tensors = n
    total = 0
    for i in range(n):
        u = w.ids[i]
        w.first[i] = total
        w.is_square &= net.is_square[u]
        w.any_whole[i] = 0
        for j in range(net.reader_start[u], net.reader_start[u + 1]):
            v = net.readers[3 * j]
            if w.seen[v] == w.stamp and w.local[v] < count:
                w.reader[total] = w.local[v]
                w.is_local[total] = net.readers[3 * j + 1]
                w.is_whole[total] = net.readers[3 * j + 2]
                w.heard[total], w.passed[total] = net.heard[j], net.passed[j]
                w.any_whole[i] |= w.is_whole[total]
                total += 1
        w.has_whole |= w.any_whole[i]
        if i < count:
            if net.is_output[u] or total - w.first[i] < net.reader_start[u + 1] - net.reader_start[u]:
                w.outputs += net.size_bytes[u]
    w.first[n] = total


cdef void keep_tensors(Net* net, Work* w, Kept* kept) noexcept nogil:
    """The subgraph that was collected, with tensors that stay on chip."""
    cdef i64 u, t
    w.any_kept, w.inputs, w.outputs, w.arriving = 1, 0, 0, 0
    for u in range(w.tensors):
        t = w.ids[u]
        w.on_chip[u] = has(kept.on_chip, t)
        if u >= w.layers and has(kept.loaded, t):
            w.inputs += net.size_bytes[t]
            w.arriving += net.size_bytes[t] * w.on_chip[u]
        if u < w.layers and has(kept.written, t):
            w.outputs += net.size_bytes[t]


cdef inline bint is_on_chip(Work* w, i64 u) noexcept nogil:
    return w.any_kept and w.on_chip[u]
