# Iterated order DP: cocco/search/baselines/dynamic.py, improve

cdef struct Known:  # a set of layers that was looked at, by a fingerprint of 128 bits
    u64 first
    u64 second
    double cost         # where is_priced
    int32_t is_taken
    int32_t fits        # -1: not known: cocco.search.pricing.subgraphs.SubgraphCosts.may_fit
    int32_t is_priced


cdef struct Book:
    Known* known
    i64 size            # a power of two
    i64 count           # sets that are in it
    i64 priced          # of these


cdef struct Runs:  # the parts of a run of an order, and the best cut so far
    i64* order
    i64* part_of        # by layer: name of its part, its smallest layer
    i64* stamp          # by layer: the run that it is in
    i64* names          # of the parts, ascending
    u64* first          # fingerprint, by name
    u64* second
    i64* count          # layers, by name
    double* price       # by name, negative: not known
    double* best        # by position
    i64* begin          # by position
    i64* members
    i64* feeds          # edges between subgraphs, by the label of their source
    i64* feeds_start


cdef Known* look_up(Book* book, u64 first, u64 second) noexcept nogil:
    """The entry of a set, which is counted where it is new; NULL where the book is full."""
    cdef i64 slot = <i64>(first & <u64>(book.size - 1))
    while book.known[slot].is_taken:
        if book.known[slot].first == first and book.known[slot].second == second:
            return &book.known[slot]
        slot = (slot + 1) & (book.size - 1)
    if 4 * book.count > 3 * book.size:
        return NULL
    book.count += 1
    book.known[slot].first, book.known[slot].second = first, second
    book.known[slot].is_taken, book.known[slot].fits, book.known[slot].is_priced = 1, -1, 0
    return &book.known[slot]


cdef void insert_sorted(i64* values, i64 count, i64 value) noexcept nogil:
    while count and values[count - 1] > value:
        values[count] = values[count - 1]
        count -= 1
    values[count] = value


cdef i64 gather(Runs* r, i64 start, i64 end, i64 name) noexcept nogil:
    """The layers of a part of the run order[start:end], ascending, into r.members."""
    cdef i64 i, count = 0
    for i in range(start, end):
        if r.part_of[r.order[i]] == name:
            insert_sorted(r.members, count, r.order[i])
            count += 1
    return count


cdef int price_part(Orders s, i64 start, i64 end, i64 name) noexcept nogil:
    """Write r.price of the part; SubgraphCosts.costs."""
    cdef Runs* r = &s.runs
    cdef Known* entry = look_up(&s.book, r.first[name], r.second[name])
    cdef Memory memory = memory_of(s.kernel, 0, 0)
    cdef Print key
    cdef Row row
    cdef int status
    cdef i64 count
    if entry == NULL:
        return OVERFLOW
    if not entry.is_priced:
        count = gather(r, start, end, name)
        key = print_of_memory(&memory)
        key.first, key.second = key.first + r.first[name], key.second + r.second[name]
        status = price_known(s.kernel, s.scratch, r.members, count, key, &memory, &row)
        if status == OVERFLOW:
            return OVERFLOW
        entry.cost = INFINITY
        if status == FITS:
            entry.cost = row_cost(s.kernel, &memory, &row, s.kernel.graph.network_of[name])
        entry.is_priced = 1
        s.book.priced += 1
        s.layers_priced += count
    r.price[name] = entry.cost
    return FITS


cdef int part_may_fit(Orders s, i64 start, i64 end, i64 name) noexcept nogil:
    """1 or 0; -1 where the book is full."""
    cdef Known* entry = look_up(&s.book, s.runs.first[name], s.runs.second[name])
    cdef Memory memory = memory_of(s.kernel, 0, 0)
    if entry == NULL:
        return -1
    if entry.fits < 0:
        entry.fits = may_fit(s.kernel, s.scratch, s.runs.members, gather(&s.runs, start, end, name), &memory)
    return entry.fits


cdef inline void take_part(Runs* r, i64 c, i64 run, u64* first, u64* second, i64* count, i64* name) noexcept nogil:
    """Take over the part of a layer that is joined with a new one, if it is in the run and not taken over yet."""
    cdef i64 old = r.part_of[c]
    if r.stamp[c] != run or r.count[old] == 0:
        return
    first[0] += r.first[old]
    second[0] += r.second[old]
    count[0] += r.count[old]
    r.count[old] = 0  # is part of the new one
    name[0] = imin(name[0], old)


cdef i64 extend(Graph* g, Runs* r, i64 start, i64 end, i64 parts, i64 run, i64* joined) noexcept nogil:
    """dynamic._with_layer: order[start] comes before the run; the number of parts, and the name of the part it is in."""
    cdef i64 v = r.order[start], i, j, k, name = v, left = 0
    cdef u64 first = print_first(v), second = print_second(v)
    cdef i64 count = 1
    r.stamp[v] = run
    r.part_of[v] = v
    for j in range(g.consumer_start[v], g.consumer_start[v + 1]):
        take_part(r, g.consumers[j], run, &first, &second, &count, &name)
    for i in range(g.sets_of_start[v], g.sets_of_start[v + 1]):
        k = g.sets_of[i]
        for j in range(g.sibling_start[k], g.sibling_start[k + 1]):
            if g.siblings[j] != v:
                take_part(r, g.siblings[j], run, &first, &second, &count, &name)
    for i in range(parts):
        if r.count[r.names[i]]:
            r.names[left] = r.names[i]
            left += 1
    if count > 1:
        # a part that was taken over has count 0; a layer may be named after a part of another run, so ask the stamp
        for i in range(start + 1, end):
            if r.count[r.part_of[r.order[i]]] == 0:
                r.part_of[r.order[i]] = name
        r.part_of[v] = name
    insert_sorted(r.names, left, name)
    r.first[name], r.second[name], r.count[name], r.price[name] = first, second, count, -1.0
    joined[0] = name
    return left + 1


cdef int cut_order(Orders s) noexcept nogil:
    """dynamic.dynamic: r.best and r.begin of the order; OVERFLOW where the book or 64 bits do not do."""
    cdef Graph* g = &s.kernel.graph
    cdef Runs* r = &s.runs
    cdef i64 end, start, parts, joined, i
    cdef double least, total
    cdef int fits
    r.best[0] = 0.0
    for end in range(1, g.size + 1):
        least = INFINITY
        r.begin[end] = end - 1
        parts = 0
        s.run += 1
        for start in range(end - 1, -1, -1):
            if g.network_of[r.order[start]] != g.network_of[r.order[end - 1]]:
                break
            parts = extend(g, r, start, end, parts, s.run, &joined)
            if r.count[joined] > 1:
                fits = part_may_fit(s, start, end, joined)
                if fits < 0:
                    return OVERFLOW
                if not fits:
                    break
            total = r.best[start]
            for i in range(parts):
                if r.price[r.names[i]] < 0:
                    if price_part(s, start, end, r.names[i]) == OVERFLOW:
                        return OVERFLOW
                total += r.price[r.names[i]]
                if total >= least:
                    break
            else:
                least = total
                r.begin[end] = start
        r.best[end] = least
    return FITS


cdef void read_cut(Graph* g, Runs* r, i64* labels, i64* run) noexcept nogil:
    """The labels of the best cut."""
    cdef i64 end = g.size, start, parts, joined, i
    while end:
        parts = 0
        run[0] += 1
        for start in range(end - 1, r.begin[end] - 1, -1):
            parts = extend(g, r, start, end, parts, run[0], &joined)
        for i in range(r.begin[end], end):
            labels[r.order[i]] = r.part_of[r.order[i]]
        end = r.begin[end]


cdef void dissolve(Graph* g, Bench* b, const i64* labels, i64* changed, u64* stream) noexcept nogil:
    """dynamic._dissolved; members of the subgraphs are listed in b."""
    cdef i64 label = labels[below(stream, g.size)], rounds = below(stream, 4), v, j, k, near, i, pick
    memcpy(changed, labels, g.size * sizeof(i64))
    for i in range(rounds):
        for v in range(g.size):
            b.flag2[v] = 0
        v = b.start[label]
        while v >= 0:
            changed[v] = v
            for j in range(g.producer_start[v], g.producer_start[v + 1]):
                b.flag2[labels[g.producers[j]]] = 1
            for j in range(g.consumer_start[v], g.consumer_start[v + 1]):
                b.flag2[labels[g.consumers[j]]] = 1
            for k in range(g.sets_of_start[v], g.sets_of_start[v + 1]):
                for j in range(g.sibling_start[g.sets_of[k]], g.sibling_start[g.sets_of[k] + 1]):
                    b.flag2[labels[g.siblings[j]]] = 1
            v = b.next[v]
        b.flag2[label] = 0
        near = 0
        for v in range(g.size):
            near += b.flag2[v]
        if not near:
            break
        pick = below(stream, near)
        for v in range(g.size):
            if b.flag2[v]:
                if pick == 0:
                    break
                pick -= 1
        label = v
    for v in range(g.size):
        b.flag2[v] = 0


cdef inline i64 draw_ready(Bench* b, i64* top, u64* stream) noexcept nogil:
    cdef i64 i = below(stream, top[0]), node = b.ready[i]
    top[0] -= 1
    b.ready[i] = b.ready[top[0]]
    return node


cdef void random_order(Graph* g, Bench* b, Runs* r, const i64* labels, u64* stream) noexcept nogil:
    """dynamic._random_order into r.order; b.order takes the subgraphs first."""
    cdef i64 v, e, j, u, top = 0, count = 0, at = 0, node, k
    list_members(labels, g.size, b)
    for v in range(g.size + 2):
        r.feeds_start[v] = 0
    for v in range(g.size):
        b.waits[v] = 0
    for e in range(g.edges):
        if labels[g.source[e]] != labels[g.target[e]]:
            b.waits[labels[g.target[e]]] += 1
            r.feeds_start[labels[g.source[e]] + 2] += 1
    for v in range(g.size):
        r.feeds_start[v + 2] += r.feeds_start[v + 1]
    for e in range(g.edges):
        u = labels[g.source[e]]
        if u != labels[g.target[e]]:
            r.feeds[r.feeds_start[u + 1]] = labels[g.target[e]]
            r.feeds_start[u + 1] += 1
    for v in range(g.size):
        if labels[v] == v and b.waits[v] == 0:
            b.ready[top] = v
            top += 1
    while top:
        node = draw_ready(b, &top, stream)
        b.order[count] = node
        count += 1
        for j in range(r.feeds_start[node], r.feeds_start[node + 1]):
            u = r.feeds[j]
            b.waits[u] -= 1
            if b.waits[u] == 0:
                b.ready[top] = u
                top += 1
    for k in range(count):  # inside each subgraph
        v = b.start[b.order[k]]
        while v >= 0:
            b.waits[v] = 0
            for j in range(g.producer_start[v], g.producer_start[v + 1]):
                b.waits[v] += labels[g.producers[j]] == labels[v]
            if b.waits[v] == 0:
                b.ready[top] = v
                top += 1
            v = b.next[v]
        while top:
            node = draw_ready(b, &top, stream)
            r.members[at] = node
            at += 1
            for j in range(g.consumer_start[node], g.consumer_start[node + 1]):
                u = g.consumers[j]
                if labels[u] == labels[node]:
                    b.waits[u] -= 1
                    if b.waits[u] == 0:
                        b.ready[top] = u
                        top += 1
    count = 0
    for k in range(g.networks):  # one network after the other
        for v in range(g.size):
            if g.network_of[r.members[v]] == k:
                r.order[count] = r.members[v]
                count += 1
