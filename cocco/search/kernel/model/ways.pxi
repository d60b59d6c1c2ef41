# The ways to run a subgraph on all cores: simulator/model/schemes/ways.py, channels.py, and their choice in pricing.py

cdef i64 dealt_weights(Work* w) noexcept nogil:
    """Bytes of weights of the core that makes the most channels."""
    cdef i64 total = 0
    if w.machine.cores == 1:
        return w.weights
    for v in w.subgraph.tensors[:w.subgraph.layer_count]:
        total += w.net.dealt_weights[v]
    return total


cdef inline i64 samples_of(Work* w) noexcept nogil:
    """Samples of one core."""
    return w.machine.batch if w.way == BY_CHANNELS else w.machine.samples


cdef i64 cycles_apart(Net* net, i64 v, i64 groups) noexcept nogil:
    """OneCore.layer_cycles in so many groups."""
    cdef i64 i
    for i in range(net.apart_start[v], net.apart_start[v + 1], 2):
        if net.apart[i] == groups:
            return net.apart[i + 1]
    return net.cycles[v]  # never: these are all


cdef void moves_of(Work* w, i64 at_once, Moves* moves) noexcept nogil:
    """OneCore.work and moves, of the tiling and the regions in w."""
    cdef bint is_full
    moves.cycles = 0
    for v in w.subgraph.tensors[:w.subgraph.layer_count]:
        if w.way == BY_CHANNELS:
            moves.cycles += w.net.cycles[v] if w.groups == 1 else cycles_apart(w.net, v, w.groups)
        else:
            moves.cycles += cycles_of_columns(w.net, w.machine, v, widths_of(w)[v])
    if w.way == BY_COLUMNS:
        is_full = takes_all(&w.subgraph, &w.tiling, &w.bands)
        column_moves(w, is_full, moves)
        pass_weights(w, is_full, at_once, moves)
        return
    moved(w, moves)
    moves.buffered, moves.written = w.machine.batch * moves.buffered, w.machine.batch * moves.written
    moves.crossing = w.machine.batch * moves.crossing
    if w.way == BY_CHANNELS:
        moves.weights_written = w.weights
        moves.weights_read = ceil_div(w.machine.batch, at_once) * moves.weights_read
    else:
        pass_weights(w, False, at_once, moves)


cdef int price_ways(Work* w, i64 left, Memory* memory, LoopLayer* nest, i64 nest_cycles, Row* row) noexcept nogil:
    """SubgraphModel._price: the cheapest of all ways; SHORT where none fits. Rates are known.

    nest: its loops, where the subgraph is a nest, and the cycles that they take.
    """
    cdef Choice best
    cdef Outputs last = outputs_of(w)
    cdef int status
    best.found = 0
    if w.subgraph.layer_count == 1 and w.net.alone[w.subgraph.tensors[0]]:  # no way holds an attention
        status = SHORT if w.subgraph.any_kept else offer_loops(w, memory, &last, &best)
        if status == FITS and best.found:
            row[0] = best.row
        return status if status != FITS or best.found else SHORT
    deal_out(w, BY_CHANNELS, 1)
    status = hold_in_way(w, left, dealt_weights(w), memory, &last, &best)
    if status == FITS and w.machine.is_apart and w.subgraph.layer_count > 1:
        status = hold_apart(w, left, memory, &last, &best)
    if status == FITS and w.machine.cores > 1 and w.machine.is_exact and not w.subgraph.any_kept:
        status = hold_shared(w, left, memory, &last, &best)
    if status == FITS and w.subgraph.layer_count == 1 and w.machine.cores > 1 and not w.subgraph.any_kept:
        status = offer_loops(w, memory, &last, &best)
    if status == FITS and nest is not NULL:
        status = offer_nest(w, nest, nest_cycles, memory, &last, &best)
    if status != FITS:
        return status
    if not best.found:
        return SHORT
    row[0] = best.row
    return FITS


cdef i64 most_groups(Work* w) noexcept nogil:
    """simulator.model.subgraph.apart.groups_apart: the number whose divisors are those of the groups."""
    cdef i64 units = 0, channels = 0
    for v in w.subgraph.tensors[:w.subgraph.layer_count]:
        units = gcd(units, w.net.unit[v])
    if units == 1:
        return 1
    for u in w.subgraph.tensors[:w.subgraph.tensor_count]:
        channels = gcd(channels, w.net.channels[u])
    if not units:
        units = 1 if channels % w.machine.alignment else channels // w.machine.alignment
    return gcd(units, channels)


cdef int hold_apart(Work* w, i64 left, Memory* memory, Outputs* last, Choice* best) noexcept nogil:
    """Groups of channels one after the other, from two on."""
    cdef i64 most = most_groups(w), groups
    cdef int status = FITS
    for groups in range(2, most + 1):
        if most % groups == 0:
            deal_out(w, BY_CHANNELS, groups)
            status = hold_in_way(w, left, w.weights // groups, memory, last, best)
            if status != FITS:
                break
    w.groups = 1
    return status


cdef int hold_shared(Work* w, i64 left, Memory* memory, Outputs* last, Choice* best) noexcept nogil:
    """Columns or samples shared, where they can be: weights held by every core, then rotated."""
    cdef i64 each, need
    cdef int status
    if w.machine.bands > 1:
        if w.subgraph.has_whole_edge:
            return FITS
        status = fill_bands(&w.subgraph, w.across, w.machine.bands, &w.bands)
        if status != FITS:
            return status
        if not has_border(&w.subgraph, &w.bands):
            return FITS
        w.columns = 0  # those of another sweep
    elif w.machine.teams == 1:
        return FITS
    deal_out(w, BY_COLUMNS if w.machine.bands > 1 else BY_SAMPLES, 1)
    for each in range(2 if w.weights else 1):
        w.is_held = each == 0
        need = w.weights if w.is_held else ceil_div(w.weights, w.machine.cores)
        status = hold_in_way(w, left, need, memory, last, best)
        if status != FITS:
            return status
    return FITS


cdef int hold_in_way(Work* w, i64 left, i64 need, Memory* memory, Outputs* last, Choice* best) noexcept nogil:
    """SubgraphModel._held_plans of a way whose cores have so many bytes of weights."""
    cdef i64 samples = samples_of(w), at_once = samples, room = left - need if w.machine.is_shared else left
    cdef int status
    if room < 0 or (not w.machine.is_shared and need > memory.weights):
        return FITS
    while at_once:
        status = hold_largest(w, room, at_once, memory, last, best)
        if status != FITS:
            return status
        at_once -= 1
        while at_once and ceil_div(samples, ceil_div(samples, at_once)) != at_once:
            at_once -= 1
    return FITS


cdef int offer_loops(Work* w, Memory* memory, Outputs* last, Choice* best) noexcept nogil:
    """A layer in a loop order, in each way to share it: simulator.model.schemes.looped.loop_ways."""
    cdef i64 i, v = w.subgraph.tensors[0]
    for i in range(w.net.loop_start[v], w.net.loop_start[v + 1]):
        if offer_nest(w, &w.net.loops[i], w.net.loop_cycles[i], memory, last, best) == OVERFLOW:
            return OVERFLOW
    return FITS


cdef int offer_nest(Work* w, LoopLayer* loops, i64 cycles, Memory* memory, Outputs* last, Choice* best) noexcept nogil:
    """These loops, where they fit."""
    cdef Best found
    cdef Row row
    cdef int status = price_in_loops(w, loops, cycles, memory, best, &row, &found)
    if status == FITS:
        area = imin(found.plan.tile[0], last.rows) * imin(found.plan.tile[1], last.columns)
        offer_row(w.machine, &row, found.energy, area, best)
    return OVERFLOW if status == OVERFLOW else FITS


cdef inline void take_time(Machine* m, i64 cycles, Row* row) noexcept nogil:
    """Price.compute_cycles, slots and idle of what a row moves; cycles: of the array."""
    cdef i64 computing
    cycles = computing_cycles(cycles, row.global_buffer, row.weight_buffer, m.ports)
    computing = cycles * m.rate[0]
    if m.rate[1] > 1:
        computing = ceil_div(computing, m.rate[1])
    row.slots = imax(imax(computing, row.ema), ceil_div(row.crossbar * m.port, m.crossbar_port) if row.crossbar else 0)
    row.idle = idle_cycles(m.idle_macs, cycles, row.operations)


cdef void offer_row(Machine* m, Row* row, double energy, i64 area, Choice* best) noexcept nogil:
    """Keep what is cheapest by SubgraphModel._rank, the first of equals; energy: as energy_of counts it."""
    if best.found and not is_cheaper(m, row, energy, area, best):
        return
    best.found, best.energy, best.area, best.row = 1, energy, area, row[0]


cdef inline bint is_cheaper(Machine* m, Row* row, double energy, i64 area, Choice* best) noexcept nogil:
    if m.metric == 1 and energy != best.energy:
        return energy < best.energy
    if m.metric == 2 and row.slots != best.row.slots:
        return row.slots < best.row.slots
    if row.ema != best.row.ema:
        return row.ema < best.row.ema
    if energy != best.energy:
        return energy < best.energy
    if row.slots != best.row.slots:
        return row.slots < best.row.slots
    return area > best.area
