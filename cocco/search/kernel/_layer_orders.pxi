# Loop orders of one layer, what each holds and moves: simulator/model/layer/orders.py (_orders.pxi has orders of layers)

cdef enum:  # names in ORDERS
    TK = 0
    KT = 1
    WK = 2
    KS = 3
    TP = 4
    KP = 5
    TKC = 6
    BC = 7
    CT = 8
    TC = 9
    RS = 10
    WORDS = 11          # "copy"
    TCC = 12
    TB = 13

ORDERS = ("TK", "KT", "WK", "KS", "TP", "KP", "TKC", "BC", "CT", "TC", "RS", "copy", "TCC", "TB")

cdef enum:  # names in MODES
    RING = 0
    ROWS = 1
    SIDE = 2
    SLIDE = 3
    BLOCK = 4
    BLOCK_ROW = 5
    WHOLE = 6
    ROW = 7
    WORD = 8

MODES = ("ring", "rows", "side", "slide", "block", "block-row", "whole", "row", "word")


cdef struct Mode:
    i64 name
    i64 held
    i64 reads
    i64 side


cdef struct Loops:
    i64 apart
    i64 chunk
    i64 slice
    i64 inner
    i64 at_once
    i64 kept


cdef struct Moved:
    i64 weight_reads
    i64 input_reads
    i64 traffic
    i64 weight_traffic
    i64 copied


cdef struct Totals:  # of the whole batch, bytes
    i64 ema_weights
    i64 ema_inputs
    i64 ema_outputs
    i64 global_buffer
    i64 weight_buffer
    i64 written         # of global_buffer
    i64 weights_written # of weight_buffer
    i64 second          # of ema_inputs, of the second operand of a product
    i64 crossbar
    i64 rescalings      # operations of an attention in blocks, beyond its own


cdef struct LoopPlan:
    i64 order
    i64 mode
    i64 tile[2]
    Loops loops
    i64 activations
    i64 weights
    Totals totals


cdef inline Mode mode_of(i64 name, i64 held, i64 reads, i64 side) noexcept nogil:
    cdef Mode mode
    mode.name, mode.held, mode.reads, mode.side = name, held, reads, side
    return mode


cdef inline Moved moved_of(
    i64 weight_reads, i64 input_reads, i64 traffic, i64 weight_traffic, i64 copied
) noexcept nogil:
    cdef Moved moved
    moved.copied = copied
    moved.weight_reads, moved.input_reads = weight_reads, input_reads
    moved.traffic, moved.weight_traffic = traffic, weight_traffic
    return moved


cdef inline Loops loops_of(i64 apart, i64 chunk, i64 piece, i64 inner, i64 at_once, i64 kept) noexcept nogil:
    cdef Loops loops
    loops.apart, loops.chunk, loops.slice, loops.inner = apart, chunk, piece, inner
    loops.at_once, loops.kept = at_once, kept
    return loops


cdef int modes_of(Grid* grid, Mode* modes) noexcept nogil:
    """Fill in the modes, at most three; return how many there are."""
    cdef Met* rows = &grid.rows
    cdef Met* columns = &grid.columns
    cdef i64 main = rows.most * columns.ring
    cdef int count = 0
    if columns.tiles == 1:
        modes[0] = mode_of(RING, rows.ring * columns.united, rows.united * columns.united, 0)
        if rows.most < rows.ring:
            modes[1] = mode_of(ROWS, rows.most * columns.united, rows.visits * columns.united, 0)
            return 2
        return 1
    if rows.live:
        modes[0] = mode_of(
            SIDE, main + rows.live * columns.united, rows.united * columns.united,
            2 * (rows.visits - rows.united) * columns.united,
        )
        count = 1
    modes[count] = mode_of(SLIDE, main, rows.visits * columns.united, 0)
    count += 1
    if columns.most < columns.ring:
        modes[count] = mode_of(BLOCK, rows.most * columns.most, rows.visits * columns.visits, 0)
        count += 1
    return count


cdef inline Mode whole_mode(Grid* grid) noexcept nogil:
    return mode_of(WHOLE, grid_united(grid), grid_united(grid), 0)


cdef void tiles_chunks(LoopLayer* layer, Grid* grid, Mode* mode, Loops* loops, LoopPlan* plan) noexcept nogil:
    cdef i64 chunks = chunks_of(layer, loops), updates = updates_of_tiles(layer, grid, loops)
    cdef Moved moved = moved_of(
        layer.coming if chunks == 1 else coming_of_tiles(layer, grid, loops), layer.loaded * mode.reads,
        layer.window_bytes * grid_windows(grid) * chunks + layer.loaded * mode.side, updates, layer.loaded * mode.side // 2,
    )
    plan_held(layer, TK, mode, grid, loops, &moved, plan)


cdef void chunks_tiles(LoopLayer* layer, Grid* grid, Mode* mode, Loops* loops, LoopPlan* plan) noexcept nogil:
    cdef i64 chunks = chunks_of(layer, loops)
    cdef Moved moved = moved_of(
        layer.coming, layer.loaded * mode.reads * chunks,
        (layer.window_bytes * grid_windows(grid) + layer.loaded * mode.side) * chunks,
        updates_of_tiles(layer, grid, loops), layer.loaded * mode.side // 2 * chunks,
    )
    plan_held(layer, KT, mode, grid, loops, &moved, plan)


cdef void whole_chunks(LoopLayer* layer, Grid* grid, Mode* mode, Loops* loops, LoopPlan* plan) noexcept nogil:
    cdef i64 chunks = chunks_of(layer, loops)
    cdef Moved moved = moved_of(
        layer.coming * (1 if chunks == 1 else rounds_of(layer, loops.at_once)), layer.loaded * grid_united(grid),
        layer.window_bytes * grid_windows(grid) * chunks, updates_of_tiles(layer, grid, loops), 0,
    )
    plan_held(layer, WK, mode, grid, loops, &moved, plan)


cdef void chunks_whole(LoopLayer* layer, Grid* grid, Mode* mode, Loops* loops, LoopPlan* plan) noexcept nogil:
    cdef i64 chunks = chunks_of(layer, loops)
    cdef Moved moved = moved_of(
        layer.coming, layer.loaded * grid_united(grid) * chunks, layer.window_bytes * grid_windows(grid) * chunks,
        updates_of_tiles(layer, grid, loops), 0,
    )
    plan_held(layer, KS, mode, grid, loops, &moved, plan)


cdef void tiles_partly(LoopLayer* layer, Grid* grid, Mode* mode, Loops* loops, LoopPlan* plan) noexcept nogil:
    cdef i64 updates = grid_tiles(grid) * rounds_of(layer, loops.at_once)
    cdef i64 chunks = ceil_div(loops.kept, loops.chunk) + ceil_div(layer.part.outputs - loops.kept, loops.chunk)
    cdef Moved moved = moved_of(
        layer.coming + (updates - 1) * coming_after(layer, loops.kept), layer.loaded * mode.reads,
        layer.window_bytes * grid_windows(grid) * chunks + layer.loaded * mode.side, layer.weights * updates,
        layer.loaded * mode.side // 2,
    )
    plan_held(layer, TP, mode, grid, loops, &moved, plan)
    hold_more(layer, 0, stationary_bytes(layer, loops.kept, layer.part.reduction), plan)


cdef void chunks_partly(LoopLayer* layer, Grid* grid, Mode* mode, Loops* loops, LoopPlan* plan) noexcept nogil:
    cdef i64 chunks = chunks_of(layer, loops), stay = loops.kept * grid.columns.united
    cdef Moved moved = moved_of(
        layer.coming, layer.loaded * (mode.reads * chunks - stay * (chunks - 1)),
        layer.window_bytes * grid_windows(grid) * chunks, updates_of_tiles(layer, grid, loops), 0,
    )
    plan_held(layer, KP, mode, grid, loops, &moved, plan)
    hold_more(layer, layer.batch * stay * layer.part.room, 0, plan)


cdef void tiles_slices(LoopLayer* layer, Grid* grid, Mode* mode, Loops* loops, LoopPlan* plan) noexcept nogil:
    cdef i64 chunks = chunks_of(layer, loops), updates = updates_of_tiles(layer, grid, loops)
    cdef i64 reduction = layer.part.reduction, slices = ceil_div(reduction, loops.slice)
    cdef i64 copies = layer.loaded * mode.side + sum_bytes(layer, slices - 1)
    cdef Moved moved = moved_of(
        coming_of_tiles(layer, grid, loops), layer.loaded * mode.reads,
        layer.window_bytes * grid_windows(grid) * chunks + copies, updates, copies // 2,
    )
    plan_of(
        layer, TKC, mode, grid, loops, input_bytes(layer, mode, loops) + held_sums(layer, grid, loops),
        stationary_bytes(layer, loops.chunk, imin(loops.slice, reduction)), &moved, plan,
    )


cdef void block_slices(LoopLayer* layer, Grid* grid, Mode* mode, Loops* loops, LoopPlan* plan) noexcept nogil:
    cdef Part* part = &layer.part
    cdef Met* rows = &layer.row if mode.name == BLOCK_ROW else &grid.rows
    cdef i64 chunks = chunks_of(layer, loops), updates = layer.weights * rounds_of(layer, loops.at_once)
    cdef i64 full = part.outputs // loops.chunk, rest = part.outputs % loops.chunk, i, parts = 0, cuts = 0
    cdef i64 passes = full * ceil_div(loops.chunk, loops.inner) + ceil_div(rest, loops.inner)
    cdef i64 sums
    cdef Moved moved
    for i in range(part.unit_count):
        parts += part.units[2 * i + 1]
        cuts += (ceil_div(part.units[2 * i] * layer.word, loops.slice) - 1) * part.units[2 * i + 1]
    sums = sum_bytes(layer, cuts) // parts
    moved = moved_of(
        coming_of_tiles(layer, grid, loops), layer.operands_loaded * grid_windows(grid) * chunks,
        layer.operand_bytes * rows.visits * grid.columns.visits * passes + sums,
        updates * rows.tiles * grid.columns.tiles, sums // 2,
    )
    plan_of(
        layer, BC, mode, grid, loops,
        loops.at_once * inputs_of(layer, loops.slice) * mode.held * (layer.operands_loaded > 0)
        + held_sums(layer, grid, loops),
        stationary_bytes(layer, loops.inner, imin(loops.slice, part.reduction)), &moved, plan,
    )


cdef int block_modes(LoopLayer* layer, Grid* grid, Mode* modes) noexcept nogil:
    """Fill in the modes, at most two; return how many there are."""
    modes[0] = mode_of(BLOCK, grid.rows.most * grid.columns.most, grid_windows(grid), 0)
    if grid.tile[0] == 1 or layer.row.ring >= grid.rows.most:
        return 1
    modes[1] = mode_of(BLOCK_ROW, layer.row.ring * grid.columns.most, grid_windows(grid), 0)
    return 2


cdef inline i64 chunks_of(LoopLayer* layer, Loops* loops) noexcept nogil:
    return ceil_div(layer.part.outputs, loops.chunk)


cdef inline i64 rounds_of(LoopLayer* layer, i64 at_once) noexcept nogil:
    return ceil_div(layer.batch, at_once)


cdef inline i64 updates_of_tiles(LoopLayer* layer, Grid* grid, Loops* loops) noexcept nogil:
    return layer.weights * grid_tiles(grid) * rounds_of(layer, loops.at_once)


cdef inline i64 coming_of_tiles(LoopLayer* layer, Grid* grid, Loops* loops) noexcept nogil:
    return layer.coming * grid_tiles(grid) * rounds_of(layer, loops.at_once)


cdef inline i64 input_bytes(LoopLayer* layer, Mode* mode, Loops* loops) noexcept nogil:
    return loops.at_once * mode.held * layer.part.room


cdef inline i64 chunk_bytes(LoopLayer* layer, Grid* grid, Loops* loops) noexcept nogil:
    return loops.at_once * tile_area(grid) * results_of(layer, loops.chunk)


cdef inline i64 held_sums(LoopLayer* layer, Grid* grid, Loops* loops) noexcept nogil:
    return loops.at_once * tile_area(grid) * round_up(layer, loops.chunk) * layer.bits.sum_bytes


cdef inline i64 sum_bytes(LoopLayer* layer, i64 cuts) noexcept nogil:
    return 2 * layer.bits.sum_bytes * cuts * layer.output_elements


cdef void plan_held(
    LoopLayer* layer, i64 order, Mode* mode, Grid* grid, Loops* loops, Moved* moved, LoopPlan* plan
) noexcept nogil:
    """The plan of an order that holds the input of a mode, a chunk and its weights: _held."""
    cdef i64 results = 0 if layer.stays.output else chunk_bytes(layer, grid, loops)
    plan_of(
        layer, order, mode, grid, loops, input_bytes(layer, mode, loops) + results,
        stationary_bytes(layer, loops.chunk, layer.part.reduction), moved, plan,
    )


cdef void hold_more(LoopLayer* layer, i64 activations, i64 weights, LoopPlan* plan) noexcept nogil:
    plan.activations += activations + (weights if layer.is_product else 0)
    plan.weights += 0 if layer.is_product else weights


cdef void plan_of(
    LoopLayer* layer, i64 order, Mode* mode, Grid* grid, Loops* loops, i64 activations, i64 weights, Moved* moved,
    LoopPlan* plan,
) noexcept nogil:
    plan.order, plan.mode, plan.loops = order, mode.name, loops[0]
    plan.tile[0], plan.tile[1] = grid.tile[0], grid.tile[1]
    plan.activations = plan.weights = 0
    hold_more(layer, activations, weights, plan)
    plan.totals = total_of(layer, moved)


cdef inline Totals total_of(LoopLayer* layer, Moved* moved) noexcept nogil:
    """What plan_of says of the whole batch."""
    cdef Totals total
    cdef i64 samples = layer.repeat * layer.batch, buffered, results
    cdef i64 weight_reads = layer.repeat * moved.weight_reads, weight_traffic = layer.repeat * moved.weight_traffic
    total.ema_inputs = samples * (moved.input_reads + layer.unmet_bytes + layer.stays.arriving_bytes)
    results = samples * layer.output_bytes
    total.ema_outputs = results if layer.stays.is_written else 0
    buffered = samples * moved.traffic + results + total.ema_outputs
    total.second = total.crossbar = total.rescalings = 0
    total.written = results + samples * moved.copied
    if layer.is_product:
        total.second = weight_reads
        total.ema_inputs += total.second
        buffered += weight_traffic
        weight_reads = weight_traffic = 0
    total.ema_weights = total.weights_written = weight_reads
    total.written += total.ema_inputs
    total.global_buffer = total.ema_inputs + buffered
    total.weight_buffer = weight_reads + weight_traffic
    return total
