# One layer that does not fit: simulator/model/streaming.py

cdef struct Best:
    i64 reads
    i64 weight_reads
    i64 input_reads
    i64 tile            # position in the tiles, their count for the whole map, -1 for none
    i64 has_side


cdef void consider(
    Net* net, Machine* m, Work* w, i64 position, i64 has_side, i64 room, i64 num, i64 den, Best* best
) noexcept nogil:
    """simulator.model.streaming._orders: the two loop orders with so many bytes for the weights of one core."""
    cdef i64 v = w.ids[0], weights = w.weights, groups = ceil_div(net.channels[v], m.pe_outputs)
    cdef i64 unit, units, chunk = 0, chunks = 1, passes, tiles, rows, columns, order, weight_reads, input_reads
    if weights:
        unit = ceil_div(weights, groups * ceil_div(net.in_group[v], m.pe_inputs))
        units = ceil_div(weights, unit)
        chunk = room * m.cores // unit * unit
        if not chunk:
            return
        chunks = ceil_div(units, chunk // unit)
    passes = 1 if position == m.tile_count or chunks == 1 else imin(chunks, groups)
    rows, columns = net.extent[0][v], ceil_div(net.extent[1][v], m.bands)
    if position == m.tile_count:
        tiles = ceil_div(columns, net.extent[1][v])
    else:
        tiles = ceil_div(rows, m.tiles[position]) * ceil_div(columns, m.tiles[position])
    for order in range(2):
        weight_reads = weights if order == 0 or chunks == 1 else weights * tiles
        input_reads = w.arriving + ceil_scaled(w.inputs - w.arriving, passes if order == 0 else 1, num, den)
        if best.tile < 0 or weight_reads + input_reads < best.reads:
            best.reads = weight_reads + input_reads
            best.weight_reads, best.input_reads = weight_reads, input_reads
            best.tile, best.has_side = position, has_side


cdef int stream_layer(
    Net* net, Machine* m, Work* w, i64 capacity, i64 weight_capacity, Row* row
) noexcept nogil:
    """simulator.model.streaming.stream_layer."""
    cdef i64 v = w.ids[0], i, u, t, need, side, rows, num, den, whole, buffered, weighed, positions, reads, k
    cdef i64 first, shared, last, least
    cdef Best best
    cdef int status
    best.tile = -1
    best.reads = best.weight_reads = best.input_reads = best.has_side = 0
    for i in range(m.tile_count):
        status = derive_tiling(net, m, w, m.tiles[i], m.tiles[i])
        if status != FITS:
            return status
        need = m.samples * allocate_regions(net, m, w)
        if need <= capacity:
            consider(net, m, w, i, 1, capacity - need if m.is_shared else weight_capacity, 1, 1, &best)
        side = 0
        for u in range(w.tensors):
            side += w.side_bytes[u]
        rows = imin(m.tiles[i], net.extent[0][v])
        window_ends(net, 0, v, &first, &shared, &last)
        den = rows * net.stride[0][v] // gcd(rows * net.stride[0][v], net.upsample[0][v])
        if shared <= 0:
            shared = 0
        least = net.extent[0][w.ids[1]]
        for u in range(2, w.tensors):
            least = imin(least, net.extent[0][w.ids[u]])
        if (ceil_div(net.extent[0][v], m.tiles[i]) - 1) * shared * den > shared * least:
            num, den = least + (ceil_div(net.extent[0][v], m.tiles[i]) - 1) * shared, least
        else:
            num = den + shared
        need -= m.samples * side
        if need <= capacity:
            consider(net, m, w, i, 0, capacity - need if m.is_shared else weight_capacity, num, den, &best)
    whole = 0
    for u in range(w.tensors):
        t = w.ids[u]
        if is_on_chip(w, u):
            continue
        whole += (net.extent[0][t] * ceil_div(net.extent[1][t], m.bands)
                  * (ceil_div(net.channels[t], m.alignment) * m.alignment) * m.samples)
    if whole <= capacity:
        consider(net, m, w, m.tile_count, 1, capacity - whole if m.is_shared else weight_capacity, 1, 1, &best)
    if best.tile >= 0:
        if best.tile == m.tile_count:
            status = derive_tiling(net, m, w, net.extent[0][v], net.extent[1][v])
        else:
            status = derive_tiling(net, m, w, m.tiles[best.tile], m.tiles[best.tile])
        if status != FITS:
            return status
        allocate_regions(net, m, w)
        if best.tile == m.tile_count or not best.has_side:
            for u in range(w.tensors):
                w.side_bytes[u] = 0
    else:
        best.weight_reads = 0
        best.input_reads = -1
        status = pass_operand(net, m, w, capacity, &best)
        if status != FITS:
            return status
        if best.input_reads < 0:  # the last resort: one output position at a time
            positions = net.extent[0][v] * net.extent[1][v]
            reads = w.arriving
            for u in range(1, w.tensors):
                if is_on_chip(w, u):
                    continue
                for k in range(w.first[u], w.first[u + 1]):
                    reads += net.size_bytes[w.ids[u]] * (w.is_local[k] * net.taps[v] + w.is_whole[k] * positions)
            best.weight_reads, best.input_reads = w.weights * positions, reads
            status = derive_tiling(net, m, w, 1, 1)
            if status != FITS:
                return status
            allocate_regions(net, m, w)
    moved(net, w, &buffered, &weighed)
    total_up(net, m, w, best.weight_reads, best.input_reads, buffered, weighed, row)
    return FITS


cdef int pass_operand(Net* net, Machine* m, Work* w, i64 capacity, Best* best) noexcept nogil:
    """simulator.model.streaming._stream_operand: leaves the tiling of the tile that was chosen; input_reads -1 for none."""
    cdef i64 v = w.ids[0], u, t, i, need, tiles, reads, columns, any_passes = 0
    cdef int status
    for u in range(1, w.tensors):
        if w.any_whole[u] and not is_on_chip(w, u):
            if w.is_local[w.first[u]]:
                return FITS
            any_passes = 1
    if not any_passes:
        return FITS
    columns = ceil_div(net.extent[1][v], m.bands)
    for i in range(m.tile_count):
        status = derive_tiling(net, m, w, m.tiles[i], m.tiles[i])
        if status != FITS:
            return status
        allocate_regions(net, m, w)
        need = 0
        for u in range(w.tensors):
            if u and w.any_whole[u] and not is_on_chip(w, u):
                w.main_bytes[u] //= w.main_rows[u]
                w.side_bytes[u] = 0
            need += w.main_bytes[u] + w.side_bytes[u]
        if m.samples * need <= capacity:
            tiles = ceil_div(net.extent[0][v], m.tiles[i]) * ceil_div(columns, m.tiles[i])
            reads = w.arriving
            for u in range(1, w.tensors):
                if not is_on_chip(w, u):
                    reads += net.size_bytes[w.ids[u]] * (tiles if w.any_whole[u] else 1)
            best.input_reads = reads
            return FITS
    return FITS
