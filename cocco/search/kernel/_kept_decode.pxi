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
        return (
            goal.dram * <double>row.ema + goal.sram[0][first] * <double>row.global_buffer
            + goal.sram[1][second] * <double>row.weight_buffer + goal.operation * <double>row.operations
            + goal.crossbar * <double>row.crossbar
        )
    return <double>row.slots / <double>m.bandwidth


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


cdef int settle(
    Net* net, Machine* m, Goal* goal, Work* w, Keeping* k, Memory* memory, i64 first, i64 second
) noexcept nogil:
    """_Run.settled: rows of all steps beside what stays; drops what costs a step more than it saves."""
    cdef i64 step, i, each, stay, count = 0, worst
    cdef double crossing = 1.0, loss
    cdef Places* p = &k.places
    cdef int status
    if k.by == 1:
        crossing = goal.dram + goal.sram[0][first]
    elif k.by == 2:
        crossing = 1.0 / <double>m.bandwidth
    for stay in range(p.stay_count):
        reserve(k, stay, 1)
    k.key_start[0] = 0
    for step in range(k.steps):
        write_key(net, k, memory, step)
        k.key_start[step + 1] = k.key_start[step] + k.key_length[step]
    for step in range(k.steps):
        fetch_ahead(&k.memo.price_arena[k.memo.prices[k.hash[step] & (KEPT_ENTRIES - 1)].at])
    for step in range(k.steps):
        stay = p.first_stay[step]
        while stay >= 0:
            k.active[count] = stay
            count += 1
            stay = p.stays[stay].next
        status = price_step(net, m, w, k, memory, step)
        if status != FITS:
            return status
        while k.reserved[step]:
            loss = INFINITY
            if k.status[step] == FITS:
                loss = cost_by(goal, m, k, &k.rows[step], first, second)
            loss -= cost_by(goal, m, k, &k.alone[k.members[k.member_start[step]]], first, second)
            if loss <= 0.0:
                break
            worst = i = 0
            while i < count:
                if p.stays[k.active[i]].end < step:
                    count -= 1
                    k.active[i] = k.active[count]
                    continue
                if comes_first(&p.stays[k.active[i]], &p.stays[k.active[worst]]):
                    worst = i
                i += 1
            stay = k.active[worst]
            if not loss > <double>p.stays[stay].saved * crossing:
                break
            count -= 1
            k.active[worst] = k.active[count]
            reserve(k, stay, -1)
            for each in range(p.stays[stay].start, p.stays[stay].end + 1):
                write_key(net, k, memory, each)
            for each in range(p.stays[stay].start, step + 1):
                status = price_step(net, m, w, k, memory, each)
                if status != FITS:
                    return status
    return FITS


cdef inline bint comes_first(Stay* a, Stay* b) noexcept nogil:
    """Whether the one is dropped before the other."""
    if a.worth != b.worth:
        return a.worth < b.worth
    return a.saved < b.saved if a.saved != b.saved else a.tensor > b.tensor


cdef void reserve(Keeping* k, i64 number, i64 sign) noexcept nogil:
    """Let a tensor stay (1), or drop it (-1)."""
    cdef Places* p = &k.places
    cdef Stay* stay = &p.stays[number]
    cdef i64 step, at
    for step in range(stay.start, stay.end + 1):
        k.reserved[step] += sign * p.whole[stay.tensor]
    if sign < 0:
        for at in range(p.start[stay.tensor] + stay.first, p.start[stay.tensor] + stay.last + 1):
            p.stay[at] = -1


cdef void write_key(Net* net, Keeping* k, Memory* memory, i64 step) noexcept nogil:
    """What the price of a step depends on; a key is never longer than the one that was written there first."""
    cdef Places* p = &k.places
    cdef i64* layers = k.members + k.member_start[step]
    cdef i64 count = k.member_start[step + 1] - k.member_start[step], length = count, i, at
    cdef int32_t* key = k.keys + k.key_start[step]
    cdef Memory beside = memory[0]
    k.key_length[step] = length
    if not k.reserved[step]:
        return
    for i in range(count):
        key[i] = <int32_t>layers[i]
        at = p.start[layers[i]]
        if p.stay[at] >= 0:
            key[length] = <int32_t>(-1 - 2 * layers[i] - crosses_as_made(net, p, layers[i]))
            length += 1
    for i in range(k.input_start[step], k.input_start[step + 1], 2):
        at = k.inputs[i + 1]
        if p.stay[at] >= 0:
            key[length] = <int32_t>(-1 - 2 * k.inputs[i] - (p.stays[p.stay[at]].start == step))
            length += 1
    k.key_length[step] = length
    beside.reserved = k.reserved[step]
    k.hash[step] = ask_price(&k.memo, key, length, &beside)


cdef inline bint crosses_as_made(Net* net, Places* p, i64 u) noexcept nogil:
    """Whether a step writes what it makes."""
    cdef i64 stay = p.stay[p.start[u]]
    if stay >= 0:
        return p.stays[stay].last < p.count[u] - 1
    return p.count[u] > 1 or net.reader_start[u] == net.reader_start[u + 1]


cdef int price_step(Net* net, Machine* m, Work* w, Keeping* k, Memory* memory, i64 step) noexcept nogil:
    """_Run._priced: the row and the status of a step; OVERFLOW where 64 bits do not do."""
    cdef i64* layers = k.members + k.member_start[step]
    cdef i64 count = k.member_start[step + 1] - k.member_start[step]
    cdef int32_t* key = k.keys + k.key_start[step]
    cdef Memory beside = memory[0]
    cdef KeptEntry* entry
    cdef Kept kept
    if not k.reserved[step]:
        k.rows[step], k.status[step] = k.alone[layers[0]], FITS
        return FITS
    beside.reserved = k.reserved[step]
    entry = known_price(&k.memo, k.hash[step], key, k.key_length[step], &beside)
    if entry is not NULL:
        k.rows[step], k.status[step] = entry.row, entry.status
        return OVERFLOW if entry.status == OVERFLOW else FITS
    put_step(net, k, step)
    kept.on_chip, kept.loaded, kept.written = k.sets[0], k.sets[1], k.sets[2]
    k.status[step] = new_price(
        net, m, w, &k.memo, k.hash[step], key, k.key_length[step], count, &beside, layers, &kept,
        &k.layers[layers[0]] if m.has_loops else NULL, k.spare, &k.rows[step],
    )
    take_out_step(k, step)
    return OVERFLOW if k.status[step] == OVERFLOW else FITS


cdef void put_step(Net* net, Keeping* k, i64 step) noexcept nogil:
    """Where the tensors of a step lie, into the sets."""
    cdef Places* p = &k.places
    cdef i64 i, u, at
    for i in range(k.member_start[step], k.member_start[step + 1]):
        u = k.members[i]
        if p.stay[p.start[u]] >= 0:
            put(k.sets[0], u)
        if crosses_as_made(net, p, u):
            put(k.sets[2], u)
    for i in range(k.input_start[step], k.input_start[step + 1], 2):
        u, at = k.inputs[i], k.inputs[i + 1]
        if p.stay[at] >= 0:
            put(k.sets[0], u)
        if p.stay[at] < 0 or p.stays[p.stay[at]].start == step:
            put(k.sets[1], u)


cdef void take_out_step(Keeping* k, i64 step) noexcept nogil:
    """Empty the sets again."""
    cdef i64 i
    for i in range(k.member_start[step], k.member_start[step + 1]):
        take_out(k.sets[0], k.members[i])
        take_out(k.sets[2], k.members[i])
    for i in range(k.input_start[step], k.input_start[step + 1], 2):
        take_out(k.sets[0], k.inputs[i])
        take_out(k.sets[1], k.inputs[i])
