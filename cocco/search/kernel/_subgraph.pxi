# One subgraph of the network: simulator/model/subgraph/subgraph.py

cdef inline i64 lcm_within(i64 a, i64 b, int* overflow) noexcept nogil:
    cdef long long r
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if mul_overflows(a // gcd(a, b), b, &r) or r > (<i64>1 << 40):
        overflow[0] = 1
        return 1
    return r


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
