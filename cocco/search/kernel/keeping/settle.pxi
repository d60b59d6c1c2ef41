# The steps of a genome priced beside what stays: _Run of cocco/search/keeping/genome.py

cdef int settle(Kernel kernel, Scratch scratch, Memory* memory) noexcept nogil:
    """_Run.settled: rows of all steps beside what stays; drops what costs a step more than it saves."""
    cdef Keeping* k = scratch.keeping
    cdef i64 step, i, each, stay, count = 0, worst
    cdef double crossing = 1.0, loss
    cdef Places* p = &k.places
    cdef int status
    if k.by == 1:
        crossing = kernel.goal.dram + (memory.activation_pj.read + memory.activation_pj.write) / 2.0
    elif k.by == 2:
        crossing = 1.0 / kernel.machine.per_cycle
    for stay in range(p.stay_count):
        reserve(k, stay, 1)
    for step in range(k.steps):
        ask_step(kernel, scratch, memory, step)
    for step in range(k.steps):
        stay = p.first_stay[step]
        while stay >= 0:
            k.active[count] = stay
            count += 1
            stay = p.stays[stay].next
        status = price_step(kernel, scratch, memory, step)
        if status != FITS:
            return status
        while k.reserved[step]:
            loss = INFINITY
            if k.status[step] == FITS:
                loss = metric_of(kernel, k.by, memory, &k.rows[step])
            loss -= metric_of(kernel, k.by, memory, &k.alone[k.members[k.member_start[step]]])
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
                ask_step(kernel, scratch, memory, each)
            for each in range(p.stays[stay].start, step + 1):
                status = price_step(kernel, scratch, memory, each)
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


cdef void ask_step(Kernel kernel, Scratch scratch, Memory* memory, i64 step) noexcept nogil:
    """Work out the print of what the price of a step depends on, and fetch what is known of it."""
    cdef Keeping* k = scratch.keeping
    cdef Places* p = &k.places
    cdef i64 i, at
    cdef Memory beside = memory[0]
    cdef Print* asked = &k.asked[step]
    if not k.reserved[step]:
        return
    k.handed[step] = beside.handed = handed_in(kernel, scratch, step)
    beside.reserved, k.touches[step] = k.reserved[step] - beside.handed, 0
    asked[0] = print_of_memory(&beside)
    asked.first, asked.second = asked.first + k.prints[step].first, asked.second + k.prints[step].second
    for i in range(k.member_start[step], k.member_start[step + 1]):
        if p.stay[p.start[k.members[i]]] >= 0:
            touch(k, step, k.members[i], crosses_as_made(&kernel.net, p, k.members[i]))
    for i in range(k.input_start[step], k.input_start[step + 1], 2):
        at = k.inputs[i + 1]
        if p.stay[at] >= 0:
            touch(k, step, k.inputs[i], p.stays[p.stay[at]].start == step)
    fetch_entry(&k.prices, asked[0])


cdef inline void touch(Keeping* k, i64 step, i64 u, bint crosses) noexcept nogil:
    """A step makes or reads a tensor that stays, and it crosses DRAM or not."""
    k.touches[step] = 1
    k.asked[step].first += print_first(-1 - 2 * u - crosses)
    k.asked[step].second += print_second(-1 - 2 * u - crosses)


cdef i64 handed_in(Kernel kernel, Scratch scratch, i64 step) noexcept nogil:
    """The bytes of a result that takes the place of an operand in a step: Reserved.handed."""
    cdef Keeping* k = scratch.keeping
    cdef Places* p = &k.places
    cdef i64* pairs = NULL
    cdef i64 i, at, pair, start = k.member_start[step]
    for pair in range(0, pairs_of(&kernel.net, k.members + start, k.member_start[step + 1] - start, &pairs), 2):
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


cdef int price_step(Kernel kernel, Scratch scratch, Memory* memory, i64 step) noexcept nogil:
    """_Run._priced: the row and the status of a step; OVERFLOW where 64 bits do not do."""
    cdef Keeping* k = scratch.keeping
    cdef i64* layers = k.members + k.member_start[step]
    cdef i64 count = k.member_start[step + 1] - k.member_start[step]
    cdef Memory beside = memory[0]
    cdef Entry* entry
    cdef Kept kept
    if not k.reserved[step]:
        k.rows[step], k.status[step] = k.alone[layers[0]], FITS
        return FITS
    entry = entry_of(&k.prices, k.asked[step])
    if not entry.status:
        beside.handed = k.handed[step]
        beside.reserved = k.reserved[step] - beside.handed
        put_step(kernel, scratch, step)
        kept.on_chip, kept.loaded, kept.written = k.sets[0], k.sets[1], k.sets[2]
        entry.status = 1 + price_beside(
            &kernel.net, &kernel.machine, &scratch.work, layers, count, &beside, &kept if k.touches[step] else NULL,
            k.layers, k.spare, &entry.row,
        )
    k.rows[step], k.status[step] = entry.row, <int32_t>(entry.status - 1)
    return OVERFLOW if k.status[step] == OVERFLOW else FITS


cdef void put_step(Kernel kernel, Scratch scratch, i64 step) noexcept nogil:
    """Where the tensors of a step lie, into the sets."""
    cdef Keeping* k = scratch.keeping
    cdef Places* p = &k.places
    cdef i64 i, u, at
    for i in range(3):
        memset(k.sets[i], 0, (kernel.net.tensors // 64 + 1) * sizeof(u64))
    for i in range(k.member_start[step], k.member_start[step + 1]):
        u = k.members[i]
        if p.stay[p.start[u]] >= 0:
            put(k.sets[0], u)
        if crosses_as_made(&kernel.net, p, u):
            put(k.sets[2], u)
    for i in range(k.input_start[step], k.input_start[step + 1], 2):
        u, at = k.inputs[i], k.inputs[i + 1]
        if p.stay[at] >= 0:
            put(k.sets[0], u)
        if p.stay[at] < 0 or p.stays[p.stay[at]].start == step:
            put(k.sets[1], u)
