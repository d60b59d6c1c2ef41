# What a subgraph moves and takes: simulator/model/subgraph/traffic.py, schemes/columns.py, pricing.py, cost.py

cdef struct Moves:  # of all samples and cores beside the DRAM side (simulator.model.schemes.moved.TeamMoves)
    i64 buffered
    i64 written
    i64 weights_written
    i64 weights_read
    i64 crossing
    i64 cycles


cdef inline i64 copied_again(Work* w, i64 u, bint is_full) noexcept nogil:
    """Bytes of a tensor that all row operations take out of SIDE."""
    cdef Region* region = &w.regions[u]
    if not region.side.rows:
        return 0
    return (
        rows_again(&w.subgraph, &w.tiling, u, region.main.rows, region.side.rows, is_full)
        * w.net.extent[1][u] * w.net.row_bytes[u]
    )


cdef void moved(Work* w, Moves* moves) noexcept nogil:
    """simulator.model.schemes.channels.dealt_moves, or traffic.buffer_bytes; weight_buffer_bytes: of one sample."""
    cdef Net* net = w.net
    cdef Subgraph* s = &w.subgraph
    cdef Updates* rows = w.updates[0]
    cdef Updates* columns = w.updates[1]
    cdef i64 u, v, met, copied, passed, total = 0, written = 0, read = 0, weight = 0, crossed = 0
    cdef bint is_full = starts_full(s, &w.tiling, ROWS)
    fill_updates(s, &w.tiling, ROWS, is_full, rows)
    fill_updates(s, &w.tiling, COLUMNS, starts_full(s, &w.tiling, COLUMNS), columns)
    for v in s.tensors[:s.layer_count]:
        passed = (rows[v].times * columns[v].times - 1) * net.carried_bytes[v]
        written, read = written + net.size_bytes[v] + passed, read + passed
        if net.weight_bytes[v]:
            weight += rows[v].times * columns[v].times * net.weight_bytes[v]
    total = written + read
    for u in s.tensors[:s.tensor_count]:
        for reader in s.readers[u][:s.reader_count[u]]:
            v, met = reader.layer, 0
            if reader.whole:
                met += rows[v].times * columns[v].times * net.extent[0][u] * net.extent[1][u]
            if reader.local:
                met += windows_met(net, v, u, rows[v], columns[v])
            total += met * (reader.heard if w.way == BY_CHANNELS else net.row_bytes[u])
            if w.way == BY_CHANNELS:
                crossed += met * reader.passed
        copied = copied_again(w, u, is_full)
        total, written = total + 2 * copied, written + copied
    moves.buffered, moves.written = total, written
    moves.weights_read, moves.crossing = weight, crossed


cdef void column_moves(Work* w, bint is_full, Moves* moves) noexcept nogil:
    """simulator.model.schemes.columns.column_moves of one sample; is_full: from takes_all."""
    cdef Subgraph* s = &w.subgraph
    cdef i64 u, core, down, copied, read = 0, written = 0, crossing = 0
    cdef bint rows_full = starts_full(s, &w.tiling, ROWS)
    fill_updates(s, &w.tiling, ROWS, rows_full, w.updates[0])
    for v in s.tensors[:s.layer_count]:
        written += w.net.size_bytes[v]
    for u in s.tensors[:s.tensor_count]:
        for reader in s.readers[u][:s.reader_count[u]]:
            down = window_elements(w.net, ROWS, reader.layer, u, w.updates[0][reader.layer]) * w.net.row_bytes[u]
            for core in range(w.machine.bands):
                sweep = sweep_of(s, &w.tiling, &w.bands, reader.layer, core, is_full)
                if sweep.updates.times:
                    met = columns_met(s, &w.bands, reader.layer, u, core, sweep)
                    read, crossing = read + down * met.columns, crossing + down * met.crossing
        copied = copied_again(w, u, rows_full)
        read, written = read + copied, written + copied
    moves.buffered, moves.written = w.machine.batch * (read + written), w.machine.batch * written
    moves.crossing = w.machine.batch * crossing


cdef inline i64 team_rounds(Machine* m, i64 team, i64 at_once) noexcept nogil:
    """Rounds of a team, to which samples are dealt as evenly as can be."""
    return ceil_div(m.batch * (team + 1) // m.teams - m.batch * team // m.teams, at_once)


cdef void pass_weights(Work* w, bint is_full, i64 at_once, Moves* moves) noexcept nogil:
    """simulator.model.schemes.columns.rotate and hold_all: what weights add to the moves."""
    cdef Machine* m = w.machine
    cdef i64 v, place, team, core, times, again, end = 0, reads = 0, own = 0, rounds = 0, working = 0, here, size
    for team in range(m.teams):
        rounds += team_rounds(m, team, at_once)
    for v in w.subgraph.tensors[:w.subgraph.layer_count]:
        size = w.net.weight_bytes[v]
        end += size
        here = 0
        for place in range(m.bands):
            times = w.updates[0][v].times
            if w.way == BY_SAMPLES:
                times *= w.updates[1][v].times
            else:
                times *= sweep_of(&w.subgraph, &w.tiling, &w.bands, v, place, is_full).updates.times
            here += times > 0
            reads += rounds * times * size
            if w.is_held or not size:
                continue
            for team in range(m.teams):
                core, again = team * m.bands + place, team_rounds(m, team, at_once)
                own += again * times * imax(
                    0, imin(w.weights * (core + 1) // m.cores, end) - imax(w.weights * core // m.cores, end - size)
                )
        working = imax(working, m.teams * here)
    moves.weights_read = reads
    if w.is_held:
        moves.weights_written = working * w.weights
        moves.crossing += (working - 1) * w.weights
    else:
        moves.weights_written = w.weights
        moves.crossing += reads - own


cdef i64 cycles_of_columns(Net* net, Machine* m, i64 v, i64 columns) noexcept nogil:
    """Cycles of a core that has so many columns of a layer: simulator.mapping.closed.cycles_of_lanes."""
    cdef i64 i, found = net.lane_cycles[v * m.lane_count] * ceil_div(columns, m.lanes[0])
    for i in range(1, m.lane_count):
        found = imin(found, net.lane_cycles[v * m.lane_count + i] * ceil_div(columns, m.lanes[i]))
    return found


cdef void total_up(Work* w, Moves* moves, Row* row) noexcept nogil:
    """simulator.model.pricing.SubgraphModel._held and simulator.model.cost.total of one subgraph."""
    cdef i64 inputs = w.machine.batch * w.inputs, outputs = w.machine.batch * w.outputs, operations = 0, extra = 0
    for v in w.subgraph.tensors[:w.subgraph.layer_count]:
        operations += w.net.operations[v]
        extra += w.net.operation_extra[v]
    row.ema = w.weights + inputs + outputs
    row.global_buffer = inputs + outputs + moves.buffered
    row.weight_buffer = moves.weights_written + moves.weights_read
    row.crossbar = moves.crossing
    row.operations, row.operation_extra = w.machine.batch * operations, w.machine.batch * extra
    take_time(w.machine, moves.cycles, row)
    row.global_written, row.weight_written = inputs + moves.written, moves.weights_written
