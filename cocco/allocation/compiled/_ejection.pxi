# The compiled twin of `ejection.repair`: the same moves in the same order. Names follow the Python engine.

from libc.stdint cimport uint64_t
from libc.stdlib cimport qsort

from cocco.allocation.heuristics.ejection import FIXED, INCREMENT, MULTIPLIER, NOISE

cdef struct Event:
    i64 at
    i64 kind    # 0 a neighbour ends, 1 a place, 2 a neighbour would be in the way from here on
    i64 change


cdef int _compare(const void* one, const void* other) noexcept nogil:
    cdef const Event* a = <const Event*> one
    cdef const Event* b = <const Event*> other
    if a.at != b.at:
        return 1 if a.at > b.at else -1
    return (a.kind > b.kind) - (a.kind < b.kind)


cdef inline i64 _draw(uint64_t* random, uint64_t multiplier, uint64_t increment, i64 count) noexcept nogil:
    random[0] = random[0] * multiplier + increment
    return <i64> ((random[0] >> 33) % <uint64_t> count)


cdef class _Repair:
    """One run, see ejection.repair."""

    cdef const i64[::1] size, alignment, fixed, starts, near
    cdef i64[::1] address, penalty, pool
    cdef i64 count, capacity, used, moves, looks, fixed_penalty, noise
    cdef uint64_t random, multiplier, increment
    cdef bint takes_last
    cdef Event* events

    def __cinit__(self, problem, i64 capacity, start, bint takes_last, uint64_t seed):
        cdef i64 i
        self.size, self.alignment, self.fixed = problem.size, problem.alignment, problem.fixed
        self.starts, self.near = problem.starts, problem.neighbours
        self.count, self.capacity, self.takes_last = len(problem.size), capacity, takes_last
        self.address = np.array(start, dtype=np.int64)
        self.penalty = np.ones(self.count, dtype=np.int64)
        self.pool = np.zeros(self.count, dtype=np.int64)
        self.random, self.multiplier, self.increment = 2 * seed + 1, MULTIPLIER, INCREMENT
        self.fixed_penalty, self.noise = FIXED, NOISE
        for i in range(self.count):
            if self.fixed[i] >= 0:
                self.penalty[i] = self.fixed_penalty
            if self.address[i] < 0:
                self.pool[self.used] = i
                self.used += 1
        self.events = <Event*> malloc((4 * self.count + 2) * sizeof(Event))
        if self.events == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.events)

    cdef bint move(self) noexcept nogil:
        """Place one of the pool; False if fixed buffers leave no place at all."""
        cdef i64 k = self.used - 1, i, j, at, cost
        if not self.takes_last:
            k = _draw(&self.random, self.multiplier, self.increment, self.used)
        i = self.pool[k]
        self.pool[k] = self.pool[self.used - 1]
        self.used -= 1
        self.moves += 1
        self.looks += 1 + self.starts[i + 1] - self.starts[i]
        at = self._choose(i, self._list_events(i), &cost)
        if at < 0:
            self.pool[self.used] = i
            self.used += 1
            return False
        if cost:
            self.penalty[i] += 1
            for k in range(self.starts[i], self.starts[i + 1]):
                j = self.near[k]
                if (self.address[j] >= 0 and self.address[j] < at + self.size[i]
                        and at < self.address[j] + self.size[j]):
                    self.address[j] = -1
                    self.pool[self.used] = j
                    self.used += 1
        self.address[i] = at
        return True

    cdef void _add(self, i64* count, i64 at, i64 kind, i64 change) noexcept nogil:
        self.events[count[0]].at, self.events[count[0]].kind, self.events[count[0]].change = at, kind, change
        count[0] += 1

    cdef i64 _list_events(self, i64 i) noexcept nogil:
        cdef i64 k, j, top, below, above, found = 0, step = self.alignment[i], highest = self.capacity - self.size[i]
        self._add(&found, 0, 1, 0)
        self._add(&found, highest // step * step, 1, 0)
        for k in range(self.starts[i], self.starts[i + 1]):
            j = self.near[k]
            if self.address[j] < 0:
                continue
            top, below = self.address[j] + self.size[j], self.address[j] - self.size[i]
            self._add(&found, top, 0, -self.penalty[j])
            self._add(&found, below, 2, self.penalty[j])
            above = (top + step - 1) // step * step
            if above <= highest:
                self._add(&found, above, 1, 0)
            if below > 0:
                self._add(&found, below // step * step, 1, 0)
        qsort(self.events, found, sizeof(Event), _compare)
        return found

    cdef i64 _choose(self, i64 i, i64 count, i64* best) noexcept nogil:
        """Return the cheapest place, -1 if there is none, and what it costs."""
        cdef i64 k, y, cost, total = 0, ties = 0, at = -1, last = -1
        cdef bint is_wild = _draw(&self.random, self.multiplier, self.increment, self.noise) == 0
        best[0] = self.fixed_penalty
        for k in range(count):
            total += self.events[k].change
            y = self.events[k].at
            if self.events[k].kind != 1 or y == last:
                continue
            last = y
            cost = min(total, 1) if is_wild and total < self.fixed_penalty else total
            if cost < best[0]:
                best[0], ties, at = cost, 1, y
            elif cost == best[0] and at >= 0:
                ties += 1
                if _draw(&self.random, self.multiplier, self.increment, ties) == 0:
                    at = y
        return at


def repair(problem, i64 capacity, start, bint takes_last, i64 seed, i64 limit):
    """Return what ejection.repair returns."""
    cdef _Repair run = _Repair(problem, capacity, start, takes_last, seed)
    while run.used and run.looks < limit:
        PyErr_CheckSignals()
        if not run.move():
            break
    return run.used == 0, run.moves, run.looks, np.asarray(run.address).tolist()
