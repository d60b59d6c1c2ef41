# The ways from one state of a pattern: cocco/bounds/patterns/tables.py, _meanwhile, _ways and _appeared

cdef inline i64 left_of_readers(const u64* readers, const u64* executed, i64 words) noexcept nogil:
    """How many readers of a tensor have not run."""
    cdef i64 i, count = 0
    for i in range(words):
        count += popcount64(readers[i] & ~executed[i])
    return count


cdef inline bint meets(const u64* one, const u64* other, i64 words) noexcept nogil:
    cdef i64 i
    for i in range(words):
        if one[i] & other[i]:
            return True
    return False


cdef int meanwhile(PatternWays s, PatternDownset downset) except -1:
    """Small._meanwhile"""
    cdef i64 words = s.words, k, u
    for k in range(s.loose_count):
        u = s.loose[k]
        if not meets(s.readers + u * words, downset.hidden, words) or (u < s.count and not has(s.here, u)):
            continue
        memcpy(s.there, s.here, 3 * words * sizeof(u64))
        if has(s.here + words, u) or has(s.here + 2 * words, u):
            take_out(s.there + words, u)
            take_out(s.there + 2 * words, u)
            s.reach(s.there, 0.0)
        else:
            put(s.there + 2 * words, u)
            s.reach(s.there, s.crossing_floor[u])
    return 0


cdef struct PatternTurn:    # a run from a state; tensors of the run have a bit each, then those that late layers make
    i64 count
    i64 levels      # tensors that there is a choice of
    i64 size        # bytes with nothing more kept, and of what is kept elsewhere
    i64 elsewhere
    u64 reads       # what is looked at
    u64 kept
    u64 copied
    u64 last        # read for the last time
    u64 drops       # kept and written: may be dropped
    i64 tensors[TOUCHED]
    i64 more[TOUCHED]


cdef void add_choice(PatternWays s, i64 k, u64 kept, u64 copied, u64 stored, u64 loaded, u64 ran, i64 more) noexcept:
    """One more choice of a tensor."""
    cdef PatternChoice* choice = &s.choices[k][s.choice_count[k]]
    choice.kept, choice.copied, choice.stored, choice.loaded = kept, copied, stored, loaded
    choice.ran, choice.more = ran, more
    s.choice_count[k] += 1


cdef int run_next(PatternWays s, PatternDownset downset, PatternNext after) except -1:
    """Small._ways, of one run."""
    cdef PatternTurn turn
    cdef i64 i
    for i in range(s.words):
        s.ran[i] = s.here[i] | after.run.group[i]
    begin_turn(s, downset, after.run, &turn)
    offer_made(s, downset, after.run, &turn)
    offer_read(s, &turn)
    offer_late(s, after.run, &turn)
    return take_choices(s, downset, after, &turn)


cdef void begin_turn(PatternWays s, PatternDownset downset, PatternRun run, PatternTurn* turn) noexcept:
    """What is kept while it runs."""
    cdef i64 i, u
    cdef u64 bit
    turn.count, turn.levels, turn.size, turn.elsewhere = run.count, 0, run.held, 0
    turn.reads = turn.kept = turn.copied = turn.last = turn.drops = 0
    for i in range(s.words):
        bit = s.here[s.words + i] | s.here[2 * s.words + i]
        while bit:
            turn.elsewhere += s.whole[64 * i + lowest_bit(bit)]
            bit &= bit - 1
    for i in range(run.count):
        u, bit = run.tensors[i], <u64>1 << i
        turn.tensors[i], turn.more[i] = u, run.more[i]
        if run.reads & bit and not has(downset.hidden, u):
            turn.reads |= bit
        if has(s.here + s.words, u) or has(s.here + 2 * s.words, u):
            turn.kept |= bit
            turn.copied |= bit if has(s.here + 2 * s.words, u) else 0
            turn.elsewhere -= s.whole[u] if (turn.reads | run.makes) & bit else 0
            turn.size += run.more[i] if turn.reads & bit else 0
    turn.size += turn.elsewhere


cdef void offer_made(PatternWays s, PatternDownset downset, PatternRun run, PatternTurn* turn) noexcept:
    """What it makes goes away, is stored, kept, or both."""
    cdef i64 i, j, later, words = s.words
    cdef u64 bit, inside
    cdef u64* readers
    for i in range(run.count):
        bit, readers = <u64>1 << i, s.readers + turn.tensors[i] * words
        if not run.makes & bit:
            continue
        later = left_of_readers(readers, s.ran, words)
        if not later:
            continue
        s.choice_count[turn.levels] = inside = 0
        for j in range(words):
            inside |= readers[j] & ~s.ran[j] & ~downset.hidden[j]
        if not inside:
            add_choice(s, turn.levels, 0, 0, 0, 0, 0, 0)
        add_choice(s, turn.levels, 0, 0, bit, 0, 0, 0)
        add_choice(s, turn.levels, bit, 0, 0, 0, 0, turn.more[i])
        if later > 1:
            add_choice(s, turn.levels, 0, bit, bit, 0, 0, turn.more[i])
        turn.levels += 1


cdef void offer_read(PatternWays s, PatternTurn* turn) noexcept:
    """What it reads is loaded, and may stay; or was kept."""
    cdef i64 i, later
    cdef u64 bit
    for i in range(turn.count):
        bit = <u64>1 << i
        if not turn.reads & bit:
            continue
        later = left_of_readers(s.readers + turn.tensors[i] * s.words, s.ran, s.words)
        if not turn.kept & bit:
            s.choice_count[turn.levels] = 0
            add_choice(s, turn.levels, 0, 0, 0, bit, 0, 0)
            if later:
                add_choice(s, turn.levels, 0, bit, 0, bit, 0, turn.more[i])
            turn.levels += 1
        elif not later:
            turn.last |= bit
        elif turn.copied & bit:
            turn.drops |= bit


cdef int offer_late(PatternWays s, PatternRun run, PatternTurn* turn) except -1:
    """Late layers that appear have run or not, and what they make lies anywhere."""
    cdef i64 i, k, u, found, count, words = s.words
    cdef bint is_any = False
    cdef u64 bit
    for k in range(s.late_count):
        if has(run.group, s.triggers[k]) and not has(s.here, s.triggers[k]):
            if not is_any:
                memset(s.appears, 0, words * sizeof(u64))
            is_any = True
            for i in range(words):
                s.appears[i] |= s.late[k * words + i]
    if not is_any:
        return 0
    count = list_set(s.appears, words, s.ids)
    for k in range(count):
        u, found = s.ids[k], 0
        while found < turn.count and turn.tensors[found] != u:
            found += 1
        if found == turn.count:
            if found == TOUCHED:
                raise OverflowError("64 bits do not hold the tensors of this step")
            turn.tensors[found], turn.more[found] = u, s.whole[u]
            turn.count += 1
        bit, s.choice_count[turn.levels] = <u64>1 << found, 0
        if not meets(s.readers + u * words, s.ran, words):
            add_choice(s, turn.levels, 0, 0, 0, 0, 0, 0)
        add_choice(s, turn.levels, 0, 0, 0, 0, bit, 0)
        if left_of_readers(s.readers + u * words, s.ran, words):
            add_choice(s, turn.levels, bit, 0, 0, 0, bit, turn.more[found])
            add_choice(s, turn.levels, 0, bit, 0, 0, bit, turn.more[found])
        turn.levels += 1
    return 0


cdef int take_choices(PatternWays s, PatternDownset downset, PatternNext after, PatternTurn* turn) except -1:
    """All combinations, those of the last tensor next to each other."""
    cdef i64 level = 0
    cdef PatternChoice* choice
    cdef PatternChoice* so_far
    cdef PatternChoice* now
    memset(&s.chosen[0], 0, sizeof(PatternChosen))
    while level >= 0:
        if level == turn.levels:
            take_choice(s, downset, after, turn, &s.chosen[level].all)
            level -= 1
            continue
        if s.chosen[level].at == s.choice_count[level]:
            level -= 1
            continue
        choice, so_far, now = &s.choices[level][s.chosen[level].at], &s.chosen[level].all, &s.chosen[level + 1].all
        s.chosen[level].at += 1
        now.kept, now.copied = so_far.kept | choice.kept, so_far.copied | choice.copied
        now.stored, now.loaded = so_far.stored | choice.stored, so_far.loaded | choice.loaded
        now.ran, now.more = so_far.ran | choice.ran, so_far.more + choice.more
        level += 1
        s.chosen[level].at = 0
    return 0


cdef i64 kept_here(PatternWays s, PatternTurn* turn, PatternRun run, u64 new, i64 need) noexcept:
    """Small._kept"""
    cdef u64 left = turn.kept & turn.reads | new
    cdef i64 i, total = need - run.held
    while left:
        i = lowest_bit(left)
        total += s.whole[turn.tensors[i]] - turn.more[i]
        left &= left - 1
    return total


cdef int take_choice(
    PatternWays s, PatternDownset downset, PatternNext after, PatternTurn* turn, PatternChoice* chosen
) except -1:
    """One choice for each tensor: what it costs, and the states that it leads to."""
    cdef PatternRun run = after.run
    cdef i64 need = turn.size + chosen.more, i, u, words = s.words, beside
    cdef u64 new = chosen.kept | chosen.copied, left, subset = 0
    cdef double cost, least = INFINITY
    cdef bint fits = need <= s.room, inside_counts = s.has_inside and not run.is_single, is_asked, is_held
    s.spend(1)
    if not fits and (after.streams == RUNS_HELD or (after.streams == RUNS_LOOSE and kept_here(s, turn, run, new, need) > s.loose_room)):
        return 0
    is_asked = after.is_alone or (after.streams == RUNS_EXACT and (not fits or inside_counts))
    if is_asked and after.other_count < 0:
        s.ask_others(downset, after)
    if is_asked and after.other_count:
        beside, left = turn.elsewhere, new & chosen.ran
        while left:
            u = turn.tensors[lowest_bit(left)]
            beside += 0 if has(run.inputs, u) else s.whole[u]
            left &= left - 1
        least = alone_cost(
            s, after, downset.seen, turn.kept & (turn.reads | run.makes) | new & ~chosen.ran, chosen.loaded,
            chosen.stored, beside,
        )
    else:
        is_asked = False
    if is_asked and (after.is_alone or not fits):
        cost = least
    else:
        is_held = fits and after.streams != RUNS_LOOSE
        is_held = is_held and (is_asked or not inside_counts or after.streams == RUNS_HELD)
        cost = run.floor
        if is_held:
            cost = run_cost(s, run, (turn.kept | new) & ((<u64>1 << run.count) - 1), need)
        left = chosen.stored | chosen.loaded
        while left:
            cost += s.crossing_floor[turn.tensors[lowest_bit(left)]]
            left &= left - 1
        cost = min(cost, least)
    if cost == INFINITY:
        return 0
    while True:
        memcpy(s.there, s.ran, words * sizeof(u64))
        memcpy(s.there + words, s.here + words, 2 * words * sizeof(u64))
        for i in range(turn.count):
            u = turn.tensors[i]
            if chosen.ran >> i & 1:
                put(s.there, u)
            if chosen.kept >> i & 1:
                put(s.there + words, u)
            if chosen.copied >> i & 1:
                put(s.there + 2 * words, u)
            if turn.last >> i & 1:
                take_out(s.there + words, u)
            if (turn.last | subset) >> i & 1:
                take_out(s.there + 2 * words, u)
        if chosen.ran:
            late_ran(s, turn, chosen.ran, cost)
        else:
            s.reach(s.there, cost)
        if subset == turn.drops:
            return 0
        subset = (subset - turn.drops) & turn.drops


cdef int late_ran(PatternWays s, PatternTurn* turn, u64 ran, double cost) except -1:
    """Small._appeared"""
    cdef i64 words = s.words, row = 3 * words, k, u, i, j, count = 1, into
    cdef bint is_left
    s.room_for_after(1)
    memcpy(s.after, s.there, row * sizeof(u64))
    s.paid[0] = cost
    memset(s.appeared, 0, words * sizeof(u64))
    while ran:
        put(s.appeared, turn.tensors[lowest_bit(ran)])
        ran &= ran - 1
    for k in range(s.loose_count):
        u = s.loose[k]
        if not meets(s.readers + u * words, s.appeared, words) or (u < s.count and not has(s.there, u)):
            continue
        is_left = left_of_readers(s.readers + u * words, s.there, words) > 0
        s.must_have(count)
        s.room_for_after(4 * count)
        into = count  # made behind those that are there, then moved to the front
        for i in range(count):
            j = into
            memcpy(s.after + j * row, s.after + i * row, row * sizeof(u64))
            take_out(s.after + j * row + words, u)
            take_out(s.after + j * row + 2 * words, u)
            s.paid[j] = s.paid[i]
            into += 1
            if is_left:
                memcpy(s.after + into * row, s.after + i * row, row * sizeof(u64))
                s.paid[into] = s.paid[i]
                into += 1
                if not has(s.after + i * row + words, u) and not has(s.after + i * row + 2 * words, u):
                    memcpy(s.after + into * row, s.after + i * row, row * sizeof(u64))
                    put(s.after + into * row + 2 * words, u)
                    s.paid[into] = s.paid[i] + s.crossing_floor[u]
                    into += 1
        memmove(s.after, s.after + count * row, (into - count) * row * sizeof(u64))
        memmove(s.paid, s.paid + count, (into - count) * sizeof(double))
        count = into - count
    for i in range(count):
        s.reach(s.after + i * row, s.paid[i])
    return 0
