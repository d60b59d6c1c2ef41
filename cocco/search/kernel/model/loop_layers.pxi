# The face of loop orders to Python: layers in machine integers, and what their tiles meet

ORDERS = (
    "TK", "KT", "WK", "KS", "TP", "KP", "TKC", "BC", "CT", "TC", "RS", "copy", "TCC", "TB", "HP", "TM", "TW", "TS", "MT",
)
MODES = ("ring", "rows", "side", "slide", "block", "block-row", "whole", "row", "word")
METRICS = ("ema", "energy", "latency-sum")
NUMBERS = (  # the fields of a Chain in C
    "x_rows", "e_rows", "d_rows", "has_middle", "band_count", "openers", "inputs", "middle", "outputs", "x_width", "e_width",
    "d_width", "opener_taps", "middle_taps", "closer_taps", "x_bits", "first_bits", "e_bits", "d_bits", "opener_bits",
    "second_bits", "middle_bits", "closer_bits", "opener_sums", "adds_x", "e_operations", "d_operations", "e_extra", "d_extra",
)
MOST_PORT = 1024  # by which what crosses is multiplied for its slots; our choice: bytes per cycle above any port


cdef int cheapest_plan(LoopLayer* layer, Room room, LoopGoal* goal, Best* best) noexcept nogil:
    """FITS with the plan, SHORT where none fits, OVERFLOW where 64 bits may not do.

    best: what there was before, with an area of 0; SHORT also where all that fits comes after it.
    """
    cdef Place at
    if layer.is_large:
        return OVERFLOW
    at.layer, at.room, at.goal, at.best = layer, room, goal, best
    at.grid_count, at.grids, at.grid, at.at_once = layer.grid_count, layer.grids, layer.map_grid, 1
    find_cheapest(&at)
    return FITS if best.area else SHORT


cdef void point_to_modes(Grid* grid) noexcept nogil:
    """The modes of a grid: in its room, at most three, then at most two of a block, then that of the whole map."""
    cdef int i
    for i in range(3):
        grid.modes[i] = &grid.room[i]
    for i in range(2):
        grid.blocks[i] = &grid.room[3 + i]
    grid.whole = &grid.room[5]


cdef class LoopLayers:
    """Layers as their loops see them (simulator.model.layer.loop_layer.LoopLayer), and the cheapest order of each.

    What the tiles of an axis meet is counted once, by the readable code, for all tiles that are tried.
    """

    def __cinit__(self, layers, tiles="bands", i64 most_port=MOST_PORT, i64 of_port=1):
        cdef i64 i, k, count = len(layers), others = len(layers)
        self.kept = {}
        self.layers = <LoopLayer*>calloc(count + sum(len(each.team.others) for each in layers) + 1, sizeof(LoopLayer))
        if self.layers == NULL:
            raise MemoryError("no memory for the layers of the kernel")
        for i, layer in enumerate(layers):
            times = layer.team.cores * max(MOST_PORT, most_port, of_port) if layer.team.cores > 1 else of_port
            if _most_moved(layer) * times >= 1 << 62:
                self.layers[i].is_large = 1
                continue
            parts = np.zeros(len(layer.team.others) + 1, dtype=np.int64)
            self._fill(&self.layers[i], layer, tiles)
            self.layers[i].team.others = <LoopLayer**>self._hold(parts)
            for k, part in enumerate(layer.team.others):
                self._fill(&self.layers[others + k], part, tiles)
                self.layers[i].team.others[k] = &self.layers[others + k]
            others += len(layer.team.others)

    def __dealloc__(self):
        free(self.layers)

    cdef i64* _hold(self, array) except NULL:
        cdef i64[::1] view = array
        self.kept.setdefault(None, []).append(array)
        return &view[0]

    cdef _fill(self, LoopLayer* into, layer, tiles):
        cdef Grid* grids
        cdef i64 i
        into.kind = list(KINDS).index(layer.kind)
        into.team.cores, into.team.alike, into.team.other_count = layer.team.cores, layer.team.alike, layer.team.other_count
        into.team.shared = ("", "inputs", "weights", "all").index(layer.team.shared)
        into.rows.windows, into.columns.windows = layer.rows.windows, layer.columns.windows
        into.rows.taps, into.columns.taps = layer.rows.taps, layer.columns.taps
        into.producer_count, into.whole_count = layer.producer_count, layer.whole_count
        into.broadcast_count, into.part.unit_count = layer.broadcast_count, layer.part.unit_count
        into.part.room, into.part.outputs, into.part.reduction = layer.part[:3]
        into.outputs, into.weights, into.unmet_bytes, into.batch = layer.outputs, layer.weights, layer.unmet_bytes, layer.batch
        into.repeat, into.word, into.at_most, into.keys = layer.repeat, layer.word, layer.at_most, layer.keys
        into.state, into.cut, into.apiece = layer.state, layer.cut, layer.apiece
        into.stays.second_count, into.stays.output = layer.stays.second_count, layer.stays.output
        into.stays.is_written, into.stays.arriving_bytes = layer.stays.is_written, layer.stays.arriving_bytes
        for i in range(into.stays.second_count):
            into.stays.second_rows[i] = layer.stays.second_rows[i]
        into.bits.weights, into.bits.output, into.bits.sum_bytes, into.bits.used, into.bits.active = layer.bits[1:]
        into.loaded, into.most_bits, into.window_bytes = layer.loaded, layer.most_bits, layer.window_bytes
        into.output_bytes, into.output_elements = layer.output_bytes, layer.output_elements
        into.has_second, into.coming, into.is_product = layer.has_second, layer.coming, layer.is_product
        into.operand_bytes, into.operands_loaded = layer.operand_bytes, layer.operands_loaded
        into.often, into.words, into.result_bits = layer.often, layer.words, layer.result_bits
        into.epilogue, into.sight = layer.epilogue._asdict(), layer.sight._asdict()
        if layer.kind == "apart":
            into.flying, into.additions = layer.flying, layer.additions
        numbers = self.kept.get((layer, tiles))
        if numbers is None:
            numbers = self.kept[layer, tiles] = np.array(_numbers(layer, tiles), dtype=np.int64)
        cdef i64[::1] view = numbers
        into.producers = &view[0]
        into.producer_bits = into.producers + into.producer_count
        into.passing = into.producer_bits + into.producer_count
        into.part.units = <i64 (*)[2]>(into.passing + into.producer_count)
        into.whole = <Map*>(into.part.units + into.part.unit_count)
        into.broadcast = into.whole + into.whole_count
        grids = <Grid*>(into.broadcast + into.broadcast_count)
        into.grid_count = (&view[0] + view.shape[0] - <i64*>grids) // (sizeof(Grid) // sizeof(i64)) - 1
        for i in range(into.grid_count + 1):
            point_to_modes(&grids[i])
        into.row, into.row_grid, into.map_grid = grids.rows, grids, grids + 1
        into.grids = <Grid**>self._hold(np.zeros(into.grid_count, dtype=np.int64))
        for i in range(into.grid_count):
            into.grids[i] = grids + 1 + i
        if layer.kind == "chain":
            self._fill_chain(into, layer.chain)
        if layer.kind == "heads":
            into.heads.groups, into.heads.sharing = layer.heads.groups, layer.heads.sharing
            for i, each in enumerate(layer.heads.operands):
                into.heads.operands[i] = each._asdict()
            for i, rows in enumerate(layer.heads.rows):
                into.heads.rows[i] = rows

    cdef _fill_chain(self, LoopLayer* into, chain):
        """What the loops of a chain are about, and what its tiles need."""
        cdef i64 i, size = sizeof(ChainBand) // sizeof(i64), each = sizeof(ChainRows) // sizeof(i64)
        cdef i64* bands
        cdef ChainBand* band
        if chain not in self.kept:
            numbers = [int(getattr(chain, name)) for name in NUMBERS] + [*chain.e_cycles, chain.d_cycles, 0]
            rows = [[*of.tile, of.rows, of.tiles, *[0] * (size - 4), *of.anew, *of.ring] for of in chain.bands]
            self.kept[chain] = [np.array(many, dtype=np.int64) for many in (numbers, sum(rows, []), [0] * len(rows))]
        numbers, rows, pointers = self.kept[chain]
        into.chain, bands = <Chain*>self._hold(numbers), self._hold(rows)
        into.chain.bands = <ChainBand**>self._hold(pointers)
        for i in range(into.chain.band_count):
            band = <ChainBand*>(bands + i * (size + 2 * each))
            band.anew, band.ring = <ChainRows*>(band + 1), <ChainRows*>(<i64*>(band + 1) + each)
            into.chain.bands[i] = band

    def cheapest(self, i64 layer, i64 activation, weights, metric, double dram, double global_buffer,
                 double weight_buffer, global_write=None, weight_write=None, double leakage=0.0, i64 cycles=0,
                 double crossbar=0.0, widths=(1, 1), double operation=0.0, double idle=0.0, i64 macs=0, i64 operations=0,
                 rate=(1, 1), ports=(0, 0)):
        """Return simulator.model.layer.cheapest.cheapest_plan as nested tuples, None where none fits.

        activation, weights: bytes of one core, weights None where they share the first. Then the metric, and pJ per
        byte of DRAM and of both buffers; the rest of a simulator.model.layer.goal.Goal.
        """
        cdef Best best
        cdef LoopGoal goal
        cdef int status
        cdef Room room = Room(activation, SHARED if weights is None else <i64>weights)
        goal.metric, goal.dram, goal.activation, goal.weights = METRICS.index(metric), dram, global_buffer, weight_buffer
        goal.activation_write = global_buffer if global_write is None else global_write
        goal.weights_write = weight_buffer if weight_write is None else weight_write
        goal.static, goal.cycles, goal.crossbar, goal.operation = leakage, cycles, crossbar, operation
        goal.widths, goal.idle, goal.macs, goal.operations = widths, idle, macs, operations
        goal.rate, goal.ports = rate, ports
        best.found = best.area = 0
        with nogil:
            status = cheapest_plan(&self.layers[layer], room, &goal, &best)
        if status == OVERFLOW:
            raise OverflowError("64 bits may not hold what this layer moves")
        if status == SHORT:
            return None
        plan, total = best.plan, best.plan.totals
        return (
            ORDERS[plan.order], MODES[plan.mode], (plan.tile[0], plan.tile[1]),
            plan.apart, plan.chunk, plan.slice, plan.inner, plan.at_once, plan.kept, plan.activation_bytes,
            plan.weight_bytes, (
                total.ema_weight_bytes, total.ema_input_bytes, total.ema_output_bytes, total.global_buffer_bytes,
                total.weight_buffer_bytes, total.global_written_bytes, total.weight_written_bytes, total.second_bytes,
                total.crossbar_bytes, total.rescalings, total.again_extra, total.again_cycles,
            ),
        )


def _numbers(layer, tiles):
    """Return what is behind the pointers of a layer: producers, units, whole maps, the grid of rows, grids of tiles."""
    numbers = [*layer.producers, *layer.producer_bits, *layer.passing]
    for each in (*layer.part.units, *layer.whole, *layer.broadcast):
        numbers += each
    for grid in (layer.row_grid, *(grid_of(layer, tile) for tile in tiles_of(layer, tiles))):
        numbers += [*grid.tile, *grid.rows, *grid.columns, *grid[3:7], len(grid.modes), *[0] * 3, len(grid.blocks), *[0] * 3]
        modes = [*grid.modes, *[(0, 0, 0, 0)] * (3 - len(grid.modes)), *grid.blocks, *[(0, 0, 0, 0)] * (2 - len(grid.blocks))]
        for name, *counts in (*modes, grid.whole):
            numbers += [MODES.index(name) if name else 0, *counts]
    return numbers


def _most_moved(layer):
    """Return more than any number of any plan: passes over all that is met, sums, weights once for each output."""
    rows, columns, part, word = layer.rows, layer.columns, layer.part, layer.word
    outputs = rows.windows * columns.windows
    met = outputs * rows.taps * columns.taps + rows.extent * columns.extent + sum(each.rows * each.columns for each in layer.whole)
    channels = [layer.producers[each] for each in layer.operands]
    channels += [*layer.producers, part.room, part.reduction, layer.outputs, *(each.channels for each in layer.whole)]
    size = met * sum(each + word for each in channels)
    passes = 2 * layer.outputs if layer.kind == "join" else 2 * -(-part.outputs // word) + 2
    cuts = sum(units * count for units, count in part.units)
    weights = layer.weights
    if layer.kind not in ("join", "mixed", "norm", "copy"):  # chunks and slices of them, rounded up
        weights += (part.outputs + word) * (part.reduction + word) * rows.taps * columns.taps * layer.bits.used
    weights *= passes if layer.state else 1
    moved = size * passes + outputs * (cuts * layer.outputs + weights) + weights * part.outputs
    if layer.kind == "attention":
        sums = 16 * layer.bits.sum_bytes * (part.outputs + word + 4)
        moved += outputs * layer.keys * (sum(channels) + layer.outputs // part.outputs * sums)
    if layer.kind == "heads":
        rows, heads = max(layer.heads.rows) + outputs, layer.heads.groups * layer.heads.sharing
        widest = max(layer.producers) + layer.outputs + heads * (part.reduction + word) + word
        moved += 8 * heads * outputs * (rows * widest + layer.keys * (layer.keys + widest) + layer.weights)
    if layer.kind == "chain":
        moved += _most_of_chain(layer)
    of_second = layer.weights**2 if layer.kind == "product" else 0  # coming_after
    most_bits = max(8, *layer.producer_bits, *(each.bits for each in layer.whole), layer.bits.weights, layer.bits.output)
    most_bits += sum(each.bits for each in layer.heads.operands) if layer.heads else 0
    moved += sum(layer.epilogue[:5])  # bytes
    return max(2 * most_bits * layer.batch * layer.repeat * len(channels) * moved, of_second)


def _most_of_chain(layer):
    """Return the same of a chain: what the most slices, pieces and tiles move and make."""
    chain = layer.chain
    *_, band = chain.bands
    rows = {name: max(getattr(each, name) for each in (band.anew, band.ring)) for name in band.ring._fields}
    middle, outputs, inputs = (size + layer.word for size in (chain.middle, chain.outputs, chain.inputs))
    of_e = rows["e_made"] * (chain.e_operations + chain.e_extra + sum(chain.e_cycles) + chain.e_width * middle * inputs)
    of_d = rows["d_made"] * (chain.d_operations + chain.d_extra + chain.d_cycles)
    read = rows["x_read"] * chain.x_width * inputs * middle + rows["d_read"] * chain.d_width * middle * outputs
    return MOST_SLICES * (of_e + of_d + read + rows["e_read"] * chain.e_width * middle + 2 * band.tiles * layer.weights)
