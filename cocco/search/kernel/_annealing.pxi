# Simulated annealing: cocco/search/baselines/annealing.py

cdef struct Walk:  # where the annealing stands
    i64* labels
    i64* capacities
    double* cost        # of these, and the least so far
    double* least


cdef bint is_same(Walk* walk, const i64* labels, const i64* capacities, i64 size, i64 buffers) noexcept nogil:
    cdef i64 v
    for v in range(size):
        if walk.labels[v] != labels[v]:
            return False
    for v in range(buffers):
        if walk.capacities[v] != capacities[v]:
            return False
    return True


cdef void neighbour(
    Graph* g, Goal* goal, Rates* rates, Bench* b, Walk* walk, i64* labels, i64* capacities, u64* stream
) noexcept nogil:
    """annealing._neighbour."""
    cdef i64 i
    for i in range(rates.retries + 1):
        if i and not is_same(walk, labels, capacities, g.size, goal.buffers):
            return
        memcpy(labels, walk.labels, g.size * sizeof(i64))
        memcpy(capacities, walk.capacities, 2 * sizeof(i64))
        if mutate(g, goal, rates, b, labels, capacities, stream):
            repair(g, b, labels)


cdef bint accepts(double difference, double temperature, u64* stream) noexcept nogil:
    """annealing._accepts."""
    if difference <= 0:
        return True
    if temperature <= 0:
        return False
    return <double>(draw(stream) >> 11) * 1.1102230246251565e-16 < exp(-difference / temperature)


def anneal(
    Kernel kernel, Scratch scratch, u64 seed, u64 block, bint is_begun, const i64[:, ::1] founders,
    const double[::1] shares, i64[::1] labels_now, i64[::1] capacities_now, double[::1] cost_now,
    i64[:, ::1] labels, i64[:, ::1] capacities, double[::1] value, double[::1] cost,
):
    """Make and price the samples of one block, a row of each output for each (annealing._Steps).

    is_begun: whether labels_now, capacities_now and cost_now (that of these, the least so far) say where the search
    stands; they do afterwards. founders: partitions that the block begins with. shares: temperatures over the least.
    """
    cdef Brood brood
    cdef Individual child
    cdef Walk walk
    cdef i64 i, n = kernel.graph.size, count = shares.shape[0]
    cdef i64 first = founders.shape[0] if is_begun or founders.shape[0] else 1
    cdef int status = FITS
    cdef bint is_next
    cdef u64 stream
    memset(&brood, 0, sizeof(Brood))
    brood.size, brood.founders, brood.seed, brood.generation = n, founders.shape[0], seed, block
    brood.founder_labels = &founders[0, 0] if brood.founders else NULL
    walk.labels, walk.capacities, walk.cost, walk.least = &labels_now[0], &capacities_now[0], &cost_now[0], &cost_now[1]
    with nogil:
        for i in range(count):
            if i < first:
                child.labels, child.capacities = &labels[i, 0], &capacities[i, 0]
                child.value, child.cost = &value[i], &cost[i]
                status = make_child(
                    &kernel.graph, &kernel.net, &kernel.machine, &kernel.goal, &kernel.rates, &brood, &scratch.work,
                    &scratch.memo, &scratch.bench, &scratch.other, scratch.totals, i, &child, scratch.keeping,
                )
                is_next = not is_begun or cost[i] < walk.cost[0]
            else:
                stream = open_stream(seed, block, <u64>i)
                neighbour(
                    &kernel.graph, &kernel.goal, &kernel.rates, &scratch.bench, &walk, &labels[i, 0],
                    &capacities[i, 0], &stream,
                )
                status = evaluate(
                    &kernel.graph, &kernel.net, &kernel.machine, &kernel.goal, &scratch.work, &scratch.memo,
                    &scratch.bench, scratch.totals, &labels[i, 0], &capacities[i, 0], &stream, &value[i], &cost[i],
                    scratch.keeping,
                )
                is_next = status == FITS and accepts(cost[i] - walk.cost[0], walk.least[0] * shares[i], &stream)
            if status != FITS:
                break
            if is_next:
                memcpy(walk.labels, &labels[i, 0], n * sizeof(i64))
                memcpy(walk.capacities, &capacities[i, 0], 2 * sizeof(i64))
                walk.cost[0] = cost[i]
            if not is_begun or cost[i] < walk.least[0]:
                walk.least[0] = cost[i]
            is_begun = True
    if status == OVERFLOW:
        raise OverflowError("64 bits do not hold the steps of a subgraph")
