# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The compiled twin of `canonical.Search`: the same nodes in the same order, in machine integers without Python.

Names follow the Python engine, which is the one to read; tests hold the two equal. The door (`simulator.allocation`)
keeps all sums within 64 bits.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

import numpy as np

from cocco.allocation import canonical

ctypedef int64_t i64

cdef int SOLVED = 1, REFUTED = 0, LIMIT = -1, NO_MEMORY = -2, INTERRUPTED = -3
cdef i64 PULSE = 4096  # nodes between two looks for Ctrl-C

cdef struct Frame:
    i64 lo, hi, a, b, y0, r0
    i64 candidate, candidates_end, candidates_start  # in the pool of candidates
    i64 fixed_low, fixed_rank                        # of the first fixed item; fixed_low -1: none
    i64 most_rest
    i64 trail_mark, log_mark
    i64 part, parts_start, parts_end                 # in the pool of parts
    bint hatless

cdef struct Part:
    i64 lo, hi, a, b

cdef struct Pool:
    i64* items
    i64 used, room


cdef bint grow(Pool* pool, i64 more) noexcept nogil:
    """Make room for so many more; False if there is no memory."""
    cdef i64 room
    cdef i64* items
    if pool.used + more <= pool.room:
        return True
    room = 2 * (pool.used + more)
    items = <i64*> realloc(pool.items, room * sizeof(i64))
    if items == NULL:
        return False
    pool.items, pool.room = items, room
    return True


cdef class Search:
    """One run over one problem, see canonical.Search."""

    cdef i64 count, sections, capacity, used_frames, most_frames
    cdef bint by_contention  # the rank starts with T
    cdef object keep
    cdef const i64* size
    cdef const i64* alignment
    cdef const i64* fixed
    cdef const i64* first
    cdef const i64* last
    cdef const i64* piece_starts
    cdef const i64* piece_first
    cdef const i64* piece_last
    cdef const i64* starts
    cdef const i64* near
    cdef const i64* base
    cdef i64* block  # one allocation for all that follows
    cdef i64* place
    cdef i64* state
    cdef i64* rest
    cdef i64* crossing
    cdef i64* order
    cdef i64* where
    cdef i64* log
    cdef i64* least
    cdef i64* top
    cdef i64* scratch
    cdef i64* part_at
    cdef i64 low, rank, floor  # where these start in `state`
    cdef i64 logged
    cdef Pool trail, pool, parts
    cdef Frame* frames
    cdef readonly i64 nodes

    def __cinit__(self, problem, i64 capacity, rank):
        cdef i64 n = len(problem.size), sections = problem.sections, i
        cdef const i64[::1] view
        self.count, self.sections, self.capacity = n, sections, capacity
        self.by_contention = rank[0] == "T"
        arrays = [
            problem.size, problem.alignment, problem.fixed, problem.first, problem.last, problem.piece_starts,
            problem.piece_first, problem.piece_last, problem.starts, problem.neighbours,
            canonical.base_ranks(problem, rank), problem.contention, canonical.crossings(problem),
        ]
        arrays = [np.ascontiguousarray(np.append(each, 0), dtype=np.int64) for each in arrays]  # none is empty
        self.keep = arrays
        cdef const i64* pointers[13]
        for i in range(13):
            view = arrays[i]
            pointers[i] = &view[0]
        self.size, self.alignment, self.fixed, self.first, self.last = (
            pointers[0], pointers[1], pointers[2], pointers[3], pointers[4])
        self.piece_starts, self.piece_first, self.piece_last = pointers[5], pointers[6], pointers[7]
        self.starts, self.near, self.base = pointers[8], pointers[9], pointers[10]
        self.block = <i64*> malloc((9 * n + 5 * sections + 8) * sizeof(i64))
        self.frames = <Frame*> malloc((n + 1) * sizeof(Frame))
        if self.block == NULL or self.frames == NULL:
            raise MemoryError
        self.place = self.block
        self.order = self.place + n
        self.where = self.order + n
        self.log = self.where + n
        self.top = self.log + n
        self.scratch = self.top + n
        self.state = self.scratch + n
        self.low, self.rank, self.floor = 0, n, 2 * n
        self.rest = self.state + 2 * n + sections
        self.crossing = self.rest + sections
        self.least = self.crossing + sections + 2
        self.part_at = self.least + sections
        for i in range(n):
            self.place[i] = -1
            self.order[i] = self.where[i] = i
            self.state[i] = max(self.fixed[i], 0)
            self.state[n + i] = 0
        for i in range(sections):
            self.state[2 * n + i] = 0
        memcpy(self.rest, pointers[11], sections * sizeof(i64))
        memcpy(self.crossing, pointers[12], (sections + 1) * sizeof(i64))

    def __dealloc__(self):
        free(self.block)
        free(self.frames)
        free(self.trail.items)
        free(self.pool.items)
        free(self.parts.items)

    @property
    def address(self):
        """The addresses in granules, -1 for a buffer that is not placed."""
        return [self.place[i] for i in range(self.count)]

    def run(self, i64 limit):
        """Return SOLVED, REFUTED or LIMIT, see canonical.Search.run."""
        cdef int answer
        with nogil:
            answer = self._run(limit)
        if answer == NO_MEMORY:
            raise MemoryError
        if answer == INTERRUPTED:
            PyErr_CheckSignals()
            raise KeyboardInterrupt
        return answer

    cdef int _run(self, i64 limit) noexcept nogil:
        cdef i64 i, placed
        cdef int answer
        cdef Frame* frame
        if self.count == 0:
            return SOLVED
        for i in range(self.count):
            if self.state[i] + self.size[i] > self.capacity:
                return REFUTED
        for i in range(self.sections):
            if self.rest[i] > self.capacity:
                return REFUTED
        if limit < 1:
            return LIMIT
        if not self._open_part(0, self.count, 0, self.sections):
            return NO_MEMORY
        while True:
            if self.nodes % PULSE == 0:
                with gil:
                    try:
                        PyErr_CheckSignals()
                    except BaseException:
                        return INTERRUPTED
            frame = &self.frames[self.used_frames - 1]
            placed = self._place_next(frame)
            if placed == NO_MEMORY:
                return NO_MEMORY
            if placed < 0:
                if not self._retreat():
                    return REFUTED
                continue
            if frame.hi - 1 == frame.lo:
                if self._succeed():
                    return SOLVED
                if self.nodes == limit:
                    return LIMIT
                if not self._open_next_part():
                    return NO_MEMORY
                continue
            if self.nodes == limit:
                return LIMIT
            if not self._descend(frame, placed):
                return NO_MEMORY

    cdef void _pop(self) noexcept nogil:
        cdef Frame* frame = &self.frames[self.used_frames - 1]
        self.pool.used = frame.candidates_start
        self.parts.used = frame.parts_start
        self.used_frames -= 1

    cdef bint _retreat(self) noexcept nogil:
        while True:
            self._pop()
            if self.used_frames == 0:
                return False
            self._undo(&self.frames[self.used_frames - 1])
            if not self.frames[self.used_frames - 1].hatless:
                return True

    cdef bint _succeed(self) noexcept nogil:
        while self.used_frames:
            if self.frames[self.used_frames - 1].part < self.frames[self.used_frames - 1].parts_end:
                return False
            self._pop()
        return True

    cdef bint _open_next_part(self) noexcept nogil:
        cdef Frame* frame = &self.frames[self.used_frames - 1]
        cdef Part* part = <Part*> (self.parts.items + frame.part)
        frame.part += 4
        return self._open_part(part.lo, part.hi, part.a, part.b)

    cdef bint _descend(self, Frame* frame, i64 placed) noexcept nogil:
        cdef i64 k
        cdef bint cut = False
        cdef Part* part
        for k in range(self.first[placed] + 1, self.last[placed]):
            if self.crossing[k] == 0:
                cut = True
                break
        if not cut:
            return self._open(
                frame.lo, frame.hi - 1, frame.a, frame.b, self.state[placed], self.state[self.rank + placed])
        if not self._split(frame):
            return False
        if frame.parts_end - frame.parts_start == 4:
            part = <Part*> (self.parts.items + frame.parts_start)
            frame.part = frame.parts_end
            return self._open(part.lo, part.hi, part.a, part.b, self.state[placed], self.state[self.rank + placed])
        return self._open_next_part()

    cdef bint _split(self, Frame* frame) noexcept nogil:
        """Sort the items by the borders that nothing unplaced crosses; push the parts in time order."""
        cdef i64 lo = frame.lo, hi = frame.hi - 1, start = frame.a, border, i, k, at = frame.lo, begin
        cdef i64 ends = 0, s
        cdef Part* part
        # least[s]: the part that section s belongs to; part_at: how many items each part has, then where they go
        for border in range(frame.a + 1, frame.b + 1):
            if border == frame.b or self.crossing[border] == 0:
                for s in range(start, border):
                    self.least[s] = ends
                ends += 1
                start = border
        for k in range(ends):
            self.part_at[k] = 0
        for k in range(lo, hi):
            self.part_at[self.least[self.first[self.order[k]]]] += 1
        if not grow(&self.parts, 4 * ends):
            return False
        start = frame.a
        s = frame.a
        for k in range(ends):
            start = s
            while s < frame.b and self.least[s] == k:
                s += 1
            begin = at
            at += self.part_at[k]
            self.part_at[k] = begin
            if at > begin:
                part = <Part*> (self.parts.items + self.parts.used)
                part.lo, part.hi, part.a, part.b = begin, at, start, s
                self.parts.used += 4
        for k in range(lo, hi):
            i = self.order[k]
            s = self.least[self.first[i]]
            self.scratch[self.part_at[s]] = i
            self.part_at[s] += 1
        for k in range(lo, hi):
            self.order[k] = self.scratch[k]
            self.where[self.order[k]] = k
        frame.part = frame.parts_start
        frame.parts_end = self.parts.used
        return True

    cdef bint _before(self, i64 i, i64 j) noexcept nogil:
        """Whether i ranks before j."""
        if self.by_contention:
            if self.top[i] != self.top[j]:
                return self.top[i] > self.top[j]
            if self.base[i] != self.base[j]:
                return self.base[i] < self.base[j]
        else:
            if self.base[i] != self.base[j]:
                return self.base[i] < self.base[j]
            if self.top[i] != self.top[j]:
                return self.top[i] > self.top[j]
        return i < j

    cdef void _sort_by_rank(self, i64* items, i64 count) noexcept nogil:
        """Heap sort."""
        cdef i64 end = count, root = count // 2, child, parent, item
        while end > 1:
            if root > 0:
                root -= 1
                item = items[root]
            else:
                end -= 1
                item = items[end]
                items[end] = items[0]
            parent = root
            child = 2 * parent + 1
            while child < end:
                if child + 1 < end and self._before(items[child], items[child + 1]):
                    child += 1
                if not self._before(item, items[child]):
                    break
                items[parent] = items[child]
                parent = child
                child = 2 * parent + 1
            items[parent] = item

    cdef bint _open_part(self, i64 lo, i64 hi, i64 a, i64 b) noexcept nogil:
        cdef i64 k, i, p, s, most
        for k in range(lo, hi):
            i = self.order[k]
            most = 0
            for p in range(self.piece_starts[i], self.piece_starts[i + 1]):
                for s in range(self.piece_first[p], self.piece_last[p]):
                    if self.rest[s] > most:
                        most = self.rest[s]
            self.top[i] = most
            self.scratch[k] = i
        self._sort_by_rank(self.scratch + lo, hi - lo)
        for k in range(lo, hi):
            if not self._set(self.rank + self.scratch[k], k - lo):
                return False
        return self._open(lo, hi, a, b, 0, -1)

    cdef bint _open(self, i64 lo, i64 hi, i64 a, i64 b, i64 y0, i64 r0) noexcept nogil:
        cdef Frame* frame = &self.frames[self.used_frames]
        cdef i64 k, i, low, rank, at, other, s, top = self.state[self.order[lo]] + self.size[self.order[lo]]
        self.nodes += 1
        self.used_frames += 1
        frame.lo, frame.hi, frame.a, frame.b, frame.y0, frame.r0 = lo, hi, a, b, y0, r0
        frame.trail_mark, frame.log_mark, frame.hatless = 0, 0, False
        frame.part = frame.parts_start = frame.parts_end = self.parts.used
        frame.candidates_start = frame.candidate = self.pool.used
        frame.fixed_low, frame.fixed_rank = -1, 0
        for k in range(lo, hi):
            i = self.order[k]
            low = self.state[i]
            if low + self.size[i] < top:
                top = low + self.size[i]
            if self.fixed[i] >= 0:
                rank = self.state[self.rank + i]
                if frame.fixed_low < 0 or low < frame.fixed_low or (low == frame.fixed_low and rank < frame.fixed_rank):
                    frame.fixed_low, frame.fixed_rank = low, rank
        if not grow(&self.pool, hi - lo):
            return False
        for k in range(lo, hi):
            i = self.order[k]
            low = self.state[i]
            rank = self.state[self.rank + i]
            if low >= top or low < y0 or (low == y0 and rank <= r0):
                continue
            at = self.pool.used
            while at > frame.candidates_start:  # insertion sort: they are few
                other = self.pool.items[at - 1]
                if self.state[other] < low or (self.state[other] == low and self.state[self.rank + other] < rank):
                    break
                self.pool.items[at] = other
                at -= 1
            self.pool.items[at] = i
            self.pool.used += 1
        frame.candidates_end = self.pool.used
        frame.most_rest = 0
        for s in range(a, b):
            if self.rest[s] > frame.most_rest:
                frame.most_rest = self.rest[s]
        return True

    cdef i64 _place_next(self, Frame* frame) noexcept nogil:
        """Return the buffer placed, -1 if the frame is refuted, or NO_MEMORY."""
        cdef i64 i, y, rank
        cdef int fits
        while frame.candidate < frame.candidates_end:
            i = self.pool.items[frame.candidate]
            frame.candidate += 1
            y = self.state[i]
            if y + frame.most_rest > self.capacity:
                return -1
            if frame.fixed_low >= 0:
                rank = self.state[self.rank + i]
                if y > frame.fixed_low or (y == frame.fixed_low and rank > frame.fixed_rank):
                    return -1
            if not self._has_room_above(i, y + self.size[i]):
                if self._is_alone(i):
                    return -1
                continue
            frame.trail_mark, frame.log_mark = self.trail.used, self.logged
            self._move_last(frame, i)
            fits = self._place(frame, i)
            if fits == 1:
                return i
            if fits == NO_MEMORY:
                return NO_MEMORY
            self._undo(frame)
            if frame.hatless:
                return -1
        return -1

    cdef bint _has_room_above(self, i64 i, i64 top) noexcept nogil:
        cdef i64 p, s, most = self.capacity + self.size[i] - top
        for p in range(self.piece_starts[i], self.piece_starts[i + 1]):
            for s in range(self.piece_first[p], self.piece_last[p]):
                if self.rest[s] > most:
                    return False
        return True

    cdef bint _is_alone(self, i64 i) noexcept nogil:
        """Whether everything that overlaps i is placed."""
        cdef i64 k
        for k in range(self.starts[i], self.starts[i + 1]):
            if self.place[self.near[k]] < 0:
                return False
        return True

    cdef void _move_last(self, Frame* frame, i64 i) noexcept nogil:
        cdef i64 at = self.where[i], other = self.order[frame.hi - 1]
        self.order[at] = other
        self.where[other] = at
        self.order[frame.hi - 1] = i
        self.where[i] = frame.hi - 1

    cdef int _place(self, Frame* frame, i64 i) noexcept nogil:
        """Place i at its low; return 1 if every bound still holds, 0 if not, or NO_MEMORY."""
        cdef i64 y = self.state[i], size = self.size[i], top = y + size
        cdef i64 p, s, k, j, low, from_section = self.first[i], to_section = self.last[i]
        self.place[i] = y
        self.log[self.logged] = i
        self.logged += 1
        for p in range(self.piece_starts[i], self.piece_starts[i + 1]):
            for s in range(self.piece_first[p], self.piece_last[p]):
                if not self._set(self.floor + s, top):
                    return NO_MEMORY
                self.rest[s] -= size
        for k in range(self.first[i] + 1, self.last[i]):
            self.crossing[k] -= 1
        frame.hatless = True
        for k in range(self.starts[i], self.starts[i + 1]):
            j = self.near[k]
            if self.place[j] >= 0:
                continue
            frame.hatless = False
            low = top
            if self.alignment[j] > 1:
                low = (top + self.alignment[j] - 1) // self.alignment[j] * self.alignment[j]
            if self.state[j] < low:
                if self.fixed[j] >= 0 or low + self.size[j] > self.capacity:
                    return 0
                if not self._set(j, low):
                    return NO_MEMORY
                from_section = min(from_section, self.first[j])
                to_section = max(to_section, self.last[j])
        return self._bounds_hold(frame, y, from_section, to_section)

    cdef int _bounds_hold(self, Frame* frame, i64 y, i64 from_section, i64 to_section) noexcept nogil:
        cdef i64 k, i, p, s, low
        for s in range(from_section, to_section):
            self.least[s] = self.capacity + 1
        for k in range(frame.lo, frame.hi - 1):
            i = self.order[k]
            low = self.state[i]
            if self.last[i] <= from_section or self.first[i] >= to_section:
                continue
            for p in range(self.piece_starts[i], self.piece_starts[i + 1]):
                for s in range(max(self.piece_first[p], from_section), min(self.piece_last[p], to_section)):
                    if low < self.least[s]:
                        self.least[s] = low
        for s in range(from_section, to_section):
            if self.rest[s] == 0:
                continue
            if self.state[self.floor + s] < self.least[s]:
                if not self._set(self.floor + s, self.least[s]):
                    return NO_MEMORY
            if max(self.state[self.floor + s], y) + self.rest[s] > self.capacity:
                return 0
        return 1

    cdef inline bint _set(self, i64 index, i64 value) noexcept nogil:
        if not grow(&self.trail, 2):
            return False
        self.trail.items[self.trail.used] = index
        self.trail.items[self.trail.used + 1] = self.state[index]
        self.trail.used += 2
        self.state[index] = value
        return True

    cdef void _undo(self, Frame* frame) noexcept nogil:
        cdef i64 i, p, s, k
        while self.logged > frame.log_mark:
            self.logged -= 1
            i = self.log[self.logged]
            self.place[i] = -1
            for p in range(self.piece_starts[i], self.piece_starts[i + 1]):
                for s in range(self.piece_first[p], self.piece_last[p]):
                    self.rest[s] += self.size[i]
            for k in range(self.first[i] + 1, self.last[i]):
                self.crossing[k] += 1
        while self.trail.used > frame.trail_mark:
            self.trail.used -= 2
            self.state[self.trail.items[self.trail.used]] = self.trail.items[self.trail.used + 1]
        self.parts.used = frame.parts_start
        frame.part = frame.parts_end = frame.parts_start


def neighbour_rows(const i64[::1] order, const i64[::1] behind):
    """Return the compressed rows of problem._neighbours for buffers without gaps: order by start, and how many start
    within each."""
    cdef i64 n = len(order), k, m, i
    starts_array = np.zeros(n + 1, dtype=np.int64)
    cdef i64[::1] starts = starts_array
    with nogil:
        for k in range(n):
            starts[order[k] + 1] += behind[k]
            for m in range(k + 1, k + 1 + behind[k]):
                starts[order[m] + 1] += 1
        for k in range(n):
            starts[k + 1] += starts[k]
    rows_array = np.empty(starts[n], dtype=np.int64)
    cdef i64[::1] rows = rows_array
    cdef i64[::1] at = starts_array[:n].copy()
    with nogil:
        for k in range(n):
            i = order[k]
            for m in range(k + 1, k + 1 + behind[k]):
                rows[at[i]] = order[m]
                at[i] += 1
                rows[at[order[m]]] = i
                at[order[m]] += 1
    return starts_array, rows_array
