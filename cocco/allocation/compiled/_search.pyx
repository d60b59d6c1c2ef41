# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The compiled twin of `canonical.Search`: the same nodes in the same order, in machine integers without Python.

Names follow the Python engine, which is the one to read; tests hold the two equal. The judge (`simulator.allocation`)
keeps all sums within 64 bits. What differs is where things are looked up, so that lists of 60,000 buffers end: buffers
stand in the order of their first sections, the items of a frame are those not placed in a range of that order, and each
block of it remembers its least position and its least top until something in it changes.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from weakref import WeakKeyDictionary

import numpy as np

from cocco.allocation.exact import canonical

ctypedef int64_t i64

cdef int SOLVED = 1, REFUTED = 0, LIMIT = -1, NO_MEMORY = -2, INTERRUPTED = -3
cdef i64 PULSE = 128  # candidates between two looks for Ctrl-C; of 60,000 buffers one takes a millisecond
cdef i64 SHIFT = 6  # a block is 64 buffers, or pieces, that follow each other in time
cdef i64 NONE = 0x7fffffffffffffff
cdef enum:
    KILLERS = 4  # sections that are asked first; of 1, 2, 4 and 8 the fastest on the hard instances

cdef struct Frame:
    i64 lo, hi, a, b  # the unplaced ones of timed[lo:hi], which start in the sections [a, b)
    i64 count         # of them
    i64 top           # the least low + size of them
    i64 tried_low, tried_rank  # where the last candidate stood; the next one comes after it
    i64 fixed_low, fixed_rank                        # of the first fixed item; fixed_low -1: none
    i64 most_rest
    i64 trail_mark, log_mark
    i64 part, parts_start, parts_end                 # in the pool of parts
    bint hatless

cdef struct Part:
    i64 count, a, b

cdef struct Block:
    i64 low, rank, item  # the first unplaced one by (low, rank); low is NONE where all are placed
    i64 top              # the least low + size of the unplaced ones
    bint is_stale

cdef struct Pool:
    i64* items
    i64 used, room


cdef bint is_interrupted() noexcept nogil:
    """Whether Ctrl-C was pressed."""
    with gil:
        try:
            PyErr_CheckSignals()
        except BaseException:
            return True
    return False


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
    cdef const i64* timed        # the buffers by first section
    cdef const i64* when         # where each stands in `timed`
    cdef const i64* begin        # how many of them start before each section
    cdef const i64* piece_owner  # the pieces by first section: of which buffer, where they start and end
    cdef const i64* piece_start
    cdef const i64* piece_end
    cdef const i64* piece_begin  # how many of them start before each section
    cdef const i64* piece_reach  # for each block of pieces, its last end
    cdef bint has_fixed
    cdef Block* blocks
    cdef i64* log
    cdef i64* steps_low  # the stairs of `_bounds_hold`
    cdef i64* steps_end
    cdef i64* top
    cdef i64* scratch
    cdef i64 low, rank, floor  # where these start in `state`
    cdef i64 logged
    cdef i64 killers[4]  # the sections that refused a placement last
    cdef Pool trail, parts
    cdef Frame* frames
    cdef i64 placed  # the buffer whose child is to be opened; -1: the next part
    cdef i64 tried  # candidates
    cdef readonly i64 nodes

    def __cinit__(self, problem, i64 capacity, rank):
        cdef i64 n = len(problem.size), sections = problem.sections, i, pieces = len(problem.piece_first)
        cdef const i64[::1] view
        self.count, self.sections, self.capacity = n, sections, capacity
        self.by_contention = rank[0] == "T"
        arrays = _tables(problem)
        arrays = [*arrays[:10], _ended(canonical.base_ranks(problem, rank)), *arrays[10:]]
        self.keep = arrays
        cdef const i64* pointers[21]
        for i in range(21):
            view = arrays[i]
            pointers[i] = &view[0]
        self.size, self.alignment, self.fixed, self.first, self.last = (
            pointers[0], pointers[1], pointers[2], pointers[3], pointers[4])
        self.piece_starts, self.piece_first, self.piece_last = pointers[5], pointers[6], pointers[7]
        self.starts, self.near, self.base = pointers[8], pointers[9], pointers[10]
        self.timed, self.when, self.begin = pointers[13], pointers[14], pointers[15]
        self.piece_begin, self.piece_owner = pointers[16], pointers[17]
        self.piece_start, self.piece_end, self.piece_reach = pointers[18], pointers[19], pointers[20]
        self.block = <i64*> malloc((6 * n + 2 * pieces + 3 * sections + 8) * sizeof(i64))
        self.blocks = <Block*> malloc(((n >> SHIFT) + 1) * sizeof(Block))
        self.frames = <Frame*> malloc((n + 1) * sizeof(Frame))
        if self.block == NULL or self.blocks == NULL or self.frames == NULL:
            raise MemoryError
        self.place = self.block
        self.log = self.place + n
        self.top = self.log + n
        self.scratch = self.top + n
        self.state = self.scratch + n
        self.low, self.rank, self.floor = 0, n, 2 * n
        self.rest = self.state + 2 * n + sections
        self.crossing = self.rest + sections
        self.steps_low = self.crossing + sections + 2
        self.steps_end = self.steps_low + pieces
        for i in range(n):
            self.place[i] = -1
            self.has_fixed |= self.fixed[i] >= 0
            self.state[i] = max(self.fixed[i], 0)
            self.state[n + i] = 0
        for i in range(sections):
            self.state[2 * n + i] = 0
        for i in range((n >> SHIFT) + 1):
            self.blocks[i].is_stale = True
        for i in range(KILLERS):
            self.killers[i] = -1
        memcpy(self.rest, pointers[11], sections * sizeof(i64))
        memcpy(self.crossing, pointers[12], (sections + 1) * sizeof(i64))

    def __dealloc__(self):
        free(self.block)
        free(self.blocks)
        free(self.frames)
        free(self.trail.items)
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
            raise KeyboardInterrupt
        return answer

    cdef int _run(self, i64 limit) noexcept nogil:
        cdef int ended
        if self.nodes == 0:
            if self.count == 0:
                return SOLVED
            if self._cannot_fit():
                return REFUTED
        while self.nodes < limit:
            if not self._open_pending():
                return NO_MEMORY
            ended = self._place_or_retreat()
            if ended != LIMIT:
                return ended
        return LIMIT

    cdef bint _cannot_fit(self) noexcept nogil:
        cdef i64 i
        for i in range(self.count):
            if self.state[i] + self.size[i] > self.capacity:
                return True
        for i in range(self.sections):
            if self.rest[i] > self.capacity:
                return True
        return False

    cdef bint _open_pending(self) noexcept nogil:
        """Open the frame that comes next; False if there is no memory."""
        if self.nodes == 0:
            return self._open_part(self.count, 0, self.sections)
        if self.placed < 0:
            return self._open_next_part()
        return self._descend(&self.frames[self.used_frames - 1], self.placed)

    cdef int _place_or_retreat(self) noexcept nogil:
        """Place until a frame is to be opened, then return LIMIT; or how all ended."""
        cdef Frame* frame
        while True:
            frame = &self.frames[self.used_frames - 1]
            self.placed = self._place_next(frame)
            if self.placed < -1:
                return self.placed
            if self.placed < 0:
                if not self._retreat():
                    return REFUTED
                continue
            if frame.count == 1:
                if self._succeed():
                    return SOLVED
                self.placed = -1
            return LIMIT

    cdef void _pop(self) noexcept nogil:
        cdef Frame* frame = &self.frames[self.used_frames - 1]
        self.parts.used = frame.parts_start
        self.used_frames -= 1

    cdef bint _retreat(self) noexcept nogil:
        while True:
            self._pop()
            if self.used_frames == 0:
                return False
            self._undo(&self.frames[self.used_frames - 1], True)
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
        frame.part += 3
        return self._open_part(part.count, part.a, part.b)

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
                frame.count - 1, frame.a, frame.b, self.state[placed], self.state[self.rank + placed])
        if not self._split(frame):
            return False
        if frame.parts_end - frame.parts_start == 3:
            part = <Part*> (self.parts.items + frame.parts_start)
            frame.part = frame.parts_end
            return self._open(part.count, part.a, part.b, self.state[placed], self.state[self.rank + placed])
        return self._open_next_part()

    cdef bint _split(self, Frame* frame) noexcept nogil:
        """Part the items at the borders that nothing unplaced crosses; push the parts in time order."""
        cdef i64 start = frame.a, border, k, i, count
        cdef Part* part
        for border in range(frame.a + 1, frame.b + 1):
            if border < frame.b and self.crossing[border] > 0:
                continue
            count = 0
            for k in range(self.begin[start], self.begin[border]):
                count += self.place[self.timed[k]] < 0
            if count:
                if not grow(&self.parts, 3):
                    return False
                part = <Part*> (self.parts.items + self.parts.used)
                part.count, part.a, part.b = count, start, border
                self.parts.used += 3
            start = border
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

    cdef bint _open_part(self, i64 count, i64 a, i64 b) noexcept nogil:
        cdef i64 k, i, p, s, most, found = 0
        for k in range(self.begin[a], self.begin[b]):
            i = self.timed[k]
            if self.place[i] >= 0:
                continue
            most = 0
            for p in range(self.piece_starts[i], self.piece_starts[i + 1]):
                for s in range(self.piece_first[p], self.piece_last[p]):
                    if self.rest[s] > most:
                        most = self.rest[s]
            self.top[i] = most
            self.scratch[found] = i
            found += 1
        self._sort_by_rank(self.scratch, count)
        for k in range(count):
            if not self._set(self.rank + self.scratch[k], k):
                return False
            self._touch(self.scratch[k])
        return self._open(count, a, b, 0, -1)

    cdef bint _open(self, i64 count, i64 a, i64 b, i64 y0, i64 r0) noexcept nogil:
        cdef Frame* frame = &self.frames[self.used_frames]
        cdef i64 k, i, low, rank, s
        self.nodes += 1
        self.used_frames += 1
        frame.lo, frame.hi, frame.a, frame.b, frame.count = self.begin[a], self.begin[b], a, b, count
        frame.tried_low, frame.tried_rank = y0, r0
        frame.trail_mark, frame.log_mark, frame.hatless = 0, 0, False
        frame.part = frame.parts_start = frame.parts_end = self.parts.used
        frame.fixed_low, frame.fixed_rank = -1, 0
        if self.has_fixed:
            for k in range(frame.lo, frame.hi):
                i = self.timed[k]
                low, rank = self.state[i], self.state[self.rank + i]
                if self.fixed[i] < 0 or self.place[i] >= 0:
                    continue
                if frame.fixed_low < 0 or low < frame.fixed_low or (low == frame.fixed_low and rank < frame.fixed_rank):
                    frame.fixed_low, frame.fixed_rank = low, rank
        frame.top = self._least_top(frame.lo, frame.hi)
        frame.most_rest = 0
        for s in range(a, b):
            if self.rest[s] > frame.most_rest:
                frame.most_rest = self.rest[s]
        return True

    cdef i64 _place_next(self, Frame* frame) noexcept nogil:
        """Return the buffer placed, -1 if the frame is refuted, NO_MEMORY or INTERRUPTED."""
        cdef i64 i, y, rank
        cdef int fits
        while True:
            self.tried += 1
            if self.tried % PULSE == 0 and is_interrupted():
                return INTERRUPTED
            i = self._next_candidate(frame)
            if i < 0:
                return -1
            y = self.state[i]
            frame.tried_low, frame.tried_rank = y, self.state[self.rank + i]
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
            fits = self._place(frame, i)
            if fits == 1:
                return i
            if fits == NO_MEMORY:
                return NO_MEMORY
            self._undo(frame, False)
            if frame.hatless:
                return -1

    cdef i64 _next_candidate(self, Frame* frame) noexcept nogil:
        """Return the first item by (low, rank) after the one tried last, with its low below the least top; -1: none."""
        cdef i64 k = frame.lo, end, best = -1, low = frame.top, rank = -1
        cdef Block* block
        while k < frame.hi:
            end = ((k >> SHIFT) + 1) << SHIFT
            if (k & ((<i64> 1 << SHIFT) - 1)) == 0 and end <= frame.hi:
                block = self._fresh(k >> SHIFT)
                if block.low > low or (block.low == low and block.rank >= rank):
                    k = end
                    continue
                if block.low > frame.tried_low or (block.low == frame.tried_low and block.rank > frame.tried_rank):
                    best, low, rank = block.item, block.low, block.rank
                    k = end
                    continue
            best = self._first_after(frame, k, min(end, frame.hi), best, &low, &rank)
            k = end
        return best

    cdef i64 _first_after(
        self, Frame* frame, i64 lo, i64 hi, i64 best, i64* best_low, i64* best_rank
    ) noexcept nogil:
        """As above, for the range [lo, hi) and the best one so far."""
        cdef i64 k, i, low, rank
        for k in range(lo, hi):
            i = self.timed[k]
            low = self.state[i]
            if low > best_low[0] or low < frame.tried_low or self.place[i] >= 0:
                continue
            rank = self.state[self.rank + i]
            if (low == frame.tried_low and rank <= frame.tried_rank) or (low == best_low[0] and rank >= best_rank[0]):
                continue
            best = i
            best_low[0], best_rank[0] = low, rank
        return best

    cdef i64 _least_top(self, i64 lo, i64 hi) noexcept nogil:
        """Return the least low + size of the unplaced ones of timed[lo:hi]."""
        cdef i64 k = lo, end, i, m, top = NONE
        while k < hi:
            end = ((k >> SHIFT) + 1) << SHIFT
            if (k & ((<i64> 1 << SHIFT) - 1)) == 0 and end <= hi:
                top = min(top, self._fresh(k >> SHIFT).top)
            else:
                for m in range(k, min(end, hi)):
                    i = self.timed[m]
                    if self.place[i] < 0:
                        top = min(top, self.state[i] + self.size[i])
            k = end
        return top

    cdef inline Block* _fresh(self, i64 number) noexcept nogil:
        """Return a block of 64 whose values hold now."""
        cdef Block* block = &self.blocks[number]
        cdef i64 k, i, low
        if not block.is_stale:
            return block
        block.low = block.rank = block.top = NONE
        block.item, block.is_stale = -1, False
        for k in range(number << SHIFT, (number + 1) << SHIFT):
            i = self.timed[k]
            if self.place[i] >= 0:
                continue
            low = self.state[i]
            block.top = min(block.top, low + self.size[i])
            if low < block.low or (low == block.low and self.state[self.rank + i] < block.rank):
                block.low, block.rank, block.item = low, self.state[self.rank + i], i
        return block

    cdef inline void _touch(self, i64 i) noexcept nogil:
        self.blocks[self.when[i] >> SHIFT].is_stale = True

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

    cdef int _place(self, Frame* frame, i64 i) noexcept nogil:
        """Place i at its low; return 1 if every bound still holds, 0 if not, or NO_MEMORY.

        Blocks become stale where it holds only: a trial that is refused leaves nothing behind. First it is asked
        whether a section that refused others lately refuses this one, too.
        """
        cdef i64 y = self.state[i], size = self.size[i], top = y + size
        cdef i64 p, s, k, j, low, from_section = self.first[i], to_section = self.last[i]
        cdef int fits
        self.place[i] = y
        self.log[self.logged] = i
        self.logged += 1
        for p in range(self.piece_starts[i], self.piece_starts[i + 1]):
            for s in range(self.piece_first[p], self.piece_last[p]):
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
        for k in range(KILLERS):
            s = self.killers[k]
            if from_section <= s < to_section and self._refuses(frame, s, y):
                self._remember(s)
                return 0
        for p in range(self.piece_starts[i], self.piece_starts[i + 1]):
            for s in range(self.piece_first[p], self.piece_last[p]):
                if not self._set(self.floor + s, top):
                    return NO_MEMORY
        fits = self._bounds_hold(frame, y, from_section, to_section)
        if fits == 1:
            self._touch(i)
            k = frame.trail_mark
            while k < self.trail.used:
                if self.trail.items[k] < self.rank:
                    self._touch(self.trail.items[k])
                k += 2
        return fits

    cdef void _remember(self, i64 s) noexcept nogil:
        """Put a section first among those that refused."""
        cdef i64 k = 0
        while k < KILLERS - 1 and self.killers[k] != s:
            k += 1
        while k > 0:
            self.killers[k] = self.killers[k - 1]
            k -= 1
        self.killers[0] = s

    cdef bint _refuses(self, Frame* frame, i64 s, i64 y) noexcept nogil:
        """Whether what is unplaced of a section cannot lie above the least low of it: a part of `_bounds_hold`."""
        cdef i64 p = self.piece_begin[s + 1], earliest = self.piece_begin[frame.a], room = self.capacity - self.rest[s]
        if self.rest[s] == 0:
            return False
        if max(self.state[self.floor + s], y) > room:
            return True
        while p > earliest:
            p -= 1
            if self.piece_reach[p >> SHIFT] <= s:
                p = (p >> SHIFT) << SHIFT
            elif (self.piece_end[p] > s and self.state[self.piece_owner[p]] <= room
                    and self.place[self.piece_owner[p]] < 0):
                return False
        return True

    cdef int _bounds_hold(self, Frame* frame, i64 y, i64 from_section, i64 to_section) noexcept nogil:
        """Raise the floors of these sections to the least low of their unplaced buffers; whether all bounds hold.

        Pieces come in time order, those of no use left out: they end no later than one that is no higher. So the
        others are stairs, the lower they are the sooner they end.
        """
        cdef i64 earliest = self.piece_begin[frame.a], p = self.piece_begin[from_section]
        cdef i64 s, least, first = 0, steps = 0
        while p > earliest:
            p -= 1
            if self.piece_reach[p >> SHIFT] <= from_section:
                p = (p >> SHIFT) << SHIFT
            elif self.piece_end[p] > from_section:
                steps = self._add_step(p, first, steps)
        p = self.piece_begin[from_section]
        for s in range(from_section, to_section):
            while p < self.piece_begin[s + 1]:
                steps = self._add_step(p, first, steps)
                p += 1
            while first < steps and self.steps_end[first] <= s:
                first += 1
            if self.rest[s] == 0:
                continue
            least = self.steps_low[first] if first < steps else self.capacity + 1
            if self.state[self.floor + s] < least:
                if not self._set(self.floor + s, least):
                    return NO_MEMORY
            if max(self.state[self.floor + s], y) + self.rest[s] > self.capacity:
                self._remember(s)
                return 0
        return 1

    cdef inline i64 _add_step(self, i64 p, i64 first, i64 steps) noexcept nogil:
        """Add a piece to the stairs [first, steps); return where they end now."""
        cdef i64 i = self.piece_owner[p], low, end, at = steps, keep, k
        if self.place[i] >= 0:
            return steps
        low, end = self.state[i], self.piece_end[p]
        while at > first and self.steps_low[at - 1] >= low:
            at -= 1
        if at > first and self.steps_end[at - 1] >= end:
            return steps
        keep = at  # [at, keep) are no lower and end no later
        while keep < steps and self.steps_end[keep] <= end:
            keep += 1
        if keep < steps and self.steps_low[keep] == low:
            return steps
        if keep == at:
            for k in range(steps, at, -1):
                self.steps_low[k], self.steps_end[k] = self.steps_low[k - 1], self.steps_end[k - 1]
            steps += 1
        elif keep > at + 1:
            for k in range(keep, steps):
                self.steps_low[at + 1 + k - keep] = self.steps_low[k]
                self.steps_end[at + 1 + k - keep] = self.steps_end[k]
            steps -= keep - at - 1
        self.steps_low[at], self.steps_end[at] = low, end
        return steps

    cdef inline bint _set(self, i64 index, i64 value) noexcept nogil:
        if not grow(&self.trail, 2):
            return False
        self.trail.items[self.trail.used] = index
        self.trail.items[self.trail.used + 1] = self.state[index]
        self.trail.used += 2
        self.state[index] = value
        return True

    cdef void _undo(self, Frame* frame, bint was_held) noexcept nogil:
        """Take back everything since the placement of this frame; was_held: no bound refused it, so blocks changed."""
        cdef i64 i, p, s, k
        while self.logged > frame.log_mark:
            self.logged -= 1
            i = self.log[self.logged]
            self.place[i] = -1
            if was_held:
                self._touch(i)
            for p in range(self.piece_starts[i], self.piece_starts[i + 1]):
                for s in range(self.piece_first[p], self.piece_last[p]):
                    self.rest[s] += self.size[i]
            for k in range(self.first[i] + 1, self.last[i]):
                self.crossing[k] += 1
        while self.trail.used > frame.trail_mark:
            self.trail.used -= 2
            k = self.trail.items[self.trail.used]
            self.state[k] = self.trail.items[self.trail.used + 1]
            if was_held and k < self.floor:
                self._touch(k if k < self.rank else k - self.rank)
        self.parts.used = frame.parts_start
        frame.part = frame.parts_end = frame.parts_start


_TABLES = WeakKeyDictionary()  # of each problem that is being searched: all its runs share them


def _tables(problem):
    """Return what all runs over a problem look up, whatever their capacity and rank."""
    if problem not in _TABLES:
        _TABLES[problem] = [_ended(each) for each in (
            problem.size, problem.alignment, problem.fixed, problem.first, problem.last, problem.piece_starts,
            problem.piece_first, problem.piece_last, problem.starts, problem.neighbours,
            problem.contention, canonical.crossings(problem),
            *_in_time(problem.first, problem.last, problem.sections),
            *_in_time(problem.piece_first, problem.piece_last, problem.sections, np.diff(problem.piece_starts)),
        )]
    return _TABLES[problem]


def _ended(values):
    """Return the values as 64-bit integers with a 0 behind them: none is empty."""
    return np.ascontiguousarray(np.append(values, 0), dtype=np.int64)


def _in_time(first, last, i64 sections, counts=None):
    """Return the order by first section, its inverse, and how many start before each section; for pieces instead how
    many start before each, the owners, starts and ends in this order, and the last end of each block."""
    order = np.argsort(first, kind="stable")
    begin = np.searchsorted(first[order], np.arange(sections + 1))
    if counts is None:
        when = np.empty_like(order)
        when[order] = np.arange(len(order))
        return order, when, begin
    ends = last[order]
    reach = np.maximum.reduceat(ends, np.arange(0, len(ends), 1 << SHIFT)) if len(ends) else ends
    return begin, np.repeat(np.arange(len(counts)), counts)[order], first[order], ends, reach


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


include "_ejection.pxi"
include "_lowest.pxi"
