# One subgraph of the network: simulator/model/subgraph/subgraph.py

cdef void collect(Net* net, Machine* m, Work* w, const i64* layers, i64 count) noexcept nogil:
    """The subgraph of these layers (ascending): in(S), out(S), readers inside (simulator.model.subgraph.subgraph.Subgraph)."""
    cdef Subgraph* s = &w.subgraph
    cdef Reader* into = w.readers
    cdef i64 i, j, u, v, n = count
    w.stamp += 1
    w.weights = w.inputs = w.outputs = w.columns = w.arriving = 0
    w.way, w.groups = BY_CHANNELS, 1
    w.net, w.machine, s.geometry, s.layer_count = net, m, net, count
    s.has_whole_edge, s.any_kept, s.is_square = 0, 0, 1
    for i in range(count):
        v = layers[i]
        w.seen[v] = w.stamp
        s.tensors[i] = s.consumers_first[count - 1 - i] = v
        w.weights += net.weight_bytes[v]
        for j in range(i if net.shares[v] else 0):
            if net.shares[layers[j]] == net.shares[v]:
                w.weights -= net.weight_bytes[v]
                break
    for i in range(count):
        for j in range(net.producer_start[layers[i]], net.producer_start[layers[i] + 1]):
            u = net.producers[j]
            if w.seen[u] != w.stamp and w.seen[u] != -w.stamp:
                w.seen[u] = -w.stamp
                s.tensors[n] = s.consumers_first[n] = u
                w.inputs += net.size_bytes[u]
                n += 1
    s.tensor_count = n
    for i in range(n):
        u = s.tensors[i]
        s.readers[u], s.is_whole[u] = into, 0
        s.is_square &= net.is_square[u]
        for j in range(net.reader_start[u], net.reader_start[u + 1]):
            if w.seen[net.readers[j].layer] == w.stamp:
                into[0] = net.readers[j]
                s.is_whole[u] |= into.whole
                into += 1
        s.reader_count[u] = into - s.readers[u]
        s.has_whole_edge |= s.is_whole[u]
        if i < count and (net.is_output[u] or s.reader_count[u] < net.reader_start[u + 1] - net.reader_start[u]):
            w.outputs += net.size_bytes[u]


cdef void keep_tensors(Work* w, Kept* kept) noexcept nogil:
    """The subgraph that was collected, with tensors that stay on chip."""
    cdef Subgraph* s = &w.subgraph
    cdef i64 i, u
    w.inputs, w.outputs, w.arriving, s.any_kept = 0, 0, 0, 1
    for i in range(s.tensor_count):
        u = s.tensors[i]
        s.on_chip[u] = has(kept.on_chip, u)
        if i >= s.layer_count and has(kept.loaded, u):
            w.inputs += w.net.size_bytes[u]
            w.arriving += w.net.size_bytes[u] * s.on_chip[u]
        if i < s.layer_count and has(kept.written, u):
            w.outputs += w.net.size_bytes[u]


cdef int spread_all_rates(Work* w) noexcept nogil:
    """Of both axes; where columns are as rows, those of rows. SHORT also where a layer runs in no subgraph of several."""
    cdef Subgraph* s = &w.subgraph
    cdef i64 i
    cdef int status
    for i in range(s.layer_count if s.layer_count > 1 else 0):
        if w.net.alone[s.tensors[i]]:
            return SHORT
    status = derive_rates(s, ROWS, &w.rates[0])
    w.across = &w.rates[0 if s.is_square else 1]
    return status if status != FITS or s.is_square else derive_rates(s, COLUMNS, w.across)


cdef void deal_out(Work* w, i64 way, i64 groups) noexcept nogil:
    """The subgraph that was collected, shared by the cores in this way."""
    w.way, w.groups = way, groups
    for u in w.subgraph.tensors[:w.subgraph.tensor_count]:
        w.cell_bytes[u] = element_bytes(w.net, w.machine, u, groups, w.machine.cores if way == BY_CHANNELS else 1)


cdef inline i64* widths_of(Work* w) noexcept nogil:
    """The columns of each tensor in the core that has the most."""
    return w.bands.most if w.way == BY_COLUMNS else w.net.extent[1]


cdef int derive_tiling(Work* w, i64 rows, i64 columns) noexcept nogil:
    """simulator.model.subgraph.regions.derive_tiling."""
    cdef Subgraph* s = &w.subgraph
    cdef bint both_ways = w.way == BY_COLUMNS
    cdef int status = fill_tiles(s, ROWS, rows, w.machine.is_exact, False, &w.rates[0], &w.steps, w.tiles[0])
    w.tiling.is_exact, w.tiling.rows, w.tiling.columns = w.machine.is_exact, w.tiles[0], w.tiles[1]
    if status == FITS and s.is_square and rows == columns and not both_ways:
        w.tiling.columns = w.tiles[0]
    elif status == FITS and w.columns != columns:
        status = fill_tiles(s, COLUMNS, columns, w.machine.is_exact, both_ways, w.across, &w.steps, w.tiles[1])
        w.columns = columns
    return join_axes(s, widths_of(w), &w.tiling) if status == FITS else status


cdef i64 allocate_regions(Work* w) noexcept nogil:
    """simulator.model.subgraph.regions.allocate_regions of one sample; return the bytes of all regions."""
    return fill_regions(&w.subgraph, &w.tiling, widths_of(w), w.cell_bytes, 1, w.regions)
