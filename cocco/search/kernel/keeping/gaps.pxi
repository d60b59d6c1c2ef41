# Which tensors stay on chip over which steps: cocco/search/keeping/gaps.py

cdef enum:
    SORTED = 8          # runs that are sorted one by one


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
    Candidate* candidates
    i64 candidate_count
    i64* ranked         # their numbers, twice
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


cdef inline bint is_before(const Candidate* a, const Candidate* b) noexcept nogil:
    """Whether the one is taken first; of equals those that were offered first, by tensor and place, are."""
    return a.worth > b.worth or (a.worth == b.worth and a.saved > b.saved)


cdef i64* sorted_candidates(Places* p) noexcept nogil:
    """The numbers of the candidates in the order in which they are taken: a merge sort, which is stable."""
    cdef i64 width = SORTED, low, middle, high, i, j, k
    cdef i64* from_ = p.ranked
    cdef i64* into = p.ranked + p.candidate_count
    for i in range(p.candidate_count):
        j = i
        while j % SORTED and is_before(&p.candidates[i], &p.candidates[from_[j - 1]]):
            from_[j] = from_[j - 1]
            j -= 1
        from_[j] = i
    while width < p.candidate_count:
        low = 0
        while low < p.candidate_count:
            middle, high = imin(low + width, p.candidate_count), imin(low + 2 * width, p.candidate_count)
            i, j = low, middle
            for k in range(low, high):
                if j == high or (i < middle and not is_before(&p.candidates[from_[j]], &p.candidates[from_[i]])):
                    into[k] = from_[i]
                    i += 1
                else:
                    into[k] = from_[j]
                    j += 1
            low = high
        from_, into = into, from_
        width *= 2
    return from_


cdef inline void offer_gaps(Places* p, i64 u, i64 first, i64 last) noexcept nogil:
    """Without room now there is none later."""
    cdef Candidate* candidate = &p.candidates[p.candidate_count]
    candidate.tensor, candidate.first, candidate.last = u, first, last
    if has_room(p, candidate):
        candidate.worth, candidate.saved = worth_of(p, u, first, last), saved_by(p, u, first, last)
        p.candidate_count += 1


cdef void choose_stays(Places* p) noexcept nogil:
    """chosen_stays."""
    cdef i64 u, at, count
    cdef i64* ranked
    p.candidate_count = p.stay_count = 0
    for u in range(p.tensors):
        count = p.count[u]
        for at in range(p.start[u], p.start[u] + count):
            p.is_kept[at] = p.is_taken[at] = 0
            p.stay[at] = -1
        for at in range(count - 1):
            offer_gaps(p, u, at, at + 1)
        if count > 2 and is_spared(p, u):
            offer_gaps(p, u, 0, count - 1)
    ranked = sorted_candidates(p)
    for at in range(p.candidate_count):
        if has_room(p, &p.candidates[ranked[at]]):
            keep_gaps(p, &p.candidates[ranked[at]])
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
