# One generation: cocco/search/genetic/genetic.py

cdef struct Rates:  # cocco.effort.settings.Settings as thresholds of 32 random bits
    u64 crossing
    u64 again
    u64 modify_end
    u64 split_end
    u64 merge_end
    u64 shift_end
    i64 deviation
    i64 tournament
    i64 retries
    bint is_uniform


cdef struct Brood:  # a generation, and its parents sorted by cost
    i64 size            # of a row of labels
    i64 parents
    Individual* parent
    i64 founders        # initial partitions, where there are no parents
    const i64* founder_labels
    u64 seed
    u64 generation


cdef u64 hash_genome(const i64* labels, i64 size, const i64* capacities, i64 buffers) noexcept nogil:
    """A sum, so that no term waits for the one before."""
    cdef u64 h = 0, weight = GAMMA
    cdef i64 v
    for v in range(size):
        h += <u64>labels[v] * (weight ^ (weight >> 32))
        weight += 2 * GAMMA
    for v in range(buffers):
        h += mix(<u64>capacities[v] + weight)
        weight += 2 * GAMMA
    return mix(h)


cdef bint is_same_genome(
    const i64* labels, const i64* capacities, Individual* other, i64 size, i64 buffers
) noexcept nogil:
    cdef i64 i
    for i in range(buffers):
        if other.capacities[i] != capacities[i]:
            return False
    for i in range(size):
        if other.labels[i] != labels[i]:
            return False
    return True


cdef bint is_known(Brood* brood, i64 buffers, const i64* labels, const i64* capacities) noexcept nogil:
    cdef u64 h = hash_genome(labels, brood.size, capacities, buffers)
    cdef i64 i
    for i in range(brood.parents):
        if brood.parent[i].hash == h and is_same_genome(labels, capacities, &brood.parent[i], brood.size, buffers):
            return True
    return False


cdef bint mutate(Kernel kernel, Scratch scratch, i64* labels, i64* capacities, u64* stream) noexcept nogil:
    """Breeder.mutate; return whether a valid partition may have to be repaired: what is merged is connected, in order."""
    cdef Bench* b = &scratch.bench
    cdef u64 kind = draw(stream) >> 32
    cdef i64 i
    if kind < kernel.rates.modify_end:
        modify_node(&kernel.graph, b, labels, stream)
    elif kind < kernel.rates.split_end:
        split_subgraph(&kernel.graph, b, labels, stream)
    elif kind < kernel.rates.merge_end:
        merge_subgraphs(&kernel.graph, b, labels, stream)
        return False
    elif kind < kernel.rates.shift_end:
        shift_layers(&kernel.graph, b, labels, stream)
    else:
        for i in range(kernel.goal.buffers):
            capacities[i] = imax(capacities[i] + normal_step(stream, kernel.rates.deviation), 0)
            capacities[i] = imin(capacities[i], kernel.goal.choices[i] - 1)
        return False
    return True


cdef i64 select(Brood* brood, Rates* rates, u64* stream) noexcept nogil:
    """Breeder.select: parents are sorted by cost, so the least index wins."""
    cdef i64 best = brood.parents, i
    for i in range(rates.tournament):
        best = imin(best, below(stream, brood.parents))
    return best


cdef int make_child(Kernel kernel, Scratch scratch, Brood* brood, i64 child, Individual* into) noexcept nogil:
    """Breeder.founder or Breeder.child, then Pricer.evaluate."""
    cdef Bench* b = &scratch.bench
    cdef u64 stream = open_stream(brood.seed, brood.generation, <u64>child)
    cdef i64 n = brood.size, mother, father, i
    cdef i64* labels = into.labels
    cdef i64* capacities = into.capacities
    cdef bint is_broken = True
    if brood.parents:
        mother = select(brood, &kernel.rates, &stream)
        memcpy(capacities, brood.parent[mother].capacities, 2 * sizeof(i64))
        if chance(&stream, kernel.rates.crossing):
            father = select(brood, &kernel.rates, &stream)
            crossover(
                &kernel.graph, b, &scratch.other, brood.parent[mother].labels, brood.parent[father].labels, labels,
                &stream,
            )
            for i in range(kernel.goal.buffers):
                capacities[i] = (capacities[i] + brood.parent[father].capacities[i]
                                 + chance(&stream, <u64>1 << 31)) >> 1
        else:
            memcpy(labels, brood.parent[mother].labels, n * sizeof(i64))
            is_broken = mutate(kernel, scratch, labels, capacities, &stream)
        while chance(&stream, kernel.rates.again):
            is_broken |= mutate(kernel, scratch, labels, capacities, &stream)
        if is_broken:
            repair(&kernel.graph, b, labels)
        for i in range(kernel.rates.retries):
            if not is_known(brood, kernel.goal.buffers, labels, capacities):
                break
            if mutate(kernel, scratch, labels, capacities, &stream):
                repair(&kernel.graph, b, labels)
    elif child < brood.founders:
        memcpy(labels, brood.founder_labels + child * n, n * sizeof(i64))
        random_capacities(&kernel.goal, capacities, &stream)
    else:
        if brood.founders and chance(&stream, <u64>1 << 31):
            mother = below(&stream, brood.founders)
            memcpy(labels, brood.founder_labels + mother * n, n * sizeof(i64))
            random_capacities(&kernel.goal, capacities, &stream)
            mutate(kernel, scratch, labels, capacities, &stream)
            while chance(&stream, kernel.rates.again):
                mutate(kernel, scratch, labels, capacities, &stream)
        else:
            if kernel.rates.is_uniform:
                uniform_labels(&kernel.graph, b, labels, &stream)
            else:
                random_labels(&kernel.graph, labels, &stream)
            random_capacities(&kernel.goal, capacities, &stream)
        repair(&kernel.graph, b, labels)
    return evaluate(kernel, scratch, into, &stream)


cdef void random_capacities(Goal* goal, i64* capacities, u64* stream) noexcept nogil:
    cdef i64 i
    capacities[0] = capacities[1] = 0
    for i in range(goal.buffers):
        capacities[i] = below(stream, goal.choices[i])
