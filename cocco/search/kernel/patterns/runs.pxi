# What may run next of a pattern, and what it costs: cocco/bounds/patterns/runs.py and pattern_alone.py

cdef enum:
    TOUCHED = 60    # tensors of a pattern that a step may make or read; where there are more, Python answers
    KEY = 6         # words of what is asked of a run: its number, then which tensors are where
    RUNS_HELD = 0   # cocco.bounds.patterns.alone: HELD, EXACT, LOOSE
    RUNS_EXACT = 1
    RUNS_LOOSE = 2


cdef struct Answers:    # numbers by rows of words, with room that grows
    Sets keys
    double* values


cdef int begin_sets(Sets* sets) except -1:
    sets.room, sets.members = 0, NULL
    sets.index = <i64*>malloc(2048 * sizeof(i64))
    if sets.index is NULL:
        raise MemoryError("no memory for the states of a pattern")
    forget_all(sets)
    return 0


cdef void end_sets(Sets* sets) noexcept:
    free(sets.members)
    free(sets.index)


cdef void* grown(void* at, i64 count, i64 size) except NULL:
    cdef void* found = realloc(at, count * size)
    if found is NULL:
        raise MemoryError("no memory for the states of a pattern")
    return found


cdef i64 row_number(Sets* sets, const u64* members, i64 words) except -1:
    """The number of a set, which is added if it is new."""
    if sets.count == sets.room:
        sets.room = 2 * sets.room + 256
        sets.members = <u64*>grown(sets.members, sets.room * words, sizeof(u64))
    if 2 * sets.count >= sets.index_size:
        sets.index = <i64*>grown(sets.index, 4 * sets.index_size, sizeof(i64))
        index_again(sets, words, 4 * sets.index_size)
    return add_set(sets, members, words)


cdef double* answer_of(Answers* answers, const u64* key, i64 words) except NULL:
    """Where the answer to a question is; NAN: it is new."""
    cdef i64 count = answers.keys.count, room = answers.keys.room, found = row_number(&answers.keys, key, words)
    if answers.keys.room > room:
        answers.values = <double*>grown(answers.values, answers.keys.room, sizeof(double))
    if answers.keys.count > count:
        answers.values[found] = NAN
    return answers.values + found


cdef class PatternRun:
    """Layers that may run next; sets of tensors of the pattern that it makes or reads have a bit for each, ascending."""

    cdef object run         # cocco.bounds.patterns.runs.Run
    cdef object arrays
    cdef i64 number, count, held, layer_count, handed  # the most bytes that take the place of an operand
    cdef bint is_single
    cdef double floor
    cdef u64 makes          # of the pattern
    cdef u64 reads
    cdef i64 tensors[TOUCHED]
    cdef i64 more[TOUCHED]  # bytes that each takes more where it is kept
    cdef i64* layers
    cdef u64* group         # as rows of words: its layers,
    cdef u64* inputs        # what it reads from elsewhere,
    cdef u64* touched       # and what it reads or makes for others


cdef class PatternNext:
    """A run that may come next once some layers have run."""

    cdef PatternRun run
    cdef bint is_alone
    cdef i64 streams        # what it may be that is not held
    cdef i64 other_count    # bytes that other tensors may take; -1: not asked for
    cdef i64[::1] others


cdef class PatternDownset:
    """Layers that have run, and what may come next."""

    cdef object executed, active    # as integers
    cdef list runs                  # None: not asked for
    cdef i64 seen                   # number of the set of tensors that are looked at
    cdef object arrays
    cdef u64* hidden                # late layers that are not


cdef double run_cost(PatternWays s, PatternRun run, u64 kept, i64 need) except? -1.0:
    """Runs.cost"""
    cdef u64 key[KEY]
    cdef double* found
    cdef double cost
    if not s.has_inside or run.is_single:
        return run.floor
    memset(key, 0, KEY * sizeof(u64))
    key[0], key[1], key[2], key[3] = <u64>run.number, <u64>-1, kept, <u64>need
    found = answer_of(&s.asked, key, KEY)
    if found[0] == found[0]:
        return found[0]
    s.budget.steps = s.steps
    cost = s.small.runs.cost(run.run, s.integer_of(run, kept), need)
    s.steps = s.budget.steps
    found[0] = cost
    return cost


cdef double alone_cost(PatternWays s, PatternNext after, i64 seen, u64 on_chip, u64 loaded, u64 stored, i64 elsewhere) except? -1.0:
    """Alone.least"""
    cdef u64 key[KEY]
    cdef double* found
    cdef double cost
    key[0], key[1], key[2] = <u64>after.run.number, <u64>seen, on_chip
    key[3], key[4], key[5] = loaded, stored, <u64>elsewhere
    found = answer_of(&s.asked, key, KEY)
    if found[0] == found[0]:
        return found[0]
    cost = least_alone(s, after, on_chip, loaded, stored, elsewhere)
    found[0] = cost
    return cost


cdef double least_alone(PatternWays s, PatternNext after, u64 on_chip, u64 loaded, u64 stored, i64 elsewhere) except? -1.0:
    """Alone._least: all that other tensors may take, and for each free tensor that it is kept, crosses, or both."""
    cdef PatternRun run = after.run
    cdef i64 words = s.words, i, k, u, count, size = elsewhere, bytes_kept
    cdef u64* known = s.spare
    cdef u64* free_row = s.spare + words
    cdef u64* kept = s.spare + 2 * words
    cdef u64* moved = s.spare + 3 * words
    cdef u64* asked = s.spare + 4 * words   # number, what is kept, loaded, written, bytes
    cdef u64* loads = asked + 1 + words
    cdef u64* writes = loads + words
    cdef double least = INFINITY, price
    cdef u64 left
    memset(known, 0, words * sizeof(u64))
    for i in range(run.count):
        if on_chip >> i & 1:
            size += s.whole[run.tensors[i]]
        if (on_chip | loaded | stored) >> i & 1:
            put(known, run.tensors[i])
    for i in range(words):
        free_row[i] = run.touched[i] & ~known[i]
    count = list_set(free_row, words, s.ids)
    for k in range(after.other_count):
        bytes_kept = size + after.others[k]
        if bytes_kept > s.room + run.handed:
            continue
        memset(kept, 0, words * sizeof(u64))
        memcpy(moved, free_row, words * sizeof(u64))
        while True:
            memset(asked, 0, (3 * words + 2) * sizeof(u64))
            for i in range(run.count):
                u = run.tensors[i]
                if on_chip >> i & 1:
                    put(asked + 1, u)
                if loaded >> i & 1:
                    put(loads, u)
                if stored >> i & 1:
                    put(writes, u)
            asked[0], asked[3 * words + 1] = <u64>run.number, <u64>bytes_kept
            for i in range(words):
                asked[1 + i] |= kept[i]
                loads[i] |= moved[i] & ~run.group[i]
                writes[i] |= moved[i] & run.group[i] | run.group[i] & s.outputs[i]
            price = price_of(s, run, asked, bytes_kept)
            for i in range(words):
                left = moved[i] & ~(run.group[i] & s.outputs[i])
                while left:
                    price -= s.crossing_floor[64 * i + lowest_bit(left)]
                    left &= left - 1
            for i in range(run.layer_count):
                if not has(s.layers, run.layers[i]):
                    price -= s.layer_floor[run.layers[i]]
            if price < least:
                least = price
            if not next_way(s, count, kept, moved, &bytes_kept, s.room + run.handed):
                break
    return least


cdef bint next_way(PatternWays s, i64 count, u64* kept, u64* moved, i64* bytes_kept, i64 room) noexcept:
    """Alone._ways: the next way for the tensors in s.ids that leaves room, the last one varies fastest; False: none."""
    cdef i64 i, u
    for i in range(count - 1, -1, -1):
        u = s.ids[i]
        if not has(kept, u) and bytes_kept[0] + s.whole[u] <= room:
            put(kept, u)
            take_out(moved, u)
            bytes_kept[0] += s.whole[u]
            return True
        if has(kept, u) and not has(moved, u):
            put(moved, u)
            return True
        if has(kept, u):
            take_out(kept, u)
            bytes_kept[0] -= s.whole[u]
    return False


cdef double price_of(PatternWays s, PatternRun run, u64* asked, i64 bytes_kept) except? -1.0:
    """Alone._price"""
    cdef i64 words = s.words, i, handed = 0
    cdef double* found
    cdef Row row
    cdef Kept kept
    cdef int status
    cdef bint is_beside = False
    s.spend(1)
    found = answer_of(&s.prices, asked, 3 * words + 2)
    if found[0] == found[0]:
        return found[0]
    s.spend(s.price_steps)
    for i in range(words):
        is_beside |= asked[1 + i] != 0
    kept.on_chip, kept.loaded, kept.written = asked + 1, asked + 1 + words, asked + 1 + 2 * words
    if run.handed:
        handed = handed_bytes(
            &s.kept_prices.kernel.net, s.whole, run.layers, run.layer_count, kept.on_chip, kept.loaded, kept.on_chip
        )
    status = s.kept_prices.price_set(
        run.layers, run.layer_count, &kept if is_beside else NULL, bytes_kept - handed, 0, handed, &row
    )
    found[0] = INFINITY
    if status == FITS:
        found[0] = row_cost(s.kept_prices.kernel, &s.kept_prices.memory, &row, 0)
    return found[0]
