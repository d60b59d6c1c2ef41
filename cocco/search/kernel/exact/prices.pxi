# The face to Python of prices beside kept tensors: simulator/model/kept.py

cdef class KeptPrices(WordRows):
    """Prices steps of one network beside tensors that are kept on chip, on given hardware."""

    cdef Kernel kernel
    cdef Scratch scratch
    cdef Memory memory
    cdef u64[:, ::1] sets
    cdef object words_of    # the same, for Python
    cdef object problem
    cdef object readable    # what a step adds to the totals, as a tuple; None where it does not fit
    cdef bint sees_layers   # beside kept tensors, from the first such price on
    cdef i64[::1] spare # of layer_beside

    def __cinit__(self, Kernel kernel, Scratch scratch, problem, readable):
        self.kernel, self.scratch, self.problem, self.readable = kernel, scratch, problem, readable
        self.memory = memory_of(kernel, 0, 0)
        self.words = kernel.net.tensors // 64 + 1
        self.words_of = np.zeros((3, self.words), dtype=np.uint64)
        self.sets = self.words_of

    def price(self, layers, on_chip, loaded, written, i64 kept_bytes, i64 elsewhere, i64 handed=0):
        """Return what a step adds to the totals (simulator.model.cost.Totals), None where it does not fit.

        on_chip, loaded, written: sets of tensors as integers (cocco.search.exact.question.KeptStep).
        """
        cdef Row row
        return numbers_of(&row) if self.ask(layers, on_chip, loaded, written, kept_bytes, elsewhere, handed, &row) else None

    def cost(self, layers, on_chip, loaded, written, i64 kept_bytes, i64 elsewhere, i64 handed=0):
        """Return the cost of a step in the metric of the problem, with its network's weight; inf where it does not fit."""
        cdef Row row
        if not self.ask(layers, on_chip, loaded, written, kept_bytes, elsewhere, handed, &row):
            return INFINITY
        return row_cost(self.kernel, &self.memory, &row, 0)

    cdef bint ask(
        self, layers, on_chip, loaded, written, i64 kept_bytes, i64 elsewhere, i64 handed, Row* row
    ) except -1:
        """Whether a step fits, with its row."""
        cdef i64[::1] ids = np.array(layers, dtype=np.int64)
        cdef i64 i, count = ids.shape[0]
        cdef Kept kept
        for i, each in enumerate((on_chip, loaded, written)):
            self.words_of[i] = np.frombuffer(each.to_bytes(8 * self.words, "little"), dtype="<u8")
        kept.on_chip, kept.loaded, kept.written = &self.sets[0, 0], &self.sets[1, 0], &self.sets[2, 0]
        return self.price_set(&ids[0], count, &kept if on_chip else NULL, kept_bytes, elsewhere, handed, row) == FITS

    cdef int see_layers(self) except -1:
        """Fill in how layers look beside kept tensors."""
        if self.kernel.kept_layers == NULL:
            self.kernel._fill_kept_layers(self.problem)
        self.spare = np.zeros(self.kernel.kept_numbers + 1, dtype=np.int64)
        self.sees_layers = True
        return 0

    cdef int price_set(
        self, const i64* layers, i64 count, Kept* kept, i64 reserved, i64 elsewhere, i64 handed, Row* row
    ) except -1:
        """FITS with the row, or SHORT; kept: NULL where the step touches no kept tensor.

        Python prices the steps that 64 bits do not hold.
        """
        cdef int status
        cdef i64 i
        self.memory.reserved, self.memory.elsewhere, self.memory.handed = reserved, elsewhere, handed
        if kept is not NULL and self.kernel.machine.has_loops and not self.sees_layers:
            self.see_layers()
        status = price_beside(
            &self.kernel.net, &self.kernel.machine, &self.scratch.work, layers, count, &self.memory, kept,
            self.kernel.kept_layers, &self.spare[0] if self.sees_layers else NULL, row,
        )
        if status != OVERFLOW:
            return status
        sets = (0, 0, 0)
        if kept is not NULL:
            sets = self.integer(kept.on_chip), self.integer(kept.loaded), self.integer(kept.written)
        found = self.readable(tuple([layers[i] for i in range(count)]), *sets, reserved, elsewhere, handed)
        if found is None:
            return SHORT
        for i, each in enumerate(found):
            (<i64*>row)[i] = each
        return FITS
