# The cheapest way to run a subgraph in given memory: simulator/model/pricing.py, subgraph/tiles.py

cdef struct Choice:  # the cheapest way, tile and samples at once so far
    i64 found
    double energy
    i64 area
    Row row


cdef struct Outputs:  # simulator.model.subgraph.tiles.Candidates
    i64 rows
    i64 columns


cdef int price(Net* net, Machine* m, Work* w, const i64* layers, i64 count, Memory* memory, Row* row) noexcept nogil:
    """simulator.model.pricing.SubgraphModel.price: FITS with the row, or SHORT; OVERFLOW where 64 bits do not do."""
    return price_beside(net, m, w, layers, count, memory, NULL, NULL, NULL, row)


cdef int price_beside(
    Net* net, Machine* m, Work* w, const i64* layers, i64 count, Memory* memory, Kept* kept, KeptLayer* also, i64* spare,
    Row* row
) noexcept nogil:
    """The same beside kept tensors; also: of layers, then of nests, where some are kept; spare: room of layer_beside."""
    cdef i64 left = memory.activations - memory.reserved, place = -1
    cdef Best best
    cdef LoopLayer layer
    cdef LoopLayer* loops = NULL
    cdef Entry* known = NULL
    cdef int status
    collect(net, m, w, layers, count)
    if kept is not NULL:
        keep_tensors(w, kept)
    if (count > 1 or kept is not NULL or memory.elsewhere) and m.max_regions:
        if w.subgraph.tensor_count + memory.elsewhere > m.max_regions:
            return SHORT
    if left < 0:
        return SHORT
    if m.has_loops:
        place = layers[0] if count == 1 else place_of_nest(net, layers, count, kept)
    if place >= 0 and count > 1:
        known = known_nest(w, net.nests[place - net.count].alike, memory, kept)
        if known.status:
            row[0] = known.row
            return <int>(known.status - 1)
    if place >= 0:
        loops = &net.loops[place]
        if kept is NULL and count > 1 and not has_room(m, &net.nests[place - net.count], left, memory.weights):
            loops = NULL
        if kept is not NULL:
            layer = layer_beside(net, &also[place], loops, kept, spare)
            loops = &layer
            if layer.stays.output and layer.epilogue.bits > layer.bits.output:  # what is stored has no room there
                loops = NULL
        if count == 1:
            return price_in_loops(w, loops, net.loop_cycles[place], memory, NULL, row, &best)
    status = spread_all_rates(w)
    if status != FITS:
        return status
    status = price_ways(w, left - memory.handed, memory, loops, net.loop_cycles[place] if loops is not NULL else 0, row)
    if known is not NULL:
        known.row, known.status = row[0], 1 + status
    return status


cdef Entry* known_nest(Work* w, i64 alike, Memory* memory, Kept* kept) noexcept nogil:
    """Where the price of such a nest is, beside what is kept of its tensors."""
    cdef Print key = print_of_memory(memory)
    cdef i64 u
    cdef u64 lies
    key.first, key.second = mix(key.first + <u64>alike), mix(key.second ^ <u64>alike)
    for u in w.subgraph.tensors[:0 if kept is NULL else w.subgraph.tensor_count]:
        lies = 1 + has(kept.on_chip, u) + 2 * has(kept.loaded, u) + 4 * has(kept.written, u)
        key.first, key.second = mix(key.first + lies), mix(key.second ^ lies)
    return entry_of(&w.nests, key)


cdef Nest* nest_of(Net* net, const i64* layers, i64 count) noexcept nogil:
    """The nest of exactly these ascending layers; NULL where there is none."""
    cdef Nest* nest
    cdef i64 i
    for i in range(net.nest_start[layers[0]], net.nest_start[layers[0] + 1]):
        nest = &net.nests[net.nest_at[i]]
        if nest.count == count and not memcmp(nest.layers, layers, count * sizeof(i64)):
            return nest
    return NULL


cdef i64 pairs_of(Net* net, const i64* layers, i64 count, i64** pairs) noexcept nogil:
    """PricingRules.places: how many numbers, two of each pair."""
    cdef i64 place = layers[0]
    cdef Nest* nest
    if count > 1:
        nest = nest_of(net, layers, count)
        if nest is NULL:
            return 0
        place = net.count + (nest - net.nests)
    pairs[0] = net.pairs + net.pair_start[place]
    return net.pair_start[place + 1] - net.pair_start[place]


cdef i64 handed_bytes(
    Net* net, const i64* whole, const i64* layers, i64 count, const u64* on_chip, const u64* loaded, const u64* last
) noexcept nogil:
    """PricingRules.handed_bytes; loaded: by the step itself, NULL where that is nothing of what is read last."""
    cdef i64* pairs = NULL
    cdef i64 i
    for i in range(0, pairs_of(net, layers, count, &pairs), 2):
        if has(last, pairs[i]) and has(on_chip, pairs[i + 1]) and (loaded is NULL or not has(loaded, pairs[i])):
            return whole[pairs[i + 1]]
    return 0


cdef i64 place_of_nest(Net* net, const i64* layers, i64 count, Kept* kept) noexcept nogil:
    """Where the loops of these layers are, below 0 where they are no nest: simulator.model.nests.recognize.nest_of."""
    cdef Nest* nest = nest_of(net, layers, count)
    cdef i64 i
    if nest is NULL:
        return -1
    if kept is not NULL:
        for i in range(count):
            if not nest.may_stay[i] and has(kept.on_chip, layers[i]):
                return -1
    return net.count + (nest - net.nests)


cdef bint in_nest(Net* net, Machine* m, const i64* layers, i64 count, Memory* memory) noexcept nogil:
    """Whether a nest has all these ascending layers, and memory for its least loops."""
    cdef Nest* nest
    cdef i64 i, k, met
    for i in range(net.nest_start[layers[0]], net.nest_start[layers[0] + 1]):
        nest = &net.nests[net.nest_at[i]]
        met = 0
        for k in range(nest.count):
            met += met < count and nest.layers[k] == layers[met]
        if met == count and has_room(m, nest, memory.activations, memory.weights):
            return True
    return False


cdef bint has_room(Machine* m, Nest* nest, i64 activations, i64 weights) noexcept nogil:
    """Whether the least loops of a nest fit, beside no kept tensor that it touches."""
    cdef i64 k
    for k in range(0, 2 * nest.need_count, 2):
        if m.is_shared:
            if nest.needs[k] + nest.needs[k + 1] <= activations:
                return True
        elif nest.needs[k] <= activations and nest.needs[k + 1] <= weights:
            return True
    return False


cdef int price_in_loops(
    Work* w, LoopLayer* loops, i64 cycles, Memory* memory, Choice* before, Row* row, Best* best
) noexcept nogil:
    """SubgraphModel._in_loops in one of its ways; cycles: of the core that has most.

    before: what else was found, or NULL; SHORT also where that comes before all plans by metric, EMA and energy.
    """
    cdef Machine* m = w.machine
    cdef Room room
    cdef LoopGoal goal
    cdef int status
    room.activation, room.weights = memory.activations - memory.reserved, SHARED if m.is_shared else memory.weights
    goal.metric, goal.dram, goal.crossbar = m.metric, m.dram, m.crossbar
    goal.widths[0], goal.widths[1], goal.operation = m.port, m.crossbar_port, m.operation
    goal.activation, goal.activation_write = memory.activation_pj.read, memory.activation_pj.write
    goal.weights, goal.weights_write = memory.weight_pj.read, memory.weight_pj.write
    goal.static, goal.cycles, goal.idle, goal.macs = memory.static_pj, cycles, m.idle, m.idle_macs
    goal.rate, goal.ports = m.rate, m.ports
    best.found = best.area = 0
    if before is not NULL and before.found:
        best.found, best.slots, best.ema, best.energy = 1, before.row.slots, before.row.ema, before.energy
    row.operations = row.operation_extra = 0
    for v in w.subgraph.layers[:w.subgraph.layer_count]:
        row.operations += w.net.operations[v]
        row.operation_extra += w.net.operation_extra[v]
    goal.operations = m.batch * row.operations
    status = cheapest_plan(loops, room, &goal, best)
    if status != FITS:
        return status
    moved = &best.plan.totals
    row.ema = best.ema
    row.global_buffer, row.weight_buffer = moved.global_buffer_bytes, moved.weight_buffer_bytes
    row.crossbar = moved.crossbar_bytes
    row.operations = m.batch * row.operations + moved.rescalings
    row.operation_extra = m.batch * row.operation_extra + moved.again_extra
    take_time(m, cycles + moved.again_cycles, row)
    row.global_written, row.weight_written = moved.global_written_bytes, moved.weight_written_bytes
    return FITS


cdef Outputs outputs_of(Work* w) noexcept nogil:
    """The tallest and the widest of the outputs that no layer of the subgraph reads."""
    cdef Outputs last
    last.rows = last.columns = 0
    for v in w.subgraph.tensors[:w.subgraph.layer_count]:
        if not w.subgraph.reader_count[v]:
            last.rows, last.columns = imax(last.rows, w.net.extent[0][v]), imax(last.columns, w.net.extent[1][v])
    return last


cdef int hold_largest(Work* w, i64 room, i64 at_once, Memory* memory, Outputs* last, Choice* best) noexcept nogil:
    """simulator.model.subgraph.tiles.Candidates.largest: the largest square that fits, and the tallest band above it."""
    cdef i64 i, area = 0, need, low, high, middle, rows
    cdef int status
    for i in range(w.machine.tile_count):
        status = held_bytes(w, w.machine.tiles[i], w.machine.tiles[i], at_once, &need)
        if status != FITS:
            return status
        if need <= room:
            area = imin(w.machine.tiles[i], last.rows) * imin(w.machine.tiles[i], last.columns)
            offer_held(w, at_once, area, memory, best)
            break
    # bands of equal height, by how many rows of tiles they make: those of more elements than the square
    low, high = 0, first_cut(last.rows, area // last.columns + 1) - 1  # positions of the tallest and of the lowest
    if high < 0:
        return FITS
    status = held_bytes(w, band_rows(last.rows, high), last.columns, at_once, &need)
    if status != FITS or need > room:
        return status
    while low < high:
        middle = (low + high) // 2
        status = held_bytes(w, band_rows(last.rows, middle), last.columns, at_once, &need)
        if status != FITS:
            return status
        if need <= room:
            high = middle
        else:
            low = middle + 1
    rows = band_rows(last.rows, high)
    status = held_bytes(w, rows, last.columns, at_once, &need)
    if status != FITS:
        return status
    offer_held(w, at_once, rows * last.columns, memory, best)
    return FITS


cdef i64 band_rows(i64 extent, i64 position) noexcept nogil:
    """The element at this position of simulator.model.subgraph.tiles.equal_sizes(extent)."""
    cdef i64 size = extent
    while position:
        size = ceil_div(extent, (extent - 1) // (size - 1) + 1)
        position -= 1
    return size


cdef i64 first_cut(i64 extent, i64 least) noexcept nogil:
    """How many of simulator.model.subgraph.tiles.equal_sizes(extent) are at least so high."""
    cdef i64 size = extent, count = 0
    while size >= least:
        count += 1
        if size == 1:
            break
        size = ceil_div(extent, (extent - 1) // (size - 1) + 1)
    return count


cdef int held_bytes(Work* w, i64 rows, i64 columns, i64 at_once, i64* need) noexcept nogil:
    """SubgraphModel._need of so many samples; leaves the tiling and the regions in w."""
    cdef int status = derive_tiling(w, rows, columns)
    if status == FITS:
        need[0] = at_once * allocate_regions(w)
    return status


cdef void offer_held(Work* w, i64 at_once, i64 area, Memory* memory, Choice* best) noexcept nogil:
    """SubgraphModel._held of the tiling and the regions in w: keep it where it is the cheapest so far."""
    cdef Moves moves
    cdef Row row
    cdef double energy
    moves_of(w, at_once, &moves)
    total_up(w, &moves, &row)
    energy = (
        w.machine.dram * <double>row.ema + buffer_pj(&memory.activation_pj, row.global_buffer, row.global_written)
        + buffer_pj(&memory.weight_pj, row.weight_buffer, row.weight_written) + memory.static_pj * <double>row.slots
    )
    energy += w.machine.crossbar * <double>row.crossbar
    offer_row(w.machine, &row, energy + w.machine.idle * <double>row.idle, area, best)
