# All states and steps of plans below a cost: cocco/search/exact/plans_below.py

cdef int note_step(KeptSearch s, const u64* place, double cost, double price, i64 parent, i64 group) except -1:
    """Note a step between two states that are known, if a plan with it may cost little enough; 1 where too many are."""
    cdef i64 found = find_set(&s.states, place, 3 * s.words)
    if found < 0 or cost + least_left(s, downset_of(s, place), place) >= s.below:
        return 0
    if len(s.noted) == s.most_noted:
        s.why = MANY_STATES
        return 1
    s.noted.append((parent, found, group, price))
    return 0


cdef int note_all(KeptSearch s) except -1:
    """Note the steps of all states, now that their costs are known; 1 where the search must end."""
    cdef i64 state
    cdef u64* place
    s.is_noting, s.limit = True, s.below
    for state in range(s.states.count):
        place = s.states.members + 3 * state * s.words
        if same_set(place, s.goal, s.words) or s.cost[state] + least_left(s, downset_of(s, place), place) >= s.below:
            continue
        if go_on(s, state):
            return 1
    return 0
