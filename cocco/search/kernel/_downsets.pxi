# Exact search: shortest path over downsets (cocco/search/baselines/exact.py states the argument)

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
    i64* level_end      # and the last
    i64* index          # hash table of state numbers, -1 for none
    i64 index_size


cdef struct Sets:  # candidate subgraphs of one state
    i64 count
    i64 room
    u64* members
    i64* index
    i64 index_size


cdef struct Prices:  # of the sets of layers that were looked at, by all states
    Sets sets
    double* cost        # negative: neither this set nor a larger one fits
    i64 steps           # transitions, and look_steps for each set, price_steps for one that may fit
    i64 most_steps
    i64 look_steps
    i64 price_steps


cdef extern from *:
    """
    static int popcount64(unsigned long long x) { /* most words of long networks are empty or full: 0 or 64 bits */
        return x && ~x ? __builtin_popcountll(x) : (int)(x & 64);
    }
    static int lowest_bit(unsigned long long x) { return __builtin_ctzll(x); }
    """
    int popcount64(u64 x) noexcept nogil
    int lowest_bit(u64 x) noexcept nogil


cdef inline u64 hash_set(const u64* members, i64 words) noexcept nogil:
    """Of each word by itself, so that a processor works on several at once."""
    cdef u64 total = GAMMA, each
    cdef i64 i
    for i in range(words):
        each = (members[i] ^ (<u64>(i + 1) * GAMMA)) * 0x9FB21C651E98DF25ULL
        total += each ^ (each >> 31)
    return mix(total)


cdef inline bint same_set(const u64* a, const u64* b, i64 words) noexcept nogil:
    cdef i64 i
    for i in range(words):  # few, and most differ in the first that is not full
        if a[i] != b[i]:
            return False
    return True


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


cdef bint all_apart(Net* net, Work* w) noexcept nogil:
    """SubgraphCosts._parts"""
    cdef i64 i
    for i in range(w.layers):
        if net.unit[w.ids[i]] == 1:
            return False
    return True


cdef bint may_fit(Net* net, Machine* m, Work* w, const i64* layers, i64 count, Memory* memory) noexcept nogil:
    """cocco.search.pricing.subgraphs.SubgraphCosts.may_fit: once it fails, it fails for every larger set."""
    cdef i64 need, u, t, k, i, v, gv, height, width, band, element, room, size_h, size_w, least, total = 0, shared = 0
    cdef bint in_parts
    cdef i64* rows = w.axis[0].step     # asked of each tensor: steps, then slacks
    cdef i64* columns = w.axis[1].step
    cdef i64* slack_h = w.axis[0].lead
    cdef i64* slack_w = w.axis[1].lead
    collect(net, w, layers, count)
    in_parts = m.is_apart and all_apart(net, w)
    need = 0 if in_parts else ceil_div(w.weights, m.cores)
    room = memory.activations - need if m.is_shared else memory.activations
    if room < 0 or (not m.is_shared and need > memory.weights):
        return False
    if count > 1 and m.max_regions and w.tensors > m.max_regions:
        return False
    for i in range(w.tensors):
        u = w.layers - 1 - i if i < w.layers else i
        rows[u] = columns[u] = 1
        slack_h[u] = slack_w[u] = 0
        for k in range(w.first[u], w.first[u + 1]):
            if w.is_local[k]:
                v = w.reader[k]
                gv = w.ids[v]
                height, width = net.extent[0][gv], net.extent[1][gv]
                height = (height if w.any_whole[v] else imin(rows[v], height)) * net.stride[0][gv]
                width = (width if w.any_whole[v] else imin(columns[v], width)) * net.stride[1][gv]
                rows[u] = imax(rows[u], ceil_div(height, net.upsample[0][gv]))
                columns[u] = imax(columns[u], ceil_div(width, net.upsample[1][gv]))
                slack_h[u] = imax(slack_h[u], floor_div(net.reach[0][gv] - net.stride[0][gv], net.upsample[0][gv]))
                slack_w[u] = imax(slack_w[u], floor_div(net.reach[1][gv] - net.stride[1][gv], net.upsample[1][gv]))
        t = w.ids[u]
        height, width, band = net.extent[0][t], net.extent[1][t], ceil_div(net.extent[1][t], m.bands)
        element = element_bytes(net, m, t, 1, 1)
        least = element_bytes(net, m, t, 1, m.cores)  # of dealt channels
        if in_parts:
            least = imin(least, row_bytes(m.alignment, net.bits[t]))
        if w.any_whole[u]:
            total += height * width * least
            shared += height * width * element
            continue
        size_h = imin(imin(rows[u], height) + slack_h[u], height)
        size_w = imin(imin(columns[u], width) + slack_w[u], width)
        total += least * imin(
            size_h * size_w + imin(slack_h[u], height) * width, imin(height * size_w, size_h * width)
        )
        size_w = imin(size_w, band)
        shared += element * imin(
            size_h * size_w + imin(slack_h[u], height) * band, imin(height * size_w, size_h * band)
        )
    return total <= room or (m.bands > 1 and shared <= room)


cdef double row_cost(Goal* goal, Machine* m, Row* row, i64 network) noexcept nogil:
    """Formula 1 of one subgraph in the capacities at goal.at, with the weight of its network."""
    if goal.metric == 0:
        return goal.weights[network] * <double>row.ema
    if goal.metric == 1:
        return goal.weights[network] * energy_of(goal, goal.at[0], goal.at[1], row)
    return goal.weights[network] * (<double>row.slots / <double>m.bandwidth)


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
        s.next[found] = -1
        if s.level[level] < 0:
            s.level[level] = found
        else:
            s.next[s.level_end[level]] = found
        s.level_end[level] = found
        s.cost[found] = cost
    elif cost >= s.cost[found]:
        return 0
    s.cost[found] = cost
    s.parent[found] = parent
    memcpy(s.chosen + found * words, chosen, words * sizeof(u64))
    return 0


cdef i64 find_set(Sets* sets, const u64* members, i64 words) noexcept nogil:
    """The number of the set, or -1 - the place in the index where it belongs."""
    cdef i64 slot = <i64>(hash_set(members, words) & <u64>(sets.index_size - 1))
    while sets.index[slot] >= 0:
        if same_set(sets.members + sets.index[slot] * words, members, words):
            return sets.index[slot]
        slot = (slot + 1) & (sets.index_size - 1)
    return -1 - slot


cdef int add_set(Sets* sets, const u64* members, i64 words) noexcept nogil:
    """0 if the set is new and kept, 1 if it was there, 2 if there is no room."""
    cdef i64 found = find_set(sets, members, words)
    if found >= 0:
        return 1
    if sets.count == sets.room:
        return 2
    sets.index[-1 - found] = sets.count
    memcpy(sets.members + sets.count * words, members, words * sizeof(u64))
    sets.count += 1
    return 0


cdef int price_set(
    Net* net, Machine* m, Goal* goal, Work* w, Memo* memo, Prices* prices, const u64* group, i64 words, const i64* layers,
    i64 count, double* cost
) noexcept nogil:
    """exact.py, _cost_of: FITS with the cost, infinite or negative as Prices says; SHORT if the steps are spent."""
    cdef i64 found
    cdef Memory memory = memory_of(goal, m, goal.at[0], goal.at[1])
    cdef Row row
    cdef int status
    found = find_set(&prices.sets, group, words)
    if found >= 0:
        cost[0] = prices.cost[found]
        return FITS
    if prices.sets.count == prices.sets.room:
        return SHORT
    prices.steps += prices.look_steps
    cost[0] = -1.0
    if count == 1 or may_fit(net, m, w, layers, count, &memory):
        prices.steps += prices.price_steps
        status = price_again(net, m, w, memo, layers, count, &memory, &row)
        if status == OVERFLOW:
            return OVERFLOW
        cost[0] = row_cost(goal, m, &row, 0) if status == FITS else INFINITY
    prices.cost[prices.sets.count] = cost[0]
    add_set(&prices.sets, group, words)
    return SHORT if prices.steps > prices.most_steps else FITS


cdef int expand(
    Graph* g, Net* net, Machine* m, Goal* goal, Work* w, Memo* memo, Lattice* lattice, States* states, Sets* sets,
    Prices* prices, i64 state, i64* ids, i64* stack, u64* spare, i64* transitions
) except -1 nogil:
    """Relax every subgraph that can run next (exact.py, _steps); FITS, SHORT if a budget is spent, OVERFLOW."""
    cdef i64 words = lattice.words, v, i, j, k, count, here, x, top
    cdef u64* executed = states.executed + state * words
    cdef u64* grown = spare
    cdef u64* after = spare + words
    cdef u64* readers = spare + 2 * words
    cdef u64* group
    cdef double base = states.cost[state], cost
    cdef int status
    for i in range(sets.count):  # empty the index by the entries that are in it
        k = <i64>(hash_set(sets.members + i * words, words) & <u64>(sets.index_size - 1))
        while sets.index[k] >= 0:
            sets.index[k] = -1
            k = (k + 1) & (sets.index_size - 1)
    sets.count = 0
    count = 0
    for v in range(lattice.size):
        if has(executed, v):
            continue
        for j in range(g.producer_start[v], g.producer_start[v + 1]):
            if not has(executed, g.producers[j]):
                break
        else:
            ids[lattice.size + count] = v  # ready layers wait in the second half of ids
            count += 1
            if has(lattice.alone, v):  # it can only run alone, so it may as well run now
                count = 1
                ids[lattice.size] = v
                break
    for j in range(count):
        v = ids[lattice.size + j]
        memset(grown, 0, words * sizeof(u64))
        grown[v >> 6] = <u64>1 << (v & 63)
        stack[0] = sets.count
        if add_set(sets, grown, words) == 2:
            return SHORT
        top = 1
        while top:
            top -= 1
            here = stack[top]
            group = sets.members + here * words
            transitions[0] += 1
            let_in(transitions[0])
            prices.steps += 1
            if prices.steps > prices.most_steps:
                return SHORT
            k = list_set(group, words, ids)
            status = price_set(net, m, goal, w, memo, prices, group, words, ids, k, &cost)
            if status != FITS:
                return status
            if cost < 0:
                continue
            if cost < INFINITY:
                for i in range(words):
                    after[i] = executed[i] | group[i]
                if relax(states, after, group, words, base + cost, state):
                    return SHORT
            if has(lattice.alone, v):
                break
            memset(readers, 0, words * sizeof(u64))
            for i in range(k):
                for x in range(g.consumer_start[ids[i]], g.consumer_start[ids[i] + 1]):
                    readers[g.consumers[x] >> 6] |= <u64>1 << (g.consumers[x] & 63)
            for i in range(words):
                readers[i] &= ~group[i]
            k = list_set(readers, words, ids)
            for x in range(k):
                for i in range(words):
                    grown[i] = group[i] | (lattice.ancestors[ids[x] * words + i] & ~executed[i])
                i = add_set(sets, grown, words)
                if i == 2:
                    return SHORT
                if i == 0:
                    stack[top] = sets.count - 1
                    top += 1
    return FITS
