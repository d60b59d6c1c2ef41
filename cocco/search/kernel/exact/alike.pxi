# Tensors that may stand for one another: cocco/search/exact/interchangeable.py

cdef int add_tie(KeptSearch s, i64 value) except -1:
    cdef i64* grown_ties
    if s.tie_count == s.tie_room:
        s.tie_room = 2 * s.tie_room + 1024
        grown_ties = <i64*>realloc(s.ties, s.tie_room * sizeof(i64))
        if grown_ties is NULL:
            raise MemoryError("no memory for tensors that are alike")
        s.ties = grown_ties
    s.ties[s.tie_count] = value
    s.tie_count += 1
    return 0


cdef i64 ties_of(KeptSearch s, const u64* executed) except -1:
    """Alike.groups: where the groups of a downset begin."""
    cdef i64 downset = downset_of(s, executed), words = s.words, u, v, i, at, tensors = s.kernel.net.tensors
    cdef bint is_read, is_first
    if s.tie_begin[downset] >= 0:
        return s.tie_begin[downset]
    s.tie_begin[downset] = s.tie_count
    for u in range(tensors):
        if not is_open_tie(s, executed, u):
            continue
        is_first = True
        for v in range(u):
            if same_tie(s, executed, v, u):
                is_first = False
                break
        if not is_first:
            continue
        at = s.tie_count
        add_tie(s, 1)
        add_tie(s, u)
        for v in range(u + 1, tensors):
            if same_tie(s, executed, u, v):
                add_tie(s, v)
                s.ties[at] += 1
        if s.ties[at] == 1:
            s.tie_count = at
    add_tie(s, 0)
    return s.tie_begin[downset]


cdef bint is_open_tie(KeptSearch s, const u64* executed, i64 u) noexcept:
    """Whether a tensor may be like another one, is there, and is read."""
    return s.kinds[u] >= 0 and (u >= s.size or has(executed, u)) and later_readers(s, executed, u) > 0


cdef bint same_tie(KeptSearch s, const u64* executed, i64 u, i64 v) noexcept:
    cdef i64 i
    if s.kinds[u] != s.kinds[v] or not is_open_tie(s, executed, u) or not is_open_tie(s, executed, v):
        return False
    for i in range(s.words):
        if (s.readers[u * s.words + i] ^ s.readers[v * s.words + i]) & ~executed[i]:
            return False
    return True


cdef u64* first_alike(KeptSearch s, const u64* place) except NULL:
    """Alike.first"""
    cdef i64 at = ties_of(s, place), words = s.words, k, count, unwritten, written
    memcpy(s.first, place, 3 * words * sizeof(u64))
    while s.ties[at]:
        count, unwritten, written = s.ties[at], 0, 0
        for k in range(at + 1, at + 1 + count):
            unwritten += has(place + words, s.ties[k])
            written += has(place + 2 * words, s.ties[k])
        if unwritten or written:
            for k in range(count):
                take_out(s.first + words, s.ties[at + 1 + k])
                take_out(s.first + 2 * words, s.ties[at + 1 + k])
                if k < unwritten:
                    put(s.first + words, s.ties[at + 1 + k])
                elif k < unwritten + written:
                    put(s.first + 2 * words, s.ties[at + 1 + k])
        at += count + 1
    return s.first


cdef int note_ties(KeptSearch s, const u64* executed) except -1:
    """Alike.before: by tensor the one before it in its group, below 0: none."""
    cdef i64 at = ties_of(s, executed), k
    for k in range(s.kernel.net.tensors):
        s.tie[k] = -1
    while s.ties[at]:
        for k in range(at + 2, at + 1 + s.ties[at]):
            s.tie[s.ties[k]] = s.ties[k - 1]
        at += s.ties[at] + 1
    return 0
