# All states of a pattern and what is left from each: cocco/bounds/patterns/tables.py, whose steps these count

cdef struct PatternState:
    i64 downset     # the number of the layers that have run
    i64 first       # of its ways; below 0: not looked at yet
    i64 last
    i64 seen_by     # the last state from which a way led here, and that way
    i64 way
    i64 following   # looked at after it, with the same layers
    double left


cdef struct PatternWay:
    i64 to
    double cost


cdef struct PatternChoice:  # what becomes of a tensor in a step: kept_patterns._Choice
    u64 kept
    u64 copied
    u64 stored
    u64 loaded
    u64 ran
    i64 more


cdef struct PatternChosen:  # of the first tensors of a step
    PatternChoice all
    i64 at      # the choice of the next one


cdef class PatternWays(WordRows):
    """The problem of a pattern (kept_patterns.Small), which says what may run next."""

    cdef KeptPrices kept_prices
    cdef object small, budget
    cdef list downsets
    cdef dict run_numbers, seen_numbers
    cdef i64 count, room, steps, most, next_look, price_steps, now, now_downset, stack_count, stack_room, way_count
    cdef i64 loose_room, way_room, state_room, after_room, loose_count, late_count
    cdef bint has_inside
    cdef Sets states        # executed, kept unwritten, kept and written
    cdef Sets executed      # numbers of downsets
    cdef PatternState* info
    cdef i64* looked_at     # states, one after the other
    cdef i64 looks
    cdef PatternWay* ways
    cdef i64* stack
    cdef Answers asked      # of runs: what they cost beside what is kept
    cdef Answers prices     # of steps
    cdef i64* whole
    cdef i64* loose
    cdef i64* ids
    cdef double* layer_floor
    cdef double* crossing_floor
    cdef i64* triggers      # of late layers, which are a row for each
    cdef u64* late
    cdef u64* readers       # by tensor
    cdef u64* layers
    cdef u64* outputs
    cdef u64* spare         # of prices
    cdef u64* here          # the state at work: executed, kept unwritten, kept and written
    cdef u64* there         # and one after it
    cdef u64* ran           # what has run after a step, what late layers appear, which of these have run
    cdef u64* appears
    cdef u64* appeared
    cdef u64* after         # states that late layers make of it
    cdef double* paid
    cdef PatternChoice choices[TOUCHED + 1][4]
    cdef i64 choice_count[TOUCHED + 1]
    cdef PatternChosen chosen[TOUCHED + 2]

    def __cinit__(self, KeptPrices prices, small, i64 price_steps):
        question, order = small.question, small.order
        cdef i64 tensors = len(order.readers)
        self.kept_prices, self.small, self.budget, self.price_steps = prices, small, small.budget, price_steps
        self.words, self.count, self.room = prices.words, order.count, question.room
        self.loose_room = question.room + max(map(question.most_handed, question.places), default=0)
        self.has_inside = question.inside is not None
        self.arrays, self.downsets, self.run_numbers, self.seen_numbers = [], [], {}, {}
        self.whole = <i64*>self.held(question.whole, np.int64)
        self.loose, self.loose_count = <i64*>self.held(small.loose, np.int64), len(small.loose)
        self.ids = <i64*>self.held(np.zeros(tensors + 1), np.int64)
        self.layer_floor = <double*>self.held(question.layer_floor, np.float64)
        self.crossing_floor = <double*>self.held(question.crossing_floor, np.float64)
        self.readers = self.rows_of(order.readers)
        self.layers, self.outputs = self.rows_of([small.layers]), self.rows_of([small.outputs])
        self.spare = self.rows_of([0] * 9)
        self.ran, self.appears, self.appeared = self.rows_of([0]), self.rows_of([0]), self.rows_of([0])
        self.triggers = <i64*>self.held([trigger for trigger, _ in small.late], np.int64)
        self.late, self.late_count = self.rows_of([each for _, each in small.late]), len(small.late)
        self.here, self.there = self.rows_of([0] * 3), self.rows_of([0] * 3)
        begin_sets(&self.states)
        begin_sets(&self.executed)
        begin_sets(&self.asked.keys)
        begin_sets(&self.prices.keys)

    def __dealloc__(self):
        end_sets(&self.states)
        end_sets(&self.executed)
        end_sets(&self.asked.keys)
        end_sets(&self.prices.keys)
        free(self.info)
        free(self.looked_at)
        free(self.ways)
        free(self.stack)
        free(self.asked.values)
        free(self.prices.values)
        free(self.after)
        free(self.paid)

    cdef object integer_of(self, PatternRun run, u64 found):
        cdef i64 i
        whole = 0
        for i in range(run.count):
            if found >> i & 1:
                whole |= 1 << int(run.tensors[i])
        return whole

    cdef int spend(self, i64 steps) except -1:
        """Budget.count"""
        self.steps += steps
        if self.steps > self.most:
            self.budget.steps = self.steps
            self.budget.count(0)  # raises
        if self.steps >= self.next_look:
            self.next_look = self.steps + LOOK_EVERY
            PyErr_CheckSignals()
        return 0

    cdef int must_have(self, i64 steps) except -1:
        """Budget.must_have"""
        if self.steps + steps > self.most:
            self.budget.steps = self.steps
            self.budget.must_have(steps)  # raises
        return 0

    def left(self):
        """Return what is left from each state, by (executed, kept unwritten, kept written), as integers."""
        cdef i64 state
        self.steps, self.most = self.budget.steps, self.budget.most
        memset(self.there, 0, 3 * self.words * sizeof(u64))
        self.now = -1
        self.push(self.state_of(self.there))
        while self.stack_count:
            self.stack_count -= 1
            state = self.stack[self.stack_count]
            if self.info[state].first < 0:
                self.look_at(state)
        self.budget.steps = self.steps
        return self.settled()

    cdef i64 state_of(self, const u64* place) except -1:
        """The number of a state."""
        cdef i64 count = self.states.count, found = row_number(&self.states, place, 3 * self.words), downset
        if self.states.count == count:
            return found
        if self.states.room > self.state_room:
            self.state_room = self.states.room
            self.info = <PatternState*>grown(self.info, self.state_room, sizeof(PatternState))
            self.looked_at = <i64*>grown(self.looked_at, self.state_room, sizeof(i64))
        downset = row_number(&self.executed, place, self.words)
        if downset == len(self.downsets):
            self.downsets.append(self.new_downset(place))
        self.info[found].downset, self.info[found].first, self.info[found].seen_by = downset, -1, -1
        return found

    cdef PatternDownset new_downset(self, const u64* executed):
        cdef PatternDownset found = PatternDownset()
        found.executed, found.active, found.runs = self.integer(executed), None, None
        found.active = self.small.active(found.executed)
        hidden = self.small.every_late & ~found.active
        found.seen = self.seen_numbers.setdefault(hidden, len(self.seen_numbers))
        found.hidden = self.rows_of([hidden])
        found.arrays = self.arrays.pop()
        return found

    cdef int push(self, i64 state) except -1:
        if self.stack_count == self.stack_room:
            self.stack_room = 2 * self.stack_room + 1024
            self.stack = <i64*>grown(self.stack, self.stack_room, sizeof(i64))
        self.stack[self.stack_count] = state
        self.stack_count += 1
        return 0

    cdef int room_for_after(self, i64 count) except -1:
        if count > self.after_room:
            self.after_room = 2 * count
            self.after = <u64*>grown(self.after, self.after_room * 3 * self.words, sizeof(u64))
            self.paid = <double*>grown(self.paid, self.after_room, sizeof(double))
        return 0

    cdef int reach(self, const u64* place, double cost) except -1:
        """Note a way from the state at work."""
        cdef i64 there
        cdef PatternState* state
        self.spend(1)
        there = self.state_of(place)
        state = &self.info[there]
        if state.seen_by == self.now:
            if cost >= self.ways[state.way].cost:
                return 0
            self.ways[state.way].cost = cost
        else:
            if self.way_count == self.way_room:
                self.way_room = 2 * self.way_room + 1024
                self.ways = <PatternWay*>grown(self.ways, self.way_room, sizeof(PatternWay))
            state.seen_by, state.way = self.now, self.way_count
            self.ways[self.way_count].to, self.ways[self.way_count].cost = there, cost
            self.way_count += 1
        return self.push(there) if state.first < 0 else 0

    cdef int look_at(self, i64 state) except -1:
        """All ways from a state: what late layers may do meanwhile, then each run with each choice."""
        cdef PatternDownset downset = self.downsets[self.info[state].downset]
        cdef PatternNext after
        self.now, self.info[state].first = state, self.way_count
        self.looked_at[self.looks] = state
        self.looks += 1
        memcpy(self.here, self.states.members + 3 * state * self.words, 3 * self.words * sizeof(u64))
        meanwhile(self, downset)
        if downset.runs is None:
            downset.runs = self.runs_after(downset)
        for after in downset.runs:
            run_next(self, downset, after)
        self.info[state].last = self.way_count
        return 0

    cdef list runs_after(self, PatternDownset downset):
        cdef PatternNext after
        runs, alone = self.small.runs, self.small.alone
        self.budget.steps = self.steps
        listed = runs.after(downset.executed, downset.active)
        self.steps = self.budget.steps
        found = []
        for each in listed:
            after = PatternNext()
            after.run = self.run_numbers.get(each.layers)
            if after.run is None:
                after.run = self.run_numbers[each.layers] = self.new_run(each)
            after.is_alone, after.other_count = alone.runs_alone(each.layers, downset.active), -1
            after.streams = alone.streams(each.layers, downset.active)
            found.append(after)
        return found

    cdef PatternRun new_run(self, each):
        cdef PatternRun run = PatternRun()
        cdef i64 i, u, v
        order, kept = self.small.order, self.arrays
        run.run, run.number, run.count = each, len(self.run_numbers), len(each.more)
        if run.count > TOUCHED:
            raise OverflowError("64 bits do not hold the tensors of this step")
        self.arrays = run.arrays = []
        run.held, run.floor, run.makes, run.reads = each.held, each.floor, 0, 0
        for i, (tensor, more) in enumerate(each.more.items()):
            run.tensors[i], run.more[i] = tensor, more
            run.makes |= <u64>((each.layers >> tensor) & 1) << i
            run.reads |= <u64>((each.reads >> tensor) & 1) << i
        layers = [v for v in range(self.count) if each.layers >> v & 1]
        run.layers, run.layer_count = <i64*>self.held(layers, np.int64), len(layers)
        run.is_single, run.handed = run.layer_count == 1, self.small.question.most_handed(each.layers)
        touched = each.inputs
        for each_layer in layers:
            touched |= int(bool(order.readers[each_layer] & ~each.layers)) << each_layer
        run.group, run.inputs = self.rows_of([each.layers]), self.rows_of([each.inputs])
        run.touched = self.rows_of([touched])
        self.arrays = kept
        return run

    cdef int ask_others(self, PatternDownset downset, PatternNext after) except -1:
        seen = self.small.tensors & ~(self.small.every_late & ~downset.active)
        others = self.small.alone.others(after.run.run.layers, seen)
        after.others, after.other_count = np.array([*others, 0], dtype=np.int64), len(others)
        return 0

    cdef dict settled(self):
        """Small._left"""
        cdef i64 i, state, k, words = self.words, count = len(self.downsets)
        cdef PatternDownset downset
        cdef PatternState* at
        cdef double least
        cdef u64* place
        cdef bint is_less, is_last
        cdef i64[::1] first = np.full(count + 1, -1)
        for k in range(self.looks - 1, -1, -1):
            state = self.looked_at[k]
            at = &self.info[state]
            at.following, first[at.downset] = first[at.downset], state
        found = {}
        numbers = sorted(range(count), key=self.order_of)
        for i in numbers:
            downset = self.downsets[i]
            is_last = not self.small.layers & ~downset.executed
            state = first[i]
            while state >= 0:
                self.info[state].left = 0.0 if is_last else INFINITY
                state = self.info[state].following
            is_less = True
            while is_less:
                is_less, state = False, first[i]
                PyErr_CheckSignals()
                while state >= 0:
                    at = &self.info[state]
                    least = at.left
                    for k in range(at.first, at.last):
                        least = min(least, self.ways[k].cost + self.info[self.ways[k].to].left)
                    is_less |= least < at.left
                    at.left, state = least, at.following
            state = first[i]
            while state >= 0:
                PyErr_CheckSignals()
                place = self.states.members + 3 * state * words
                found[downset.executed, self.integer(place + words), self.integer(place + 2 * words)] = self.info[state].left
                state = self.info[state].following
        return found

    def order_of(self, i64 number):
        """Return by what downsets are settled: the last ones first."""
        cdef PatternDownset downset = self.downsets[number]
        return -downset.executed.bit_count(), downset.executed
