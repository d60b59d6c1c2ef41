# A genome beside one that is known: repaired and priced by what differs, as repair and evaluate would do it

cdef struct Footing:  # what is known of the genome where a walk stands, on given hardware
    bint is_usable      # else every genome is priced as a whole
    bint is_known
    double* place       # by layer, those of its subgraph: in this order the subgraphs can run
    Print* prints       # by label, zeros where no subgraph has it
    Row* rows           # by label
    Row* totals         # by network
    i64* layers         # what follows is of the neighbour: those in subgraphs that the known genome has not, ascending
    i64 count           # of these
    bint has_places
    double* next_place
    Print* next_prints
    Row* next_rows      # of these subgraphs; of all where tensors may stay on chip
    Row* next_totals


cdef class Ground:
    """The memory of a footing; usable where genomes choose no buffers."""

    cdef Footing foot
    cdef void* block

    def __cinit__(self, Kernel kernel, Scratch scratch):
        cdef i64 n = kernel.graph.size + 2, networks = kernel.graph.networks + 1
        cdef i64 each = 2 * sizeof(double) + 2 * sizeof(Print) + 2 * sizeof(Row) + sizeof(i64)
        cdef char* at
        self.block = calloc(n * each + 2 * networks * sizeof(Row), 1)
        if self.block == NULL:
            raise MemoryError("no memory for the subgraphs of a walk")
        at = <char*>self.block
        self.foot.is_usable = not kernel.goal.buffers
        self.foot.is_known = False
        self.foot.prints, self.foot.next_prints = <Print*>at, <Print*>at + n
        at += 2 * n * sizeof(Print)
        self.foot.rows, self.foot.next_rows = <Row*>at, <Row*>at + n
        at += 2 * n * sizeof(Row)
        self.foot.totals, self.foot.next_totals = <Row*>at, <Row*>at + networks
        at += 2 * networks * sizeof(Row)
        self.foot.place, self.foot.next_place = <double*>at, <double*>at + n
        at += 2 * n * sizeof(double)
        self.foot.layers = <i64*>at
        if scratch.keeping is not NULL:
            self.foot.next_rows = scratch.keeping.alone

    def __dealloc__(self):
        free(self.block)


cdef void find_footing(
    Graph* g, Net* net, Machine* m, Goal* goal, Work* w, Memo* memo, Bench* b, Footing* foot, const i64* labels
) noexcept nogil:
    """Work out what is known of a genome; unusable from then on where that does not fit as it is."""
    cdef i64 v, i, groups = 0, end = 0
    cdef Memory memory = memory_of(goal, m, 0, 0)
    cdef Print here = print_of_memory(&memory)
    foot.is_known = foot.is_usable = find_places(g, b, labels, foot.place)
    print_all(memo, labels, g.size, foot.prints)
    for i in range(g.networks):
        zero_row(&foot.totals[i])
    for v in range(g.size - 1, -1, -1):
        if labels[v] == v:
            ask_for_group(memo, b, v, here, &groups, &end)
    while groups and foot.is_known:
        groups -= 1
        end -= b.queue_length[groups]
        v = b.queue[end]
        if price_known(
            net, m, w, memo, b.queue + end, b.queue_length[groups], b.prints[groups], &memory, &foot.rows[v]
        ) != FITS:
            foot.is_known = foot.is_usable = False
        add_row(&foot.totals[g.network_of[v]], &foot.rows[v])


cdef bint find_places(Graph* g, Bench* b, const i64* labels, double* place) noexcept nogil:
    """Number the subgraphs in an order in which they can run, and list their members; False where there is none."""
    cdef i64 v, e, u, j, top = 0, ended = 0, label
    cdef double number = 0.0
    list_members(labels, g.size, b)
    memset(b.waits, 0, g.size * sizeof(i64))
    for e in range(g.edges):
        b.waits[labels[g.target[e]]] += labels[g.source[e]] != labels[g.target[e]]
    for v in range(g.size):
        b.ready[top] = v
        top += (labels[v] == v) & (b.waits[v] == 0)
    while top:
        top -= 1
        u = b.start[b.ready[top]]
        number += 1.0
        while u >= 0:
            place[u] = number
            ended += 1
            for j in range(g.consumer_start[u], g.consumer_start[u + 1]):
                label = labels[g.consumers[j]]
                if label != labels[u]:
                    b.waits[label] -= 1
                    if b.waits[label] == 0:
                        b.ready[top] = label
                        top += 1
            u = b.next[u]
    return ended == g.size


cdef void print_all(Memo* memo, const i64* labels, i64 size, Print* prints) noexcept nogil:
    """The print of each subgraph, by label."""
    cdef i64 v
    memset(prints, 0, size * sizeof(Print))
    for v in range(size):
        prints[labels[v]].first += memo.layer[v].first
        prints[labels[v]].second += memo.layer[v].second


cdef void find_new(Graph* g, Memo* memo, Footing* foot, const i64* labels) noexcept nogil:
    """The layers of subgraphs that the known genome has not."""
    cdef i64 v, count = 0
    cdef Print* mine
    cdef Print* known
    print_all(memo, labels, g.size, foot.next_prints)
    for v in range(g.size):
        mine, known = &foot.next_prints[labels[v]], &foot.prints[labels[v]]
        foot.layers[count] = v
        count += ((mine.first ^ known.first) | (mine.second ^ known.second)) != 0
    foot.count = count


cdef void list_new(Bench* b, Footing* foot, const i64* labels) noexcept nogil:
    """list_members, of new subgraphs only."""
    cdef i64 i, v, label
    for i in range(foot.count):
        b.start[foot.layers[i]] = -1
    for i in range(foot.count):
        v = foot.layers[i]
        label = labels[v]
        if b.start[label] < 0:
            b.start[label] = v
        else:
            b.next[b.last[label]] = v
        b.last[label] = v
        b.next[v] = -1


cdef void print_new(Memo* memo, Footing* foot, const i64* labels) noexcept nogil:
    """The prints of new subgraphs, after they were cut."""
    cdef i64 i, v
    for i in range(foot.count):
        foot.next_prints[foot.layers[i]].first = foot.next_prints[foot.layers[i]].second = 0
    for i in range(foot.count):
        v = foot.layers[i]
        foot.next_prints[labels[v]].first += memo.layer[v].first
        foot.next_prints[labels[v]].second += memo.layer[v].second


cdef void repair_near(Graph* g, Memo* memo, Bench* b, Footing* foot, i64* labels, bint is_broken) noexcept nogil:
    """repair, where is_broken; then it is known what is new.

    Subgraphs that the known genome has are connected, and among them there is no cycle. What is new is split into its
    connected parts. Where each has a place among the others there is none; else break_cycles looks at all.
    """
    find_new(g, memo, foot, labels)
    foot.has_places = False
    if not is_broken:
        return
    split_new(g, b, foot, labels)
    print_new(memo, foot, labels)
    place_new(g, b, foot, labels)
    if not foot.has_places:
        break_cycles(g, b, labels)
        find_new(g, memo, foot, labels)


cdef void split_new(Graph* g, Bench* b, Footing* foot, i64* labels) noexcept nogil:
    """split_disconnected, of new subgraphs only."""
    cdef i64 i, v, count, parts, part, at, k
    list_new(b, foot, labels)
    for i in range(foot.count):
        v = foot.layers[i]
        if labels[v] != v or b.start[v] != v:  # the first layer of a part that was split off has no list
            continue
        count = 0
        while v >= 0:
            b.queue[count] = v
            count += 1
            v = b.next[v]
        parts = connected_parts(g, b, b.queue, count, b.part, b.parts)
        at = b.parts[0]
        for part in range(1, parts):
            for k in range(at, at + b.parts[part]):
                labels[b.part[k]] = b.part[at]
            at += b.parts[part]


cdef void place_new(Graph* g, Bench* b, Footing* foot, const i64* labels) noexcept nogil:
    """Give each new subgraph a place behind what it reads and before what reads it, if there is one for each."""
    cdef i64 i, v
    memcpy(foot.next_place, foot.place, g.size * sizeof(double))
    list_new(b, foot, labels)
    for i in range(foot.count):
        foot.next_place[foot.layers[i]] = NAN  # smaller than none, and larger than none
    foot.has_places = True
    for i in range(foot.count):
        v = foot.layers[i]
        if labels[v] == v and not put_between(g, b, foot, labels, v):
            foot.has_places = False
            return


cdef bint put_between(Graph* g, Bench* b, Footing* foot, const i64* labels, i64 name) noexcept nogil:
    """Place a subgraph among those that have a place, where it was if that does; False where there is none."""
    cdef i64 j, v = name, u
    cdef double low = -INFINITY, high = INFINITY, place
    while v >= 0:
        for j in range(g.producer_start[v], g.producer_start[v + 1]):
            u = g.producers[j]
            if labels[u] != name and foot.next_place[u] > low:
                low = foot.next_place[u]
        for j in range(g.consumer_start[v], g.consumer_start[v + 1]):
            u = g.consumers[j]
            if labels[u] != name and foot.next_place[u] < high:
                high = foot.next_place[u]
        v = b.next[v]
    place = foot.place[name]
    if not low < place < high:
        place = foot.place[b.last[name]]
    if not low < place < high:
        place = (low + high) / 2  # infinite where one of them is: then there is none
    if not low < place < high:
        return False
    v = name
    while v >= 0:
        foot.next_place[v] = place
        v = b.next[v]
    return True


cdef int evaluate_near(
    Graph* g, Net* net, Machine* m, Goal* goal, Work* w, Memo* memo, Bench* b, Footing* foot, Row* totals, i64* labels,
    u64* stream, double* value, double* cost, Keeping* keeping
) noexcept nogil:
    """evaluate, by the subgraphs that differ; what stays on chip is chosen anew."""
    cdef i64 i, v, groups = 0, end = 0
    cdef Memory memory = memory_of(goal, m, 0, 0)
    cdef Print here = print_of_memory(&memory)
    cdef u64 before = stream[0]
    cdef int status
    memcpy(foot.next_totals, foot.totals, g.networks * sizeof(Row))
    if keeping is not NULL:
        memcpy(foot.next_rows, foot.rows, g.size * sizeof(Row))
    for i in range(foot.count):  # a subgraph that is gone began with one of these
        v = foot.layers[i]
        if foot.prints[v].first | foot.prints[v].second:
            take_row(&foot.next_totals[g.network_of[v]], &foot.rows[v])
    list_new(b, foot, labels)
    for i in range(foot.count - 1, -1, -1):
        v = foot.layers[i]
        if labels[v] == v:
            ask_for_group(memo, b, v, here, &groups, &end)
    status = fit_groups(
        g, net, m, w, memo, b, labels, &memory, stream, foot.next_totals, foot.next_rows, groups, end
    )
    memcpy(totals, foot.next_totals, g.networks * sizeof(Row))
    if status == FITS and keeping is not NULL:
        status = keep_tensors_of(g, net, m, goal, w, b, keeping, labels, &memory, 0, 0, totals)
    if status == SHORT:  # a layer that no order runs in this memory
        value[0] = cost[0] = INFINITY
        foot.is_known = False
        return FITS
    if status != FITS:
        return status
    if stream[0] != before:  # cut
        print_new(memo, foot, labels)
        foot.has_places = False
    value_of(g, m, goal, &memory, 0, 0, totals, value, cost)
    return FITS


cdef void take_footing(Graph* g, Memo* memo, Bench* b, Footing* foot, const i64* labels) noexcept nogil:
    """Go over to the neighbour that was priced last."""
    cdef i64 i, v
    if not foot.has_places:
        place_new(g, b, foot, labels)
    if not foot.has_places:
        find_places(g, b, labels, foot.next_place)
    for i in range(foot.count):
        v = foot.layers[i]
        if labels[v] == v:
            foot.rows[v] = foot.next_rows[v]
    memcpy(foot.totals, foot.next_totals, g.networks * sizeof(Row))
    foot.prints, foot.next_prints = foot.next_prints, foot.prints
    foot.place, foot.next_place = foot.next_place, foot.place
