# The face of loop orders to Python: layers in machine integers, and what their tiles meet

MOST_PORT = 1024  # bytes per cycle by which what crosses is multiplied for its slots; our choice: above any port


cdef class LoopLayers:
    """Layers as their loops see them (simulator.model.layer.loops.LoopLayer), and the cheapest order of each.

    What the tiles of an axis meet is counted once, by the readable code, for all tiles that are tried.
    """

    def __cinit__(self, layers, tiles="bands"):
        cdef i64 i, k, count = len(layers), others = len(layers)
        self.kept = {}
        self.layers = <LoopLayer*>calloc(count + sum(len(each.team.others) for each in layers) + 1, sizeof(LoopLayer))
        if self.layers == NULL:
            raise MemoryError("no memory for the layers of the kernel")
        for i, layer in enumerate(layers):
            if _most_moved(layer) * (layer.team.cores * MOST_PORT if layer.team.cores > 1 else 1) >= 1 << 62:
                self.layers[i].is_large = 1
                continue
            self._fill(&self.layers[i], layer, tiles)
            self.layers[i].others, self.layers[i].other_count = &self.layers[others], len(layer.team.others)
            for k, (part, alike) in enumerate(layer.team.others):
                self._fill(&self.layers[others + k], part, tiles)
                self.layers[others + k].alike = alike
            others += len(layer.team.others)

    def __dealloc__(self):
        free(self.layers)

    cdef _fill(self, LoopLayer* into, layer, tiles):
        from simulator.model.layer.groups import most_often
        from simulator.model.layer.loops import KINDS, in_flight

        into.kind = list(KINDS).index(layer.kind)
        into.cores, into.alike = layer.team.cores, layer.team.alike
        into.shared = ("", "inputs", "weights", "all").index(layer.team.shared)
        into.rows.windows, into.columns.windows = layer.rows.windows, layer.columns.windows
        into.rows.taps, into.columns.taps = layer.rows.taps, layer.columns.taps
        into.is_product, into.has_second = layer.is_product, layer.has_second
        into.producer_count, into.window_bytes = len(layer.producers), layer.window_bytes
        into.often = most_often(layer) if layer.operands else 0
        sizes = [bytes_of_row(*each) for each in zip(layer.producers, layer.producer_bits)]
        into.operand_bytes = sum(sizes[each] for each in layer.operands)
        into.operands_loaded = sum(sizes[each] for each in layer.operands if layer.passing[each])
        into.loaded, into.most_bits = layer.loaded, layer.most_bits
        into.bits.weights, into.bits.output, into.bits.sum_bytes, into.bits.used, into.bits.active = layer.bits[2:]
        into.output_elements = layer.output_elements
        into.broadcast_count, into.coming = len(layer.broadcast), layer.coming
        into.stays.second_count = len(layer.stays.second_rows)
        for i, (first, end) in enumerate(layer.stays.second_rows):
            into.stays.second_rows[i][0], into.stays.second_rows[i][1] = first, end
        into.stays.output, into.stays.is_written = layer.stays.output, layer.stays.is_written
        into.stays.arriving_bytes = layer.stays.arriving_bytes
        into.part.room, into.part.outputs = layer.part.room, layer.part.outputs
        into.part.words = -(-layer.part.outputs // layer.word)
        into.part.reduction, into.part.unit_count = layer.part.reduction, len(layer.part.units)
        into.outputs, into.output_bytes, into.weights = layer.outputs, layer.output_bytes, layer.weights
        into.whole_count, into.unmet_bytes = len(layer.whole), layer.unmet_bytes
        into.batch, into.repeat, into.word, into.at_most = layer.batch, layer.repeat, layer.word, layer.at_most
        into.keys = layer.keys
        if layer.kind == "apart":
            into.flying, into.additions = in_flight(layer.rows)
        numbers = self.kept.get((layer, tiles))
        if numbers is None:
            numbers = self.kept[layer, tiles] = np.array(_numbers(layer, tiles), dtype=np.int64)
        cdef i64[::1] view = numbers
        into.row = (<Met*>&view[0])[0]
        into.producers = &view[6]
        into.producer_bits = into.producers + into.producer_count
        into.passing = into.producer_bits + into.producer_count
        into.part.units = into.passing + into.producer_count
        into.whole = into.part.units + 2 * into.part.unit_count
        into.broadcast = into.whole + 4 * into.whole_count
        into.grids = <Grid*>(into.broadcast + 4 * into.broadcast_count)
        into.grid_count = (&view[0] + view.shape[0] - <i64*>into.grids) // (sizeof(Grid) // sizeof(i64))

    def cheapest(self, i64 layer, i64 activation, weights, metric, double dram, double global_buffer,
                 double weight_buffer, global_write=None, weight_write=None, double leakage=0.0, i64 slots=0,
                 double crossbar=0.0, widths=(1, 1), double operation=0.0):
        """Return simulator.model.layer.cheapest.cheapest_plan as a tuple, None where none fits.

        activation, weights: bytes of one core, weights None where they share the first. Then the metric, and pJ per
        byte of DRAM and of both buffers; the rest of a simulator.model.layer.cheapest.Goal.
        """
        cdef Winner best
        cdef Room room
        cdef LoopGoal goal
        cdef int status
        room.activations, room.is_shared = activation, weights is None
        room.weights = 0 if weights is None else weights
        goal.metric = ("ema", "energy", "latency").index(metric)
        goal.crossbar, (goal.port, goal.crossbar_port), goal.operation = crossbar, widths, operation
        goal.dram, goal.leakage, goal.slots = dram, leakage, slots
        goal.activations.read, goal.weights.read = global_buffer, weight_buffer
        goal.activations.write = global_buffer if global_write is None else global_write
        goal.weights.write = weight_buffer if weight_write is None else weight_write
        with nogil:
            status = cheapest_plan(&self.layers[layer], room, &goal, &best)
        if status == OVERFLOW:
            raise OverflowError("64 bits may not hold what this layer moves")
        if status == SHORT:
            return None
        plan, loops, total = best.plan, best.plan.loops, best.plan.totals
        return (
            ORDERS[plan.order], MODES[plan.mode], (plan.tile[0], plan.tile[1]),
            loops.apart, loops.chunk, loops.slice, loops.inner, loops.at_once, loops.kept,
            plan.activations, plan.weights, total.ema_weights, total.ema_inputs, total.ema_outputs,
            total.global_buffer, total.weight_buffer, total.written, total.weights_written, total.second, total.crossbar,
            total.rescalings,
        )


def _numbers(layer, tiles):
    """Return what is behind the pointers of a layer: one row, producers, units, whole maps, grids of tiles."""
    from simulator.model.layer.cheapest import tiles_of
    from simulator.model.layer.loops import meet
    from simulator.model.layer.orders import grid_of

    numbers = [*meet(layer.rows, 1), *layer.producers, *layer.producer_bits, *layer.passing]
    for each in layer.part.units:
        numbers += each
    for maps, bits in ((layer.whole, layer.whole_bits), (layer.broadcast, layer.broadcast_bits)):
        for each in zip(maps, bits):
            numbers += [*each[0], each[1]]
    for tile in tiles_of(layer, tiles):
        grid = grid_of(layer, tile)
        numbers += [*grid.tile, *grid.rows, *grid.columns]
    return numbers


def _most_moved(layer):
    """Return more than any number of any plan: passes over all that is met, sums, weights once for each output."""
    rows, columns, part, word = layer.rows, layer.columns, layer.part, layer.word
    outputs = rows.windows * columns.windows
    met = outputs * rows.taps * columns.taps + rows.extent * columns.extent + sum(h * w for h, w, _ in layer.whole)
    channels = [layer.producers[each] for each in layer.operands]
    channels += [*layer.producers, part.room, part.reduction, layer.outputs, *(each for _, _, each in layer.whole)]
    size = met * sum(each + word for each in channels)
    passes = 2 * layer.outputs if layer.kind == "join" else 2 * -(-part.outputs // word) + 2
    cuts = sum(units * count for units, count in part.units)
    weights = layer.weights + (part.outputs + word) * (part.reduction + word) * rows.taps * columns.taps * layer.bits.used
    moved = size * passes + outputs * (cuts * layer.outputs + weights) + weights * part.outputs
    if layer.kind == "attention":
        sums = 16 * layer.bits.sum_bytes * (part.outputs + word + 4)
        moved += outputs * layer.keys * (sum(channels) + layer.outputs // part.outputs * sums)
    of_second = layer.weights**2 if layer.kind == "product" else 0  # coming_after
    most_bits = max(8, *layer.producer_bits, *layer.whole_bits, layer.bits.weights, layer.bits.output)
    return max(2 * most_bits * layer.batch * layer.repeat * len(channels) * moved, of_second)
