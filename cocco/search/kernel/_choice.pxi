# The cheapest way to run a subgraph in given memory: simulator/model/pricing.py, tiles.py

cdef struct Choice:  # the cheapest tile and samples at once so far
    i64 found
    double energy
    i64 area
    Row row


cdef struct Outputs:  # simulator.model.tiles.Candidates
    i64 rows
    i64 columns


cdef int price(
    Net* net, Machine* m, Work* w, const i64* layers, i64 count, Memory* memory, Row* row
) noexcept nogil:
    """simulator.model.pricing.SubgraphModel.price: FITS with the row, or SHORT; OVERFLOW where 64 bits do not do."""
    return price_beside(net, m, w, layers, count, memory, NULL, NULL, row)


cdef int price_beside(
    Net* net, Machine* m, Work* w, const i64* layers, i64 count, Memory* memory, Kept* kept, LoopLayer* loops, Row* row
) noexcept nogil:
    """The same beside kept tensors; loops: of a single layer, where other than those of the network."""
    cdef i64 need, room, left = memory.activations - memory.reserved
    cdef int status
    collect(net, w, layers, count)
    if kept is not NULL:
        keep_tensors(net, w, kept)
    if (count > 1 or kept is not NULL or memory.elsewhere) and m.max_regions:
        if w.tensors + memory.elsewhere > m.max_regions:
            return SHORT
    if left < 0:
        return SHORT
    if count == 1 and m.has_loops:
        return price_in_loops(net, m, w, &net.loops[w.ids[0]] if loops is NULL else loops, memory, row)
    status = spread_all_rates(net, w)
    if status != FITS:
        return status
    need = ceil_div(w.weights, m.cores)
    room = left - need if m.is_shared else left
    if room >= 0 and (m.is_shared or need <= memory.weights):
        status = price_held(net, m, w, room, memory, row)
        if status != SHORT:
            return status
    if count > 1:
        return SHORT
    return stream_layer(net, m, w, left, left if m.is_shared else memory.weights, row)


cdef int price_in_loops(Net* net, Machine* m, Work* w, LoopLayer* loops, Memory* memory, Row* row) noexcept nogil:
    """SubgraphModel._in_loops."""
    cdef i64 v = w.ids[0]
    cdef Winner best
    cdef Room room
    cdef LoopGoal goal
    cdef int status
    room.activations, room.weights = memory.activations - memory.reserved, memory.weights
    room.is_shared = m.is_shared
    goal.is_energy, goal.dram = m.is_energy, m.dram
    goal.activations, goal.weights, goal.leakage = memory.activation_pj, memory.weight_pj, memory.static_pj
    goal.slots = net.cycles[v] * m.bandwidth
    status = cheapest_plan(loops, room, &goal, &best)
    if status != FITS:
        return status
    row.ema = best.ema
    row.global_buffer, row.weight_buffer = best.plan.totals.global_buffer, best.plan.totals.weight_buffer
    row.crossbar = 0
    row.operations = m.batch * net.operations[v]
    row.slots = imax(net.cycles[v] * m.bandwidth, row.ema)
    row.global_written, row.weight_written = best.plan.totals.written, best.plan.totals.ema_weights
    return FITS


cdef int price_held(Net* net, Machine* m, Work* w, i64 room, Memory* memory, Row* row) noexcept nogil:
    """SubgraphModel._held_plans, and the cheapest of them; SHORT where nothing fits."""
    cdef i64 at_once, u
    cdef int status
    cdef Choice best
    cdef Outputs last
    best.found = 0
    last.rows = last.columns = 0
    for u in range(w.layers):
        if w.first[u] == w.first[u + 1]:
            last.rows = imax(last.rows, net.extent[0][w.ids[u]])
            last.columns = imax(last.columns, net.extent[1][w.ids[u]])
    at_once = m.samples
    while at_once:
        status = hold_largest(net, m, w, room, at_once, memory, &last, &best)
        if status != FITS:
            return status
        at_once -= 1
        while at_once and ceil_div(m.samples, ceil_div(m.samples, at_once)) != at_once:
            at_once -= 1
    if not best.found:
        return SHORT
    row[0] = best.row
    return FITS


cdef int hold_largest(
    Net* net, Machine* m, Work* w, i64 room, i64 at_once, Memory* memory, Outputs* last, Choice* best
) noexcept nogil:
    """simulator.model.tiles.Candidates.largest: the largest square that fits, and the tallest band above it."""
    cdef i64 i, area = 0, need, low, high, middle, rows
    cdef int status
    for i in range(m.tile_count):
        status = held_bytes(net, m, w, m.tiles[i], m.tiles[i], at_once, &need)
        if status != FITS:
            return status
        if need <= room:
            area = imin(m.tiles[i], last.rows) * imin(m.tiles[i], last.columns)
            offer_held(net, m, w, at_once, area, memory, best)
            break
    # bands of equal height, by how many rows of tiles they make: those of more elements than the square
    low, high = 0, first_cut(last.rows, area // last.columns + 1) - 1  # positions of the tallest and of the lowest
    if high < 0:
        return FITS
    status = held_bytes(net, m, w, band_rows(last.rows, high), last.columns, at_once, &need)
    if status != FITS or need > room:
        return status
    while low < high:
        middle = (low + high) // 2
        status = held_bytes(net, m, w, band_rows(last.rows, middle), last.columns, at_once, &need)
        if status != FITS:
            return status
        if need <= room:
            high = middle
        else:
            low = middle + 1
    rows = band_rows(last.rows, high)
    status = held_bytes(net, m, w, rows, last.columns, at_once, &need)
    if status != FITS:
        return status
    offer_held(net, m, w, at_once, rows * last.columns, memory, best)
    return FITS


cdef i64 band_rows(i64 extent, i64 position) noexcept nogil:
    """The element at this position of simulator.model.tiles.equal_sizes(extent)."""
    cdef i64 size = extent
    while position:
        size = ceil_div(extent, (extent - 1) // (size - 1) + 1)
        position -= 1
    return size


cdef i64 first_cut(i64 extent, i64 least) noexcept nogil:
    """How many of simulator.model.tiles.equal_sizes(extent) are at least so high."""
    cdef i64 size = extent, count = 0
    while size >= least:
        count += 1
        if size == 1:
            break
        size = ceil_div(extent, (extent - 1) // (size - 1) + 1)
    return count


cdef int held_bytes(Net* net, Machine* m, Work* w, i64 rows, i64 columns, i64 at_once, i64* need) noexcept nogil:
    """SubgraphModel._need of so many samples; leaves the tiling and the regions in w."""
    cdef int status = derive_tiling(net, m, w, rows, columns)
    if status == FITS:
        need[0] = at_once * allocate_regions(net, m, w)
    return status


cdef void offer_held(
    Net* net, Machine* m, Work* w, i64 at_once, i64 area, Memory* memory, Choice* best
) noexcept nogil:
    """Keep the tiling in w where it is cheaper than the best, or as cheap with a larger tile.

    SubgraphModel._rank: what crosses to DRAM, and the cycles, are the same for all tiles.
    """
    cdef i64 buffered, weighed
    cdef double energy
    cdef Row row
    moved(net, w, &buffered, &weighed)
    total_up(net, m, w, w.weights, w.inputs, buffered, ceil_div(m.samples, at_once) * weighed, &row)
    energy = (
        m.dram * row.ema + buffer_pj(&memory.activation_pj, row.global_buffer, row.global_written)
        + buffer_pj(&memory.weight_pj, row.weight_buffer, row.weight_written) + memory.static_pj * <double>row.slots
    )
    if not best.found or energy < best.energy or (energy == best.energy and area > best.area):
        best.found, best.energy, best.area, best.row = 1, energy, area, row
