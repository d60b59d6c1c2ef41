# What a subgraph moves and takes: simulator/model/traffic.py, pricing.py, cost.py

cdef inline i64 window(Net* net, int axis, i64 v, i64 p, i64 step) noexcept nogil:
    """simulator.model.traffic.window_elements."""
    cdef i64 height = net.extent[axis][v], first, shared, last
    window_ends(net, axis, v, &first, &shared, &last)
    return imax(0, imin(last, net.extent[axis][p]) - imax(first, 0) + (ceil_div(height, step) - 1) * shared)


cdef inline void window_ends(Net* net, int axis, i64 v, i64* first, i64* shared, i64* last) noexcept nogil:
    """simulator.model.traffic.window_ends."""
    cdef i64 stride = net.stride[axis][v], reach = net.reach[axis][v], spread = net.upsample[axis][v]
    cdef i64 pad = net.padding[axis][v]
    first[0] = ceil_div(-pad, spread)
    shared[0] = ceil_div(reach - stride - pad, spread) - first[0]
    last[0] = ceil_div((net.extent[axis][v] - 1) * stride + reach - pad, spread)


cdef void moved(Net* net, Work* w, i64* buffered, i64* weighed) noexcept nogil:
    """simulator.model.traffic.buffer_bytes and weight_buffer_bytes, of one sample."""
    cdef i64 u, v, gu, gv, k, total = 0, weight = 0, overlap
    for v in range(w.layers):
        gv = w.ids[v]
        total += net.size_bytes[gv]
        if net.weight_bytes[gv]:
            weight += updates_of(net, w, v) * net.weight_bytes[gv]
    for u in range(w.tensors):
        gu = w.ids[u]
        for k in range(w.first[u], w.first[u + 1]):
            v = w.reader[k]
            gv = w.ids[v]
            if w.is_whole[k]:
                total += updates_of(net, w, v) * net.size_bytes[gu]
            if w.is_local[k]:
                total += (window(net, 0, gv, gu, w.merged[v]) * window(net, 1, gv, gu, w.axis[1].step[v])
                          * net.channels[gu])
        if w.side_bytes[u]:
            overlap = imin(w.axis[0].size[u] - w.axis[0].step[u], net.extent[0][gu])
            total += (2 * overlap * net.extent[1][gu] * net.channels[gu]
                      * (ceil_div(net.extent[0][gu], w.merged[u]) - 1))
    buffered[0] = total
    weighed[0] = weight


cdef inline i64 updates_of(Net* net, Work* w, i64 v) noexcept nogil:
    """simulator.model.traffic.count_updates."""
    return (ceil_div(net.extent[0][w.ids[v]], w.merged[v])
            * ceil_div(net.extent[1][w.ids[v]], w.axis[1].step[v]))


cdef void total_up(
    Net* net, Machine* m, Work* w, i64 weight_reads, i64 input_reads, i64 buffered, i64 weighed, Row* row
) noexcept nogil:
    """simulator.model.pricing.SubgraphModel._total and simulator.model.cost.total of one subgraph."""
    cdef i64 i, inputs = m.batch * input_reads, outputs = m.batch * w.outputs, cycles = 0, operations = 0
    for i in range(w.layers):
        cycles += net.cycles[w.ids[i]]
        operations += net.operations[w.ids[i]]
    row.ema = weight_reads + inputs + outputs
    row.global_buffer = inputs + outputs + m.batch * buffered
    row.weight_buffer = weight_reads + weighed
    row.crossbar = (m.cores - 1) * w.weights
    row.operations = m.batch * operations
    row.slots = imax(cycles * m.bandwidth, row.ema)
