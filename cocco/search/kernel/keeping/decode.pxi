# What a genome keeps on chip: cocco/search/keeping/genome.py

cdef struct Keeping:  # what a thread decodes with
    Places places
    Floors floors
    Memo prices         # of steps beside what is kept
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
    i64* passing        # by step: is_passing
    Print* prints       # by step: of its layers, and whether it passes
    Print* asked        # and of all that its price depends on
    i64* touches        # whether it makes or reads what is kept
    i64* spare
    u64* sets[3]        # on chip, loaded, written


cdef i64 order_steps(Graph* g, Bench* b, const i64* labels, Keeping* k) noexcept nogil:
    """simulator.partition.order.order_subgraphs: of those that are ready the one with the earliest layer."""
    cdef i64 v, u, i, label, first = 0, end = 0, steps = 0
    cdef u64* ready = k.sets[0]
    memset(ready, 0, (g.size // 64 + 1) * sizeof(u64))
    for i in range(first_ready(g, b, labels)):
        put(ready, b.ready[i])
    while end < g.size:
        while not ready[first]:
            first += 1
        label = 64 * first + lowest_bit(ready[first])
        take_out(ready, label)
        k.member_start[steps] = end
        steps += 1
        v = label
        while v >= 0:
            k.members[end] = v
            end += 1
            for i in range(g.consumer_start[v], g.consumer_start[v + 1]):
                u = labels[g.consumers[i]]
                if u != label:
                    b.waits[u] -= 1
                    if not b.waits[u]:
                        put(ready, u)
                        first = imin(first, u >> 6)
            v = b.next[v]
    k.member_start[steps] = end
    return steps


cdef int keep_tensors_of(
    Kernel kernel, Scratch scratch, const i64* labels, Memory* memory, Row* totals
) noexcept nogil:
    """Decoder.decode: totals, per network, become those beside what is kept, where that costs less."""
    cdef Keeping* k = scratch.keeping
    cdef i64 step = 0, network
    cdef int status
    cdef bint is_less
    cdef Row kept
    k.steps = order_steps(&kernel.graph, &scratch.bench, labels, k)
    status = place_tensors(kernel, scratch, memory)
    if status != FITS:
        return status
    choose_stays(&k.places)
    if not k.places.stay_count:
        return FITS
    status = settle(kernel, scratch, memory)
    if status != FITS:
        return status
    for network in range(kernel.graph.networks):
        memset(&kept, 0, sizeof(Row))
        is_less = True
        while step < k.steps and kernel.graph.network_of[k.members[k.member_start[step]]] == network:
            add_row(&kept, &k.rows[step], 1)
            is_less &= k.status[step] == FITS
            step += 1
        if is_less and metric_of(kernel, k.by, memory, &kept) < metric_of(kernel, k.by, memory, &totals[network]):
            totals[network] = kept
    return FITS


cdef int place_tensors(Kernel kernel, Scratch scratch, Memory* memory) noexcept nogil:
    """Where each tensor is made and read, and the room of each step beside its least need."""
    cdef Keeping* k = scratch.keeping
    cdef i64 step, i, u, at, end = 0, need, tensors
    cdef i64* ids
    cdef i64* layers
    cdef FloorEntry* floor
    cdef Places* p = &k.places
    cdef Print key
    cdef int status
    memset(p.count, 0, p.tensors * sizeof(i64))
    for step in range(k.steps):
        layers, i = k.members + k.member_start[step], k.member_start[step + 1] - k.member_start[step]
        key.first, key.second = is_passing(&kernel.net, &kernel.machine, layers, i, memory.weights), 0
        k.passing[step], k.prints[step] = key.first, print_of(&scratch.memo, layers, i, key)
        fetch_ahead(floor_at(&k.floors, k.prints[step]))
    for step in range(k.steps):
        fetch_ahead(&k.floors.arena[floor_at(&k.floors, k.prints[step]).at])
    for step in range(k.steps):
        status = floor_again(
            kernel, scratch, k.prints[step], k.members + k.member_start[step],
            k.member_start[step + 1] - k.member_start[step], k.passing[step], &floor,
        )
        if status != FITS:
            return status
        tensors, ids = floor.count + floor.inputs, k.floors.arena + floor.at
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
        p.slots[step] = kernel.machine.max_regions - tensors if kernel.machine.max_regions else <i64>1 << 40
        p.first_stay[step] = -1
        k.reserved[step] = 0
    k.input_start[k.steps] = end
    return FITS
