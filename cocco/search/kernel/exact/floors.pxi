# What is left at least, by the layers that have run, and sets that are found by what is in them: exact.py, _floor

cdef int forget_all(Sets* sets) except -1:
    sets.count, sets.index_size = 0, 2048
    memset(sets.index, 0xFF, sets.index_size * sizeof(i64))
    return 0


cdef void index_again(Sets* sets, i64 words, i64 size) noexcept:
    """Index all sets anew, in an index of another size."""
    cdef i64 i, slot
    memset(sets.index, 0xFF, size * sizeof(i64))
    sets.index_size = size
    for i in range(sets.count):
        slot = <i64>(hash_set(sets.members + i * words, words) & <u64>(size - 1))
        while sets.index[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        sets.index[slot] = i


cdef i64 downset_of(KeptSearch s, const u64* executed) except -1:
    """The number of a downset, with its floor and its live tensors; its subgraphs are listed when it goes on."""
    cdef i64 found = find_set(&s.downsets, executed, s.words)
    if found >= 0:
        return found
    s.add(&s.downsets, executed, s.words)
    found = s.downsets.count - 1
    s.floor[found], s.begin[found], s.after[found] = floor_of_layers(s, executed, s.live + found * s.words), -1, -1.0
    if s.has_alike:
        s.tie_begin[found] = -1
    return found


cdef double floor_of_layers(KeptSearch s, const u64* executed, u64* live) noexcept:
    """What is left at least of layers that are in no pattern; live: tensors that exist and are read in the window."""
    cdef i64 k, v, u, i
    cdef double total = 0.0
    cdef bint crosses
    memset(live, 0, s.words * sizeof(u64))
    for k in range(s.inside_count):
        v = s.inside[k]
        if not has(executed, v):
            total += 0.0 if s.uses_patterns and has(s.covered, v) else s.layer_floor[v]
            crosses = has(s.crosses, v) and not (s.uses_patterns and has(s.covered + s.words, v))
            if crosses or (has(s.beyond, v) and not has(s.goal + s.words, v)):
                total += 0.0 if s.kernel.net.is_output[v] else s.crossing_floor[v]  # its layer's floor has it
            if crosses and not has(s.beyond, v):
                total += s.crossing_floor[v]
    for k in range(s.read_count):
        u = s.read_here[k]
        if s.uses_patterns and has(s.covered + s.words, u):
            continue
        if u >= s.size or has(executed, u):
            for i in range(s.first_word[u], s.end_word[u]):
                if s.readers[u * s.words + i] & ~executed[i]:
                    put(live, u)
                    break
    return total


cdef double left_after(KeptSearch s, const u64* executed, u64** live) except? -1.0:
    """exact.py, _left_after; what is found is kept as long as there is room that no state needs."""
    cdef i64 found = find_set(&s.downsets, executed, s.words), i
    cdef double total
    if found < 0 and s.downsets.count < (DOWNSETS - 1) * s.state_room:
        found = downset_of(s, executed)
    if found >= 0 and s.after[found] >= 0:
        live[0] = s.live + found * s.words
        return s.after[found]
    live[0] = s.spare + 16 * (s.words + 1) if found < 0 else s.live + found * s.words
    total = floor_of_layers(s, executed, live[0]) if found < 0 else s.floor[found]
    if s.uses_patterns:
        for i in range(s.pattern_count):
            total += least_after(s, &s.patterns[i], executed)
    if found >= 0:
        s.after[found] = total
    return total


cdef double least_after(KeptSearch s, Pattern* pattern, const u64* executed) noexcept:
    """The least of a pattern once these have run, whatever is kept."""
    cdef u64* state = s.spare + 17 * (s.words + 1)
    cdef u64 seen
    cdef i64 i, k, found
    for i in range(s.words):
        seen = pattern.layers[i]
        for k in range(pattern.late_count):
            if has(executed, pattern.triggers[k]):
                seen |= pattern.late[k * s.words + i]
        state[i] = executed[i] & seen
    found = find_set(&pattern.runs, state, s.words)
    return pattern.least[found] if found >= 0 else 0.0


cdef double left_of(KeptSearch s, Pattern* pattern, const u64* place) noexcept:
    """Pattern.least"""
    cdef u64* state = s.spare + 17 * (s.words + 1)
    cdef u64* late
    cdef u64 seen, tensors
    cdef i64 i, k, found
    for i in range(s.words):
        seen, tensors = pattern.layers[i], pattern.tensors[i]
        for k in range(pattern.late_count):
            late = pattern.late + k * s.words
            if has(place, pattern.triggers[k]):
                seen |= late[i]
            else:
                tensors &= ~late[i]
        state[i], state[s.words + i] = place[i] & seen, place[s.words + i] & tensors
        state[2 * s.words + i] = place[2 * s.words + i] & tensors
    found = find_set(&pattern.states, state, 3 * s.words)
    return pattern.left[found] if found >= 0 else 0.0


cdef double least_left(KeptSearch s, i64 downset, const u64* place) noexcept:
    cdef double total = s.floor[downset]
    cdef i64 i, u
    cdef u64 left
    if s.uses_patterns:
        for i in range(s.pattern_count):
            total += left_of(s, &s.patterns[i], place)
    for i in range(s.words):
        left = s.live[downset * s.words + i] & ~(place[s.words + i] | place[2 * s.words + i])
        while left:
            u = 64 * i + lowest_bit(left)
            total += s.crossing_floor[u]
            left &= left - 1
    return total
