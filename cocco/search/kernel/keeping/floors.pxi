# The least need of a subgraph: Decoder.floor of cocco/search/keeping/genome.py

cdef struct FloorEntry:  # cocco.search.keeping.genome.Floor
    Print key
    i64 at              # in the arena: layers, inputs, what each tensor takes
    i64 weights         # of the activation buffer
    i64 count           # of layers; 0: empty
    i64 inputs


cdef enum:
    FLOOR_ENTRIES = 1 << 14
    FLOOR_ARENA = 1 << 20


cdef struct Floors:  # that were needed before; never change a result
    FloorEntry* entries
    i64* arena
    i64 used


cdef bint is_passing(Net* net, Machine* m, const i64* layers, i64 count, i64 weight_capacity) noexcept nogil:
    """Whether a layer runs alone, or a nest, beside a weight buffer that does not hold its weights."""
    cdef Nest* nest
    if m.is_shared or not m.has_loops:
        return False
    if count == 1:
        return net.weight_bytes[layers[0]] > weight_capacity
    nest = nest_of(net, layers, count)
    return nest is not NULL and nest.weights > weight_capacity


cdef inline FloorEntry* floor_at(Floors* floors, Print key) noexcept nogil:
    """Where the least need of the subgraph with this print is, or belongs."""
    return &floors.entries[key.first & (FLOOR_ENTRIES - 1)]


cdef int floor_again(
    Kernel kernel, Scratch scratch, Print key, const i64* layers, i64 count, bint must_pass, FloorEntry** found
) noexcept nogil:
    """Decoder.floor; found: valid until the next call."""
    cdef Floors* floors = &scratch.keeping.floors
    cdef i64* takes = scratch.keeping.spare
    cdef i64 weights = 0, tensors
    cdef int status
    cdef FloorEntry* entry = floor_at(floors, key)
    found[0] = entry
    if entry.count and entry.key.first == key.first and entry.key.second == key.second:
        return FITS
    status = floor_of(&kernel.net, &kernel.machine, &scratch.work, layers, count, must_pass, takes, &weights)
    if status != FITS:
        return status
    tensors = scratch.work.subgraph.tensor_count
    if floors.used + 2 * tensors > FLOOR_ARENA:
        memset(floors.entries, 0, FLOOR_ENTRIES * sizeof(FloorEntry))
        floors.used = 0
    entry.key, entry.at, entry.weights, entry.count, entry.inputs = key, floors.used, weights, count, tensors - count
    memcpy(floors.arena + entry.at, scratch.work.subgraph.tensors, tensors * sizeof(i64))
    memcpy(floors.arena + entry.at + tensors, takes, tensors * sizeof(i64))
    floors.used += 2 * tensors
    return FITS


cdef int floor_of(
    Net* net, Machine* m, Work* w, const i64* layers, i64 count, i64 must_pass, i64* takes, i64* weights
) noexcept nogil:
    """Decoder._new_floor: what each local tensor takes, and the weights; the subgraph is left in w."""
    cdef i64 i, u, need, words, passing, held, side = m.tiles[m.tile_count - 1]
    cdef Nest* nest
    cdef int status
    collect(net, m, w, layers, count)
    need = dealt_weights(w)
    status = spread_all_rates(w)
    if status == FITS:
        deal_out(w, BY_CHANNELS, 1)
        status = derive_tiling(w, side, side)
    if status != FITS:
        return status
    held = need + allocate_regions(w)
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
