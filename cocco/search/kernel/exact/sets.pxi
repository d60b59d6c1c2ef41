# Sets of layers as rows of 64-bit words, what may fit of them, and what they cost

cdef struct Sets:  # found by what is in them
    i64 count
    i64 room
    u64* members
    i64* index
    i64 index_size


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


cdef i64 most_apart(Work* w) noexcept nogil:
    """SubgraphCosts._groups"""
    cdef i64 v, most = w.net.most_groups[w.subgraph.tensors[0]]
    for v in w.subgraph.tensors[:w.subgraph.layer_count]:
        most = imin(most, w.net.most_groups[v])
    return most


cdef bint may_fit(Kernel kernel, Scratch scratch, const i64* layers, i64 count, Memory* memory) noexcept nogil:
    """cocco.search.pricing.subgraphs.SubgraphCosts.may_fit: once it fails, it fails for every larger set."""
    if may_hold(&kernel.net, &kernel.machine, &scratch.work, layers, count, memory):
        return True
    return in_nest(&kernel.net, &kernel.machine, layers, count, memory)


cdef bint may_hold(Net* net, Machine* m, Work* w, const i64* layers, i64 count, Memory* memory) noexcept nogil:
    """Whether these layers may be held, with or without others."""
    cdef i64 need, u, k, v, height, width, band, element, room, size_h, size_w, slack_h, slack_w, least
    cdef i64 total = 0, shared = 0, groups = 1
    cdef Subgraph* s = &w.subgraph
    cdef i64* rows = w.steps.step       # asked of each tensor
    cdef i64* columns = w.steps.updates
    collect(net, m, w, layers, count)
    if m.is_apart:
        groups = most_apart(w)
    need = ceil_div(w.weights, m.cores) if groups == 1 else w.weights // groups
    room = memory.activations - need if m.is_shared else memory.activations
    if room < 0 or (not m.is_shared and need > memory.weights):
        return False
    if count > 1 and m.max_regions and s.tensor_count > m.max_regions:
        return False
    for u in s.consumers_first[:s.tensor_count]:
        rows[u] = columns[u] = 1
        slack_h = slack_w = 0
        for k in range(s.reader_count[u]):
            if s.readers[u][k].local:
                v = s.readers[u][k].layer
                height, width = net.extent[0][v], net.extent[1][v]
                height = (height if s.is_whole[v] else imin(rows[v], height)) * net.stride[0][v]
                width = (width if s.is_whole[v] else imin(columns[v], width)) * net.stride[1][v]
                rows[u] = imax(rows[u], ceil_div(height, net.upsample[0][v]))
                columns[u] = imax(columns[u], ceil_div(width, net.upsample[1][v]))
                slack_h = imax(slack_h, floor_div(net.reach[0][v] - net.stride[0][v], net.upsample[0][v]))
                slack_w = imax(slack_w, floor_div(net.reach[1][v] - net.stride[1][v], net.upsample[1][v]))
        height, width, band = net.extent[0][u], net.extent[1][u], ceil_div(net.extent[1][u], m.bands)
        element = element_bytes(net, m, u, 1, 1)
        least = element_bytes(net, m, u, groups, m.cores)  # of dealt channels, or of a group of them
        if s.is_whole[u]:
            total += height * width * least
            shared += height * width * element
            continue
        size_h = imin(imin(rows[u], height) + slack_h, height)
        size_w = imin(imin(columns[u], width) + slack_w, width)
        total += least * imin(size_h * size_w + imin(slack_h, height) * width, imin(height * size_w, size_h * width))
        size_w = imin(size_w, band)
        shared += element * imin(size_h * size_w + imin(slack_h, height) * band, imin(height * size_w, size_h * band))
    return total <= room or (m.bands > 1 and shared <= room)


cdef double row_cost(Kernel kernel, Memory* memory, Row* row, i64 network) noexcept nogil:
    """Formula 1 of one subgraph, with the weight of its network."""
    return kernel.goal.weights[network] * objective_of(kernel, memory, row)


cdef i64 find_set(Sets* sets, const u64* members, i64 words) noexcept nogil:
    """The number of the set, or -1 - the place in the index where it belongs."""
    cdef i64 slot = <i64>(hash_set(members, words) & <u64>(sets.index_size - 1))
    while sets.index[slot] >= 0:
        if same_set(sets.members + sets.index[slot] * words, members, words):
            return sets.index[slot]
        slot = (slot + 1) & (sets.index_size - 1)
    return -1 - slot


cdef i64 add_set(Sets* sets, const u64* members, i64 words) noexcept nogil:
    """The number of a set, which is added if it is new; -1 where there is no room for it."""
    cdef i64 found = find_set(sets, members, words)
    if found >= 0:
        return found
    if sets.count == sets.room:
        return -1
    sets.index[-1 - found] = sets.count
    memcpy(sets.members + sets.count * words, members, words * sizeof(u64))
    sets.count += 1
    return sets.count - 1


cdef class WordRows:
    """Arrays that C points to; sets of layers and of tensors are rows of `words` 64-bit words."""

    cdef list arrays
    cdef i64 words

    cdef void* held(self, values, kind) except NULL:
        array = np.append(np.asarray(values, dtype=kind), np.zeros(1, dtype=kind))
        self.arrays.append(array)
        return <void*><size_t>array.ctypes.data

    cdef u64* rows_of(self, sets) except NULL:
        """Sets given as integers, a row for each; patterns have millions, so Ctrl-C is let in."""
        cdef i64 i
        found = []
        for each in sets:
            PyErr_CheckSignals()
            for i in range(self.words):
                found.append((each >> (64 * i)) & 0xFFFFFFFFFFFFFFFF)
        return <u64*>self.held(found, np.uint64)

    cdef object integer(self, const u64* members):
        """A row as an integer."""
        cdef i64 i
        return sum([<object>members[i] << 64 * i for i in range(self.words) if members[i]])
