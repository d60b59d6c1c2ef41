# What the decoder remembers: least needs of subgraphs, and prices beside kept tensors. Never changes a result.

cdef struct FloorEntry:  # the least need of a subgraph: cocco.search.keeping.genome.Floor
    u64 hash
    i64 at              # in the arena: layers, inputs, what each tensor takes
    i64 weights         # of the activation buffer
    int32_t count       # of layers; 0: empty
    int32_t inputs
    i64 is_passing      # of a layer, or a nest, beside a weight buffer that does not hold its weights


cdef struct KeptEntry:  # the price of a step
    u64 hash
    i64 capacity
    i64 weight_capacity
    i64 reserved
    i64 handed
    i64 at              # in the arena: layers, then what is touched
    int32_t count       # of both; 0: empty
    int32_t status
    Row row


cdef enum:
    FLOOR_ENTRIES = 1 << 14
    FLOOR_ARENA = 1 << 20
    KEPT_ENTRIES = 1 << 16
    KEPT_ARENA = 1 << 22


cdef struct KeptMemo:
    FloorEntry* floors
    i64* floor_arena
    i64 floors_used
    KeptEntry* prices
    int32_t* price_arena
    i64 prices_used


cdef extern from *:
    """
    static void fetch_ahead(const void* at) { __builtin_prefetch(at); }
    """
    void fetch_ahead(const void* at) noexcept nogil


cdef inline u64 hash_more(u64 h, u64 value) noexcept nogil:
    h = (h ^ value) * 0x9FB21C651E98DF25ULL
    return h ^ (h >> 32)


cdef inline bint is_passing(Net* net, Machine* m, const i64* layers, i64 count, i64 weight_capacity) noexcept nogil:
    """Whether a layer runs alone, or a nest, beside a weight buffer that does not hold its weights."""
    cdef Nest* nest
    if m.is_shared or not m.has_loops:
        return False
    if count == 1:
        return net.weight_bytes[layers[0]] > weight_capacity
    nest = nest_of(net, layers, count)
    return nest is not NULL and nest.weights > weight_capacity


cdef u64 ask_floor(Net* net, Machine* m, KeptMemo* memo, const i64* layers, i64 count, i64 weight_capacity) noexcept nogil:
    """The hash of a subgraph, whose entry is fetched ahead."""
    cdef u64 h = GAMMA + <u64>is_passing(net, m, layers, count, weight_capacity)
    cdef i64 i
    for i in range(count):
        h = hash_more(h, <u64>layers[i])
    fetch_ahead(&memo.floors[h & (FLOOR_ENTRIES - 1)])
    return h


cdef int floor_again(
    Net* net, Machine* m, Work* w, KeptMemo* memo, u64 h, const i64* layers, i64 count, i64 weight_capacity, i64* spare,
    FloorEntry** found
) noexcept nogil:
    """Decoder.floor; h: from ask_floor; found: valid until the next call."""
    cdef i64 i, weights = 0, passing = is_passing(net, m, layers, count, weight_capacity)
    cdef int status
    cdef FloorEntry* entry = &memo.floors[h & (FLOOR_ENTRIES - 1)]
    found[0] = entry
    if entry.count == count and entry.hash == h and entry.is_passing == passing:
        for i in range(count):
            if memo.floor_arena[entry.at + i] != layers[i]:
                break
        else:
            return FITS
    status = floor_of(net, m, w, layers, count, passing, spare, &weights)
    if status != FITS:
        return status
    if memo.floors_used + 2 * w.subgraph.tensor_count > FLOOR_ARENA:
        memset(memo.floors, 0, FLOOR_ENTRIES * sizeof(FloorEntry))
        memo.floors_used = 0
    entry.hash, entry.at, entry.weights, entry.is_passing = h, memo.floors_used, weights, passing
    entry.count, entry.inputs = <int32_t>count, <int32_t>(w.subgraph.tensor_count - count)
    memcpy(memo.floor_arena + entry.at, w.subgraph.tensors, w.subgraph.tensor_count * sizeof(i64))
    memcpy(memo.floor_arena + entry.at + w.subgraph.tensor_count, spare, w.subgraph.tensor_count * sizeof(i64))
    memo.floors_used += 2 * w.subgraph.tensor_count
    return FITS


cdef int floor_of(
    Net* net, Machine* m, Work* w, const i64* layers, i64 count, i64 must_pass, i64* takes, i64* weights
) noexcept nogil:
    """Decoder._new_floor: what each local tensor takes, and the weights; the subgraph is left in w."""
    cdef i64 i, u, need, words, passing, held, side = m.tiles[m.tile_count - 1]
    cdef Nest* nest
    cdef int status
    collect(net, w, layers, count)
    need = dealt_weights(net, m, w)
    status = spread_all_rates(net, w)
    if status == FITS:
        deal_out(net, m, w, BY_CHANNELS, 1)
        status = derive_tiling(net, m, w, side, side)
    if status != FITS:
        return status
    held = need + allocate_regions(net, w)
    for i in range(w.subgraph.tensor_count):
        u = w.subgraph.tensors[i]
        takes[i] = w.regions[u].main_bytes + w.regions[u].side_bytes
    if count == 1 and m.has_loops:
        words = ceil_div(net.channels[layers[0]], m.alignment)
        passing = ceil_div(need, words) + m.alignment * m.samples
        for i in range(1, w.subgraph.tensor_count):
            passing += net.whole[w.subgraph.tensors[i]]
        if (m.is_shared and held > passing) or must_pass:  # must_pass: of separate buffers only
            takes[0], need = m.alignment * m.samples, ceil_div(need, words)
            for i in range(1, w.subgraph.tensor_count):
                takes[i] = net.whole[w.subgraph.tensors[i]]
    elif m.has_loops:
        nest = nest_of(net, layers, count)
        if nest is not NULL and (must_pass or held - (0 if m.is_shared else need) > nest.least):
            for i in range(w.subgraph.tensor_count):
                takes[i] = 0
            takes[0], need = nest.least, 0
    weights[0] = need if m.is_shared else 0
    return FITS


cdef u64 ask_price(KeptMemo* memo, const int32_t* key, i64 length, Memory* memory) noexcept nogil:
    """The hash of a step, whose entry is fetched ahead; key: layers, then what is touched."""
    cdef u64 h = mix(<u64>memory.activations * GAMMA + <u64>memory.weights)
    cdef i64 i
    h = hash_more(h, <u64>memory.reserved ^ <u64>memory.handed << 20)
    for i in range(length):
        h = hash_more(h, <u64>key[i])
    fetch_ahead(&memo.prices[h & (KEPT_ENTRIES - 1)])
    return h


cdef KeptEntry* known_price(KeptMemo* memo, u64 h, const int32_t* key, i64 length, Memory* memory) noexcept nogil:
    """The entry of a step, NULL where its price is not known."""
    cdef KeptEntry* entry = &memo.prices[h & (KEPT_ENTRIES - 1)]
    cdef i64 i
    if (entry.count != length or entry.hash != h or entry.capacity != memory.activations
            or entry.weight_capacity != memory.weights or entry.reserved != memory.reserved
            or entry.handed != memory.handed):
        return NULL
    for i in range(length):
        if memo.price_arena[entry.at + i] != key[i]:
            return NULL
    return entry


cdef int new_price(
    Net* net, Machine* m, Work* w, KeptMemo* memo, u64 h, const int32_t* key, i64 length, i64 count, Memory* memory,
    const i64* layers, Kept* kept, KeptLayer* also, i64* spare, Row* row
) noexcept nogil:
    """price_beside, which the memo then has."""
    cdef int status
    cdef KeptEntry* entry = &memo.prices[h & (KEPT_ENTRIES - 1)]
    status = price_beside(net, m, w, layers, count, memory, kept if length > count else NULL, also, spare, row)
    if memo.prices_used + length > KEPT_ARENA:
        memset(memo.prices, 0, KEPT_ENTRIES * sizeof(KeptEntry))
        memo.prices_used = 0
    entry.hash, entry.capacity, entry.weight_capacity = h, memory.activations, memory.weights
    entry.reserved, entry.handed, entry.at = memory.reserved, memory.handed, memo.prices_used
    entry.count, entry.status, entry.row = <int32_t>length, <int32_t>status, row[0]
    memcpy(memo.price_arena + entry.at, key, length * sizeof(int32_t))
    memo.prices_used += length
    return status
