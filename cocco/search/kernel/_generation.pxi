# One generation: cocco/search/genetic/genetic.py

cdef struct Rates:  # cocco.problem.settings.Settings as thresholds of 32 random bits
    u64 crossing
    u64 again
    u64 modify_end
    u64 split_end
    u64 merge_end
    u64 shift_end
    i64 deviation
    i64 tournament
    i64 retries


cdef struct Brood:  # a generation: parents sorted by cost, and where the children go
    i64 size            # of a row of labels
    i64 parents
    const i64* parent_labels
    const i64* parent_capacities    # two per genome
    u64* parent_hash
    i64 founders        # initial partitions, where there are no parents
    const i64* founder_labels
    i64* labels
    i64* capacities
    double* value
    double* cost
    u64 seed
    u64 generation


cdef u64 hash_genome(const i64* labels, i64 size, const i64* capacities, i64 buffers) noexcept nogil:
    cdef u64 h = GAMMA
    cdef i64 v
    for v in range(size):
        h = (h ^ <u64>labels[v]) * 0x100000001B3ULL
        h ^= h >> 29
    for v in range(buffers):
        h = (h ^ <u64>capacities[v]) * 0x100000001B3ULL
        h ^= h >> 29
    return mix(h)


cdef bint is_known(Brood* brood, i64 buffers, const i64* labels, const i64* capacities) noexcept nogil:
    cdef u64 h = hash_genome(labels, brood.size, capacities, buffers)
    cdef i64 i, j
    for i in range(brood.parents):
        if brood.parent_hash[i] != h:
            continue
        for j in range(buffers):
            if brood.parent_capacities[2 * i + j] != capacities[j]:
                break
        else:
            for j in range(brood.size):
                if brood.parent_labels[i * brood.size + j] != labels[j]:
                    break
            else:
                return True
    return False


cdef void mutate(Graph* g, Goal* goal, Rates* rates, Bench* b, i64* labels, i64* capacities, u64* stream) noexcept nogil:
    """Breeder.mutate."""
    cdef u64 kind = draw(stream) >> 32
    cdef i64 i
    if kind < rates.modify_end:
        modify_node(g, b, labels, stream)
    elif kind < rates.split_end:
        split_subgraph(g, b, labels, stream)
    elif kind < rates.merge_end:
        merge_subgraphs(g, b, labels, stream)
    elif kind < rates.shift_end:
        shift_layers(g, b, labels, stream)
    else:
        for i in range(goal.buffers):
            capacities[i] = imin(imax(capacities[i] + normal_step(stream, rates.deviation), 0), goal.choices[i] - 1)


cdef i64 select(Brood* brood, Rates* rates, u64* stream) noexcept nogil:
    """Breeder.select: parents are sorted by cost, so the least index wins."""
    cdef i64 best = brood.parents, i
    for i in range(rates.tournament):
        best = imin(best, below(stream, brood.parents))
    return best


cdef int make_child(
    Graph* g, Net* net, Machine* m, Goal* goal, Rates* rates, Brood* brood, Work* w, Memo* memo, Bench* b, Bench* b2, Row* totals,
    i64 child, Keeping* keeping
) noexcept nogil:
    """Breeder.founder or Breeder.child, then Pricer.evaluate."""
    cdef u64 stream = open_stream(brood.seed, brood.generation, <u64>child)
    cdef i64 n = brood.size, mother, father, i
    cdef i64* labels = brood.labels + child * n
    cdef i64* capacities = brood.capacities + 2 * child
    cdef i64 is_mutant = 0
    if brood.parents:
        mother = select(brood, rates, &stream)
        memcpy(capacities, brood.parent_capacities + 2 * mother, 2 * sizeof(i64))
        if chance(&stream, rates.crossing):
            father = select(brood, rates, &stream)
            crossover(g, b, b2, brood.parent_labels + mother * n, brood.parent_labels + father * n, labels, &stream)
            for i in range(goal.buffers):
                capacities[i] = (capacities[i] + brood.parent_capacities[2 * father + i]
                                 + chance(&stream, <u64>1 << 31)) >> 1
        else:
            memcpy(labels, brood.parent_labels + mother * n, n * sizeof(i64))
            mutate(g, goal, rates, b, labels, capacities, &stream)
        while chance(&stream, rates.again):
            mutate(g, goal, rates, b, labels, capacities, &stream)
        repair(g, b, labels)
        for i in range(rates.retries):
            if not is_known(brood, goal.buffers, labels, capacities):
                break
            mutate(g, goal, rates, b, labels, capacities, &stream)
            repair(g, b, labels)
    elif child < brood.founders:
        memcpy(labels, brood.founder_labels + child * n, n * sizeof(i64))
        random_capacities(goal, capacities, &stream)
    else:
        if brood.founders and chance(&stream, <u64>1 << 31):
            mother = below(&stream, brood.founders)
            memcpy(labels, brood.founder_labels + mother * n, n * sizeof(i64))
            random_capacities(goal, capacities, &stream)
            mutate(g, goal, rates, b, labels, capacities, &stream)
            while chance(&stream, rates.again):
                mutate(g, goal, rates, b, labels, capacities, &stream)
        else:
            random_labels(g, labels, &stream)
            random_capacities(goal, capacities, &stream)
        repair(g, b, labels)
    return evaluate(
        g, net, m, goal, w, memo, b, totals, labels, capacities, &stream, &brood.value[child], &brood.cost[child],
        keeping,
    )


cdef void random_capacities(Goal* goal, i64* capacities, u64* stream) noexcept nogil:
    cdef i64 i
    capacities[0] = capacities[1] = 0
    for i in range(goal.buffers):
        capacities[i] = below(stream, goal.choices[i])
