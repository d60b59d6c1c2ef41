# Partition, order and kept intervals together: cocco/search/keeping/exact.py, which states the argument

cdef enum:  # why the search ends
    FOUND = 0
    MANY_STATES = 1
    MANY_STEPS = 2
    MANY_SETS = 3
    NO_WAY = 4


cdef struct Waiting:  # an entry of the queue
    double bound
    i64 layers
    i64 number
    i64 state


cdef struct Option:  # what may become of a tensor: a set of up to three ways, in the order of exact.py
    i64 tensor
    i64 count
    i64 is_made         # by this step: written, kept, both; else loaded: passes, stays


cdef inline bint before(Waiting* a, Waiting* b) noexcept nogil:
    if a.bound != b.bound:
        return a.bound < b.bound
    if a.layers != b.layers:
        return a.layers > b.layers
    return a.number < b.number


cdef inline void put(u64* members, i64 v) noexcept nogil:
    members[v >> 6] |= <u64>1 << (v & 63)


cdef inline void take_out(u64* members, i64 v) noexcept nogil:
    members[v >> 6] &= ~(<u64>1 << (v & 63))


cdef class KeptSearch:
    """The search of one network; sets of layers and of tensors are rows of `words` 64-bit words."""

    cdef KeptPrices prices
    cdef Kernel kernel
    cdef i64 words, size, room, may_keep, steps, pushed, waiting, queue_room, why
    cdef i64 most_states, most_sets, most_steps, look_steps, price_steps
    cdef list arrays
    cdef i64* whole
    cdef double* layer_floor
    cdef double* crossing_floor
    cdef u64* consumers     # by tensor
    cdef u64* reads         # by layer
    cdef u64* ancestors     # by layer, itself included
    cdef Waiting* queue
    # states: executed, kept unwritten, kept and written
    cdef Sets states
    cdef double* cost
    cdef i64* parent
    cdef i64* group_of      # the subgraph that led there, by number
    cdef i64* is_closed
    # sets of layers that were looked at, and what they read
    cdef Sets groups
    cdef i64* fits          # -1: not known
    cdef i64* mark          # of the last downset that met it
    cdef u64* inputs
    # downsets: their subgraphs, their floor, their live tensors
    cdef Sets downsets
    cdef i64* begin
    cdef i64* end
    cdef double* floor
    cdef u64* live
    cdef i64* listed
    cdef i64 listed_count
    # prices of steps: on chip, loaded, written, then subgraph, bytes kept, elsewhere
    cdef Sets asked
    cdef double* price
    # one state at work
    cdef u64* spare
    cdef i64* ids
    cdef i64* stack
    cdef Option* options

    def __cinit__(self, KeptPrices prices, whole, layer_floor, crossing_floor, i64 room, may_keep, budgets):
        cdef Kernel kernel = prices.kernel
        cdef i64 n = kernel.graph.size, tensors = kernel.net.tensors, words = prices.words, u, v, j, i
        self.prices, self.kernel, self.words, self.size, self.room = prices, kernel, words, n, room
        self.may_keep = may_keep
        self.most_states, self.most_sets, self.most_steps, self.look_steps, self.price_steps = budgets
        kernel.goal.at[0] = kernel.goal.at[1] = 0
        self.arrays = []
        self.whole = <i64*>self.held(whole, np.int64)
        self.layer_floor = <double*>self.held(layer_floor, np.float64)
        self.crossing_floor = <double*>self.held(crossing_floor, np.float64)
        self.consumers = <u64*>self.held(np.zeros(tensors * words), np.uint64)
        self.reads = <u64*>self.held(np.zeros(n * words), np.uint64)
        self.ancestors = <u64*>self.held(np.zeros(n * words), np.uint64)
        for v in range(n):
            put(self.ancestors + v * words, v)
            for j in range(kernel.net.producer_start[v], kernel.net.producer_start[v + 1]):
                u = kernel.net.producers[j]
                put(self.reads + v * words, u)
                put(self.consumers + u * words, v)
                if u < n:
                    for i in range(words):
                        self.ancestors[v * words + i] |= self.ancestors[u * words + i]
        # np.empty takes address space, not memory, until it is written to
        self.make_sets(&self.states, self.most_states, 3 * words)
        self.cost = <double*>self.room_for(self.most_states, np.float64)
        self.parent, self.group_of = <i64*>self.room_for(self.most_states), <i64*>self.room_for(self.most_states)
        self.is_closed = <i64*>self.room_for(self.most_states)
        self.make_sets(&self.groups, self.most_sets, words)
        self.fits, self.mark = <i64*>self.room_for(self.groups.room), <i64*>self.room_for(self.groups.room)
        self.inputs = <u64*>self.room_for(self.groups.room * words)
        self.make_sets(&self.downsets, self.most_states, words)
        self.begin, self.end = <i64*>self.room_for(self.most_states), <i64*>self.room_for(self.most_states)
        self.floor = <double*>self.room_for(self.most_states, np.float64)
        self.live = <u64*>self.room_for(self.most_states * words)
        self.listed = <i64*>self.room_for(self.most_steps + 1)
        self.make_sets(&self.asked, self.most_steps // self.price_steps + 2, 3 * words + 3)
        self.price = <double*>self.room_for(self.asked.room, np.float64)
        self.spare = <u64*>self.room_for(16 * (words + 1))
        self.ids = <i64*>self.room_for(4 * tensors + 4)
        self.stack = <i64*>self.room_for(self.most_sets)
        self.options = <Option*>self.room_for(3 * tensors + 3)
        self.queue_room = 0

    def __dealloc__(self):
        free(self.queue)

    cdef void* held(self, values, kind) except NULL:
        array = np.append(np.asarray(values, dtype=kind), np.zeros(1, dtype=kind))
        self.arrays.append(array)
        return <void*><size_t>array.ctypes.data

    cdef void* room_for(self, i64 count, kind=np.int64) except NULL:
        array = np.empty(count + 1, dtype=kind)
        self.arrays.append(array)
        return <void*><size_t>array.ctypes.data

    cdef int make_sets(self, Sets* sets, i64 room, i64 words) except -1:
        sets.count, sets.room = 0, room
        sets.members = <u64*>self.room_for(room * words)
        return self.index_sets(sets, words, 2048)

    cdef int index_sets(self, Sets* sets, i64 words, i64 size) except -1:
        cdef i64 i, slot
        index = np.full(size, -1, dtype=np.int64)
        self.arrays.append(index)
        sets.index, sets.index_size = <i64*><size_t>index.ctypes.data, size
        for i in range(sets.count):
            slot = <i64>(hash_set(sets.members + i * words, words) & <u64>(size - 1))
            while sets.index[slot] >= 0:
                slot = (slot + 1) & (size - 1)
            sets.index[slot] = i
        return 0

    cdef int add(self, Sets* sets, const u64* members, i64 words) except -1:
        """As add_set, with an index that grows."""
        if 2 * sets.count >= sets.index_size:
            self.index_sets(sets, words, 4 * sets.index_size)
        return add_set(sets, members, words)

    def run(self):
        """Return (why it ended, subgraphs, tensors kept beyond each, cost, states, steps)."""
        cdef i64 state, goal = -1, popped = 0
        cdef double cost = 0.0
        memset(self.spare, 0, 3 * self.words * sizeof(u64))
        self.reach(self.spare, 0.0, -1, -1)
        while goal < 0 and not self.why and self.waiting:
            state = self.pop()
            if self.is_closed[state]:
                continue
            if self.layers_of(state) == self.size:
                goal = state
                break
            self.is_closed[state] = 1
            go_on(self, state)
            popped += 1
            if not popped & 63:
                PyErr_CheckSignals()
        if goal < 0:
            return self.why or NO_WAY, [], [], INFINITY, self.states.count, self.steps
        groups, kept, cost = [], [], self.cost[goal]
        while self.parent[goal] >= 0:
            groups.append(self.list_of(self.groups.members + self.group_of[goal] * self.words))
            kept.append(
                self.list_of(self.states.members + (3 * goal + 1) * self.words)
                + self.list_of(self.states.members + (3 * goal + 2) * self.words)
            )
            goal = self.parent[goal]
        return FOUND, groups[::-1], kept[::-1], cost, self.states.count, self.steps

    cdef list list_of(self, u64* members):
        cdef i64 i, count = list_set(members, self.words, self.ids)
        return [self.ids[i] for i in range(count)]

    cdef i64 layers_of(self, i64 state) noexcept:
        cdef i64 i, count = 0
        for i in range(self.words):
            count += popcount64(self.states.members[3 * state * self.words + i])
        return count

    cdef bint spend(self, i64 steps) noexcept:
        """Count steps; whether there are too many."""
        self.steps += steps
        if self.steps > self.most_steps:
            self.why = MANY_STEPS
        return self.why != 0

    cdef int reach(self, const u64* place, double cost, i64 parent, i64 group) except -1:
        """Note a way to a state if it is the cheapest so far; 1 where the search must end."""
        cdef i64 found = find_set(&self.states, place, 3 * self.words), downset
        if found >= 0 and cost >= self.cost[found]:
            return 0
        if found < 0 and self.states.count == self.most_states:
            self.why = MANY_STATES
            return 1
        downset = self.downset_of(place)
        if found < 0:
            self.add(&self.states, place, 3 * self.words)
            found = self.states.count - 1
        self.is_closed[found] = 0
        self.cost[found], self.parent[found], self.group_of[found] = cost, parent, group
        return self.push(cost + self.floor_of(downset, place), found)

    cdef int push(self, double bound, i64 state) except -1:
        cdef i64 at, up
        cdef Waiting entry
        cdef Waiting* grown
        if self.waiting == self.queue_room:
            self.queue_room = 2 * self.queue_room + 1024
            grown = <Waiting*>realloc(self.queue, self.queue_room * sizeof(Waiting))
            if grown is NULL:
                raise MemoryError("no memory for the states that wait")
            self.queue = grown
        self.pushed += 1
        entry.bound, entry.layers, entry.number, entry.state = bound, self.layers_of(state), self.pushed, state
        at = self.waiting
        self.waiting += 1
        while at:
            up = (at - 1) // 2
            if not before(&entry, &self.queue[up]):
                break
            self.queue[at] = self.queue[up]
            at = up
        self.queue[at] = entry
        return 0

    cdef i64 pop(self) noexcept:
        cdef i64 at = 0, below, state = self.queue[0].state
        cdef Waiting entry
        self.waiting -= 1
        entry = self.queue[self.waiting]
        while True:
            below = 2 * at + 1
            if below >= self.waiting:
                break
            if below + 1 < self.waiting and before(&self.queue[below + 1], &self.queue[below]):
                below += 1
            if not before(&self.queue[below], &entry):
                break
            self.queue[at] = self.queue[below]
            at = below
        self.queue[at] = entry
        return state

    cdef i64 downset_of(self, const u64* executed) except -1:
        """The number of a downset, with its floor and its live tensors; its subgraphs are listed when it goes on."""
        cdef i64 found = find_set(&self.downsets, executed, self.words), v, u, i
        cdef double total = 0.0
        cdef u64* live
        if found >= 0:
            return found
        self.add(&self.downsets, executed, self.words)
        found = self.downsets.count - 1
        live = self.live + found * self.words
        memset(live, 0, self.words * sizeof(u64))
        for v in range(self.size):
            if not has(executed, v):
                total += self.layer_floor[v]
        for u in range(self.kernel.net.tensors):
            if u >= self.size or has(executed, u):
                for i in range(self.words):
                    if self.consumers[u * self.words + i] & ~executed[i]:
                        put(live, u)
                        break
        self.floor[found], self.begin[found] = total, -1
        return found

    cdef double floor_of(self, i64 downset, const u64* place) noexcept:
        cdef double total = self.floor[downset]
        cdef i64 i, u
        cdef u64 left
        for i in range(self.words):
            left = self.live[downset * self.words + i] & ~(place[self.words + i] | place[2 * self.words + i])
            while left:
                u = 64 * i + lowest_bit(left)
                total += self.crossing_floor[u]
                left &= left - 1
        return total
