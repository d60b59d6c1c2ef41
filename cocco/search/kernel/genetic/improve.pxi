# The face of iterated order DP to Python

cdef class Orders:
    """What iterated order DP remembers between calls: prices by set of layers, and its working memory.

    For a kernel of given hardware. Forgets all prices at the start of a call once there are more than `memo`.
    """

    cdef Kernel kernel
    cdef Scratch scratch
    cdef Book book
    cdef Runs runs
    cdef i64 run
    cdef i64 memo
    cdef i64 layers_priced  # by this call
    cdef list held          # arrays behind the pointers, the book's in the end

    def __cinit__(self, Kernel kernel, i64 memo):
        cdef i64 n = kernel.graph.size + 2, edges = kernel.graph.edges + 1
        cdef i64* at
        self.kernel, self.scratch, self.memo, self.run = kernel, Scratch(kernel), memo, 0
        self.held, self.book.count, self.book.priced = [], 0, 0
        at = <i64*>room(self.held, 12 * n + edges, 8)
        self.runs.order, self.runs.part_of, self.runs.stamp = take(&at, n), take(&at, n), take(&at, n)
        self.runs.names, self.runs.count, self.runs.begin = take(&at, n), take(&at, n), take(&at, n)
        self.runs.members, self.runs.feeds_start = take(&at, n), take(&at, 2 * n)
        self.runs.first, self.runs.second = <u64*>take(&at, n), <u64*>take(&at, n)
        self.runs.feeds = take(&at, edges)
        self.runs.price, self.runs.best = <double*>room(self.held, n, 8), <double*>room(self.held, n, 8)
        self._open_book(_index_size(512 * n))

    cdef _open_book(self, i64 size):
        self.book.known, self.book.size = <Known*>room(self.held, size, sizeof(Known)), size

    def improve(self, labels, u64 seed, u64 generation, u64 child, i64 rounds):
        """Return the labels after so many rounds, their Formula 1 and the layers priced; dynamic.improve."""
        cdef i64[::1] current = np.array(labels, dtype=np.int64)
        cdef i64[::1] changed = np.array(labels, dtype=np.int64)
        cdef i64 i, n = self.kernel.graph.size
        cdef u64 stream = open_stream(seed, generation, child)
        cdef double cost = 0.0
        cdef int status
        self.layers_priced = 0
        self._make_room()
        with nogil:
            status = self._price(&current[0], &cost)
            for i in range(rounds):
                if status != FITS:
                    break
                let_in(i)
                list_members(&current[0], n, &self.scratch.bench)
                dissolve(&self.kernel.graph, &self.scratch.bench, &current[0], &changed[0], &stream)
                random_order(&self.kernel.graph, &self.scratch.bench, &self.runs, &changed[0], &stream)
                status = cut_order(self)
                if status == FITS and self.runs.best[n] <= cost:
                    cost = self.runs.best[n]
                    read_cut(&self.kernel.graph, &self.runs, &current[0], &self.run)
        if status != FITS:
            raise OverflowError("64 bits do not hold the steps of a subgraph")
        return np.asarray(current).tolist(), cost, self.layers_priced

    cdef int _price(self, i64* labels, double* cost) noexcept nogil:
        """Formula 1 of a partition, subgraph by subgraph."""
        cdef Runs* r = &self.runs
        cdef i64 v, n = self.kernel.graph.size
        for v in range(n):
            r.order[v] = v
            r.part_of[v] = labels[v]
            r.first[v] = r.second[v] = 0
        for v in range(n):
            r.first[labels[v]] += print_first(v)
            r.second[labels[v]] += print_second(v)
        for v in range(n):
            if labels[v] != v:
                continue
            if price_part(self, 0, n, v) != FITS:
                return OVERFLOW
            cost[0] += r.price[v]
        return FITS

    cdef _make_room(self):
        """Forget all prices where there are too many; else make the table larger once a quarter is taken."""
        cdef Known* old = self.book.known
        cdef i64 i, size = self.book.size
        if self.book.priced > self.memo:
            memset(old, 0, size * sizeof(Known))
            self.book.count = self.book.priced = 0
        elif 4 * self.book.count > size:
            self._open_book(2 * size)
            self.book.count = 0
            for i in range(size):
                if old[i].is_taken:
                    look_up(&self.book, old[i].first, old[i].second)[0] = old[i]
            del self.held[len(self.held) - 2]  # the book before
