# Simulated annealing: cocco/search/baselines/annealing.py

cdef struct Walk:  # where the annealing stands, and the least cost so far
    Individual here
    double* least


cdef void neighbour(
    Kernel kernel, Scratch scratch, Walk* walk, Footing* foot, Individual* step, u64* stream
) noexcept nogil:
    """annealing._neighbour."""
    cdef i64 i
    cdef bint is_broken
    for i in range(kernel.rates.retries + 1):
        if i and not is_same_genome(step.labels, step.capacities, &walk.here, kernel.graph.size, kernel.goal.buffers):
            return
        memcpy(step.labels, walk.here.labels, kernel.graph.size * sizeof(i64))
        memcpy(step.capacities, walk.here.capacities, 2 * sizeof(i64))
        is_broken = mutate(kernel, scratch, step.labels, step.capacities, stream)
        if foot.is_known:
            repair_near(kernel, scratch, foot, step.labels, is_broken)
        elif is_broken:
            repair(&kernel.graph, &scratch.bench, step.labels)


cdef bint accepts(double difference, double temperature, u64* stream) noexcept nogil:
    """annealing._accepts."""
    if difference <= 0:
        return True
    if temperature <= 0:
        return False
    return <double>(draw(stream) >> 11) * 1.1102230246251565e-16 < exp(-difference / temperature)


cdef int step_on(
    Kernel kernel, Scratch scratch, Walk* walk, Footing* foot, Individual* step, u64 seed, u64 block, u64 number,
    double share
) noexcept nogil:
    """Make and price a neighbour, and go on from it if it is taken. share: temperature over the least cost."""
    cdef u64 stream = open_stream(seed, block, number)
    cdef int status
    if foot.is_usable and not foot.is_known:
        find_footing(kernel, scratch, foot, walk.here.labels)
    neighbour(kernel, scratch, walk, foot, step, &stream)
    if foot.is_known:
        status = evaluate_near(kernel, scratch, foot, step, &stream)
    else:
        status = evaluate(kernel, scratch, step, &stream)
    if status == FITS and accepts(step.cost[0] - walk.here.cost[0], walk.least[0] * share, &stream):
        go_to(walk, step, kernel.graph.size)
        if foot.is_known:
            take_footing(kernel, scratch, foot, walk.here.labels)
    if status == FITS:
        walk.least[0] = min(walk.least[0], step.cost[0])
    return status


cdef inline void go_to(Walk* walk, Individual* step, i64 size) noexcept nogil:
    memcpy(walk.here.labels, step.labels, size * sizeof(i64))
    memcpy(walk.here.capacities, step.capacities, 2 * sizeof(i64))
    walk.here.cost[0] = step.cost[0]


def anneal(
    Kernel kernel, Scratch scratch, u64 seed, u64 block, i64 length, bint is_begun, const i64[:, ::1] founders,
    const double[::1] shares, i64[::1] labels_now, i64[::1] capacities_now, double[::1] cost_now,
    i64[:, ::1] labels, i64[:, ::1] capacities, double[::1] value, double[::1] cost,
):
    """Make and price the samples of blocks of this length, a row of each output for each (annealing.Steps).

    is_begun: whether labels_now, capacities_now and cost_now (that of these, the least so far) say where the search
    stands; they do afterwards. founders: partitions that the first block begins with. shares: temperatures over the
    least.
    """
    cdef Brood brood
    cdef Individual one
    cdef Walk walk
    cdef Ground ground = Ground(kernel, scratch)
    cdef i64 i, n = kernel.graph.size, count = shares.shape[0]
    cdef i64 first = founders.shape[0] if is_begun or founders.shape[0] else 1
    cdef int status = FITS
    memset(&brood, 0, sizeof(Brood))
    brood.size, brood.founders, brood.seed, brood.generation = n, founders.shape[0], seed, block
    brood.founder_labels = &founders[0, 0] if brood.founders else NULL
    walk.here.labels, walk.here.capacities = &labels_now[0], &capacities_now[0]
    walk.here.cost, walk.least = &cost_now[0], &cost_now[1]
    with nogil:
        for i in range(count):
            let_in(i)
            one = row_of(i, labels, capacities, value, cost)
            if i < first:
                status = make_child(kernel, scratch, &brood, i, &one)
                if status == FITS and (not is_begun or cost[i] < walk.here.cost[0]):
                    go_to(&walk, &one, n)
                if status == FITS:
                    walk.least[0] = min(walk.least[0], cost[i]) if is_begun else cost[i]
                is_begun = True
            else:
                status = step_on(
                    kernel, scratch, &walk, &ground.foot, &one, seed, block + <u64>(i // length), <u64>(i % length),
                    shares[i],
                )
            if status != FITS:
                break
    if status == OVERFLOW:
        raise OverflowError("64 bits do not hold the steps of a subgraph")
