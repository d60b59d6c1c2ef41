# Which tensors stay on chip over which steps: cocco/search/keeping/gaps.py

cdef enum:
    SORTED = 8          # runs that are sorted one by one


cdef enum:              # where a candidate stands
    NOT_RANKED, RANKED, AGAIN, AFRESH


cdef struct Candidate:  # gaps of one tensor from one place to another
    double worth
    i64 saved
    i64 tensor
    i64 first           # of its places
    i64 last


cdef struct Stay:  # what stays: a run of gaps
    double worth
    i64 saved
    i64 tensor
    i64 first
    i64 last
    i64 start           # steps
    i64 end
    i64 next            # of those that begin at the same step, -1 for none


cdef struct Places:  # where tensors are made and read; the places of a tensor follow each other
    i64 layers
    i64 tensors
    i64* start          # by tensor: of its places
    i64* count
    i64* step           # by place
    i64* takes
    i64* is_kept
    i64* is_taken       # the gap to the next place
    i64* stay           # that keeps it there, -1 for none
    i64* whole          # by tensor
    i64* moved
    i64* is_output      # by layer: written whatever stays
    i64* free           # by step
    i64* slots
    Candidate* candidates   # by its first place; by the last one: all gaps of a tensor
    i64* standing       # of each
    i64* ranked         # the candidates in the order in which they are taken, of the genome before at first
    i64 ranked_count
    i64* fresh          # those that it had not, or not of that worth, twice
    i64 fresh_count
    Stay* stays
    i64 stay_count
    i64* first_stay     # by step: those that begin there


cdef inline bint is_spared(Places* p, i64 u) noexcept nogil:
    """cocco.search.keeping.genome._is_spared"""
    return u < p.layers and not p.is_output[u]


cdef inline bint is_all(Places* p, i64 u, i64 first, i64 last) noexcept nogil:
    """Whether a tensor stays from its maker to its last reader, and so need not be written."""
    return is_spared(p, u) and first == 0 and last == p.count[u] - 1


cdef inline i64 saved_by(Places* p, i64 u, i64 first, i64 last) noexcept nogil:
    return (last - first + is_all(p, u, first, last)) * p.moved[u]


cdef inline double worth_of(Places* p, i64 u, i64 first, i64 last) noexcept nogil:
    cdef i64 steps = p.step[p.start[u] + last] - p.step[p.start[u] + first]
    return <double>saved_by(p, u, first, last) / <double>(p.whole[u] * steps)


cdef inline bint is_before(Places* p, i64 one, i64 other) noexcept nogil:
    """Whether the one is taken first; of equals those of earlier tensors and places."""
    cdef Candidate* a = &p.candidates[one]
    cdef Candidate* b = &p.candidates[other]
    if a.worth != b.worth:
        return a.worth > b.worth
    return a.saved > b.saved if a.saved != b.saved else one < other


cdef i64* sorted_fresh(Places* p) noexcept nogil:
    """A merge sort."""
    cdef i64 width = SORTED, low, middle, high, i, j, k, one
    cdef i64* from_ = p.fresh
    cdef i64* into = p.fresh + p.fresh_count
    for i in range(p.fresh_count):
        one, j = from_[i], i
        while j % SORTED and is_before(p, one, from_[j - 1]):
            from_[j] = from_[j - 1]
            j -= 1
        from_[j] = one
    while width < p.fresh_count:
        low = 0
        while low < p.fresh_count:
            middle, high = imin(low + width, p.fresh_count), imin(low + 2 * width, p.fresh_count)
            i, j = low, middle
            for k in range(low, high):
                if j == high or (i < middle and is_before(p, from_[i], from_[j])):
                    into[k] = from_[i]
                    i += 1
                else:
                    into[k] = from_[j]
                    j += 1
            low = high
        from_, into = into, from_
        width *= 2
    return from_


cdef void rank_candidates(Places* p) noexcept nogil:
    """Most are those of the genome before and keep their order; the fresh ones go in between."""
    cdef i64 i, one, count = 0, left = p.fresh_count
    cdef i64* fresh = sorted_fresh(p)
    for i in range(p.ranked_count):
        one = p.ranked[i]
        p.ranked[count] = one
        count += p.standing[one] == AGAIN
        if p.standing[one] != AFRESH:
            p.standing[one] = RANKED if p.standing[one] == AGAIN else NOT_RANKED
    p.ranked_count = count + left
    while left:
        one = fresh[left - 1]
        if count and is_before(p, one, p.ranked[count - 1]):
            count -= 1
            p.ranked[count + left] = p.ranked[count]
        else:
            left -= 1
            p.ranked[count + left], p.standing[one] = one, RANKED


cdef inline void offer_gaps(Places* p, i64 one, i64 u, i64 first, i64 last) noexcept nogil:
    cdef Candidate* candidate = &p.candidates[one]
    cdef double worth = worth_of(p, u, first, last)
    cdef i64 saved = saved_by(p, u, first, last)
    if p.standing[one] == RANKED and candidate.worth == worth and candidate.saved == saved:
        p.standing[one] = AGAIN
    else:
        p.standing[one] = AFRESH
        p.fresh[p.fresh_count] = one
        p.fresh_count += 1
    candidate.worth, candidate.saved, candidate.tensor = worth, saved, u
    candidate.first, candidate.last = first, last


cdef void choose_stays(Places* p) noexcept nogil:
    """chosen_stays."""
    cdef i64 u, at, count
    p.fresh_count = p.stay_count = 0
    for u in range(p.tensors):
        count = p.count[u]
        for at in range(p.start[u], p.start[u] + count):
            p.is_kept[at] = p.is_taken[at] = 0
            p.stay[at] = -1
        for at in range(count - 1):
            offer_gaps(p, p.start[u] + at, u, at, at + 1)
        if count > 2 and is_spared(p, u):
            offer_gaps(p, p.start[u] + count - 1, u, 0, count - 1)
    rank_candidates(p)
    for at in range(p.ranked_count):
        if has_room(p, &p.candidates[p.ranked[at]]):
            keep_gaps(p, &p.candidates[p.ranked[at]])
    for u in range(p.tensors):
        list_stays(p, u)


cdef bint has_room(Places* p, Candidate* candidate) noexcept nogil:
    cdef i64 u = candidate.tensor, whole = p.whole[u], at, step
    for at in range(p.start[u] + candidate.first, p.start[u] + candidate.last + 1):
        step = p.step[at]
        if not p.is_kept[at] and (p.free[step] < whole - p.takes[at] or p.slots[step] < 0):
            return False
    for at in range(p.start[u] + candidate.first, p.start[u] + candidate.last):
        if not p.is_taken[at]:
            for step in range(p.step[at] + 1, p.step[at + 1]):
                if p.free[step] < whole or p.slots[step] <= 0:
                    return False
    return True


cdef void keep_gaps(Places* p, Candidate* candidate) noexcept nogil:
    cdef i64 u = candidate.tensor, whole = p.whole[u], at, step
    for at in range(p.start[u] + candidate.first, p.start[u] + candidate.last + 1):
        if not p.is_kept[at]:
            p.free[p.step[at]] -= whole - p.takes[at]
            p.is_kept[at] = 1
    for at in range(p.start[u] + candidate.first, p.start[u] + candidate.last):
        if not p.is_taken[at]:
            p.is_taken[at] = 1
            for step in range(p.step[at] + 1, p.step[at + 1]):
                p.free[step] -= whole
                p.slots[step] -= 1


cdef void list_stays(Places* p, i64 u) noexcept nogil:
    """The runs of gaps of a tensor."""
    cdef i64 at = 0, last = p.count[u] - 1, first, k, start = p.start[u]
    cdef Stay* stay
    while at < last:
        if not p.is_taken[start + at]:
            at += 1
            continue
        first = at
        while at < last and p.is_taken[start + at]:
            at += 1
        stay = &p.stays[p.stay_count]
        stay.tensor, stay.first, stay.last = u, first, at
        stay.start, stay.end = p.step[start + first], p.step[start + at]
        stay.saved, stay.worth = saved_by(p, u, first, at), worth_of(p, u, first, at)
        for k in range(start + first, start + at + 1):
            p.stay[k] = p.stay_count
        stay.next = p.first_stay[stay.start]
        p.first_stay[stay.start] = p.stay_count
        p.stay_count += 1
