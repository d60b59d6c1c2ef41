# What may run next beside what is kept, and how: cocco/search/exact/exact.py, _groups and _steps

cdef int go_on(KeptSearch s, i64 state) except -1:
    """Reach every state that one step leads to; 1 where the search must end."""
    cdef i64 downset = downset_of(s, s.states.members + 3 * state * s.words), k
    if s.begin[downset] < 0 and list_groups(s, downset):
        return 1
    if s.uses_alike:
        note_ties(s, s.states.members + 3 * state * s.words)
    for k in range(s.begin[downset], s.end[downset]):
        if run_group(s, state, s.listed[k]) if s.keeps else run_passing(s, state, s.listed[k]):
            return 1
    return 0


cdef int find_alone(KeptSearch s) except -1:
    """Memo._alone"""
    cdef i64 u, v
    for u in range(s.size):
        put(s.alone, u)
        for v in range(s.size):
            if has(s.joined + u * s.words, v) and may_share(s, u, v):
                take_out(s.alone, u)
                break
    return 0


cdef bint may_share(KeptSearch s, i64 u, i64 v) noexcept:
    """Whether two layers may be in one subgraph, which then has all on paths from the first to the second."""
    cdef i64 w, count = 0
    for w in range(imin(u, v), imax(u, v) + 1):
        if w == u or w == v or has(s.ancestors + v * s.words, w) and has(s.ancestors + w * s.words, u):
            s.ids[count] = w
            count += 1
    return may_fit(s.kernel, s.prices.scratch, s.ids, count, &s.prices.memory)


cdef u64* after_with(KeptSearch s, i64 v) noexcept:
    """Memo.after_with"""
    cdef i64 words = s.words, top = 1, u, w
    cdef u64* found = s.together + v * words
    if s.is_together[v]:
        return found
    memset(found, 0, words * sizeof(u64))
    s.is_together[v], s.stack[0] = True, v
    while top:
        top -= 1
        u = s.stack[top]
        for w in range(u + 1, s.size):
            if has(s.consumers + u * words, w) and not has(found, w) and may_share(s, v, w):
                put(found, w)
                s.stack[top] = w
                top += 1
    return found


cdef i64 list_starts(KeptSearch s, const u64* executed, u64* first, u64* wanted) noexcept:
    """Moves._starts: how many layers of which a next set has one; first: those of which it has one, or else a reader."""
    cdef i64 words = s.words, i, j, k, v, count = 0, begin = 0
    cdef u64* after
    cdef u64 lacks, met
    memset(wanted, 0, words * sizeof(u64))
    for i in range(words):
        first[i] = s.goal[i] & ~s.start[i] & ~executed[i]
    if not s.in_order:
        while begin < words and not s.heads[begin] & ~executed[begin]:
            begin += 1
        for k in range(s.inside_count):
            if is_next(s, executed, begin, s.inside[k]):
                s.starts[count] = s.inside[k]
                count += 1
        return count
    for k in range(s.inside_count):
        v = s.inside[k]
        if has(s.alone, v) and has(first, v):
            lacks = 0
            for j in range((v >> 6) + 1):
                lacks |= s.upward[v * words + j] & first[j] & ~(<u64>1 << (v & 63) if j == v >> 6 else 0)
            if not lacks:
                s.starts[0] = v
                return 1
    v, met = -1, 0
    for i in range(words):
        if v < 0 and first[i]:
            v = 64 * i + lowest_bit(first[i])
    for i in range(words):
        wanted[i] = first[i] & ~s.descendants[v * words + i]
        met |= wanted[i]
    s.starts[0] = v
    if not met:
        memset(first, 0, words * sizeof(u64))
        put(first, v)
        return 1
    count = 1
    after = after_with(s, v)
    k = list_set(wanted, words, s.starts + 1)
    for i in range(words):
        wanted[i] |= after[i] & first[i]
    memset(first, 0, words * sizeof(u64))
    put(first, v)
    for j in range(1, k + 1):
        met = 0
        for i in range(words):
            met |= s.readers[s.starts[j] * words + i] & wanted[i]
        if met:
            s.starts[count] = s.starts[j]
            count += 1
    return count


cdef int run_passing(KeptSearch s, i64 state, i64 number) except -1:
    """Reach the one state that this subgraph leads to where nothing is kept."""
    cdef i64 words = s.words, i, count
    cdef u64* place = s.spare
    cdef u64* group = s.groups.members + number * words
    cdef Row row
    cdef int status
    if s.passing[number] < 0:
        if s.spend(s.price_steps):
            return 1
        count = list_set(group, words, s.ids)
        status = s.prices.price_set(s.ids, count, NULL, 0, 0, 0, &row)
        s.passing[number] = row_cost(s.kernel, &s.prices.memory, &row, 0) if status == FITS else INFINITY
    if s.passing[number] == INFINITY:
        return 0
    memset(place + words, 0, 2 * words * sizeof(u64))
    for i in range(words):
        place[i] = s.states.members[3 * state * words + i] | group[i]
    if s.is_noting:
        return note_step(s, place, s.cost[state] + s.passing[number], s.passing[number], state, number)
    return s.reach(place, s.cost[state] + s.passing[number], state, number)


cdef i64 number_of(KeptSearch s, const u64* group) except -2:
    """The number of a set of layers, -1 where there are too many."""
    cdef i64 found = find_set(&s.groups, group, s.words)
    if found >= 0:
        return found
    found = s.add(&s.groups, group, s.words)
    if found < 0:
        s.why = MANY_SETS
        return -1
    s.fits[found] = s.mark[found] = -1
    s.passing[found] = -1.0
    return found


cdef int may_run(KeptSearch s, i64 number) except -1:
    """Whether a set of layers may fit; when that is asked first, what it reads is noted, too."""
    cdef i64 count, i, k
    cdef u64* group = s.groups.members + number * s.words
    cdef u64* inputs = s.inputs + number * s.words
    if s.fits[number] < 0:
        if s.spend(s.look_steps):
            return False
        count = list_set(group, s.words, s.ids)
        memset(inputs, 0, s.words * sizeof(u64))
        for k in range(count):
            for i in range(s.kernel.net.producer_start[s.ids[k]], s.kernel.net.producer_start[s.ids[k] + 1]):
                put(inputs, s.kernel.net.producers[i])
        for i in range(s.words):
            inputs[i] &= ~group[i]
        s.fits[number] = count == 1 or may_fit(s.kernel, s.prices.scratch, s.ids, count, &s.prices.memory)
    return s.fits[number]


cdef inline bint is_next(KeptSearch s, const u64* executed, i64 first, i64 v) noexcept nogil:
    """Whether a layer, with its unit, reads nothing that has not run; all layers of words before the first have."""
    cdef i64 i
    cdef u64 lacks
    cdef bint is_met = False
    if has(executed, v):
        return False
    for i in range(first, s.words):
        lacks = s.upward[v * s.words + i] & ~executed[i] & s.heads[i]
        if lacks:
            if is_met or lacks & (lacks - 1):
                return False
            is_met = True
    return True


cdef int list_groups(KeptSearch s, i64 downset) except -1:
    """List the sets of layers that can run next and may fit; 1 where the search must end."""
    cdef i64 words = s.words, each, v, i, k, top, number, count, size, starts
    cdef u64* executed = s.downsets.members + downset * words
    cdef u64* grown = s.spare
    cdef u64* near = s.spare + words
    cdef u64* readers = s.spare + 2 * words
    cdef u64* first = s.spare + 3 * words
    cdef u64* wanted = s.spare + 4 * words
    cdef u64* group
    cdef u64 met
    s.begin[downset] = s.listed_count
    s.stamp += 1
    starts = list_starts(s, executed, first, wanted)
    for each in range(starts):
        v = s.starts[each]
        for i in range(words):
            grown[i] = s.upward[v * words + i] & ~executed[i]
        number = number_of(s, grown)
        if number < 0:
            return 1
        if s.mark[number] == s.stamp:
            continue
        s.mark[number], s.stack[0], top = s.stamp, number, 1
        while top:
            top -= 1
            number = s.stack[top]
            if s.spend(1):
                return 1
            if not may_run(s, number):
                if s.why:
                    return 1
                continue
            group = s.groups.members + number * words
            memset(near, 0, words * sizeof(u64))
            memset(readers, 0, words * sizeof(u64))
            count = list_set(group, words, s.ids)
            for k in range(count):
                if not has(s.alone, s.ids[k]):
                    for i in range(s.first_joined[s.ids[k]], s.end_joined[s.ids[k]]):
                        near[i] |= s.beside[s.ids[k] * words + i]
                for i in range(s.first_word[s.ids[k]], s.end_word[s.ids[k]]):
                    readers[i] |= s.readers[s.ids[k] * words + i]
            met = 0
            for i in range(words):
                met |= group[i] & first[i] | readers[i] & ~group[i] & wanted[i]
                near[i] &= ~(group[i] | executed[i])
            if met:
                s.listed[s.listed_count] = number
                s.listed_count += 1
            count = list_set(near, words, s.ids)
            for k in range(count):
                size = 0
                for i in range(words):
                    grown[i] = group[i] | (s.upward[s.ids[k] * words + i] & ~executed[i])
                    size += popcount64(grown[i] & s.heads[i])
                if 0 < s.most_units < size:
                    continue
                number = number_of(s, grown)
                if number < 0:
                    return 1
                if s.mark[number] != s.stamp:
                    s.mark[number] = s.stamp
                    s.stack[top] = number
                    top += 1
    s.end[downset] = s.listed_count
    return 0


cdef struct Running:  # one state, one subgraph; sets are rows
    i64 state
    i64 number
    i64 count           # of options
    i64 drop_count
    u64* executed       # after it
    u64* kept           # before it
    u64* loaded
    u64* stored         # by it, as chosen so far
    u64* unwritten      # kept from here on, as chosen so far
    u64* written
    u64* last           # what it reads for the last time
    u64* given          # of these, what is not read beyond the window either
    i64 handed          # bytes of a result that may take the place of one of these, at most
    u64* key            # of the step among the prices
    u64* place          # the state after it


cdef inline i64 later_readers(KeptSearch s, const u64* executed, i64 u) noexcept:
    """How many layers of the window read a tensor after this."""
    cdef i64 i, count = 0
    for i in range(s.first_word[u], s.end_word[u]):
        count += popcount64(s.readers[u * s.words + i] & ~executed[i])
    return count


cdef inline i64 ways_of_made(KeptSearch s, i64 u, i64 later) noexcept nogil:
    """moves.py, _made"""
    cdef i64 ways = 0
    cdef bint is_beyond = has(s.beyond, u), is_needed = has(s.needed, u)
    if not s.may_keep:
        return PASSES
    if later or not is_needed:
        ways |= PASSES
    if not is_beyond or has(s.goal + s.words, u):
        ways |= STAYS
        if later > 1:
            ways |= BOTH
    elif later or is_needed:
        ways |= BOTH
    return ways


cdef inline void offer_loaded(
    KeptSearch s, Running* r, i64 u, i64 later, bint is_output, const u64* live
) noexcept:
    """moves.py, _loaded; an output is offered even where it can only pass."""
    cdef i64 ways = 0
    if later or not has(s.needed, u):
        ways |= PASSES
    if s.may_keep and (later or has(s.needed, u)):
        ways |= STAYS
    if ways & STAYS or is_output:
        s.options[r.count].tensor, s.options[r.count].is_made = u, 0
        s.options[r.count].ways, s.options[r.count].after = ways, -1
        s.options[r.count].passing = s.crossing_floor[u] if has(live, u) else 0.0
        put(r.place, u)
        r.count += 1


cdef int run_group(KeptSearch s, i64 state, i64 number) except -1:
    """Reach every state that this subgraph leads to."""
    cdef Running r
    cdef i64 words = s.words, i, k, u, count, later, size = 0, offered
    cdef u64* place = s.states.members + 3 * state * words
    cdef u64* group = s.groups.members + number * words
    cdef u64* inputs = s.inputs + number * words
    cdef u64* live
    cdef double crossing, left, least
    r.state, r.number, r.count, r.drop_count = state, number, 0, 0
    r.executed, r.kept, r.loaded = s.spare, s.spare + words, s.spare + 2 * words
    r.stored, r.unwritten, r.written = s.spare + 3 * words, s.spare + 4 * words, s.spare + 5 * words
    r.last, r.place, r.key = s.spare + 6 * words, s.spare + 7 * words, s.spare + 10 * words
    r.given, r.handed = s.spare + 15 * (words + 1), 0
    memset(r.given, 0, words * sizeof(u64))
    memset(r.stored, 0, 4 * words * sizeof(u64))
    for i in range(words):
        r.executed[i], r.kept[i] = place[i] | group[i], place[words + i] | place[2 * words + i]
        r.loaded[i] = inputs[i] & ~r.kept[i]
    left = left_after(s, r.executed, &live)
    memset(r.place, 0, words * sizeof(u64))  # until it is needed: tensors with options
    count = list_set(group, words, s.ids)
    for k in range(count):
        u = s.ids[k]
        later = later_readers(s, r.executed, u)
        if s.kernel.net.is_output[u]:
            put(r.stored, u)
            if later or has(s.beyond, u):
                offer_loaded(s, &r, u, later, True, live)  # DRAM has it, as it has an input
        elif later or has(s.beyond, u):
            crossing = s.crossing_floor[u]
            s.options[r.count].tensor, s.options[r.count].is_made = u, 1
            s.options[r.count].ways = ways_of_made(s, u, later)
            s.options[r.count].passing = crossing + (crossing if has(live, u) else 0.0)
            s.options[r.count].both, s.options[r.count].after = crossing, -1
            put(r.place, u)
            r.count += 1
    count = list_set(r.loaded, words, s.ids)
    for k in range(count):
        u = s.ids[k]
        offered = r.count
        offer_loaded(s, &r, u, later_readers(s, r.executed, u), False, live)
        if s.tie[u] >= 0 and has(r.loaded, s.tie[u]) and r.count > offered:
            s.options[offered].after = s.tie[u]
    least = s.cost[state]
    for k in range(list_set(group, words, s.ids)):
        least += s.layer_floor[s.ids[k]]
    for k in range(list_set(r.loaded, words, s.ids)):
        least += s.crossing_floor[s.ids[k]]
    for i in range(words):
        r.place[i] = live[i] & ~r.kept[i] & ~r.place[i]
    for k in range(list_set(r.place, words, s.ids)):
        least += s.crossing_floor[s.ids[k]]
    least += left
    if s.holds_back(least):
        return s.spend(1)
    count = list_set(r.kept, words, s.ids)
    for k in range(count):
        u = s.ids[k]
        size += s.whole[u]
        if has(inputs, u):
            if not later_readers(s, r.executed, u):
                if not has(s.needed, u):
                    put(r.last, u)
                    if not has(s.beyond, u):
                        put(r.given, u)
                        r.handed = 1
            elif has(place + 2 * words, u):
                offer_drop(s, &r, u)
    if r.handed:
        r.handed = most_handed(s, group)
    return choose(s, &r, 0, size - r.handed, least)


cdef i64 most_handed(KeptSearch s, const u64* group) noexcept:
    """KeepQuestion.most_handed"""
    cdef i64* pairs = NULL
    cdef i64 i, most = 0
    for i in range(1, pairs_of(&s.kernel.net, s.ids, list_set(group, s.words, s.ids), &pairs), 2):
        most = imax(most, s.whole[pairs[i]])
    return most


cdef void offer_drop(KeptSearch s, Running* r, i64 u) noexcept:
    """May be dropped, after the one before it that is alike."""
    cdef i64 k
    s.drops[r.drop_count].tensor, s.drops[r.drop_count].following = u, -1
    if s.tie[u] >= 0:
        for k in range(r.drop_count - 1, -1, -1):
            if s.drops[k].tensor == s.tie[u]:
                s.drops[k].following = r.drop_count
                break
    r.drop_count += 1


cdef bint drop_next(KeptSearch s, Running* r) noexcept:
    """moves.py, _drops: the next choice; False: there is none, and all stay again."""
    cdef i64 at = 0, k
    while at < r.drop_count and s.drops[at].is_dropped:
        at += 1
    if at < r.drop_count:
        s.drops[at].is_dropped = True
    for k in range(at - 1, -1, -1):
        s.drops[k].is_dropped = (
            at < r.drop_count and s.drops[k].following >= 0 and s.drops[s.drops[k].following].is_dropped
        )
    return at < r.drop_count


cdef int choose(KeptSearch s, Running* r, i64 at, i64 size, double least) except -1:
    """Run the step with every choice for the tensors from this one on that leaves room and need not wait."""
    cdef double comes_to
    cdef Option* option
    cdef i64 i, way, u, more
    cdef int status
    if at == r.count:
        return run_chosen(s, r, size)
    option = &s.options[at]
    u = option.tensor
    for i in range(3):
        way = 1 << i
        if not option.ways & way or (way == STAYS and option.after >= 0 and not has(r.written, option.after)):
            continue
        more = size + (s.whole[u] if way != PASSES else 0)
        if more > s.room:
            if not option.ways & PASSES and s.spend(1):
                return 1
            continue
        comes_to = least + (option.passing if way == PASSES else option.both if way == BOTH else 0.0)
        if s.holds_back(comes_to):
            if s.spend(1):
                return 1
            continue
        if option.is_made and way != STAYS:
            put(r.stored, u)
        if option.is_made and way == STAYS:
            put(r.unwritten, u)
        elif way != PASSES:
            put(r.written, u)
        status = choose(s, r, at + 1, more, comes_to)
        take_out(r.unwritten, u)
        take_out(r.written, u)
        if option.is_made:
            take_out(r.stored, u)
        if status:
            return status
    return 0


cdef int run_chosen(KeptSearch s, Running* r, i64 size) except -1:
    """Reach the states of one choice, by what is dropped after the step."""
    cdef i64 words = s.words, i, k, elsewhere = 0, found, handed = 0
    cdef u64* before = s.states.members + 3 * r.state * words
    cdef u64* group = s.groups.members + r.number * words
    cdef u64* inputs = s.inputs + r.number * words
    cdef u64 on_chip
    cdef double price
    if s.spend(1):
        return 1
    for i in range(words):
        on_chip = r.kept[i] | r.unwritten[i] | r.written[i]
        r.key[i] = on_chip & (group[i] | inputs[i])
        elsewhere += popcount64(on_chip & ~r.key[i])
        r.key[words + i], r.key[2 * words + i] = r.loaded[i], r.stored[i]
    if r.handed:
        i = list_set(group, words, s.ids)
        handed = handed_bytes(&s.kernel.net, s.whole, s.ids, i, r.key, NULL, r.given)
        size += r.handed - handed
    r.key[3 * words], r.key[3 * words + 1] = <u64>r.number, <u64>size
    r.key[3 * words + 2], r.key[3 * words + 3] = <u64>elsewhere, <u64>handed
    found = find_set(&s.asked, r.key, 3 * words + 4)
    if found < 0:
        if s.spend(s.price_steps):
            return 1
        price = price_chosen(s, r, size, elsewhere, handed)
        s.add(&s.asked, r.key, 3 * words + 4)
        found = s.asked.count - 1
        s.price[found] = price
    price = s.price[found]
    if price == INFINITY:
        return 0
    for k in range(r.drop_count):
        s.drops[k].is_dropped = False
    while True:
        for i in range(words):
            r.place[i] = r.executed[i]
            r.place[words + i] = (before[words + i] | r.unwritten[i]) & ~r.last[i]
            r.place[2 * words + i] = (before[2 * words + i] | r.written[i]) & ~r.last[i]
        for k in range(r.drop_count):
            if s.drops[k].is_dropped:
                take_out(r.place + 2 * words, s.drops[k].tensor)
        if s.is_noting:
            if note_step(s, r.place, s.cost[r.state] + price, price, r.state, r.number):
                return 1
        elif s.reach(r.place, s.cost[r.state] + price, r.state, r.number):
            return 1
        if not drop_next(s, r):
            return 0
        if s.spend(1):
            return 1


cdef double price_chosen(KeptSearch s, Running* r, i64 size, i64 elsewhere, i64 handed) except? -1.0:
    """The cost of a step, infinite where it does not fit."""
    cdef i64 i, count = list_set(s.groups.members + r.number * s.words, s.words, s.ids)
    cdef u64 touched = 0
    cdef Kept kept
    cdef Row row
    cdef int status
    kept.on_chip, kept.loaded, kept.written = r.key, r.key + s.words, r.key + 2 * s.words
    for i in range(s.words):
        touched |= r.key[i]
    status = s.prices.price_set(s.ids, count, &kept if touched else NULL, size, elsewhere, handed, &row)
    return row_cost(s.kernel, &s.prices.memory, &row, 0) if status == FITS else INFINITY
