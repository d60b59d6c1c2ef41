# Evaluation with in-situ split: cocco/search/pricing/genomes.py, cocco/problem/objective.py

cdef struct Goal:  # the objective, and what the candidates of the buffers mean
    i64 metric          # 0 ema, 1 energy, 2 latency
    i64 others          # metrics that are added, and what a unit of each is worth
    i64* other
    double* worth
    i64 has_alpha
    double alpha
    i64 counted         # cores whose buffers the cost counts
    double* weights     # by network
    double dram
    double operation
    double operation_unit  # pJ of what operations take beyond INT8
    double crossbar
    ByteCost* sram[2]      # pJ/B of the candidates: activations, weights
    double* leakage[2]  # pJ per slot of the candidates
    double background   # pJ per slot of DRAM
    double logic        # and of all logic
    double idle         # pJ of a MAC and cycle
    i64* capacity[2]    # bytes of the candidates
    i64 buffers         # that a genome chooses: 0, 1 or 2
    i64 choices[2]      # candidates of each


cdef inline Memory memory_of(Kernel kernel, i64 first, i64 second) noexcept nogil:
    """The buffers of these candidates; the weight buffer is the same one where it is shared."""
    cdef Memory memory
    cdef Goal* goal = &kernel.goal
    memory.at[0], memory.at[1] = first, second
    memory.activations, memory.weights = goal.capacity[0][first], goal.capacity[1][second]
    memory.activation_pj, memory.weight_pj = goal.sram[0][first], goal.sram[1][second]
    memory.static_pj = goal.leakage[0][first] + goal.leakage[1][second] + goal.background + goal.logic
    memory.reserved = memory.elsewhere = memory.handed = 0
    return memory


cdef struct Individual:  # a genome and what it costs
    i64* labels
    i64* capacities     # two
    double* value
    double* cost
    u64 hash


cdef enum:
    ENTRIES = 1 << 15
    KEPT_ENTRIES = 1 << 16


cdef inline u64 print_first(i64 v) noexcept nogil:
    return mix(<u64>v * GAMMA + 1)


cdef inline u64 print_second(i64 v) noexcept nogil:
    return mix(<u64>v * 0xD1342543DE82EF95ULL + 0x632BE59BD9B4E019ULL)


cdef inline Print print_of(Memo* memo, const i64* layers, i64 count, Print memory) noexcept nogil:
    """Of layers in the memory with this print."""
    cdef i64 i
    for i in range(count):
        memory.first += memo.layer[layers[i]].first
        memory.second += memo.layer[layers[i]].second
    return memory


cdef inline void fetch_entry(Memo* memo, Print key) noexcept nogil:
    """Fetch what an entry holds while the rest of a genome is looked at."""
    cdef Entry* entry = &memo.entries[key.first & memo.last]
    fetch_ahead(entry)
    fetch_ahead(&entry.row.slots)


cdef int price_known(
    Kernel kernel, Scratch scratch, const i64* layers, i64 count, Print key, Memory* memory, Row* row
) noexcept nogil:
    """price, from the memo where the same was priced before; key: the print of the layers in this memory."""
    cdef Entry* entry = entry_of(&scratch.memo, key)
    if not entry.status:
        entry.status = 1 + SHORT
        if count == 1 or may_fit(kernel, scratch, layers, count, memory):
            entry.status = 1 + price(&kernel.net, &kernel.machine, &scratch.work, layers, count, memory, &entry.row)
    row[0] = entry.row
    return <int>(entry.status - 1)


cdef int cut(Graph* g, Bench* b, i64* labels, i64* group, i64 count, u64* stream) noexcept nogil:
    """Cut a group at a random point; its parts replace it, in order, in the same place; lengths in b.parts."""
    cdef i64 at = 1 + below(stream, count - 1), parts, i, j, k
    parts = connected_parts(g, b, group, at, b.part, b.parts)
    parts += connected_parts(g, b, group + at, count - at, b.part + at, b.parts + parts)
    k = 0
    for i in range(parts):
        for j in range(k, k + b.parts[i]):
            labels[b.part[j]] = b.part[k]
        k += b.parts[i]
    return parts


cdef void ask_for_group(Scratch scratch, i64 first, Print memory, i64* groups, i64* end) noexcept nogil:
    """Put the members of a subgraph on top of the groups to be priced, and fetch what is known of it."""
    cdef Bench* b = &scratch.bench
    cdef i64 u = first, count = 0
    while u >= 0:
        b.queue[end[0] + count] = u
        count += 1
        u = b.next[u]
    b.prints[groups[0]] = print_of(&scratch.memo, b.queue + end[0], count, memory)
    fetch_entry(&scratch.memo, b.prints[groups[0]])
    end[0] += count
    b.queue_length[groups[0]] = count
    groups[0] += 1


cdef int fit(
    Kernel kernel, Scratch scratch, i64* labels, Memory* memory, u64* stream, Row* totals, Row* alone
) noexcept nogil:
    """Pricer._fit: price all subgraphs, cut what does not fit; totals per network, and by first layer, if asked."""
    cdef i64 v, groups = 0, end = 0
    cdef Print here = print_of_memory(memory)
    memset(totals, 0, kernel.graph.networks * sizeof(Row))
    list_members(labels, kernel.graph.size, &scratch.bench)
    for v in range(kernel.graph.size - 1, -1, -1):
        if labels[v] == v:
            ask_for_group(scratch, v, here, &groups, &end)
    return fit_groups(kernel, scratch, labels, memory, stream, totals, alone, groups, end)


cdef int fit_groups(
    Kernel kernel, Scratch scratch, i64* labels, Memory* memory, u64* stream, Row* totals, Row* alone, i64 top, i64 end
) noexcept nogil:
    """Price so many groups, cut what does not fit: a stack in b.queue, of `end` layers, the first subgraph on top."""
    cdef Bench* b = &scratch.bench
    cdef i64 count, parts, i, at
    cdef Row row
    cdef Print here = print_of_memory(memory)
    cdef int status
    while top:
        top -= 1
        count = b.queue_length[top]
        end -= count
        status = price_known(kernel, scratch, b.queue + end, count, b.prints[top], memory, &row)
        if status == OVERFLOW or (status == SHORT and count == 1):
            return status
        if status == FITS:
            add_row(&totals[kernel.graph.network_of[b.queue[end]]], &row, 1)
            if alone is not NULL:
                alone[b.queue[end]] = row
            continue
        memcpy(b.group, b.queue + end, count * sizeof(i64))
        parts = cut(&kernel.graph, b, labels, b.group, count, stream)
        at = count
        for i in range(parts - 1, -1, -1):  # the last part deepest
            at -= b.parts[i]
            memcpy(b.queue + end, b.part + at, b.parts[i] * sizeof(i64))
            end += b.parts[i]
            b.queue_length[top] = b.parts[i]
            b.prints[top] = print_of(&scratch.memo, b.queue + end - b.parts[i], b.parts[i], here)
            top += 1
    return FITS


cdef inline void add_row(Row* total, Row* row, i64 sign) noexcept nogil:
    """Add a row to a total, or take it away again."""
    cdef i64 i
    for i in range(ROW_NUMBERS):
        (<i64*>total)[i] += sign * (<i64*>row)[i]


cdef inline double energy_of(Goal* goal, Memory* memory, Row* row) noexcept nogil:
    """simulator.model.cost.energy_breakdown and its total."""
    cdef double slots = <double>row.slots, compute = goal.operation * <double>row.operations
    if row.operation_extra:
        compute += goal.operation_unit * <double>row.operation_extra
    return (
        goal.dram * <double>row.ema + buffer_pj(&memory.activation_pj, row.global_buffer, row.global_written)
        + buffer_pj(&memory.weight_pj, row.weight_buffer, row.weight_written)
        + compute + goal.crossbar * <double>row.crossbar
        + (goal.leakage[0][memory.at[0]] + goal.leakage[1][memory.at[1]]) * slots + goal.background * slots
        + goal.logic * slots + goal.idle * <double>row.idle
    )


cdef inline double metric_of(Kernel kernel, i64 metric, Memory* memory, Row* row) noexcept nogil:
    """simulator.model.cost.METRICS"""
    if metric == 0:
        return <double>row.ema
    if metric == 1:
        return energy_of(&kernel.goal, memory, row)
    return <double>row.slots / kernel.machine.per_cycle


cdef inline double objective_of(Kernel kernel, Memory* memory, Row* row) noexcept nogil:
    """cocco.problem.objective.Objective.of"""
    cdef i64 i
    cdef double value = metric_of(kernel, kernel.goal.metric, memory, row)
    for i in range(kernel.goal.others):
        value += kernel.goal.worth[i] * metric_of(kernel, kernel.goal.other[i], memory, row)
    return value


cdef int value_of(Kernel kernel, Scratch scratch, int status, Memory* memory, Individual* one) noexcept nogil:
    """Formula 1 and the cost of a genome whose subgraphs fit as the status says; its totals are in scratch."""
    cdef i64 i, size
    if status == FITS and scratch.keeping is not NULL:
        status = keep_tensors_of(kernel, scratch, one.labels, memory, scratch.totals)
    if status == SHORT:  # a layer that no order runs in this memory
        one.value[0] = one.cost[0] = INFINITY
        return FITS
    one.value[0] = 0.0
    for i in range(kernel.graph.networks):
        one.value[0] += kernel.goal.weights[i] * objective_of(kernel, memory, &scratch.totals[i])
    one.cost[0] = one.value[0]
    if kernel.goal.has_alpha:
        size = kernel.goal.counted * (memory.activations + (0 if kernel.machine.is_shared else memory.weights))
        one.cost[0] = <double>size + kernel.goal.alpha * one.value[0]
    return status


cdef int evaluate(Kernel kernel, Scratch scratch, Individual* one, u64* stream) noexcept nogil:
    """Pricer.evaluate: the cost of a valid genome, which becomes the split one."""
    cdef i64 first = one.capacities[0] if kernel.goal.buffers > 0 else 0
    cdef i64 second = one.capacities[1] if kernel.goal.buffers > 1 else first if kernel.machine.is_shared else 0
    cdef Memory memory = memory_of(kernel, first, second)
    cdef Row* alone = NULL if scratch.keeping is NULL else scratch.keeping.alone
    cdef int status = fit(kernel, scratch, one.labels, &memory, stream, scratch.totals, alone)
    return value_of(kernel, scratch, status, &memory, one)
