# Exact search: shortest path over downsets (cocco/baselines/exact.py states the argument)

cdef struct Lattice:  # what does not change during an exact search; sets of layers are rows of `words` 64-bit words
    i64 words
    i64 size
    u64* ancestors      # of each layer, itself included
    u64* alone          # one set: layers that share a subgraph with none of their consumers


cdef struct States:  # downsets found so far
    i64 count
    i64 room
    u64* executed       # the downset
    u64* chosen         # the subgraph that led to it at least cost
    double* cost
    i64* parent
    i64* next           # in the list of its level
    i64* level          # by number of executed layers: first state
    i64* index          # hash table of state numbers, -1 for none
    i64 index_size


cdef struct Sets:  # candidate subgraphs of one state
    i64 count
    i64 room
    u64* members
    i64* index
    i64 index_size


cdef extern from *:
    """
    static int popcount64(unsigned long long x) { return __builtin_popcountll(x); }
    static int lowest_bit(unsigned long long x) { return __builtin_ctzll(x); }
    """
    int popcount64(u64 x) noexcept nogil
    int lowest_bit(u64 x) noexcept nogil


cdef inline u64 hash_set(const u64* members, i64 words) noexcept nogil:
    cdef u64 h = GAMMA
    cdef i64 i
    for i in range(words):
        h = (h ^ members[i]) * 0x9FB21C651E98DF25ULL
        h ^= h >> 31
    return mix(h)


cdef inline bint same_set(const u64* a, const u64* b, i64 words) noexcept nogil:
    cdef i64 i
    for i in range(words):
        if a[i] != b[i]:
            return False
    return True


cdef inline bint has(const u64* members, i64 v) noexcept nogil:
    return (members[v >> 6] >> (v & 63)) & 1


cdef i64 list_set(const u64* members, i64 words, i64* into) noexcept nogil:
    cdef i64 i, count = 0
    cdef u64 word
    for i in range(words):
        word = members[i]
        while word:
            into[count] = 64 * i + lowest_bit(word)
            count += 1
            word &= word - 1
    return count


cdef bint may_fit(Net* net, Machine* m, Work* w, const i64* layers, i64 count, i64 capacity, i64 weight_capacity) noexcept nogil:
    """A necessary condition that fails for every superset, too, once it fails: weights, regions, least activation."""
    cdef i64 need, u, t, k, v, i, gv, value, height, width, element, least, total = 0, room
    cdef i64 rows_size, rows_step, columns_size, columns_step
    cdef int axis, overflow = 0
    if count == 1:
        return True
    collect(net, w, layers, count)
    if m.max_regions and w.tensors > m.max_regions:
        return False
    need = ceil_div(w.weights, m.cores)
    if m.is_shared:
        room = capacity - need
    else:
        room = capacity
        if need > weight_capacity:
            return False
    if room < 0:
        return False
    for axis in range(2):  # the paper's steps and sizes at tile 1: they only grow with more readers and larger tiles
        for i in range(w.tensors):
            u = w.layers - 1 - i if i < w.layers else i
            value = 1
            for k in range(w.first[u], w.first[u + 1]):
                gv = w.ids[w.reader[k]]
                value = lcm(value, imin(w.axis[axis].step[w.reader[k]] * net.stride[axis][gv], <i64>1 << 30), &overflow)
            if overflow:
                return True
            w.axis[axis].step[u] = value
            least = value
            for k in range(w.first[u], w.first[u + 1]):
                gv = w.ids[w.reader[k]]
                least = imax(least, value + net.reach[axis][gv] - net.stride[axis][gv])
            w.axis[axis].size[u] = least
    for u in range(w.tensors):
        t = w.ids[u]
        height, width = net.extent[0][t], ceil_div(net.extent[1][t], m.bands)
        element = ceil_div(net.channels[t], ALIGNMENT) * ALIGNMENT * m.samples
        if w.has_whole:
            total += element * (net.extent[0][t] * net.extent[1][t] if w.any_whole[u] else 1)
            continue
        rows_size, rows_step = imin(w.axis[0].size[u], height), w.axis[0].size[u] - w.axis[0].step[u]
        columns_size = imin(w.axis[1].size[u], width)
        least = imin(height * columns_size, rows_size * width)
        if w.axis[1].size[u] < width:
            if m.is_exact:
                value = imin(rows_step, height) * width
            else:
                value = rows_step * width if w.axis[0].size[u] < height else 0
        else:
            value = 0
        if w.first[u] == w.first[u + 1]:
            value = 0
        total += element * imin(least, rows_size * columns_size + value)
    return total <= room


cdef double row_cost(Goal* goal, Machine* m, Row* row) noexcept nogil:
    """Formula 1 of one subgraph in the first capacities of the goal."""
    if goal.metric == 0:
        return <double>row.ema
    if goal.metric == 1:
        return (
            goal.dram * <double>row.ema + goal.sram[0][0] * <double>row.global_buffer
            + goal.sram[1][0] * <double>row.weight_buffer + goal.operation * <double>row.operations
            + goal.crossbar * <double>row.crossbar
        )
    return <double>row.slots / <double>m.bandwidth


cdef i64 find_state(States* s, const u64* executed, i64 words) noexcept nogil:
    """The number of the state, -1 if it is new; then s.index is ready to take it."""
    cdef i64 slot = <i64>(hash_set(executed, words) & <u64>(s.index_size - 1))
    while s.index[slot] >= 0:
        if same_set(s.executed + s.index[slot] * words, executed, words):
            return s.index[slot]
        slot = (slot + 1) & (s.index_size - 1)
    return -1 - slot


cdef int relax(States* s, const u64* executed, const u64* chosen, i64 words, double cost, i64 parent) noexcept nogil:
    """Keep the transition if it is the cheapest to its state; 1 if there is no room for a new state."""
    cdef i64 found = find_state(s, executed, words), i, level = 0
    if found < 0:
        if s.count == s.room:
            return 1
        s.index[-1 - found] = s.count
        found = s.count
        s.count += 1
        memcpy(s.executed + found * words, executed, words * sizeof(u64))
        for i in range(words):
            level += popcount64(executed[i])
        s.next[found] = s.level[level]
        s.level[level] = found
        s.cost[found] = cost
    elif cost >= s.cost[found]:
        return 0
    s.cost[found] = cost
    s.parent[found] = parent
    memcpy(s.chosen + found * words, chosen, words * sizeof(u64))
    return 0


cdef int add_set(Sets* sets, const u64* members, i64 words) noexcept nogil:
    """0 if the set is new and kept, 1 if it was there, 2 if there is no room."""
    cdef i64 slot = <i64>(hash_set(members, words) & <u64>(sets.index_size - 1))
    while sets.index[slot] >= 0:
        if same_set(sets.members + sets.index[slot] * words, members, words):
            return 1
        slot = (slot + 1) & (sets.index_size - 1)
    if sets.count == sets.room:
        return 2
    sets.index[slot] = sets.count
    memcpy(sets.members + sets.count * words, members, words * sizeof(u64))
    sets.count += 1
    return 0


cdef int expand(
    Graph* g, Net* net, Machine* m, Goal* goal, Work* w, Memo* memo, Lattice* lattice, States* states, Sets* sets,
    i64 state, i64* ids, u64* spare, i64* transitions, i64 most_transitions
) noexcept nogil:
    """Relax every subgraph that can run next; FITS, SHORT if a budget is spent, OVERFLOW."""
    cdef i64 words = lattice.words, v, i, j, k, count, here, x, forced = -1
    cdef u64* executed = states.executed + state * words
    cdef u64* grown = spare
    cdef u64* after = spare + words
    cdef u64* tried = spare + 2 * words
    cdef double base = states.cost[state]
    cdef Row row
    cdef int status, added
    for i in range(sets.count):  # empty the index by the entries that are in it
        k = <i64>(hash_set(sets.members + i * words, words) & <u64>(sets.index_size - 1))
        while sets.index[k] >= 0:
            sets.index[k] = -1
            k = (k + 1) & (sets.index_size - 1)
    sets.count = 0
    for v in range(lattice.size):
        if has(executed, v):
            continue
        for j in range(g.producer_start[v], g.producer_start[v + 1]):
            if not has(executed, g.producers[j]):
                break
        else:
            memset(grown, 0, words * sizeof(u64))
            grown[v >> 6] = <u64>1 << (v & 63)
            if has(lattice.alone, v):
                forced = v
                break
            if add_set(sets, grown, words) == 2:
                return SHORT
    if forced >= 0:  # it can only run alone, so it may as well run now
        price_again(net, m, w, memo, &forced, 1, goal.capacity[0][0], goal.capacity[1][0], &row)
        for i in range(words):
            after[i] = executed[i] | grown[i]
        transitions[0] += 1
        return SHORT if relax(states, after, grown, words, base + row_cost(goal, m, &row), state) else FITS
    here = 0
    while here < sets.count:
        count = list_set(sets.members + here * words, words, ids)
        transitions[0] += 1
        if transitions[0] > most_transitions:
            return SHORT
        status = price_again(net, m, w, memo, ids, count, goal.capacity[0][0], goal.capacity[1][0], &row)
        if status == OVERFLOW:
            return OVERFLOW
        if status == FITS:
            for i in range(words):
                after[i] = executed[i] | sets.members[here * words + i]
            if relax(states, after, sets.members + here * words, words, base + row_cost(goal, m, &row), state):
                return SHORT
        memset(tried, 0, words * sizeof(u64))
        for k in range(count):
            for j in range(g.consumer_start[ids[k]], g.consumer_start[ids[k] + 1]):
                x = g.consumers[j]
                if has(sets.members + here * words, x) or has(tried, x):
                    continue
                tried[x >> 6] |= <u64>1 << (x & 63)
                for i in range(words):
                    grown[i] = sets.members[here * words + i] | (lattice.ancestors[x * words + i] & ~executed[i])
                status = grow(net, m, goal, w, sets, grown, words, ids + lattice.size)
                if status == SHORT:
                    return SHORT
        here += 1
    return FITS


cdef int grow(Net* net, Machine* m, Goal* goal, Work* w, Sets* sets, const u64* grown, i64 words, i64* ids) noexcept nogil:
    cdef i64 count = list_set(grown, words, ids)
    if not may_fit(net, m, w, ids, count, goal.capacity[0][0], goal.capacity[1][0]):
        return FITS
    return SHORT if add_set(sets, grown, words) == 2 else FITS
