# Simulated annealing: cocco/search/baselines/annealing.py

cdef struct Walk:  # where the annealing stands
    i64* labels
    i64* capacities
    double* cost        # of these, and the least so far
    double* least


cdef struct Step:  # a neighbour of where a walk stands
    i64* labels
    i64* capacities
    double* value
    double* cost


cdef bint is_same(Walk* walk, const i64* labels, const i64* capacities, i64 size, i64 buffers) noexcept nogil:
    cdef i64 v, different = 0
    for v in range(size):
        different |= walk.labels[v] ^ labels[v]
    for v in range(buffers):
        different |= walk.capacities[v] ^ capacities[v]
    return different == 0


cdef void neighbour(
    Graph* g, Goal* goal, Rates* rates, Memo* memo, Bench* b, Walk* walk, Footing* foot, Step* step, u64* stream
) noexcept nogil:
    """annealing._neighbour."""
    cdef i64 i
    cdef bint is_broken
    for i in range(rates.retries + 1):
        if i and not is_same(walk, step.labels, step.capacities, g.size, goal.buffers):
            return
        memcpy(step.labels, walk.labels, g.size * sizeof(i64))
        memcpy(step.capacities, walk.capacities, 2 * sizeof(i64))
        is_broken = mutate(g, goal, rates, b, step.labels, step.capacities, stream)
        if foot.is_known:
            repair_near(g, memo, b, foot, step.labels, is_broken)
        elif is_broken:
            repair(g, b, step.labels)


cdef bint accepts(double difference, double temperature, u64* stream) noexcept nogil:
    """annealing._accepts."""
    if difference <= 0:
        return True
    if temperature <= 0:
        return False
    return <double>(draw(stream) >> 11) * 1.1102230246251565e-16 < exp(-difference / temperature)


cdef int step_on(
    Kernel kernel, Scratch scratch, Walk* walk, Footing* foot, Step* step, u64 seed, u64 block, u64 number, double share
) noexcept nogil:
    """Make and price a neighbour, and go on from it if it is taken. share: temperature over the least cost."""
    cdef u64 stream = open_stream(seed, block, number)
    cdef int status
    if foot.is_usable and not foot.is_known:
        find_footing(
            &kernel.graph, &kernel.net, &kernel.machine, &kernel.goal, &scratch.work, &scratch.memo, &scratch.bench,
            foot, walk.labels,
        )
    neighbour(&kernel.graph, &kernel.goal, &kernel.rates, &scratch.memo, &scratch.bench, walk, foot, step, &stream)
    if foot.is_known:
        status = evaluate_near(
            &kernel.graph, &kernel.net, &kernel.machine, &kernel.goal, &scratch.work, &scratch.memo, &scratch.bench,
            foot, scratch.totals, step.labels, &stream, step.value, step.cost, scratch.keeping,
        )
    else:
        status = evaluate(
            &kernel.graph, &kernel.net, &kernel.machine, &kernel.goal, &scratch.work, &scratch.memo, &scratch.bench,
            scratch.totals, step.labels, step.capacities, &stream, step.value, step.cost, scratch.keeping,
        )
    if status == FITS and accepts(step.cost[0] - walk.cost[0], walk.least[0] * share, &stream):
        memcpy(walk.labels, step.labels, kernel.graph.size * sizeof(i64))
        memcpy(walk.capacities, step.capacities, 2 * sizeof(i64))
        walk.cost[0] = step.cost[0]
        if foot.is_known:
            take_footing(&kernel.graph, &scratch.memo, &scratch.bench, foot, walk.labels)
    if status == FITS and step.cost[0] < walk.least[0]:
        walk.least[0] = step.cost[0]
    return status


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
    cdef Step step
    cdef Ground ground = Ground(kernel, scratch)
    cdef i64 i, n = kernel.graph.size, count = shares.shape[0]
    cdef i64 first = founders.shape[0] if is_begun or founders.shape[0] else 1
    cdef int status = FITS
    memset(&brood, 0, sizeof(Brood))
    brood.size, brood.founders, brood.seed, brood.generation = n, founders.shape[0], seed, block
    brood.founder_labels = &founders[0, 0] if brood.founders else NULL
    walk.labels, walk.capacities, walk.cost, walk.least = &labels_now[0], &capacities_now[0], &cost_now[0], &cost_now[1]
    with nogil:
        for i in range(count):
            let_in(i)
            if i < first:
                child.labels, child.capacities = &labels[i, 0], &capacities[i, 0]
                child.value, child.cost = &value[i], &cost[i]
                status = make_child(
                    &kernel.graph, &kernel.net, &kernel.machine, &kernel.goal, &kernel.rates, &brood, &scratch.work,
                    &scratch.memo, &scratch.bench, &scratch.other, scratch.totals, i, &child, scratch.keeping,
                )
                if status == FITS and (not is_begun or cost[i] < walk.cost[0]):
                    memcpy(walk.labels, &labels[i, 0], n * sizeof(i64))
                    memcpy(walk.capacities, &capacities[i, 0], 2 * sizeof(i64))
                    walk.cost[0] = cost[i]
                if status == FITS and (not is_begun or cost[i] < walk.least[0]):
                    walk.least[0] = cost[i]
                is_begun = True
            else:
                step.labels, step.capacities, step.value, step.cost = &labels[i, 0], &capacities[i, 0], &value[i], &cost[i]
                status = step_on(kernel, scratch, &walk, &ground.foot, &step, seed, block, <u64>i, shares[i])
            if status != FITS:
                break
    if status == OVERFLOW:
        raise OverflowError("64 bits do not hold the steps of a subgraph")


def walk_on(
    Kernel kernel, Scratch scratch, u64 seed, u64 block, i64 blocks, i64 block_steps, i64 done, i64 wanted, double hot,
    double cold, i64[::1] labels_now, i64[::1] capacities_now, double[::1] cost_now, i64[::1] best_labels,
):
    """Go on with a walk for so many blocks, and return the least cost so far.

    block: number of the first one. done, wanted: steps of the walk before, and of all: its temperatures go from `hot`
    to `cold` (annealing.Cooling). labels_now, capacities_now and cost_now (that of these, the least so far) say where
    the walk stands, and do afterwards; best_labels takes the first genome that costs least, if that is less than before.
    """
    cdef Walk walk
    cdef Step step
    cdef Ground ground = Ground(kernel, scratch)
    cdef i64 n = kernel.graph.size, i, k
    cdef i64[::1] labels = np.empty(n, dtype=np.int64), capacities = np.zeros(2, dtype=np.int64)
    cdef double value, cost, best = cost_now[1], ratio = cold / hot, share
    cdef int status = FITS
    walk.labels, walk.capacities, walk.cost, walk.least = &labels_now[0], &capacities_now[0], &cost_now[0], &cost_now[1]
    step.labels, step.capacities, step.value, step.cost = &labels[0], &capacities[0], &value, &cost
    with nogil:
        for k in range(blocks):
            for i in range(block_steps):
                let_in(i)
                share = hot * pow(ratio, <double>(done + k * block_steps + i) / <double>wanted)
                status = step_on(kernel, scratch, &walk, &ground.foot, &step, seed, block + <u64>k, <u64>i, share)
                if status != FITS:
                    break
                if cost < best:
                    best = cost
                    memcpy(&best_labels[0], step.labels, n * sizeof(i64))
            if status != FITS:
                break
    if status == OVERFLOW:
        raise OverflowError("64 bits do not hold the steps of a subgraph")
    return best
