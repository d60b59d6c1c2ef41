# The face of many generations to Python

def evolve(
    Kernel kernel, Scratch scratch, u64 seed, u64 generation, i64 elite, i64 most, i64 stale, i64 patience,
    i64[:, ::1] labels, i64[:, ::1] capacities, double[::1] value, double[::1] cost, double least,
    i64[:, ::1] best_labels, int32_t[:, ::1] made_capacities, double[::1] made_value, double[::1] made_cost,
    int32_t[::1] made_subgraphs, double[:, ::1] costs, i64[::1] distinct,
):
    """Go on with a population for so many generations; return how many, how stale it is then, and who is the best.

    labels to cost: the population, replaced by the last one; the elite comes first, by cost. stale: generations without
    improvement; once they are more than `patience` (0: any number) it ends. least: of all samples before; best_labels
    takes the first child that costs less than all before it, whose number among the children is returned, else -1.
    made_*: a row for each child; costs: a row for each population, as labels has it; distinct: how many genomes differ.
    """
    cdef i64 n = kernel.graph.size, population = labels.shape[0], made = population - elite, g, i, best = -1, row
    cdef int status = FITS
    cdef Brood brood
    cdef Crowd crowd
    cdef Individual* child
    crowd.size, crowd.buffers, crowd.population, crowd.elite = n, kernel.goal.buffers, population, elite
    crowd.table_size = _index_size(population)
    # np.empty takes address space, not memory, until it is written to
    cdef i64[:, ::1] pool = np.empty((population + made, n), dtype=np.int64)
    cdef i64[:, ::1] pool_capacities = np.zeros((population + made, 2), dtype=np.int64)
    cdef double[:, ::1] prices = np.empty((2, population + made))
    cdef i64[::1] places = np.empty(3 * population + crowd.table_size, dtype=np.int64)
    cdef char[::1] room = np.empty((2 * population + made) * sizeof(Individual), dtype=np.int8)
    crowd.pool, crowd.parent = <Individual*>&room[0], <Individual*>&room[0] + population + made
    crowd.members, crowd.order, crowd.spare = &places[0], &places[population], &places[2 * population]
    crowd.table = &places[3 * population]
    memset(&brood, 0, sizeof(Brood))
    brood.size, brood.parents, brood.parent, brood.seed = n, population, crowd.parent, seed
    with nogil:
        for i in range(population + made):
            crowd.pool[i].labels, crowd.pool[i].capacities = &pool[i, 0], &pool_capacities[i, 0]
            crowd.pool[i].value, crowd.pool[i].cost = &prices[0, i], &prices[1, i]
        for i in range(population):
            memcpy(&pool[i, 0], &labels[i, 0], n * sizeof(i64))
            memcpy(&pool_capacities[i, 0], &capacities[i, 0], 2 * sizeof(i64))
            prices[0, i], prices[1, i] = value[i], cost[i]
            hash_individual(&crowd.pool[i], n, crowd.buffers)
            crowd.members[i] = i
        for i in range(made):
            crowd.spare[i] = population + i
        for g in range(most):
            if g and patience and stale > patience:
                most = g
                break
            line_up(&crowd)
            brood.generation = generation + <u64>g
            for i in range(made):
                child = &crowd.pool[crowd.spare[i]]
                let_in(i)
                status = make_child(kernel, scratch, &brood, i, child)
                if status != FITS:
                    break
            if status != FITS:
                most = g
                break
            stale += 1
            for i in range(made):
                child, row = &crowd.pool[crowd.spare[i]], g * made + i
                hash_individual(child, n, crowd.buffers)
                made_capacities[row, 0], made_capacities[row, 1] = child.capacities[0], child.capacities[1]
                made_value[row], made_cost[row] = child.value[0], child.cost[0]
                made_subgraphs[row] = subgraphs_of(child.labels, n)
                if child.cost[0] < least:
                    least, best = child.cost[0], row
                    memcpy(&best_labels[0, 0], child.labels, n * sizeof(i64))
                if child.cost[0] < crowd.parent[0].cost[0]:
                    stale = 1
            take_over(&crowd)
            for i in range(population):
                costs[g, i] = crowd.pool[crowd.members[i]].cost[0]
            distinct[g] = distinct_of(&crowd)
        for i in range(population):
            child = &crowd.pool[crowd.members[i]]
            memcpy(&labels[i, 0], child.labels, n * sizeof(i64))
            memcpy(&capacities[i, 0], child.capacities, 2 * sizeof(i64))
            value[i], cost[i] = child.value[0], child.cost[0]
    return most, stale, best
