# The compiled twin of `greedy._fill_rows`: the same addresses. Names follow the Python engine.

cdef struct Entry:
    i64 at, rank, i


cdef inline bint _is_under(const Entry* one, const Entry* other) noexcept nogil:
    return one.at < other.at or (one.at == other.at and one.rank < other.rank)


cdef void _sift(Entry* heap, i64 count, Entry item) noexcept nogil:
    """Put an item in the place of the first of a heap."""
    cdef i64 here = 0, child = 1
    while child < count:
        if child + 1 < count and _is_under(&heap[child + 1], &heap[child]):
            child += 1
        if not _is_under(&heap[child], &item):
            break
        heap[here] = heap[child]
        here = child
        child = 2 * here + 1
    heap[here] = item


def fill_rows(problem, order, i64[::1] address, i64[::1] low):
    """Place the buffers of the order, see greedy._fill_rows; `address` and `low`, the skyline, are changed."""
    cdef const i64[::1] size = problem.size, alignment = problem.alignment
    cdef const i64[::1] starts = problem.starts, near = problem.neighbours
    ranked = np.array(order, dtype=np.int64)
    by_low = np.lexsort([np.arange(len(ranked)), np.asarray(low)[ranked]])  # sorted, so a heap
    cdef const i64[::1] ranks = by_low.astype(np.int64), items = ranked
    cdef i64 count = len(ranked), k, i, j, top
    cdef Entry first
    cdef Entry* heap = <Entry*> malloc(max(count, 1) * sizeof(Entry))
    if heap == NULL:
        raise MemoryError
    try:
        with nogil:
            for k in range(count):
                i = items[ranks[k]]
                heap[k].at, heap[k].rank, heap[k].i = low[i], ranks[k], i
            while count:
                first = heap[0]
                i = first.i
                if low[i] > first.at:
                    first.at = low[i]
                    _sift(heap, count, first)
                    continue
                count -= 1
                _sift(heap, count, heap[count])
                address[i] = first.at
                for k in range(starts[i], starts[i + 1]):
                    j = near[k]
                    top = (first.at + size[i] + alignment[j] - 1) // alignment[j] * alignment[j]
                    if low[j] < top:
                        low[j] = top
    finally:
        free(heap)
