# The face to Python of prices beside kept tensors: simulator/model/kept.py

cdef enum:
    NEST_KEY = 6
    NEST_PRICES = 1 << 12


cdef struct NestPrice:  # of nests that cost the same: which, what is on chip, loaded, written, bytes, elsewhere
    u64 key[NEST_KEY]
    int status
    Row row

cdef class KeptPrices:
    """Prices steps of one network beside tensors that are kept on chip, on given hardware."""

    cdef Kernel kernel
    cdef Scratch scratch
    cdef Memory memory
    cdef i64 words
    cdef u64[:, ::1] sets
    cdef object words_of    # the same, for Python
    cdef object problem
    cdef bint sees_layers   # beside kept tensors, from the first such price on
    cdef i64[::1] spare # of layer_beside
    cdef NestPrice* nest_prices     # by what is asked, the last of each place; NULL: nothing asked yet
    cdef i64[::1] nest_kinds        # by nest: from 1, equal for those that cost the same; 0: too many tensors
    cdef i64[::1] nest_tensors      # of one nest after the other, in the order of simulator.model.equivalence
    cdef i64[::1] nest_starts

    def __cinit__(self, Kernel kernel, Scratch scratch, problem):
        self.kernel, self.scratch, self.problem = kernel, scratch, problem
        self.memory = memory_of(&kernel.goal, &kernel.machine, 0, 0)
        kernel.goal.at[0] = kernel.goal.at[1] = 0
        self.words = kernel.net.tensors // 64 + 1
        self.words_of = np.zeros((3, self.words), dtype=np.uint64)
        self.sets = self.words_of

    def price(self, layers, on_chip, loaded, written, i64 kept_bytes, i64 elsewhere):
        """Return what a step adds to the totals (simulator.model.cost.Totals), None where it does not fit.

        on_chip, loaded, written: sets of tensors as integers (cocco.search.exact.question.KeptStep).
        """
        cdef Row row
        return numbers_of(&row) if self.ask(layers, on_chip, loaded, written, kept_bytes, elsewhere, &row) else None

    def cost(self, layers, on_chip, loaded, written, i64 kept_bytes, i64 elsewhere):
        """Return the cost of a step in the metric of the problem, with its network's weight; inf where it does not fit."""
        cdef Row row
        if not self.ask(layers, on_chip, loaded, written, kept_bytes, elsewhere, &row):
            return INFINITY
        return row_cost(&self.kernel.goal, &self.kernel.machine, &row, 0)

    cdef bint ask(self, layers, on_chip, loaded, written, i64 kept_bytes, i64 elsewhere, Row* row) except -1:
        """Whether a step fits, with its row."""
        cdef i64[::1] ids = np.array(layers, dtype=np.int64)
        cdef i64 i, count = ids.shape[0]
        cdef Kept kept
        cdef int status
        for i, each in enumerate((on_chip, loaded, written)):
            self.words_of[i] = np.frombuffer(each.to_bytes(8 * self.words, "little"), dtype="<u8")
        kept.on_chip, kept.loaded, kept.written = &self.sets[0, 0], &self.sets[1, 0], &self.sets[2, 0]
        status = self.price_set(&ids[0], count, &kept if on_chip else NULL, kept_bytes, elsewhere, row)
        if status == OVERFLOW:
            raise OverflowError("64 bits do not hold the steps of this subgraph")
        return status == FITS

    cdef int see_layers(self) except -1:
        """Fill in how layers look beside kept tensors."""
        if self.kernel.kept_layers == NULL:
            self.kernel._fill_kept_layers(self.problem)
        self.spare = np.zeros(self.kernel.kept_numbers + 1, dtype=np.int64)
        self.sees_layers = True
        return 0

    def __dealloc__(self):
        free(self.nest_prices)

    cdef int see_nests(self) except -1:
        """Fill in which nests cost the same: simulator.model.equivalence.Alike."""
        (rules,), (models,), numbers = self.problem.rules, self.problem.models, {}
        tensors, producers = [], rules.geometry.network.producers
        for layers in rules.nests:
            outside = dict.fromkeys(p for v in layers for p in producers[v] if p not in set(layers))
            tensors.append([*layers, *outside])
        kinds = [numbers.setdefault(models.alike.key(layers), len(numbers) + 1) for layers in rules.nests]
        self.nest_kinds = np.array([kind if len(each) <= 64 else 0 for kind, each in zip(kinds, tensors)], dtype=np.int64)
        self.nest_tensors = np.array(sum(tensors, []), dtype=np.int64)
        self.nest_starts = np.array(_starts(tensors), dtype=np.int64)
        self.nest_prices = <NestPrice*>calloc(NEST_PRICES, sizeof(NestPrice))
        if self.nest_prices is NULL:
            raise MemoryError("no memory for the prices of nests")
        return 0

    cdef int price_set(
        self, const i64* layers, i64 count, Kept* kept, i64 reserved, i64 elsewhere, Row* row
    ) except -1:
        """FITS with the row, SHORT or OVERFLOW; kept: NULL where the step touches no kept tensor.

        Nests that cost the same are priced once, as pricing one takes as long as pricing many layers.
        """
        cdef Nest* nest = nest_of(&self.kernel.net, layers, count) if count > 1 else NULL
        cdef NestPrice* known
        cdef u64 key[NEST_KEY]
        cdef i64 k, i, u, first
        if nest is NULL:
            return self.price_new(layers, count, kept, reserved, elsewhere, row)
        if self.nest_prices is NULL:
            self.see_nests()
        k = nest - self.kernel.net.nests
        if not self.nest_kinds[k]:
            return self.price_new(layers, count, kept, reserved, elsewhere, row)
        key[0], key[1], key[2], key[3] = <u64>self.nest_kinds[k], 0, 0, 0
        key[4], key[5] = <u64>reserved, <u64>elsewhere
        first = self.nest_starts[k]
        if kept is not NULL:
            for i in range(self.nest_starts[k + 1] - first):
                u = self.nest_tensors[first + i]
                key[1] |= <u64>has(kept.on_chip, u) << i
                key[2] |= <u64>has(kept.loaded, u) << i
                key[3] |= <u64>has(kept.written, u) << i
        known = &self.nest_prices[hash_set(key, NEST_KEY) & (NEST_PRICES - 1)]
        if not same_set(known.key, key, NEST_KEY):
            known.status = self.price_new(layers, count, kept, reserved, elsewhere, &known.row)
            memcpy(known.key, key, NEST_KEY * sizeof(u64))
        row[0] = known.row
        return known.status

    cdef int price_new(
        self, const i64* layers, i64 count, Kept* kept, i64 reserved, i64 elsewhere, Row* row
    ) except -1:
        """The same, without looking at what is known."""
        self.memory.reserved, self.memory.elsewhere = reserved, elsewhere
        if kept is not NULL and self.kernel.machine.has_loops and not self.sees_layers:
            self.see_layers()
        return price_beside(
            &self.kernel.net, &self.kernel.machine, &self.scratch.work, layers, count, &self.memory, kept,
            self.kernel.kept_layers, &self.spare[0] if self.sees_layers else NULL, row,
        )
