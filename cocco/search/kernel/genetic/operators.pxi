# Randomness, genome, operators: cocco/candidates/stream.py, genome.py, crossover.py, mutation.py, repair.py

cdef extern from *:
    """
    static long long scaled_step(long long total, long long deviation)
    { return (long long)(((__int128)total * deviation + ((__int128)1 << 47)) >> 48); }
    """
    long long scaled_step(long long total, long long deviation) noexcept nogil
    void fetch_ahead "__builtin_prefetch"(const void* at) noexcept nogil

cdef inline u64 open_stream(u64 seed, u64 generation, u64 child) noexcept nogil:
    cdef u64 key = mix(seed + GAMMA)
    key = mix((key ^ generation) + GAMMA)
    return mix((key ^ child) + GAMMA)


cdef inline u64 draw(u64* state) noexcept nogil:
    state[0] += GAMMA
    return mix(state[0])


cdef inline i64 below(u64* state, i64 count) noexcept nogil:
    return <i64>(((draw(state) >> 32) * <u64>count) >> 32)


cdef inline bint chance(u64* state, u64 threshold) noexcept nogil:
    return (draw(state) >> 32) < threshold


cdef i64 normal_step(u64* state, i64 deviation) noexcept nogil:
    cdef i64 total = -6 * (<i64>1 << 32), i
    cdef u64 bits
    for i in range(6):
        bits = draw(state)
        total += <i64>(bits >> 32) + <i64>(bits & 0xFFFFFFFFULL)
    return scaled_step(total, deviation)


cdef struct Graph:  # layers only, of the union: cocco.problem.problem.Problem
    i64 size
    i64 edges
    i64* source         # of each edge: producer
    i64* target
    i64 sets            # of siblings
    i64* siblings
    i64* sibling_start
    i64* sets_of        # by layer, those that have it
    i64* sets_of_start
    i64* producers
    i64* producer_start
    i64* consumers
    i64* consumer_start
    i64 networks
    i64* offsets
    i64* network_of


cdef struct Bench:  # scratch space of the operators, one per thread
    i64* spare
    i64* root
    i64* start          # first member of each subgraph, by label; -1 for none
    i64* next           # following member of the same subgraph
    i64* last
    i64* waits
    i64* ready
    i64* done
    i64* flag           # by label or layer
    i64* flag2
    i64* group
    i64* part
    i64* parts          # lengths of the parts
    i64* queue          # layers of the groups that are still to be priced, group after group from the end
    i64* queue_length
    Print* prints       # of each of these groups, where they are priced
    i64* order
    i64* place
    i64* crossing       # edges
    i64* met            # by set of siblings, a layer; else below 0


cdef void list_members(const i64* labels, i64 size, Bench* b) noexcept nogil:
    """groups_of: chains of members by label, ascending; which layer is the first of its subgraph is no branch."""
    cdef i64 v, label, first, last
    for v in range(size + 1):
        b.start[v] = -1
    for v in range(size):
        label = labels[v]
        first, last = b.start[label], b.last[label]
        b.next[size + 1 if first < 0 else last] = v
        b.start[label] = v if first < 0 else first
        b.last[label] = v
        b.next[v] = -1


cdef void canonical(i64* labels, i64 size, Bench* b) noexcept nogil:
    cdef i64 v
    for v in range(size + 1):
        b.flag[v] = -1
    for v in range(size):
        if b.flag[labels[v]] < 0:
            b.flag[labels[v]] = v
        labels[v] = b.flag[labels[v]]


cdef inline i64 find(i64* root, i64 v) noexcept nogil:
    while root[v] != v:
        root[v] = root[root[v]]
        v = root[v]
    return v


cdef inline void join(i64* root, i64 u, i64 v) noexcept nogil:
    u = find(root, u)
    v = find(root, v)
    if u < v:
        root[v] = u
    else:
        root[u] = v


cdef i64 connected_parts(Graph* g, Bench* b, const i64* group, i64 count, i64* into, i64* lengths) noexcept nogil:
    """repair.connected_parts: write the parts one after the other, by smallest layer; return how many."""
    cdef i64 i, j, v, p, parts = 0, at = 0, name
    for i in range(count):
        b.root[group[i]] = group[i]
        b.flag2[group[i]] = 1
    for i in range(count):
        v = group[i]
        for j in range(g.producer_start[v], g.producer_start[v + 1]):
            p = g.producers[j]
            if b.flag2[p]:
                join(b.root, p, v)
    if g.sets:
        join_siblings(g, b, group, count)
    for i in range(count):
        b.flag2[group[i]] = 0
    for i in range(count):  # a root is the smallest layer of its part, so it comes first
        name = find(b.root, group[i])
        if name == group[i]:
            b.order[name] = parts
            lengths[parts] = 0
            parts += 1
        lengths[b.order[name]] += 1
    for i in range(parts):
        b.place[i] = at
        at += lengths[i]
    for i in range(count):
        name = b.order[find(b.root, group[i])]
        into[b.place[name]] = group[i]
        b.place[name] += 1
    return parts


cdef void join_siblings(Graph* g, Bench* b, const i64* group, i64 count) noexcept nogil:
    """Join the layers of a group that a set of siblings has."""
    cdef i64 i, j, k
    for i in range(count):
        for j in range(g.sets_of_start[group[i]], g.sets_of_start[group[i] + 1]):
            k = g.sets_of[j]
            if b.met[k] < 0:
                b.met[k] = group[i]
            else:
                join(b.root, b.met[k], group[i])
    for i in range(count):
        for j in range(g.sets_of_start[group[i]], g.sets_of_start[group[i] + 1]):
            b.met[g.sets_of[j]] = -1


cdef void split_disconnected(Graph* g, Bench* b, i64* labels) noexcept nogil:
    """Producers come first, so a layer is joined to roots that are known, and the root of a root is final in the end."""
    cdef i64 v, j, k, p, root, other
    for v in range(g.size):
        root = b.root[v] = v
        for j in range(g.producer_start[v], g.producer_start[v + 1]):
            p = g.producers[j]
            if labels[p] == labels[v]:
                other = find(b.root, p)
                b.root[imax(root, other)] = root = imin(root, other)
    if g.sets:
        memset(b.flag, 0, g.size * sizeof(i64))  # by subgraph: of which set its layer in b.place is
    for k in range(g.sets):
        for j in range(g.sibling_start[k], g.sibling_start[k + 1]):
            v = g.siblings[j]
            if b.flag[labels[v]] == k + 1:
                join(b.root, b.place[labels[v]], v)
            else:
                b.flag[labels[v]], b.place[labels[v]] = k + 1, v
    for v in range(g.size):
        labels[v] = b.root[v] = b.root[b.root[v]]


cdef i64 first_ready(Graph* g, Bench* b, const i64* labels) noexcept nogil:
    """List the members of all subgraphs; return how many of them wait for none, and are ready."""
    cdef i64 v, e, top = 0
    list_members(labels, g.size, b)
    memset(b.waits, 0, g.size * sizeof(i64))
    memset(b.done, 0, g.size * sizeof(i64))
    for e in range(g.edges):  # sums and moves where branches would be a guess each
        b.waits[labels[g.target[e]]] += labels[g.source[e]] != labels[g.target[e]]
    for v in range(g.size):
        b.ready[top] = v
        top += (labels[v] == v) & (b.waits[v] == 0)
    return top


cdef i64 run_ready(Graph* g, Bench* b, const i64* labels, i64 top, i64 ended) noexcept nogil:
    """Run subgraphs until none is ready; return how many layers have run. b.done then has the turns of these layers."""
    cdef i64 u, j, name, label, turn
    while top:
        top -= 1
        name = b.ready[top]
        u, turn = b.start[name], ended + 1
        while u >= 0:
            b.done[u] = turn
            ended += 1
            for j in range(g.consumer_start[u], g.consumer_start[u + 1]):
                label = labels[g.consumers[j]]
                b.waits[label] -= label != name
                b.ready[top] = label
                top += (label != name) & (b.waits[label] == 0)
            u = b.next[u]
    return ended


cdef void break_cycles(Graph* g, Bench* b, i64* labels) noexcept nogil:
    """repair.break_cycles; the subgraphs given are connected and named by their smallest layers."""
    cdef i64 v, u, j, k, name, earliest = 0, ended = 0, parts, part, rest, at, runs
    cdef i64 top = first_ready(g, b, labels)
    while True:
        ended, top = run_ready(g, b, labels, top, ended), 0
        if ended == g.size:
            return
        if not earliest:
            memset(b.flag, 0, g.size * sizeof(i64))
        while b.done[earliest]:
            earliest += 1
        # cut the subgraph of the earliest layer: what can run now, then the rest
        part = rest = 0
        v = b.start[labels[earliest]]
        while v >= 0:
            runs = 1
            for j in range(g.producer_start[v], g.producer_start[v + 1]):
                u = g.producers[j]
                if not b.done[u] and not b.flag[u]:
                    runs = 0
                    break
            if runs:
                b.flag[v] = 1
                b.group[part] = v
                part += 1
            else:
                b.spare[rest] = v
                rest += 1
            v = b.next[v]
        for j in range(part):
            b.flag[b.group[j]] = 0
        parts = connected_parts(g, b, b.group, part, b.part, b.parts)
        parts += connected_parts(g, b, b.spare, rest, b.part + part, b.parts + parts)
        at = 0
        for k in range(parts):
            name = b.part[at]
            b.start[name] = name
            for j in range(at, at + b.parts[k]):
                labels[b.part[j]] = name
                b.next[b.part[j]] = b.part[j + 1] if j + 1 < at + b.parts[k] else -1
            at += b.parts[k]
        at = 0
        for k in range(parts):
            name = b.part[at]
            b.waits[name] = 0
            v = name
            while v >= 0:
                for j in range(g.producer_start[v], g.producer_start[v + 1]):
                    u = g.producers[j]
                    if not b.done[u] and labels[u] != name:
                        b.waits[name] += 1
                v = b.next[v]
            if b.waits[name] == 0:
                b.ready[top] = name
                top += 1
            at += b.parts[k]


cdef void repair(Graph* g, Bench* b, i64* labels) noexcept nogil:
    split_disconnected(g, b, labels)
    break_cycles(g, b, labels)


cdef void random_labels(Graph* g, i64* labels, u64* stream) noexcept nogil:
    cdef u64 joining = draw(stream) >> 32
    cdef i64 v, count
    for v in range(g.size):
        count = g.producer_start[v + 1] - g.producer_start[v]
        if count and chance(stream, joining):
            labels[v] = labels[g.producers[g.producer_start[v] + below(stream, count)]]
        else:
            labels[v] = v


cdef void uniform_labels(Graph* g, Bench* b, i64* labels, u64* stream) noexcept nogil:
    cdef i64 v, j, k, last, count
    for v in range(g.size):
        last = count = 0
        for j in range(g.producer_start[v], g.producer_start[v + 1]):
            last = imax(last, labels[g.producers[j]])
        for j in range(g.producer_start[v], g.producer_start[v + 1]):
            count = admit(b.group, count, labels[g.producers[j]], last)
        for k in range(g.sets_of_start[v], g.sets_of_start[v + 1]):
            for j in range(g.sibling_start[g.sets_of[k]], g.sibling_start[g.sets_of[k] + 1]):
                if g.siblings[j] < v:
                    count = admit(b.group, count, labels[g.siblings[j]], last)
        b.group[count] = v
        labels[v] = b.group[below(stream, count + 1)]


cdef i64 admit(i64* found, i64 count, i64 label, i64 last) noexcept nogil:
    """Add a subgraph from `last` on to those found, once; return how many they are."""
    cdef i64 i
    if label < last:
        return count
    for i in range(count):
        if found[i] == label:
            return count
    found[count] = label
    return count + 1


cdef void crossover(
    Graph* g, Bench* b, Bench* b2, const i64* mother, const i64* father, i64* child, u64* stream
) noexcept nogil:
    """b and b2 hold the members of the two parents."""
    cdef i64 v, u, name, decided, pick
    cdef Bench* chosen
    cdef const i64* labels
    list_members(mother, g.size, b)
    list_members(father, g.size, b2)
    for v in range(g.size):
        child[v] = -1
    for v in range(g.size):
        if child[v] >= 0:
            continue
        if chance(stream, <u64>1 << 31):
            chosen, labels = b2, father
        else:
            chosen, labels = b, mother
        decided = 0
        u = chosen.start[labels[v]]
        while u >= 0:
            decided += child[u] >= 0
            u = chosen.next[u]
        name = v
        if decided and chance(stream, <u64>1 << 31):
            pick = below(stream, decided)
            u = chosen.start[labels[v]]
            while True:
                if child[u] >= 0:
                    if pick == 0:
                        break
                    pick -= 1
                u = chosen.next[u]
            name = child[u]
        u = chosen.start[labels[v]]
        while u >= 0:
            if child[u] < 0:
                child[u] = name
            u = chosen.next[u]


cdef inline void look_near(const i64* labels, i64 u, i64 mine, i64* near, i64 choice, i64* found) noexcept nogil:
    """Count a layer of another subgraph; that of the one with this number is found."""
    if labels[u] != mine:
        if near[0] == choice:
            found[0] = labels[u]
        near[0] += 1


cdef i64 near_subgraph(Graph* g, const i64* labels, i64 v, i64 choice, i64* count) noexcept nogil:
    """The subgraph of the layer with this number among those that are joined with a layer and in another; else g.size."""
    cdef i64 i, j, k, found = g.size
    count[0] = 0
    for j in range(g.producer_start[v], g.producer_start[v + 1]):
        look_near(labels, g.producers[j], labels[v], count, choice, &found)
    for j in range(g.consumer_start[v], g.consumer_start[v + 1]):
        look_near(labels, g.consumers[j], labels[v], count, choice, &found)
    for i in range(g.sets_of_start[v], g.sets_of_start[v + 1]):
        k = g.sets_of[i]
        for j in range(g.sibling_start[k], g.sibling_start[k + 1]):
            look_near(labels, g.siblings[j], labels[v], count, choice, &found)
    return found


cdef void modify_node(Graph* g, Bench* b, i64* labels, u64* stream) noexcept nogil:
    cdef i64 v = below(stream, g.size), near
    near_subgraph(g, labels, v, -1, &near)
    labels[v] = near_subgraph(g, labels, v, below(stream, near + 1), &near)
    canonical(labels, g.size, b)


cdef void shift_layers(Graph* g, Bench* b, i64* labels, u64* stream) noexcept nogil:
    cdef i64 e = crossing_edge(g, labels, b.crossing, stream), v, u, j, old, new, top = 1
    cdef i64* near
    cdef i64* begin
    if e < 0:
        return
    if draw(stream) >> 63:
        v, new, near, begin = g.source[e], labels[g.target[e]], g.consumers, g.consumer_start
    else:
        v, new, near, begin = g.target[e], labels[g.source[e]], g.producers, g.producer_start
    old = labels[v]
    labels[v] = new
    b.ready[0] = v
    while top:
        top -= 1
        u = b.ready[top]
        for j in range(begin[u], begin[u + 1]):
            if labels[near[j]] == old:
                labels[near[j]] = new
                b.ready[top] = near[j]
                top += 1
    canonical(labels, g.size, b)


cdef i64 crossing_edge(Graph* g, const i64* labels, i64* found, u64* stream) noexcept nogil:
    """A random edge between two subgraphs, -1 if there is none."""
    cdef i64 e, crossing = 0
    for e in range(g.edges):  # each is written, and kept where it crosses: a branch would be a guess
        found[crossing] = e
        crossing += labels[g.source[e]] != labels[g.target[e]]
    return found[below(stream, crossing)] if crossing else -1


cdef void split_subgraph(Graph* g, Bench* b, i64* labels, u64* stream) noexcept nogil:
    cdef i64 v, count = 0, name, length = 0, cut, i, first
    list_members(labels, g.size, b)
    for v in range(g.size):
        if b.start[labels[v]] == v and b.next[v] >= 0:
            b.group[count] = v
            count += 1
    if not count:
        return
    v = b.group[below(stream, count)]
    name = v
    while v >= 0:
        b.group[length] = v
        length += 1
        v = b.next[v]
    cut = 1 + below(stream, length - 1)
    first = b.group[cut]
    for i in range(cut, length):
        labels[b.group[i]] = first


cdef void reach(Graph* g, Bench* b, const i64* labels, i64 forward, i64 start, i64* found) noexcept nogil:
    cdef i64 u, v, j, top = 1, label
    cdef i64* near = g.consumers if forward else g.producers
    cdef i64* begin = g.consumer_start if forward else g.producer_start
    for v in range(g.size + 1):
        found[v] = 0
    found[start] = 1
    b.ready[0] = start
    while top:
        top -= 1
        u = b.start[b.ready[top]]
        while u >= 0:
            for j in range(begin[u], begin[u + 1]):
                label = labels[near[j]]
                if not found[label]:
                    found[label] = 1
                    b.ready[top] = label
                    top += 1
            u = b.next[u]


cdef void merge_subgraphs(Graph* g, Bench* b, i64* labels, u64* stream) noexcept nogil:
    cdef i64 e = crossing_edge(g, labels, b.crossing, stream), v
    if e < 0:
        return
    list_members(labels, g.size, b)
    reach(g, b, labels, 1, labels[g.source[e]], b.waits)
    reach(g, b, labels, 0, labels[g.target[e]], b.done)
    for v in range(g.size):
        if b.waits[labels[v]] and b.done[labels[v]]:
            b.spare[v] = g.size
        else:
            b.spare[v] = labels[v]
    memcpy(labels, b.spare, g.size * sizeof(i64))
    canonical(labels, g.size, b)
