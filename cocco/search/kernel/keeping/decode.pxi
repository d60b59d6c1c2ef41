# What a genome keeps on chip: cocco/search/keeping/genome.py

cdef struct Keeping:  # what a thread decodes with
    Places places
    KeptMemo memo
    i64 by              # the metric: 0 ema, 1 energy, 2 latency
    KeptLayer* layers   # where machine.has_loops
    Row* alone          # by first layer: what a subgraph adds without kept tensors
    i64 steps
    i64* members        # layers of all steps
    i64* member_start   # by step
    i64* inputs         # places of what the steps read
    i64* input_start
    i64* reserved       # by step: bytes of what stays
    i64* handed         # and of a result in the place of an operand
    Row* rows           # by step
    int32_t* status
    i64* active         # stays that reach the current step or did so
    i64* heap
    i64* waits          # by first layer of a subgraph
    int32_t* keys       # of the steps: layers, then what is touched
    i64* key_start
    i64* key_length
    u64* hash           # by step: first of its layers, then of its key
    i64* spare
    u64* sets[3]        # on chip, loaded, written


cdef i64 order_steps(Graph* g, Bench* b, const i64* labels, Keeping* k) noexcept nogil:
    """simulator.partition.order.order_subgraphs: of those that are ready the one with the earliest layer."""
    cdef i64 v, u, i, label, heap = 0, end = 0, steps = 0
    list_members(labels, g.size, b)
    memset(k.waits, 0, g.size * sizeof(i64))
    for v in range(g.size):
        for i in range(g.producer_start[v], g.producer_start[v + 1]):
            k.waits[labels[v]] += labels[g.producers[i]] != labels[v]
    for v in range(g.size - 1, -1, -1):
        if labels[v] == v and not k.waits[v]:
            heap = push_heap(k.heap, heap, v)
    while heap:
        label = k.heap[0]
        heap = pop_heap(k.heap, heap)
        k.member_start[steps] = end
        steps += 1
        v = label
        while v >= 0:
            k.members[end] = v
            end += 1
            for i in range(g.consumer_start[v], g.consumer_start[v + 1]):
                u = labels[g.consumers[i]]
                if u != label:
                    k.waits[u] -= 1
                    if not k.waits[u]:
                        heap = push_heap(k.heap, heap, u)
            v = b.next[v]
    k.member_start[steps] = end
    return steps


cdef i64 push_heap(i64* heap, i64 count, i64 value) noexcept nogil:
    cdef i64 at = count
    while at and heap[(at - 1) >> 1] > value:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = value
    return count + 1


cdef i64 pop_heap(i64* heap, i64 count) noexcept nogil:
    """Take out the least number."""
    cdef i64 value = heap[count - 1], at = 0, child
    count -= 1
    while 2 * at + 1 < count:
        child = 2 * at + 1
        child += child + 1 < count and heap[child + 1] < heap[child]
        if heap[child] >= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value
    return count


cdef double cost_by(Goal* goal, Machine* m, Keeping* k, Row* row, i64 first, i64 second) noexcept nogil:
    """The metric by which a genome keeps, of a step or of the whole."""
    if k.by == 0:
        return <double>row.ema
    if k.by == 1:
        return energy_of(goal, first, second, row)
    return <double>row.slots / m.per_cycle


cdef int keep_tensors_of(
    Graph* g, Net* net, Machine* m, Goal* goal, Work* w, Bench* b, Keeping* k, const i64* labels, Memory* memory,
    i64 first, i64 second, Row* totals
) noexcept nogil:
    """Decoder.decode: totals, per network, become those beside what is kept, where that costs less."""
    cdef i64 step, network, begin
    cdef int status
    cdef Row kept
    k.steps = order_steps(g, b, labels, k)
    status = place_tensors(net, m, w, k, memory)
    if status != FITS:
        return status
    choose_stays(&k.places)
    if not k.places.stay_count:
        return FITS
    status = settle(net, m, goal, w, k, memory, first, second)
    if status != FITS:
        return status
    begin = 0
    for network in range(g.networks):
        zero_row(&kept)
        step = begin
        while step < k.steps and g.network_of[k.members[k.member_start[step]]] == network:
            add_row(&kept, &k.rows[step])
            if k.status[step] != FITS:
                status = SHORT
            step += 1
        begin = step
        if status == FITS and cost_by(goal, m, k, &kept, first, second) < cost_by(
            goal, m, k, &totals[network], first, second
        ):
            totals[network] = kept
        status = FITS
    return FITS


cdef int place_tensors(Net* net, Machine* m, Work* w, Keeping* k, Memory* memory) noexcept nogil:
    """Where each tensor is made and read, and the room of each step beside its least need."""
    cdef i64 step, i, u, at, end = 0, need, tensors
    cdef i64* ids
    cdef FloorEntry* floor
    cdef Places* p = &k.places
    cdef int status
    memset(p.count, 0, p.tensors * sizeof(i64))
    for step in range(k.steps):
        k.hash[step] = ask_floor(
            net, m, &k.memo, k.members + k.member_start[step], k.member_start[step + 1] - k.member_start[step],
            memory.weights,
        )
    for step in range(k.steps):
        fetch_ahead(&k.memo.floor_arena[k.memo.floors[k.hash[step] & (FLOOR_ENTRIES - 1)].at])
    for step in range(k.steps):
        status = floor_again(
            net, m, w, &k.memo, k.hash[step], k.members + k.member_start[step],
            k.member_start[step + 1] - k.member_start[step], memory.weights, k.spare, &floor,
        )
        if status != FITS:
            return status
        tensors, ids = floor.count + floor.inputs, k.memo.floor_arena + floor.at
        need = floor.weights
        k.input_start[step] = end
        for i in range(tensors):
            u = ids[i]
            at = p.start[u] + p.count[u]
            p.step[at], p.takes[at] = step, ids[tensors + i]
            need += ids[tensors + i]
            p.count[u] += 1
            if i >= floor.count:
                k.inputs[end] = u
                k.inputs[end + 1] = at
                end += 2
        p.free[step] = memory.activations - need
        p.slots[step] = m.max_regions - tensors if m.max_regions else <i64>1 << 40
        p.first_stay[step] = -1
        k.reserved[step] = 0
    k.input_start[k.steps] = end
    return FITS
