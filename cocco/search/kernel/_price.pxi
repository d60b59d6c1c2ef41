# What a subgraph moves and takes: simulator/model/subgraph/traffic.py, pricing.py, cost.py

cdef inline i64 element_from(i64 place, i64 spread) noexcept nogil:
    """The first element at this place of a spread map or behind it."""
    return place if spread == 1 else ceil_div(place, spread)


cdef inline i64 inside(i64 element, i64 source) noexcept nogil:
    return imin(imax(element, 0), source)


cdef i64 window(Net* net, Work* w, int axis, i64 v, i64 p) noexcept nogil:
    """simulator.model.subgraph.traffic.window_elements of the updates of a layer and an operand, both by local number."""
    cdef i64 gv = w.ids[v], source = net.extent[axis][w.ids[p]], left = w.axis[axis].count[v] - 1
    cdef i64 stride = net.stride[axis][gv], spread = net.upsample[axis][gv], pad = net.padding[axis][gv]
    cdef i64 over = net.reach[axis][gv] - stride, total, shared, low, high, begin, end, advance
    cdef bint is_even
    total = (inside(element_from(net.extent[axis][gv] * stride - pad + over, spread), source)
             - inside(element_from(-pad, spread), source))
    if not left:
        return total
    low = w.axis[axis].ends[v] * stride - pad
    begin, end = element_from(low, spread), element_from(low + over, spread)
    shared = end - begin
    advance = (w.merged[v] if axis == 0 and w.first[v] < w.first[v + 1] else w.axis[axis].step[v]) * stride
    is_even = spread == 1 or advance % spread == 0
    while left and (not is_even or imin(begin, end) < 0):
        total += inside(end, source) - inside(begin, source)
        low, left = low + advance, left - 1
        begin, end = element_from(low, spread), element_from(low + over, spread)
    high = low + (left - 1) * advance
    begin, end = element_from(high, spread), element_from(high + over, spread)
    while left and imax(begin, end) > source:
        total += inside(end, source) - inside(begin, source)
        high, left = high - advance, left - 1
        begin, end = element_from(high, spread), element_from(high + over, spread)
    return total + left * shared


cdef bint starts_full(Net* net, Work* w, int axis) noexcept nogil:
    """simulator.model.subgraph.updates.starts_full."""
    cdef i64 u, step, room
    for u in range(w.tensors):
        if w.first[u] < w.first[u + 1]:
            step = w.merged[u] if axis == 0 else w.axis[1].step[u]
            room = w.held[u] if axis == 0 else w.axis[1].size[u]
            if imin(step + w.axis[axis].lead[u], net.extent[axis][w.ids[u]]) > room:
                return False
    return True


cdef void derive_updates(Net* net, Work* w, int axis, bint is_full) noexcept nogil:
    """simulator.model.subgraph.updates.derive_updates, of the layers along one axis."""
    cdef i64 v, step, lead, end, extent
    cdef Axis* a = &w.axis[axis]
    cdef bint at_once = w.alone if axis == 1 else w.one_operation and not w.alone
    for v in range(w.layers):
        extent = net.extent[axis][w.ids[v]]
        step = w.merged[v] if axis == 0 and w.first[v] < w.first[v + 1] else a.step[v]
        lead = a.lead[v]
        end = step + lead
        if at_once:
            end = extent
        elif lead and (not is_full or end <= 0):
            end = lead - floor_div(lead - 1, step) * step
        a.ends[v] = end
        a.count[v] = 1 if extent <= end else 1 + ceil_div(extent - end, step)


cdef inline i64 updates_of(Work* w, i64 v) noexcept nogil:
    """How often a layer is advanced."""
    return w.axis[0].count[v] * w.axis[1].count[v]


cdef inline i64 row_before(Net* net, Work* w, i64 u, i64 operation) noexcept nogil:
    """The rows of a tensor that exist before a row operation, from the second on."""
    return inside(w.merged[u] * (operation - 1) + w.axis[0].lead[u], net.extent[0][w.ids[u]])


cdef i64 taken_again(Net* net, Work* w, i64 u, i64 operation) noexcept nogil:
    """The rows of a tensor that one row operation takes out of SIDE."""
    cdef i64 top = row_before(net, w, u, operation), end = row_before(net, w, u, operation + 1)
    cdef i64 wanted = net.extent[0][w.ids[u]], k, v, gv, row
    for k in range(w.first[u], w.first[u + 1]):
        v = w.reader[k]
        gv = w.ids[v]
        row = row_before(net, w, v, operation)
        if row < row_before(net, w, v, operation + 1):
            wanted = imin(wanted, element_from(row * net.stride[0][gv] - net.padding[0][gv], net.upsample[0][gv]))
    return imax(0, imin(imin(top, w.side_rows[u]), imin(w.main_rows[u] - (end - top), top - wanted)))


cdef i64 rows_again(Net* net, Work* w, i64 u, bint is_full) noexcept nogil:
    """simulator.model.subgraph.traffic.rows_again."""
    cdef i64* lead = w.axis[0].lead
    cdef i64 step = w.merged[u], kept = w.side_rows[u], k, v, end, total = 0
    cdef i64 first = floor_div(-lead[u], step) + 2, last = 0, low, high = floor_div(net.extent[0][w.ids[u]] - lead[u], step)
    if is_full:
        first = imax(first, 2)
    low = first
    if step * (low - 1) + lead[u] < kept:
        low = 1 + ceil_div(kept - lead[u], step)
    for k in range(w.first[u], w.first[u + 1]):
        v = w.reader[k]
        end = floor_div(net.extent[0][w.ids[v]] - 1 - lead[v], w.merged[v]) + 1
        last = end if k == w.first[u] else imax(last, end)
        high = imin(high, end)
        if w.merged[v] * (low - 1) + lead[v] < 0:
            low = 1 + ceil_div(-lead[v], w.merged[v])
    low = imin(low, last + 1)
    high = imax(high, low - 1)
    for k in range(first, low):
        total += taken_again(net, w, u, k)
    for k in range(high + 1, last + 1):
        total += taken_again(net, w, u, k)
    if high >= low:
        total += (high - low + 1) * taken_again(net, w, u, low)
    return total


cdef void moved(Net* net, Work* w, Moves* moves) noexcept nogil:
    """simulator.model.schemes.channels.dealt_moves, or traffic.buffer_bytes; weight_buffer_bytes: of one sample."""
    cdef i64 u, v, gu, gv, k, met, again, size, copied, total = 0, written = 0, weight = 0, crossed = 0
    cdef bint is_full = starts_full(net, w, 0)
    derive_updates(net, w, 0, is_full)
    derive_updates(net, w, 1, starts_full(net, w, 1))
    for v in range(w.layers):
        gv = w.ids[v]
        total += net.size_bytes[gv]
        written += net.size_bytes[gv]
        if net.weight_bytes[gv]:
            weight += updates_of(w, v) * net.weight_bytes[gv]
    for u in range(w.tensors):
        gu = w.ids[u]
        for k in range(w.first[u], w.first[u + 1]):
            v = w.reader[k]
            size = w.heard[k] if w.way == CHANNELS else net.row_bytes[gu]
            met = 0
            if w.is_whole[k]:
                met += updates_of(w, v) * net.extent[0][gu] * net.extent[1][gu]
            if w.is_local[k]:
                met += window(net, w, 0, v, u) * window(net, w, 1, v, u)
            total += met * size
            if w.way == CHANNELS:
                crossed += met * w.passed[k]
        if w.side_bytes[u]:
            copied = rows_again(net, w, u, is_full) * net.extent[1][gu] * net.row_bytes[gu]
            total += 2 * copied
            written += copied
    moves.buffered, moves.written = total, written
    moves.weights_read, moves.crossing = weight, crossed


cdef void total_up(Net* net, Machine* m, Work* w, Moves* moves, Row* row) noexcept nogil:
    """simulator.model.pricing.SubgraphModel._held and simulator.model.cost.total of one subgraph."""
    cdef i64 i, inputs = m.batch * w.inputs, outputs = m.batch * w.outputs, operations = 0, extra = 0
    for i in range(w.layers):
        operations += net.operations[w.ids[i]]
        extra += net.operation_extra[w.ids[i]]
    row.ema = w.weights + inputs + outputs
    row.global_buffer = inputs + outputs + moves.buffered
    row.weight_buffer = moves.weights_written + moves.weights_read
    row.crossbar = moves.crossing
    row.operations, row.operation_extra = m.batch * operations, m.batch * extra
    row.slots = slots_of(m, moves.cycles, row.ema, row.crossbar)
    row.global_written, row.weight_written = inputs + moves.written, moves.weights_written
