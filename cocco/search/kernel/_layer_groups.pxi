# Layers that do not reduce over channels, and copies: simulator/model/layer/groups.py

cdef void channels_tiles(LoopLayer* layer, Grid* grid, Mode* mode, i64 step, i64 at_once, LoopPlan* plan) noexcept nogil:
    cdef Loops loops = loops_of(step, step, step, step, at_once, 0)
    cdef Moved moved = moved_of(
        layer.weights, layer.loaded * mode.reads, layer.window_bytes * grid_windows(grid) + layer.loaded * mode.side,
        updates_of_tiles(layer, grid, &loops), layer.loaded * mode.side // 2,
    )
    plan_of(
        layer, CT, mode, grid, &loops, apart_bytes(layer, grid, mode, step) * at_once, apart_weights(layer, step), &moved,
        plan,
    )


cdef inline i64 apart_bytes(LoopLayer* layer, Grid* grid, Mode* mode, i64 step) noexcept nogil:
    cdef i64 held = mode.held * inputs_of(layer, step) if layer.loaded else 0
    return held if layer.stays.output else held + layer.often * tile_area(grid) * results_of(layer, step)


cdef inline i64 apart_weights(LoopLayer* layer, i64 step) noexcept nogil:
    return row_bytes(layer.often * step * layer.rows.taps * layer.columns.taps, layer.bits.weights) if layer.weights else 0


cdef i64 joined_held(LoopLayer* layer, Grid* grid, i64 order, i64 step) noexcept nogil:
    """_joined_bytes, and broadcast operands: in these channels (CT) or in full (TC)."""
    cdef i64 i, words = 0 if layer.stays.output else results_of(layer, imin(step, layer.outputs)), kept = 0, channels
    for i in range(layer.producer_count):
        words += row_bytes(round_up(layer, imin(step, layer.passing[i])), layer.producer_bits[i])
    for i in range(layer.broadcast_count):
        channels = layer.broadcast[4 * i + 2]
        channels = round_up(layer, imin(step, channels) if order == CT else channels)
        kept += layer.broadcast[4 * i] * layer.broadcast[4 * i + 1] * row_bytes(channels, layer.broadcast[4 * i + 3])
    return tile_area(grid) * words + kept


cdef void joined(
    LoopLayer* layer, Grid* grid, Mode* mode, i64 order, i64 step, i64 held, LoopPlan* plan
) noexcept nogil:
    """joined_channels (CT) and joined_tiles (TC)."""
    cdef i64 i, steps = ceil_div(layer.outputs, step), size = 0
    cdef Loops loops = loops_of(step, step, step, step, 1, 0)
    cdef Moved moved
    for i in range(layer.producer_count):
        size += row_bytes(layer.passing[i], layer.producer_bits[i]) * (
            steps if order == CT and layer.passing[i] < layer.outputs else 1
        )
    moved = moved_of(
        0, size * grid_united(grid) + broadcast_bytes(layer), joined_traffic(layer, grid, steps), 0, 0
    )
    plan_of(layer, order, mode, grid, &loops, held, 0, &moved, plan)


cdef i64 joined_traffic(LoopLayer* layer, Grid* grid, i64 steps) noexcept nogil:
    cdef i64 i, total = 0, channels, down, across
    for i in range(layer.producer_count):
        channels = layer.producers[i]
        total += layer.rows.windows * layer.columns.windows * row_bytes(channels, layer.producer_bits[i]) * (
            1 if channels == layer.outputs else steps
        )
    for i in range(layer.whole_count):
        channels = layer.whole[4 * i + 2]
        down = layer.rows.windows if layer.whole[4 * i] == layer.rows.windows else grid.rows.tiles
        across = layer.columns.windows if layer.whole[4 * i + 1] == layer.columns.windows else grid.columns.tiles
        total += down * across * row_bytes(channels, layer.whole[4 * i + 3]) * (
            1 if channels == layer.outputs else steps
        )
    return total


cdef void two_passes(LoopLayer* layer, Grid* grid, Mode* mode, i64 kept, LoopPlan* plan) noexcept nogil:
    cdef i64 area = tile_area(grid), statistics = 2 * layer.bits.sum_bytes, step = imin(layer.word, layer.outputs)
    cdef i64 windows = grid_windows(grid), words = ceil_div(layer.outputs, layer.word)
    cdef i64 held = area * ((0 if layer.stays.output else results_of(layer, step)) + statistics)
    cdef Loops loops = loops_of(step, step, step, step, 1, kept)
    cdef Moved moved = moved_of(
        0, windows * (2 * layer.loaded - row_bytes(kept, layer.most_bits)) if layer.loaded else 0,
        windows * (2 * layer.window_bytes + statistics * (3 * words - 1)), 0, windows * statistics * words,
    )
    if layer.loaded:
        held += area * (inputs_of(layer, kept) + (inputs_of(layer, step) if kept < layer.outputs else 0))
    plan_of(layer, TCC, mode, grid, &loops, held, 0, &moved, plan)


cdef void running_sums(LoopLayer* layer, LoopPlan* plan) noexcept nogil:
    cdef i64 width = layer.columns.windows, columns = layer.grids[0].columns.united
    cdef i64 sums = layer.bits.sum_bytes * layer.additions * width * layer.outputs
    cdef Loops loops = loops_of(layer.word, layer.word, layer.word, layer.word, 1, 0)
    cdef Grid grid = layer.grids[0]
    cdef Mode mode
    cdef Moved moved
    grid.tile[0], grid.rows = 1, layer.row
    mode = mode_of(ROW, columns, grid_united(&grid), 0)
    moved = moved_of(
        0, layer.loaded * grid_united(&grid),
        layer.window_bytes * layer.row.visits * columns + 2 * sums, 0, sums,
    )
    plan_of(
        layer, RS, &mode, &grid, &loops,
        (inputs_of(layer, layer.word) * columns if layer.loaded else 0)
        + layer.word * layer.bits.sum_bytes * width * layer.flying * layer.often, 0, &moved, plan,
    )


cdef void copy(LoopLayer* layer, LoopPlan* plan) noexcept nogil:
    cdef Loops loops = loops_of(layer.word, layer.word, layer.word, layer.word, 1, 0)
    cdef Mode mode = mode_of(WORD, 0, 0, 0)
    cdef Moved moved = moved_of(0, broadcast_bytes(layer), map_bytes(layer.whole, layer.whole_count), 0, 0)
    cdef i64 i, bits = layer.bits.output
    for i in range(layer.whole_count):
        bits = imax(bits, layer.whole[4 * i + 3])
    plan_of(layer, WORDS, &mode, &layer.grids[0], &loops, row_bytes(layer.word, bits), 0, &moved, plan)


cdef inline i64 broadcast_bytes(LoopLayer* layer) noexcept nogil:
    """_whole_bytes: what comes from DRAM of what is needed whole."""
    return map_bytes(layer.broadcast, layer.broadcast_count)


cdef inline i64 map_bytes(const i64* maps, i64 count) noexcept nogil:
    cdef i64 i, total = 0
    for i in range(count):
        total += maps[4 * i] * maps[4 * i + 1] * row_bytes(maps[4 * i + 2], maps[4 * i + 3])
    return total
