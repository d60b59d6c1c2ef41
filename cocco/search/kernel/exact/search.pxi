# Partition, order and kept intervals together: cocco/search/exact/exact.py, which states the argument

cdef enum:  # why the search ends
    FOUND = 0
    MANY_STATES = 1
    MANY_STEPS = 2
    MANY_SETS = 3
    NO_WAY = 4
    NONE_BELOW = 5


cdef struct Waiting:  # an entry of the queue
    double bound
    i64 turn[2]         # of equal ones
    i64 number
    i64 state


cdef enum:
    LOOK_EVERY = 1_000  # steps between two looks for Ctrl-C; in the largest networks a step takes 0.4 ms


cdef enum:
    DOWNSETS = 4  # for each state there may be; one is left for each, the others are for looking ahead


cdef enum:  # what may become of a tensor
    PASSES = 1          # not kept; written if it is made by this step
    STAYS = 2           # kept; not written if it is made by this step
    BOTH = 4            # made, written and kept


cdef struct Option:  # what may become of a tensor, in this order
    i64 tensor
    i64 ways
    i64 is_made         # by this step, else loaded
    double passing      # what it costs at least: crossings now, and the next reading
    double both
    i64 after           # a tensor: this one stays only if that one does, which is alike; below 0: none


cdef struct Drop:  # a tensor that may be dropped after a step
    i64 tensor
    i64 following       # of these that which is dropped only if this one is, being alike; below 0: none
    bint is_dropped


cdef inline bint before(Waiting* a, Waiting* b) noexcept nogil:
    if a.bound != b.bound:
        return a.bound < b.bound
    if a.turn[0] != b.turn[0]:
        return a.turn[0] < b.turn[0]
    if a.turn[1] != b.turn[1]:
        return a.turn[1] < b.turn[1]
    return a.number < b.number


cdef inline void put(u64* members, i64 v) noexcept nogil:
    members[v >> 6] |= <u64>1 << (v & 63)


cdef inline void take_out(u64* members, i64 v) noexcept nogil:
    members[v >> 6] &= ~(<u64>1 << (v & 63))


cdef struct Pattern:  # what is left at least of some layers and of tensors of theirs
    u64* layers
    u64* tensors
    i64 late_count      # triggers, and the layers that are looked at once those have run
    i64* triggers
    u64* late
    Sets states         # run, kept unwritten, kept and written, of these
    double* left
    Sets runs           # run, whatever is kept
    double* least


cdef class KeptSearch(WordRows):
    """The search of one network, window by window.

    The budgets that it is made with say how much room there is; those of a run are at most these.
    """

    cdef KeptPrices prices
    cdef Kernel kernel
    cdef i64 size, room, may_keep, steps, next_look, pushed, waiting, queue_room, why, is_cut, stamp
    cdef i64 state_room, step_room, most_states, most_sets, most_steps, most_units, look_steps, price_steps
    cdef i64 reached        # the most layers that had run in a state that went on
    cdef double below, least, slack, growth, limit, skipped
    cdef i64 most_rounds
    cdef bint keeps         # else a state is only what has run
    cdef bint is_exhaustive, is_noting  # all states below a cost; and then their steps
    cdef list noted         # steps: from, to, subgraph, price
    cdef i64 most_noted
    cdef i64* whole
    cdef double* layer_floor
    cdef double* crossing_floor
    cdef u64* consumers     # by tensor
    cdef i64* first_word    # of these, by tensor: others are empty
    cdef i64* end_word
    cdef u64* joined        # by layer: its readers and siblings
    cdef i64* first_joined  # words of these
    cdef i64* end_joined
    cdef u64* crosses       # tensors that every plan writes to DRAM and reads there
    cdef Pattern* patterns  # for windows of all layers
    cdef i64 pattern_count
    cdef u64* covered       # layers of patterns, then their tensors
    cdef i64 uses_patterns
    cdef object alike       # cocco.search.exact.interchangeable.Alike
    cdef i64* kinds         # its kinds, by tensor
    cdef bint has_alike, uses_alike
    cdef i64* tie_begin     # by downset: where its groups begin among ties, below 0: not known
    cdef i64* ties          # groups: how many tensors, then these; 0 ends them
    cdef i64 tie_count, tie_room
    cdef u64* raw           # by state: what is kept unwritten and written as the step left it that led there
    cdef u64* first         # of the state that is reached: what stands for it
    cdef u64* ancestors     # by layer, itself included
    cdef u64* upward        # by layer of the window: its unit and what that needs
    cdef u64* heads         # the first layers of units
    cdef u64* alone         # layers that share a subgraph with no reader and no sibling, where nothing may be kept
    cdef bint in_order      # whether one order of the subgraphs of a plan will do
    cdef u64* descendants   # by layer, itself included
    cdef u64* together      # of these those that may share a subgraph with it, without itself; where is_together
    cdef i64* is_together
    cdef i64* starts        # layers of which a next set has one
    # the window: its layers, who reads in it, what is read beyond it, what must be kept in the end
    cdef i64 inside_count
    cdef i64* inside
    cdef i64 read_count     # tensors that its layers read
    cdef i64* read_here
    cdef u64* readers       # by tensor
    cdef u64* beside        # by layer: those of the window that are joined with it, without what it reads
    cdef u64* beyond
    cdef u64* start         # three rows, as a state
    cdef u64* goal
    cdef u64* needed
    cdef Waiting* queue
    # states: executed, kept unwritten, kept and written
    cdef Sets states
    cdef double* cost
    cdef i64* parent
    cdef i64* taken         # subgraphs of the way there, where nothing is kept,
    cdef i64* last          # and the layers that had run before the last of them
    cdef i64* group_of      # the subgraph that led there, by number
    cdef double* bound_of   # while it waits, else infinite
    cdef i64* rounds        # in which it has gone on
    # sets of layers that were looked at, and what they read
    cdef Sets groups
    cdef i64* fits          # -1: not known
    cdef i64* mark          # of the last downset that met it
    cdef u64* inputs
    cdef double* passing    # their cost where nothing is kept, below 0: not known
    # downsets: their subgraphs, their floor, their live tensors
    cdef Sets downsets
    cdef i64* begin
    cdef i64* end
    cdef double* floor
    cdef double* after      # with the least of all patterns, below 0: not known
    cdef u64* live
    cdef i64* listed
    cdef i64 listed_count
    # prices of steps: on chip, loaded, written, then subgraph, bytes kept, elsewhere, handed
    cdef Sets asked
    cdef double* price
    # one state at work
    cdef u64* spare
    cdef i64* ids
    cdef i64* stack
    cdef Option* options
    cdef Drop* drops
    cdef i64* tie           # by tensor: the one before it that is alike, of the state at work; below 0: none

    def __cinit__(self, KeptPrices prices, whole, layer_floor, crossing_floor, i64 room, may_keep, crosses, patterns, budgets, waiting, alike):
        cdef Kernel kernel = prices.kernel
        cdef i64 n = kernel.graph.size, tensors = kernel.net.tensors, words = prices.words, u, v, j, i
        self.prices, self.kernel, self.words, self.size, self.room = prices, kernel, words, n, room
        self.may_keep = may_keep
        self.state_room, self.most_sets, self.step_room, self.look_steps, self.price_steps = budgets
        self.slack, self.growth, self.most_rounds = waiting
        self.stamp = 0
        self.arrays = []
        self.whole = <i64*>self.held(whole, np.int64)
        self.layer_floor = <double*>self.held(layer_floor, np.float64)
        self.crossing_floor = <double*>self.held(crossing_floor, np.float64)
        self.consumers = <u64*>self.held(np.zeros(tensors * words), np.uint64)
        self.crosses = self.rows_of([crosses])
        self.first_word = <i64*>self.held(np.full(tensors, words), np.int64)
        self.end_word = <i64*>self.held(np.zeros(tensors), np.int64)
        self.ancestors = <u64*>self.held(np.zeros(n * words), np.uint64)
        for v in range(n):
            put(self.ancestors + v * words, v)
            for j in range(kernel.net.producer_start[v], kernel.net.producer_start[v + 1]):
                u = kernel.net.producers[j]
                put(self.consumers + u * words, v)
                self.first_word[u] = imin(self.first_word[u], v >> 6)
                self.end_word[u] = imax(self.end_word[u], (v >> 6) + 1)
                if u < n:
                    for i in range(words):
                        self.ancestors[v * words + i] |= self.ancestors[u * words + i]
        self.joined = <u64*>self.held(np.zeros(n * words), np.uint64)
        for v in range(n):
            memcpy(self.joined + v * words, self.consumers + v * words, words * sizeof(u64))
            for j in range(kernel.graph.sets_of_start[v], kernel.graph.sets_of_start[v + 1]):
                for i in range(
                    kernel.graph.sibling_start[kernel.graph.sets_of[j]],
                    kernel.graph.sibling_start[kernel.graph.sets_of[j] + 1],
                ):
                    put(self.joined + v * words, kernel.graph.siblings[i])
            take_out(self.joined + v * words, v)
        self.first_joined = <i64*>self.held(np.full(n, words), np.int64)
        self.end_joined = <i64*>self.held(np.zeros(n), np.int64)
        for v in range(n):
            for i in range(words):
                if self.joined[v * words + i]:
                    self.first_joined[v], self.end_joined[v] = imin(self.first_joined[v], i), i + 1
        # np.empty takes address space, not memory, until it is written to
        self.make_sets(&self.states, self.state_room, 3 * words)
        self.cost = <double*>self.room_for(self.state_room, np.float64)
        self.parent, self.group_of = <i64*>self.room_for(self.state_room), <i64*>self.room_for(self.state_room)
        self.taken, self.last = <i64*>self.room_for(self.state_room), <i64*>self.room_for(self.state_room)
        self.bound_of = <double*>self.room_for(self.state_room, np.float64)
        self.rounds = <i64*>self.room_for(self.state_room)
        self.make_sets(&self.groups, self.most_sets, words)
        self.fits, self.mark = <i64*>self.room_for(self.groups.room), <i64*>self.room_for(self.groups.room)
        self.inputs = <u64*>self.room_for(self.groups.room * words)
        self.passing = <double*>self.room_for(self.groups.room, np.float64)
        self.make_sets(&self.downsets, DOWNSETS * self.state_room, words)
        self.begin, self.end = <i64*>self.room_for(self.downsets.room), <i64*>self.room_for(self.downsets.room)
        self.floor = <double*>self.room_for(self.downsets.room, np.float64)
        self.after = <double*>self.room_for(self.downsets.room, np.float64)
        self.live = <u64*>self.room_for(self.downsets.room * words)
        self.listed = <i64*>self.room_for(self.step_room + 1)
        self.make_sets(&self.asked, self.step_room // self.price_steps + 2, 3 * words + 4)
        self.price = <double*>self.room_for(self.asked.room, np.float64)
        self.spare = <u64*>self.room_for(20 * (words + 1))
        self.ids = <i64*>self.room_for(tensors + 1)
        self.stack = <i64*>self.room_for(self.most_sets)
        self.options = <Option*>self.room_for((tensors + 1) * sizeof(Option) // sizeof(i64))
        self.drops = <Drop*>self.room_for((tensors + 1) * sizeof(Drop) // sizeof(i64))
        self.tie = <i64*>self.held(np.full(tensors, -1), np.int64)
        self.inside, self.read_here = <i64*>self.room_for(n), <i64*>self.room_for(tensors)
        self.readers, self.beyond = <u64*>self.room_for(tensors * words), <u64*>self.room_for(words)
        self.beside = <u64*>self.room_for(n * words)
        self.start, self.goal = <u64*>self.room_for(3 * words), <u64*>self.room_for(3 * words)
        self.needed, self.heads = <u64*>self.room_for(words), <u64*>self.room_for(words)
        self.upward = <u64*>self.room_for(n * words)
        self.alone, self.starts = <u64*>self.held(np.zeros(words), np.uint64), <i64*>self.room_for(n)
        self.descendants, self.together = <u64*>self.held(np.zeros(n * words), np.uint64), <u64*>self.room_for(n * words)
        self.is_together = <i64*>self.held(np.zeros(n), np.int64)
        for v in range(n - 1, -1, -1):
            put(self.descendants + v * words, v)
            for u in range(v + 1, n):
                if has(self.consumers + v * words, u):
                    for i in range(words):
                        self.descendants[v * words + i] |= self.descendants[u * words + i]
        if not self.may_keep:
            find_alone(self)
        self.queue_room = 0
        self.alike, self.has_alike = alike, alike.is_any
        if self.has_alike:
            self.kinds, self.tie_begin = <i64*>self.held(alike.kinds, np.int64), <i64*>self.room_for(self.downsets.room)
            self.raw, self.first = <u64*>self.room_for(2 * self.state_room * words), <u64*>self.room_for(3 * words)
        self.set_patterns(patterns)

    def __dealloc__(self):
        free(self.queue)
        free(self.patterns)
        free(self.ties)

    cdef int set_patterns(self, patterns) except -1:
        """patterns: cocco.search.exact.question.Pattern."""
        cdef i64 words = self.words, i
        cdef Pattern* pattern
        cdef u64* rows
        self.pattern_count = len(patterns)
        self.covered = <u64*>self.held(np.zeros(2 * words), np.uint64)
        self.patterns = <Pattern*>calloc(self.pattern_count + 1, sizeof(Pattern))
        if self.patterns is NULL:
            raise MemoryError("no memory for the patterns")
        for number, each_pattern in enumerate(patterns):
            layers, tensors, late, left = each_pattern
            least = each_pattern.by_layers()
            pattern = &self.patterns[number]
            pattern.layers, pattern.tensors = self.rows_of([layers]), self.rows_of([tensors])
            for i in range(words):
                self.covered[i] |= pattern.layers[i]
                self.covered[words + i] |= pattern.tensors[i]
            pattern.late_count = len(late)
            pattern.triggers = <i64*>self.held([trigger for trigger, _ in late], np.int64)
            pattern.late = self.rows_of([each for _, each in late])
            pattern.left = <double*>self.held(list(left.values()), np.float64)
            self.make_sets(&pattern.states, len(left), 3 * words)
            rows = self.rows_of(chain.from_iterable(left))
            for i in range(len(left)):
                self.add(&pattern.states, rows + 3 * words * i, 3 * words)
            pattern.least = <double*>self.held(list(least.values()), np.float64)
            self.make_sets(&pattern.runs, len(least), words)
            rows = self.rows_of(list(least))
            for i in range(len(least)):
                self.add(&pattern.runs, rows + words * i, words)
        return 0

    cdef void* room_for(self, i64 count, kind=np.int64) except NULL:
        array = np.empty(count + 1, dtype=kind)
        self.arrays.append(array)
        return <void*><size_t>array.ctypes.data

    cdef int make_sets(self, Sets* sets, i64 room, i64 words) except -1:
        cdef i64 size = 2048
        while size < 2 * room:
            size *= 4
        sets.room, sets.members, sets.index = room, <u64*>self.room_for(room * words), <i64*>self.room_for(size)
        forget_all(sets)
        return 0

    cdef i64 add(self, Sets* sets, const u64* members, i64 words) noexcept:
        """As add_set, with an index that grows."""
        if 2 * sets.count >= sets.index_size:
            index_again(sets, words, 4 * sets.index_size)
        return add_set(sets, members, words)

    def run(self, start, goal, units, limits):
        """Return (why it ended, layers of each step, tensors kept beyond each, cost, states, steps, reached).

        start, goal: of a window, three sets each, as integers; units: sets of layers; limits: states, steps, below,
        units of a subgraph
        (cocco.search.exact.window).
        """
        cdef i64 state, found = -1
        cdef double cost = 0.0
        self.uses_patterns = not any((*start, *goal[1:], *units)) and goal[0].bit_count() == self.size
        self.uses_alike = self.uses_patterns and self.has_alike and not self.is_exhaustive
        self.begin_window(start, goal, limits)
        self.set_units(units)
        self.reach(self.start, 0.0, -1, -1)
        while found < 0 and not self.why and self.waiting:
            self.least = self.queue[0].bound
            state = self.pop()
            if self.bound_of[state] != self.least:
                continue
            if same_set(self.states.members + 3 * state * self.words, self.goal, self.words):
                if self.is_exhaustive:
                    continue
                found = state
                break
            self.bound_of[state] = INFINITY
            self.reached = imax(self.reached, self.layers_of(state))
            self.take_turn(state)
        if found < 0:
            why = self.why or (NONE_BELOW if self.is_cut else NO_WAY)
            cost = min(self.least, self.below) if self.why else INFINITY
            return why, [], [], cost, self.states.count, self.steps, self.reached
        groups, kept, cost = [], [], self.cost[found]
        while self.parent[found] >= 0:
            groups.append(self.list_of(self.groups.members + self.group_of[found] * self.words))
            for state in range(self.words):
                self.spare[state] = (
                    self.states.members[(3 * found + 1) * self.words + state]
                    | self.states.members[(3 * found + 2) * self.words + state]
                )
            kept.append(self.raw_state(found) if self.uses_alike else self.list_of(self.spare))
            found = self.parent[found]
        if self.uses_alike:
            kept = self.alike.untangled(kept[::-1])[::-1]
        return FOUND, groups[::-1], kept[::-1], cost, self.states.count, self.steps, self.reached

    def near(self, start, goal, units, limits, most):
        """Return (why it gave up, costs of the states, steps noted, steps taken) of all plans below a cost.

        most: steps noted; each is (from, to, subgraph, price). `state` and `group` say what the numbers stand for.
        """
        self.is_exhaustive, self.noted, self.most_noted = True, [], most
        try:
            self.run(start, goal, units, limits)
            if not self.why:
                note_all(self)
            return self.why, [self.cost[state] for state in range(self.states.count)], self.noted, self.steps
        finally:
            self.is_exhaustive = self.is_noting = False

    def state(self, i64 number):
        """Return a state of `near`: three sets, as integers."""
        return tuple([self.integer(self.states.members + (3 * number + i) * self.words) for i in range(3)])

    def group(self, i64 number):
        """Return the layers of a subgraph of `near`, as an integer."""
        return self.integer(self.groups.members + number * self.words)

    cdef tuple raw_state(self, i64 state):
        """A state as the step left it that led there, as integers."""
        cdef u64* raw = self.raw + 2 * state * self.words
        executed = self.integer(self.states.members + 3 * state * self.words)
        return executed, self.integer(raw), self.integer(raw + self.words)

    cdef int begin_window(self, start, goal, limits) except -1:
        cdef i64 i, u, words = self.words
        cdef bint is_read
        self.most_states, self.most_steps, self.below, self.most_units = limits
        self.least, self.reached = 0.0, 0
        self.tie_count = 0
        self.steps = self.next_look = self.pushed = self.waiting = self.why = self.is_cut = self.listed_count = 0
        if self.most_states > self.state_room or self.most_steps > self.step_room:
            raise ValueError("the search was made for smaller budgets")
        forget_all(&self.states)
        forget_all(&self.downsets)
        if (
            self.asked.count + self.most_steps // self.price_steps + 2 > self.asked.room
            or self.groups.count > self.most_sets // 2
        ):
            forget_all(&self.asked)
            forget_all(&self.groups)
        for i, each in enumerate((*start, *goal)):
            for u in range(words):
                (self.start if i < 3 else self.goal)[(i % 3) * words + u] = (each >> (64 * u)) & 0xFFFFFFFFFFFFFFFF
        for i in range(words):
            self.needed[i] = self.goal[words + i] | self.goal[2 * words + i]
            self.beyond[i] = 0
        self.keeps = self.may_keep or any((*start[1:], *goal[1:]))
        for u in range(self.kernel.net.tensors):
            self.tie[u] = -1
        self.inside_count = 0
        for u in range(self.size):
            if has(self.goal, u) and not has(self.start, u):
                self.inside[self.inside_count] = u
                self.inside_count += 1
        for u in range(self.size):
            for i in range(words):
                self.beside[u * words + i] = self.joined[u * words + i] & self.goal[i] & ~self.start[i]
        self.read_count = 0
        for u in range(self.kernel.net.tensors):
            is_read = False
            for i in range(words):
                self.readers[u * words + i] = self.consumers[u * words + i] & self.goal[i] & ~self.start[i]
                if self.readers[u * words + i]:
                    is_read = True
                if self.consumers[u * words + i] & ~self.goal[i]:
                    put(self.beyond, u)
            if is_read:
                self.read_here[self.read_count] = u
                self.read_count += 1
        return 0

    cdef int set_units(self, units) except -1:
        """moves.py, _units"""
        cdef i64 words = self.words, i, j, k, v, p, count
        cdef u64* unit = self.spare
        cdef u64* needs = self.spare + words
        self.in_order = not (self.keeps or self.is_exhaustive or units)
        for i in range(words):
            self.heads[i] = 0 if units else self.goal[i] & ~self.start[i]
        if not units:
            memcpy(self.upward, self.ancestors, self.size * words * sizeof(u64))
        for each in units:
            for i in range(words):
                unit[i] = needs[i] = (each >> (64 * i)) & 0xFFFFFFFFFFFFFFFF
            count = list_set(unit, words, self.ids)
            for k in range(count):
                v = self.ids[k]
                for j in range(self.kernel.net.producer_start[v], self.kernel.net.producer_start[v + 1]):
                    p = self.kernel.net.producers[j]
                    if p < self.size and not has(self.start, p) and not has(unit, p):
                        for i in range(words):
                            needs[i] |= self.upward[p * words + i]
            for k in range(count):
                memcpy(self.upward + self.ids[k] * words, needs, words * sizeof(u64))
            put(self.heads, self.ids[0])
        return 0

    cdef list list_of(self, u64* members):
        cdef i64 i, count = list_set(members, self.words, self.ids)
        return [self.ids[i] for i in range(count)]

    cdef i64 layers_of(self, i64 state) noexcept:
        cdef i64 i, count = 0
        for i in range(self.words):
            count += popcount64(self.states.members[3 * state * self.words + i])
        return count

    cdef int spend(self, i64 steps) except -1:
        """Count steps; whether there are too many. Lets Ctrl-C in, and other threads, every few milliseconds."""
        self.steps += steps
        if self.steps > self.most_steps:
            self.why = MANY_STEPS
        if self.steps >= self.next_look:
            self.next_look = self.steps + LOOK_EVERY
            PyErr_CheckSignals()
            with nogil:
                pass
        return self.why != 0

    cdef int take_turn(self, i64 state) except -1:
        """exact.py, _go_on; 1 where the search must end"""
        cdef double factor = self.slack
        cdef i64 i
        for i in range(self.rounds[state]):
            factor *= self.growth
        self.limit = self.least * (1 + factor) if self.keeps and self.rounds[state] < self.most_rounds else INFINITY
        self.skipped = INFINITY
        self.rounds[state] += 1
        if go_on(self, state):
            return 1
        if self.skipped >= self.below:
            self.is_cut |= self.skipped < INFINITY
        elif self.skipped < INFINITY:
            self.push(self.skipped, state)
        return 0

    cdef bint holds_back(self, double least) noexcept:
        """Whether what comes to so much at least has to wait."""
        if least <= self.limit:
            return False
        if least < self.skipped:
            self.skipped = least
        return True

    cdef int reach(self, const u64* place, double cost, i64 parent, i64 group) except -1:
        """Note a way to a state if it is the cheapest so far and leaves a chance; 1 where the search must end."""
        cdef const u64* raw = place
        cdef i64 found, downset, taken = 0, last = 0
        cdef double bound
        if parent >= 0 and not self.keeps:
            taken, last = self.taken[parent] + 1, self.layers_of(parent)
        if self.uses_alike:
            place = first_alike(self, place)
        found = find_set(&self.states, place, 3 * self.words)
        if found >= 0 and (cost > self.cost[found] or (cost == self.cost[found] and (
            taken > self.taken[found] or (taken == self.taken[found] and last >= self.last[found])
        ))):
            return 0
        downset = downset_of(self, place)
        bound = cost + least_left(self, downset, place)
        if bound >= self.below:
            self.is_cut |= bound < INFINITY
            return 0
        if found < 0 and self.states.count == self.most_states:
            self.why = MANY_STATES
            return 1
        if found < 0:
            found = self.add(&self.states, place, 3 * self.words)
        if self.uses_alike:
            memcpy(self.raw + 2 * found * self.words, raw + self.words, 2 * self.words * sizeof(u64))
        self.rounds[found] = 0
        self.cost[found], self.parent[found], self.group_of[found] = cost, parent, group
        self.taken[found], self.last[found] = taken, last
        return self.push(bound, found)

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
        self.bound_of[state] = bound
        entry.bound, entry.number, entry.state, at = bound, self.pushed, state, self.layers_of(state)
        entry.turn[0], entry.turn[1] = self.taken[state], -at if self.keeps else at
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
