# Many generations of one population: the loop of cocco/search/genetic/genetic.py, and Trace.record's statistics

cdef struct Crowd:  # a population whose genomes stay where they are
    i64 size            # of a row of labels
    i64 buffers
    i64 population
    i64 elite
    Individual* pool    # population + population - elite of them
    i64* members        # of the population: the elite by cost, then its children
    i64* order          # the same by cost, ties in their order
    i64* spare          # room for children
    Individual* parent  # as the brood wants them
    i64* table          # open addressing, by hash: who is in the population
    i64 table_size      # a power of two


cdef inline void hash_individual(Individual* one, i64 size, i64 buffers) noexcept nogil:
    one.hash = hash_genome(one.labels, size, one.capacities, buffers)


cdef void sort_crowd(Crowd* c) noexcept nogil:
    """Population.by_cost: most of it is sorted already, so each is inserted from the end."""
    cdef i64 i, at, one
    cdef double cost
    for i in range(c.population):
        one = c.members[i]
        cost = c.pool[one].cost[0]
        at = i
        while at and c.pool[c.order[at - 1]].cost[0] > cost:
            c.order[at] = c.order[at - 1]
            at -= 1
        c.order[at] = one


cdef void line_up(Crowd* c) noexcept nogil:
    """Sort the population; the first are the elite, the places of the others go to children."""
    cdef i64 i
    sort_crowd(c)
    for i in range(c.population):
        c.parent[i] = c.pool[c.order[i]]


cdef void take_over(Crowd* c) noexcept nogil:
    """The elite and the children in `spare` become the population; the others leave their places."""
    cdef i64 i, left
    for i in range(c.elite):
        c.members[i] = c.order[i]
    for i in range(c.population - c.elite):
        left = c.order[c.elite + i]
        c.members[c.elite + i] = c.spare[i]
        c.spare[i] = left


cdef i64 distinct_of(Crowd* c) noexcept nogil:
    """Population.distinct."""
    cdef i64 i, found = 0, other
    cdef u64 at
    cdef Individual* one
    memset(c.table, 0, c.table_size * sizeof(i64))
    for i in range(c.population):
        one = &c.pool[c.members[i]]
        at = one.hash & <u64>(c.table_size - 1)
        while True:
            other = c.table[at] - 1
            if other < 0:
                c.table[at] = c.members[i] + 1
                found += 1
                break
            if c.pool[other].hash == one.hash and is_same_genome(
                one.labels, one.capacities, &c.pool[other], c.size, c.buffers
            ):
                break
            at = (at + 1) & <u64>(c.table_size - 1)
    return found


cdef i64 subgraphs_of(const i64* labels, i64 size) noexcept nogil:
    """Each subgraph has one first layer."""
    cdef i64 v, found = 0
    for v in range(size):
        found += labels[v] == v
    return found
