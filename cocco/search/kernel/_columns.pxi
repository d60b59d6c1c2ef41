# What moves where cores share columns, or samples: simulator/model/schemes/columns.py

cdef struct Moves:  # of all samples and cores beside the DRAM side (simulator.model.schemes.moved.TeamMoves)
    i64 buffered
    i64 written
    i64 weights_written
    i64 weights_read
    i64 crossing
    i64 cycles


cdef i64 window_sum(
    Net* net, i64 gv, bint is_mirrored, i64 floor, i64 source, i64 start, i64 first, i64 step, i64 stop
) noexcept nogil:
    """simulator.model.subgraph.traffic.window_sum, of a layer's columns."""
    cdef i64 reach = net.reach[1][gv], stride = net.stride[1][gv], spread = net.upsample[1][gv]
    cdef i64 pad = net.padding[1][gv], total, low, high, left, shared, begin, end
    cdef bint is_even = step * stride % spread == 0
    if is_mirrored:
        pad = reach + spread - 1 - stride - pad
    total = clipped(ceil_div(reach + (stop - 1) * stride - pad, spread), floor, source)
    total -= clipped(ceil_div(start * stride - pad, spread), floor, source)
    low, left = first, imax(0, ceil_div(stop - first, step))
    begin, end = ceil_div(low * stride - pad, spread), ceil_div(reach + (low - 1) * stride - pad, spread)
    shared = end - begin
    while left and (not is_even or imin(begin, end) < floor):
        total += clipped(end, floor, source) - clipped(begin, floor, source)
        low, left = low + step, left - 1
        begin, end = ceil_div(low * stride - pad, spread), ceil_div(reach + (low - 1) * stride - pad, spread)
    high = low + (left - 1) * step
    begin, end = ceil_div(high * stride - pad, spread), ceil_div(reach + (high - 1) * stride - pad, spread)
    while left and imax(begin, end) > source:
        total += clipped(end, floor, source) - clipped(begin, floor, source)
        high, left = high - step, left - 1
        begin, end = ceil_div(high * stride - pad, spread), ceil_div(reach + (high - 1) * stride - pad, spread)
    return total + left * shared


cdef inline i64 clipped(i64 element, i64 floor, i64 source) noexcept nogil:
    return imin(imax(element, floor), source)


cdef void column_moves(Net* net, Machine* m, Work* w, bint is_full, Moves* moves) noexcept nogil:
    """simulator.model.schemes.columns.column_moves of one sample; is_full: from takes_all."""
    cdef i64 u, v, k, gu, gv, core, width, down, met, floor, source, read = 0, written = 0, copied, crossing = 0
    cdef bint rows_full = starts_full(net, w, 0)
    cdef Sweep sweep
    cdef Band own
    derive_updates(net, w, 0, rows_full)
    for v in range(w.layers):
        written += net.size_bytes[w.ids[v]]
    for u in range(w.tensors):
        gu = w.ids[u]
        width = net.extent[1][gu]
        for k in range(w.first[u], w.first[u + 1]):
            v = w.reader[k]
            gv = w.ids[v]
            down = window(net, w, 0, v, u) * net.row_bytes[gu]
            for core in range(m.bands):
                sweep = sweep_of(net, w, v, core, is_full)
                if not sweep.times:
                    continue
                own = band_of(w, u, core, width)
                floor = own.border - width if own.is_mirrored else -own.border
                source = own.border if own.is_mirrored else width - own.border
                met = window_sum(
                    net, gv, own.is_mirrored, floor, source, sweep.band.late, sweep.first, sweep.step, sweep.band.stop
                )
                read += down * met
                crossing += down * (met - window_sum(
                    net, gv, own.is_mirrored, own.late, own.stop, sweep.band.late, sweep.first, sweep.step,
                    sweep.band.stop,
                ))
        if w.side_bytes[u]:
            copied = rows_again(net, w, u, rows_full) * width * net.row_bytes[gu]
            read, written = read + copied, written + copied
    moves.buffered, moves.written = m.batch * (read + written), m.batch * written
    moves.crossing = m.batch * crossing


cdef inline i64 team_rounds(Machine* m, i64 team, i64 at_once) noexcept nogil:
    """Rounds of a team, to which samples are dealt as evenly as can be."""
    return ceil_div(m.batch * (team + 1) // m.teams - m.batch * team // m.teams, at_once)


cdef void pass_weights(Net* net, Machine* m, Work* w, bint is_full, i64 at_once, Moves* moves) noexcept nogil:
    """simulator.model.schemes.columns.rotate and hold_all: what weights add to the moves."""
    cdef i64 v, place, team, core, times, again, end = 0, reads = 0, own = 0, rounds = 0, working = 0, here, size
    for team in range(m.teams):
        rounds += team_rounds(m, team, at_once)
    for v in range(w.layers):
        size = net.weight_bytes[w.ids[v]]
        end += size
        here = 0
        for place in range(m.bands):
            times = w.axis[0].count[v]
            times *= w.axis[1].count[v] if w.way == SAMPLES else sweep_of(net, w, v, place, is_full).times
            here += times > 0
            reads += rounds * times * size
            if w.is_held or not size:
                continue
            for team in range(m.teams):
                core, again = team * m.bands + place, team_rounds(m, team, at_once)
                own += again * times * imax(
                    0, imin(w.weights * (core + 1) // m.cores, end) - imax(w.weights * core // m.cores, end - size)
                )
        working = imax(working, m.teams * here)
    moves.weights_read = reads
    if w.is_held:
        moves.weights_written = working * w.weights
        moves.crossing += (working - 1) * w.weights
    else:
        moves.weights_written = w.weights
        moves.crossing += reads - own


cdef i64 cycles_of_columns(Net* net, Machine* m, i64 gv, i64 columns) noexcept nogil:
    """Cycles of a core that has so many columns of a layer: simulator.mapping.closed.cycles_of_lanes."""
    cdef i64 i, found = net.lane_cycles[gv * m.lane_count] * ceil_div(columns, m.lanes[0])
    for i in range(1, m.lane_count):
        found = imin(found, net.lane_cycles[gv * m.lane_count + i] * ceil_div(columns, m.lanes[i]))
    return found
