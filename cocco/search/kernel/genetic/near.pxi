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
    cdef list held

    def __cinit__(self, Kernel kernel, Scratch scratch):
        cdef i64 n = kernel.graph.size + 2, networks = kernel.graph.networks + 1
        cdef Footing* foot = &self.foot
        self.held = []
        foot.is_usable, foot.is_known = not kernel.goal.buffers, False
        foot.prints = <Print*>room(self.held, 2 * n, sizeof(Print))
        foot.rows = <Row*>room(self.held, 2 * n, sizeof(Row))
        foot.totals = <Row*>room(self.held, 2 * networks, sizeof(Row))
        foot.place = <double*>room(self.held, 2 * n, sizeof(double))
        foot.layers = <i64*>room(self.held, n, sizeof(i64))
        foot.next_prints, foot.next_place, foot.next_totals = foot.prints + n, foot.place + n, foot.totals + networks
        foot.next_rows = foot.rows + n if scratch.keeping is NULL else scratch.keeping.alone


cdef void find_footing(Kernel kernel, Scratch scratch, Footing* foot, const i64* labels) noexcept nogil:
    """Work out what is known of a genome; unusable from then on where that does not fit as it is."""
    cdef i64* copy = scratch.bench.spare
    cdef u64 stream = 0
    cdef Memory memory = memory_of(kernel, 0, 0)
    memcpy(copy, labels, kernel.graph.size * sizeof(i64))
    print_all(&scratch.memo, labels, kernel.graph.size, foot.prints)
    foot.is_known = find_places(&kernel.graph, &scratch.bench, labels, foot.place)
    foot.is_known &= fit(kernel, scratch, copy, &memory, &stream, foot.totals, foot.rows) == FITS and not stream
    foot.is_usable = foot.is_known


cdef bint find_places(Graph* g, Bench* b, const i64* labels, double* place) noexcept nogil:
    """Number the subgraphs in an order in which they can run, and list their members; False where there is none."""
    cdef i64 v, ended = run_ready(g, b, labels, first_ready(g, b, labels), 0)
    for v in range(g.size):
        place[v] = <double>b.done[v]
    return ended == g.size


cdef void print_all(Memo* memo, const i64* labels, i64 size, Print* prints) noexcept nogil:
    """The print of each subgraph, by label."""
    cdef i64 v
    memset(prints, 0, size * sizeof(Print))
    for v in range(size):
        prints[labels[v]].first += memo.layer[v].first
        prints[labels[v]].second += memo.layer[v].second


cdef void find_new(Kernel kernel, Scratch scratch, Footing* foot, const i64* labels) noexcept nogil:
    """The layers of subgraphs that the known genome has not."""
    cdef i64 v, count = 0
    cdef Print* mine
    cdef Print* known
    print_all(&scratch.memo, labels, kernel.graph.size, foot.next_prints)
    for v in range(kernel.graph.size):
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


cdef void print_new(Scratch scratch, Footing* foot, const i64* labels) noexcept nogil:
    """The prints of new subgraphs, after they were cut."""
    cdef i64 i, v
    for i in range(foot.count):
        foot.next_prints[foot.layers[i]].first = foot.next_prints[foot.layers[i]].second = 0
    for i in range(foot.count):
        v = foot.layers[i]
        foot.next_prints[labels[v]].first += scratch.memo.layer[v].first
        foot.next_prints[labels[v]].second += scratch.memo.layer[v].second


cdef void repair_near(Kernel kernel, Scratch scratch, Footing* foot, i64* labels, bint is_broken) noexcept nogil:
    """repair, where is_broken; then it is known what is new.

    Subgraphs that the known genome has are connected, and among them there is no cycle. What is new is split into its
    connected parts. Where each has a place among the others there is none; else break_cycles looks at all.
    """
    find_new(kernel, scratch, foot, labels)
    foot.has_places = False
    if not is_broken:
        return
    split_new(&kernel.graph, &scratch.bench, foot, labels)
    print_new(scratch, foot, labels)
    place_new(&kernel.graph, &scratch.bench, foot, labels)
    if not foot.has_places:
        break_cycles(&kernel.graph, &scratch.bench, labels)
        find_new(kernel, scratch, foot, labels)


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
    Kernel kernel, Scratch scratch, Footing* foot, Individual* one, u64* stream
) noexcept nogil:
    """evaluate, by the subgraphs that differ; what stays on chip is chosen anew."""
    cdef i64 i, v, groups = 0, end = 0
    cdef i64* labels = one.labels
    cdef Memory memory = memory_of(kernel, 0, 0)
    cdef Print here = print_of_memory(&memory)
    cdef u64 before = stream[0]
    cdef int status
    memcpy(foot.next_totals, foot.totals, kernel.graph.networks * sizeof(Row))
    if scratch.keeping is not NULL:
        memcpy(foot.next_rows, foot.rows, kernel.graph.size * sizeof(Row))
    for i in range(foot.count):  # a subgraph that is gone began with one of these
        v = foot.layers[i]
        if foot.prints[v].first | foot.prints[v].second:
            add_row(&foot.next_totals[kernel.graph.network_of[v]], &foot.rows[v], -1)
    list_new(&scratch.bench, foot, labels)
    for i in range(foot.count - 1, -1, -1):
        v = foot.layers[i]
        if labels[v] == v:
            ask_for_group(scratch, v, here, &groups, &end)
    status = fit_groups(kernel, scratch, labels, &memory, stream, foot.next_totals, foot.next_rows, groups, end)
    memcpy(scratch.totals, foot.next_totals, kernel.graph.networks * sizeof(Row))
    if stream[0] != before:  # cut
        print_new(scratch, foot, labels)
        foot.has_places = False
    status = value_of(kernel, scratch, status, &memory, one)
    foot.is_known = status == FITS and one.cost[0] < INFINITY
    return status


cdef void take_footing(Kernel kernel, Scratch scratch, Footing* foot, const i64* labels) noexcept nogil:
    """Go over to the neighbour that was priced last."""
    cdef i64 i, v
    if not foot.has_places:
        place_new(&kernel.graph, &scratch.bench, foot, labels)
    if not foot.has_places:
        find_places(&kernel.graph, &scratch.bench, labels, foot.next_place)
    for i in range(foot.count):
        v = foot.layers[i]
        if labels[v] == v:
            foot.rows[v] = foot.next_rows[v]
    memcpy(foot.totals, foot.next_totals, kernel.graph.networks * sizeof(Row))
    foot.prints, foot.next_prints = foot.next_prints, foot.prints
    foot.place, foot.next_place = foot.next_place, foot.place
