# The steps of a genome priced beside what stays: _Run of cocco/search/keeping/genome.py

cdef int settle(
    Net* net, Machine* m, Goal* goal, Work* w, Keeping* k, Memory* memory, i64 first, i64 second
) noexcept nogil:
    """_Run.settled: rows of all steps beside what stays; drops what costs a step more than it saves."""
    cdef i64 step, i, each, stay, count = 0, worst
    cdef double crossing = 1.0, loss
    cdef Places* p = &k.places
    cdef int status
    if k.by == 1:
        crossing = goal.dram + (goal.sram[0][first].read + goal.sram[0][first].write) / 2.0
    elif k.by == 2:
        crossing = 1.0 / m.per_cycle
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
    k.handed[step] = beside.handed = handed_in(net, k, step)
    beside.reserved = k.reserved[step] - beside.handed
    k.hash[step] = ask_price(&k.memo, key, length, &beside)


cdef i64 handed_in(Net* net, Keeping* k, i64 step) noexcept nogil:
    """The bytes of a result that takes the place of an operand in a step: Reserved.handed."""
    cdef Places* p = &k.places
    cdef i64* pairs = NULL
    cdef i64 i, at, pair, start = k.member_start[step]
    for pair in range(0, pairs_of(net, k.members + start, k.member_start[step + 1] - start, &pairs), 2):
        if p.stay[p.start[pairs[pair + 1]]] < 0:
            continue
        for i in range(k.input_start[step], k.input_start[step + 1], 2):
            at = k.inputs[i + 1]
            if k.inputs[i] != pairs[pair] or p.stay[at] < 0 or at != p.start[pairs[pair]] + p.count[pairs[pair]] - 1:
                continue
            if p.stays[p.stay[at]].start < step:
                return p.whole[pairs[pair + 1]]
    return 0


cdef inline bint crosses_as_made(Net* net, Places* p, i64 u) noexcept nogil:
    """Whether a step writes what it makes."""
    cdef i64 stay = p.stay[p.start[u]]
    if net.is_output[u]:
        return True
    return p.stays[stay].last < p.count[u] - 1 if stay >= 0 else p.count[u] > 1


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
    beside.handed = k.handed[step]
    beside.reserved = k.reserved[step] - beside.handed
    entry = known_price(&k.memo, k.hash[step], key, k.key_length[step], &beside)
    if entry is not NULL:
        k.rows[step], k.status[step] = entry.row, entry.status
        return OVERFLOW if entry.status == OVERFLOW else FITS
    put_step(net, k, step)
    kept.on_chip, kept.loaded, kept.written = k.sets[0], k.sets[1], k.sets[2]
    k.status[step] = new_price(
        net, m, w, &k.memo, k.hash[step], key, k.key_length[step], count, &beside, layers, &kept,
        k.layers, k.spare, &k.rows[step],
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
