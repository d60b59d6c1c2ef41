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
    i64 at[2]           # candidates that an exact search prices with


cdef inline Memory memory_of(Goal* goal, Machine* m, i64 first, i64 second) noexcept nogil:
    """The buffers of these candidates; the weight buffer is the same one where it is shared."""
    cdef Memory memory
    memory.activations, memory.weights = goal.capacity[0][first], goal.capacity[1][second]
    memory.activation_pj, memory.weight_pj = goal.sram[0][first], goal.sram[1][second]
    memory.static_pj = goal.leakage[0][first] + goal.leakage[1][second] + goal.background + goal.logic
    memory.reserved = memory.elsewhere = memory.handed = 0
    return memory


cdef struct Entry:  # a price that is kept, and the answer; two lines of a cache
    Print key
    i64 status          # 1 + what price says; 0: empty
    Row row
    i64 spare[3]


cdef enum:
    ENTRIES = 1 << 15


cdef struct Memo:  # subgraphs return again and again; never changes a result
    Entry* entries
    Print* layer        # by layer; a set has the sum of its layers


cdef inline u64 print_first(i64 v) noexcept nogil:
    return mix(<u64>v * GAMMA + 1)


cdef inline u64 print_second(i64 v) noexcept nogil:
    return mix(<u64>v * 0xD1342543DE82EF95ULL + 0x632BE59BD9B4E019ULL)


cdef inline Print print_of_memory(Memory* memory) noexcept nogil:
    cdef Print found
    found.first = mix(mix(<u64>memory.activations + GAMMA) + <u64>memory.weights)
    found.second = mix(found.first + GAMMA)
    return found


cdef inline Print print_of(Memo* memo, const i64* layers, i64 count, Print memory) noexcept nogil:
    """Of layers in the memory with this print."""
    cdef i64 i
    for i in range(count):
        memory.first += memo.layer[layers[i]].first
        memory.second += memo.layer[layers[i]].second
    return memory


cdef int price_again(
    Net* net, Machine* m, Work* w, Memo* memo, const i64* layers, i64 count, Memory* memory, Row* row
) noexcept nogil:
    """price, from the memo where the same layers were priced in the same capacities before."""
    return price_known(
        net, m, w, memo, layers, count, print_of(memo, layers, count, print_of_memory(memory)), memory, row
    )


cdef int price_known(
    Net* net, Machine* m, Work* w, Memo* memo, const i64* layers, i64 count, Print key, Memory* memory, Row* row
) noexcept nogil:
    """The same; key: the print of the layers in this memory."""
    cdef Entry* entry = &memo.entries[key.first & (ENTRIES - 1)]
    if entry.key.first != key.first or entry.key.second != key.second or not entry.status:
        entry.status = 1 + SHORT
        if count == 1 or may_fit(net, m, w, layers, count, memory):
            entry.status = 1 + price(net, m, w, layers, count, memory, &entry.row)
        entry.key = key
    row[0] = entry.row
    return <int>(entry.status - 1)


cdef inline void ask_price_of(Memo* memo, Print key) noexcept nogil:
    """Fetch what an entry holds while the rest of a genome is looked at."""
    cdef Entry* entry = &memo.entries[key.first & (ENTRIES - 1)]
    fetch_ahead(entry)
    fetch_ahead(&entry.row.slots)


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


cdef void ask_for_group(Memo* memo, Bench* b, i64 first, Print memory, i64* groups, i64* end) noexcept nogil:
    """Put the members of a subgraph on top of the groups to be priced, and fetch what is known of it."""
    cdef i64 u = first, count = 0
    while u >= 0:
        b.queue[end[0] + count] = u
        count += 1
        u = b.next[u]
    b.prints[groups[0]] = print_of(memo, b.queue + end[0], count, memory)
    ask_price_of(memo, b.prints[groups[0]])
    end[0] += count
    b.queue_length[groups[0]] = count
    groups[0] += 1


cdef int fit(
    Graph* g, Net* net, Machine* m, Work* w, Memo* memo, Bench* b, i64* labels, Memory* memory, u64* stream,
    Row* totals, Row* alone
) noexcept nogil:
    """Pricer._fit: price all subgraphs, cut what does not fit; totals per network, and by first layer, if asked."""
    cdef i64 v, groups = 0, end = 0
    cdef Print here = print_of_memory(memory)
    list_members(labels, g.size, b)
    for v in range(g.size - 1, -1, -1):
        if labels[v] == v:
            ask_for_group(memo, b, v, here, &groups, &end)
    return fit_groups(g, net, m, w, memo, b, labels, memory, stream, totals, alone, groups, end)


cdef int fit_groups(
    Graph* g, Net* net, Machine* m, Work* w, Memo* memo, Bench* b, i64* labels, Memory* memory, u64* stream,
    Row* totals, Row* alone, i64 top, i64 end
) noexcept nogil:
    """Price so many groups, cut what does not fit: a stack in b.queue, of `end` layers, the first subgraph on top."""
    cdef i64 count, parts, i, at
    cdef Row row
    cdef Print here = print_of_memory(memory)
    cdef int status
    while top:
        top -= 1
        count = b.queue_length[top]
        end -= count
        status = price_known(net, m, w, memo, b.queue + end, count, b.prints[top], memory, &row)
        if status == OVERFLOW or (status == SHORT and count == 1):
            return status
        if status == FITS:
            add_row(&totals[g.network_of[b.queue[end]]], &row)
            if alone is not NULL:
                alone[b.queue[end]] = row
            continue
        memcpy(b.group, b.queue + end, count * sizeof(i64))
        parts = cut(g, b, labels, b.group, count, stream)
        at = count
        for i in range(parts - 1, -1, -1):  # the last part deepest
            at -= b.parts[i]
            memcpy(b.queue + end, b.part + at, b.parts[i] * sizeof(i64))
            end += b.parts[i]
            b.queue_length[top] = b.parts[i]
            b.prints[top] = print_of(memo, b.queue + end - b.parts[i], b.parts[i], here)
            top += 1
    return FITS


cdef inline void add_row(Row* total, Row* row) noexcept nogil:
    total.ema += row.ema
    total.global_buffer += row.global_buffer
    total.weight_buffer += row.weight_buffer
    total.crossbar += row.crossbar
    total.operations += row.operations
    total.slots += row.slots
    total.global_written += row.global_written
    total.weight_written += row.weight_written
    total.operation_extra += row.operation_extra
    total.idle += row.idle


cdef inline void take_row(Row* total, Row* row) noexcept nogil:
    total.ema -= row.ema
    total.global_buffer -= row.global_buffer
    total.weight_buffer -= row.weight_buffer
    total.crossbar -= row.crossbar
    total.operations -= row.operations
    total.slots -= row.slots
    total.global_written -= row.global_written
    total.weight_written -= row.weight_written
    total.operation_extra -= row.operation_extra
    total.idle -= row.idle


cdef inline double energy_of(Goal* goal, i64 first, i64 second, Row* row) noexcept nogil:
    """simulator.model.cost.energy_breakdown and its total, in the capacities of these candidates."""
    cdef double slots = <double>row.slots, compute = goal.operation * <double>row.operations
    if row.operation_extra:
        compute += goal.operation_unit * <double>row.operation_extra
    return (
        goal.dram * <double>row.ema + buffer_pj(&goal.sram[0][first], row.global_buffer, row.global_written)
        + buffer_pj(&goal.sram[1][second], row.weight_buffer, row.weight_written)
        + compute + goal.crossbar * <double>row.crossbar
        + (goal.leakage[0][first] + goal.leakage[1][second]) * slots + goal.background * slots
        + goal.logic * slots + goal.idle * <double>row.idle
    )


cdef inline double metric_of(Goal* goal, Machine* m, i64 metric, i64 first, i64 second, Row* row) noexcept nogil:
    """simulator.model.cost.METRICS"""
    if metric == 0:
        return <double>row.ema
    if metric == 1:
        return energy_of(goal, first, second, row)
    return <double>row.slots / m.per_cycle


cdef inline double objective_of(Goal* goal, Machine* m, i64 first, i64 second, Row* row) noexcept nogil:
    """cocco.problem.objective.Objective.of"""
    cdef i64 i
    cdef double value = metric_of(goal, m, goal.metric, first, second, row)
    for i in range(goal.others):
        value += goal.worth[i] * metric_of(goal, m, goal.other[i], first, second, row)
    return value


cdef inline void zero_row(Row* row) noexcept nogil:
    row.ema = row.global_buffer = row.weight_buffer = row.crossbar = row.operations = row.slots = 0
    row.global_written = row.weight_written = row.operation_extra = row.idle = 0


cdef void value_of(
    Graph* g, Machine* m, Goal* goal, Memory* memory, i64 first, i64 second, Row* totals, double* value, double* cost
) noexcept nogil:
    """Formula 1 of the totals of all networks in these capacities, and the cost."""
    cdef i64 i, size
    cdef double total = 0.0
    for i in range(g.networks):
        total += goal.weights[i] * objective_of(goal, m, first, second, &totals[i])
    value[0] = total
    if goal.has_alpha:
        size = goal.counted * (memory.activations if m.is_shared else memory.activations + memory.weights)
        cost[0] = <double>size + goal.alpha * total
    else:
        cost[0] = total


cdef int evaluate(
    Graph* g, Net* net, Machine* m, Goal* goal, Work* w, Memo* memo, Bench* b, Row* totals, i64* labels, const i64* capacities,
    u64* stream, double* value, double* cost, Keeping* keeping
) noexcept nogil:
    """Pricer.evaluate: the cost of a valid genome; labels become those of the split genome.

    keeping: NULL where nothing stays on chip between subgraphs.
    """
    cdef i64 first = capacities[0] if goal.buffers > 0 else 0
    cdef i64 second = capacities[1] if goal.buffers > 1 else first if m.is_shared else 0
    cdef Memory memory = memory_of(goal, m, first, second)
    cdef i64 i
    cdef int status
    for i in range(g.networks):
        zero_row(&totals[i])
    status = fit(
        g, net, m, w, memo, b, labels, &memory, stream, totals, NULL if keeping is NULL else keeping.alone
    )
    if status == FITS and keeping is not NULL:
        status = keep_tensors_of(g, net, m, goal, w, b, keeping, labels, &memory, first, second, totals)
    if status == SHORT:  # a layer that no order runs in this memory
        value[0] = cost[0] = INFINITY
        return FITS
    if status != FITS:
        return status
    value_of(g, m, goal, &memory, first, second, totals, value, cost)
    return FITS
