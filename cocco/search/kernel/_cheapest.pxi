# The cheapest loop order of one layer in given memory: simulator/model/layer/cheapest.py
#
# Plans are met in the order of that file. Some are not made at all: `may_win` prices what they move at least (weights,
# inputs and windows once, with what is known of their mode), in the same operations, each of which grows with its
# operands; where even that comes after the best plan so far, they would, too.

cdef enum:
    MORE_CHUNKS = 4     # simulator.model.layer.cheapest.MORE_CHUNKS
    ANY_NUMBER = 0x10000000000  # simulator.model.layer.cheapest.ANY_NUMBER
    NO_END = 0x7fffffffffffffff


cdef double NEARLY = 1.000001


cdef struct Room:  # bytes of one core
    i64 activations
    i64 weights
    i64 is_shared       # weights share the first


cdef struct LoopGoal:
    i64 metric          # what is least first: 0 EMA, 1 energy, 2 latency
    double dram         # pJ per byte, as both below
    ByteCost activations
    ByteCost weights
    double leakage      # pJ per slot
    i64 slots           # that computing takes
    double crossbar     # pJ per byte
    i64 port            # bytes per cycle of a port to DRAM, and of one of the crossbar
    i64 crossbar_port
    double operation    # pJ of one that not every order of a layer has


cdef struct Winner:
    i64 found
    i64 slots
    i64 ema
    double energy
    i64 area            # of the tile
    LoopPlan plan


cdef struct Place:  # a tile of so many samples, and the memory that it has
    LoopLayer* layer
    Grid* grid
    i64 at_once
    Room room
    LoopGoal* goal
    Winner* best


cdef inline Room without(Room room, i64 activations, i64 weights) noexcept nogil:
    room.activations -= activations + (weights if room.is_shared else 0)
    room.weights -= 0 if room.is_shared else weights
    return room


cdef inline i64 most(Room* room, i64 activations, i64 weights) noexcept nogil:
    if not activations and not weights:
        return ANY_NUMBER if room.activations >= 0 and (room.is_shared or room.weights >= 0) else 0
    if room.is_shared:
        return room.activations // (activations + weights) if room.activations > 0 else 0
    if room.activations < 0 or room.weights < 0:
        return 0
    return imin(
        room.activations // activations if activations else NO_END, room.weights // weights if weights else NO_END
    )


cdef inline i64 holds(Room* room, i64 activations, i64 weights) noexcept nogil:
    if room.is_shared:
        return activations + weights <= room.activations
    return activations <= room.activations and weights <= room.weights


cdef int later(LoopGoal* goal, Winner* best, Totals* total, i64 area, Winner* into) noexcept nogil:
    """Goal.key without the bytes held: 1 where it comes after the best, 0 where it equals it, -1 before.

    into takes slots, EMA, energy and area.
    """
    cdef i64 ema = total.ema_weights + total.ema_inputs + total.ema_outputs
    cdef double energy
    into.ema, into.area = ema, area
    into.slots = imax(imax(goal.slots, ema), ceil_div(total.crossbar * goal.port, goal.crossbar_port))
    energy = (
        goal.dram * ema + buffer_pj(&goal.activations, total.global_buffer, total.written)
        + buffer_pj(&goal.weights, total.weight_buffer, total.weights_written)
        + goal.leakage * <double>into.slots
    )
    energy += goal.crossbar * <double>total.crossbar
    energy += goal.operation * <double>total.rescalings
    into.energy = energy
    if not best.found:
        return -1
    if goal.metric == 1 and energy != best.energy:
        return 1 if energy > best.energy else -1
    if goal.metric == 2 and into.slots != best.slots:
        return 1 if into.slots > best.slots else -1
    if ema != best.ema:
        return 1 if ema > best.ema else -1
    if energy != best.energy:
        return 1 if energy > best.energy else -1
    return 0 if area == best.area else 1 if area < best.area else -1


cdef void offer(LoopGoal* goal, Winner* best, LoopPlan* plan) noexcept nogil:
    """Keep a plan that is cheaper than all before it."""
    cdef Winner new
    cdef int after = later(goal, best, &plan.totals, plan.tile[0] * plan.tile[1], &new)
    if after == 0:
        after = 1 if plan.activations + plan.weights >= best.plan.activations + best.plan.weights else -1
    if after < 0:
        new.found, new.plan = 1, plan[0]
        best[0] = new


cdef void offer_at(Place* at, Mode* mode, LoopPlan* plan) noexcept nogil:
    """The same on all cores."""
    if at.layer.cores > 1:
        together(at.layer, at.grid, mode, plan)
    offer(at.goal, at.best, plan)


cdef inline i64 may_win(
    Place* at, i64 weight_reads, i64 input_reads, i64 traffic, i64 weight_traffic
) noexcept nogil:
    """Whether plans of this tile that move at least so much may come before the best so far.

    Of several cores those that have as much as the first are looked at. All of that is taken as read. Where writing takes less, or so little more that rounding might decide, all may.
    """
    cdef Moved moved = moved_of(weight_reads, input_reads, traffic, weight_traffic, 0)
    cdef Totals total, first
    cdef Winner new
    cdef ByteCost each = at.goal.activations
    if not at.best.found or (each.write != each.read and each.write < NEARLY * each.read):
        return 1
    total = total_of(at.layer, &moved)
    if at.layer.cores > 1:
        first = total
        many_totals(&total, at.layer.alike)
        share(at.layer, &first, &total)
    return later(at.goal, at.best, &total, tile_area(at.grid), &new) <= 0


cdef int cheapest_plan(LoopLayer* layer, Room room, LoopGoal* goal, Winner* best) noexcept nogil:
    """FITS with the plan, SHORT where none fits, OVERFLOW where 64 bits may not do."""
    cdef Place at
    cdef LoopPlan plan
    cdef i64 i
    best.found = 0
    if layer.is_large:
        return OVERFLOW
    if layer.kind == COPY:
        copy(layer, &plan)
        offer_fitting(layer, goal, best, &room, &plan)
        return FITS if best.found else SHORT
    if layer.kind == APART and not layer.weights:
        running_sums(layer, &plan)
        offer_fitting(layer, goal, best, &room, &plan)
    if layer.is_product:
        room.is_shared = 1
    at.layer, at.room, at.goal, at.best = layer, room, goal, best
    for i in range(layer.grid_count):
        at.grid, at.at_once = &layer.grids[i], 1
        while at.at_once < layer.batch:
            plans_inside(&at)
            at.at_once *= 2
        at.at_once = layer.batch
        plans_inside(&at)
    return FITS if best.found else SHORT


cdef void offer_fitting(LoopLayer* layer, LoopGoal* goal, Winner* best, Room* room, LoopPlan* plan) noexcept nogil:
    """A plan without tiles to choose, where it fits."""
    if holds(room, plan.activations, plan.weights):
        if layer.cores > 1:
            together(layer, NULL, NULL, plan)
        offer(goal, best, plan)


cdef void plans_inside(Place* at) noexcept nogil:
    cdef LoopLayer* layer = at.layer
    cdef i64 windows = layer.window_bytes * grid_windows(at.grid)
    if layer.kind == JOIN or layer.kind == MIXED or layer.kind == NORM:
        joined_plans(at)
        if layer.kind == NORM:
            norm_plans(at)
    elif layer.kind == ATTENTION:
        attention_plans(at)
    elif may_win(at, layer.coming, layer.loaded * grid_united(at.grid), windows, updates_at(at)):
        if layer.kind == APART:
            apart_plans(at)
        else:
            dense_plans(at)


cdef inline i64 updates_at(Place* at) noexcept nogil:
    """Weights, once for each tile and round of samples."""
    return at.layer.weights * grid_tiles(at.grid) * rounds_of(at.layer, at.at_once)


cdef inline i64 coming_at(Place* at) noexcept nogil:
    """The same of what comes from DRAM."""
    return at.layer.coming * grid_tiles(at.grid) * rounds_of(at.layer, at.at_once)


cdef inline i64 sums_at(Place* at) noexcept nogil:
    """Place.sum_bytes"""
    return at.at_once * tile_area(at.grid) * at.layer.word * at.layer.bits.sum_bytes


cdef inline i64 result_bytes(Place* at) noexcept nogil:
    if at.layer.stays.output:
        return 0
    return at.at_once * tile_area(at.grid) * results_of(at.layer, at.layer.word)


cdef inline Room beside(Place* at, Mode* mode) noexcept nogil:
    return without(at.room, at.at_once * mode.held * at.layer.part.room, 0)


cdef i64 most_words(Place* at, Room* room, i64 each, i64 inputs) noexcept nogil:
    cdef i64 words = at.layer.part.words
    if holds(room, words * each, stationary_bytes(at.layer, at.layer.part.outputs, inputs)):
        return words
    return imin(words - 1, most(room, each, stationary_bytes(at.layer, at.layer.word, inputs)))


cdef void joined_plans(Place* at) noexcept nogil:
    cdef LoopLayer* layer = at.layer
    cdef i64 first = layer.at_most if layer.kind == JOIN else layer.outputs, step, order, size, held
    cdef i64 reads = layer.loaded * grid_united(at.grid) + broadcast_bytes(layer)
    cdef Mode modes[3]
    cdef LoopPlan plan
    if not may_win(at, 0, reads, joined_traffic(layer, at.grid, ceil_div(layer.outputs, first)), 0):
        return
    modes_of(at.grid, modes)
    for order in range(CT, TC + 1):
        step = first
        while step > 0:
            size = imin(step, layer.outputs)
            held = joined_held(layer, at.grid, order, size)
            if holds(&at.room, held, 0):
                joined(layer, at.grid, &modes[0], order, size, held, &plan)
                offer_at(at, &modes[0], &plan)
                break
            step = step - layer.word if layer.kind == JOIN else 0


cdef void norm_plans(Place* at) noexcept nogil:
    """Two passes, beside the most channels that can stay in between."""
    cdef LoopLayer* layer = at.layer
    cdef Room outputs = without(at.room, result_bytes(at) + 2 * layer.bits.sum_bytes * tile_area(at.grid), 0)
    cdef i64 word = at.at_once * tile_area(at.grid) * inputs_of(layer, layer.word) if layer.loaded else 0
    cdef i64 words = most(&outputs, word, 0), windows = grid_windows(at.grid), kept, reads
    cdef Mode modes[3]
    cdef LoopPlan plan
    if words <= 0:
        return
    kept = layer.outputs if words >= ceil_div(layer.outputs, layer.word) else (words - 1) * layer.word
    reads = windows * (2 * layer.loaded - row_bytes(kept, layer.most_bits)) if layer.loaded else 0
    if may_win(at, 0, reads, 2 * windows * layer.window_bytes, 0):
        modes_of(at.grid, modes)
        two_passes(layer, at.grid, &modes[0], kept, &plan)
        offer_at(at, &modes[0], &plan)


cdef void apart_plans(Place* at) noexcept nogil:
    cdef LoopLayer* layer = at.layer
    cdef i64 largest = 0, weights, words, i, count
    cdef Mode modes[3]
    cdef LoopPlan plan
    for i in range(layer.producer_count):
        largest = imax(largest, layer.producers[i])
    weights = apart_weights(layer, imin(layer.word, largest))
    count = modes_of(at.grid, modes)
    for i in range(count):
        words = most(&at.room, at.at_once * apart_bytes(layer, at.grid, &modes[i], layer.word), weights)
        if words:
            words = imin(imin(words * layer.word, layer.at_most), largest)
            channels_tiles(layer, at.grid, &modes[i], words, at.at_once, &plan)
            offer_at(at, &modes[i], &plan)


cdef void dense_plans(Place* at) noexcept nogil:
    cdef LoopLayer* layer = at.layer
    cdef i64 updates = updates_at(at), windows = layer.window_bytes * grid_windows(at.grid)
    cdef i64 reads, side, i, count
    cdef Mode modes[3]
    count = modes_of(at.grid, modes)
    for i in range(count):
        reads, side = layer.loaded * modes[i].reads, layer.loaded * modes[i].side
        if may_win(at, layer.coming, reads, windows + side, updates):
            chunked(at, &modes[i], TK, KT)
            if may_win(at, coming_at(at), reads, windows + side, updates):
                sliced(at, &modes[i])
            if may_win(at, layer.coming, reads, 2 * windows + side, updates):  # two chunks and more
                partly(at, &modes[i])
    modes[0] = whole_mode(at.grid)
    chunked(at, &modes[0], WK, KS if at.at_once < layer.batch else WK)
    reads, windows = layer.operands_loaded * grid_windows(at.grid), layer.operand_bytes * grid_windows(at.grid)
    if may_win(at, coming_at(at), reads, windows, updates):
        count = block_modes(layer, at.grid, modes)
        for i in range(count):
            blocks(at, &modes[i], 0)
            if modes[i].name == BLOCK:
                blocks(at, &modes[i], 1)


cdef void chunked(Place* at, Mode* mode, int first, int second) noexcept nogil:
    """The orders from the first to the second: TK and KT, WK and perhaps KS."""
    cdef LoopLayer* layer = at.layer
    cdef Room room = beside(at, mode)
    cdef i64 most = most_words(at, &room, result_bytes(at), layer.part.reduction), outputs, order
    cdef Loops loops
    cdef LoopPlan plan
    if most <= 0:
        return
    outputs = evened(layer.part.outputs, most, layer.word)
    loops = loops_of(1, outputs, layer.part.reduction, outputs, at.at_once, 0)
    for order in range(first, second + 1):
        if order == TK:
            tiles_chunks(layer, at.grid, mode, &loops, &plan)
        elif order == KT:
            chunks_tiles(layer, at.grid, mode, &loops, &plan)
        elif order == WK:
            whole_chunks(layer, at.grid, mode, &loops, &plan)
        else:
            chunks_whole(layer, at.grid, mode, &loops, &plan)
        offer_at(at, mode, &plan)


cdef void partly(Place* at, Mode* mode) noexcept nogil:
    """The smallest chunk leaves most for what stays: with that, either order moves least."""
    cdef LoopLayer* layer = at.layer
    cdef Part* part = &layer.part
    cdef i64 word = stationary_bytes(layer, layer.word, part.reduction), updates = updates_at(at), reads, traffic
    cdef i64 row = layer.batch * part.room * at.grid.columns.united if mode.name == RING else 0, weights, rows
    cdef i64 fewest, passes, more, i
    cdef i64 tried[MORE_CHUNKS + 1]
    cdef Room left, room = beside(at, mode)
    cdef Loops loops
    cdef LoopPlan plan
    cdef int count
    fewest = fewest_chunks(layer, most_words(at, &room, result_bytes(at), part.reduction))
    if not fewest:
        return
    left = beside_chunk(at, room, imin(layer.word, part.outputs))
    weights, rows = imin(kept_weights(layer, &left, word), part.outputs - 1), kept_rows(at.grid, &left, row)
    passes = imax(2, fewest)
    reads = layer.loaded * mode.reads
    traffic = layer.window_bytes * grid_windows(at.grid) * passes + layer.loaded * mode.side
    more = (grid_tiles(at.grid) * rounds_of(layer, at.at_once) - 1)
    more *= coming_after(layer, weights)
    if weights and not may_win(at, layer.coming + more, reads, traffic, updates):
        weights = 0
    more = layer.loaded * (mode.reads - rows * at.grid.columns.united) * (passes - 1)
    if rows and not may_win(at, layer.coming, reads + more, traffic, updates):
        rows = 0
    count = chunks(layer, fewest, tried) if weights or rows else 0
    for i in range(count):
        if tried[i] == part.outputs:
            continue
        left = beside_chunk(at, room, tried[i])
        loops = loops_of(1, tried[i], part.reduction, tried[i], at.at_once, kept_weights(layer, &left, word))
        if weights and 0 < loops.kept < part.outputs:
            tiles_partly(layer, at.grid, mode, &loops, &plan)
            offer_at(at, mode, &plan)
        loops.kept = kept_rows(at.grid, &left, row)
        if rows and loops.kept:
            chunks_partly(layer, at.grid, mode, &loops, &plan)
            offer_at(at, mode, &plan)


cdef inline Room beside_chunk(Place* at, Room room, i64 outputs) noexcept nogil:
    cdef LoopLayer* layer = at.layer
    return without(
        room, ceil_div(outputs, layer.word) * result_bytes(at), stationary_bytes(layer, outputs, layer.part.reduction)
    )


cdef inline i64 kept_weights(LoopLayer* layer, Room* left, i64 word) noexcept nogil:
    return most(left, 0, word) * layer.word


cdef inline i64 kept_rows(Grid* grid, Room* left, i64 row) noexcept nogil:
    return imin(most(left, row, 0), grid.rows.united) if row else 0


cdef void sliced(Place* at, Mode* mode) noexcept nogil:
    cdef LoopLayer* layer = at.layer
    cdef i64 reduction = layer.part.reduction, sums = sums_at(at), outputs, most_units, i
    cdef i64 units = ceil_div(reduction, layer.word)
    cdef i64 tried[MORE_CHUNKS + 1]
    cdef Room room = beside(at, mode), left
    cdef Loops loops
    cdef LoopPlan plan
    cdef i64 fewest = fewest_chunks(layer, most_words(at, &room, sums, imin(layer.word, reduction)))
    cdef int count = chunks(layer, fewest, tried) if fewest else 0
    for i in range(count):
        outputs = tried[i]
        left = without(room, ceil_div(outputs, layer.word) * sums, 0)
        most_units = most(&left, 0, stationary_bytes(layer, outputs, layer.word))
        if 0 < most_units < units:
            loops = loops_of(
                1, outputs, evened(units * layer.word, most_units, layer.word), outputs, at.at_once, 0
            )
            tiles_slices(layer, at.grid, mode, &loops, &plan)
            offer_at(at, mode, &plan)


cdef void blocks(Place* at, Mode* mode, int is_inner) noexcept nogil:
    cdef LoopLayer* layer = at.layer
    cdef Part* part = &layer.part
    cdef i64 sums = sums_at(at), units = 0, i
    cdef i64 each = at.at_once * mode.held * inputs_of(layer, layer.word) * (layer.loaded > 0)
    cdef i64 inputs = imin(layer.word, part.reduction), outputs, inner, most_units, reads, traffic
    cdef i64 tried[MORE_CHUNKS + 1]
    cdef Room left, room = without(
        at.room, each, stationary_bytes(layer, imin(layer.word, part.outputs), inputs) if is_inner else 0
    )
    cdef Loops loops
    cdef LoopPlan plan
    cdef i64 fewest = fewest_chunks(layer, most_words(at, &room, sums, 0 if is_inner else inputs))
    cdef int count
    if not fewest:
        return
    reads = layer.operands_loaded * grid_windows(at.grid) * fewest
    traffic = layer.operand_bytes * grid_windows(at.grid) * (part.words if is_inner else fewest)
    if not may_win(at, coming_at(at), reads, traffic, updates_at(at)):
        return
    count = chunks(layer, fewest, tried)
    for i in range(part.unit_count):
        units = imax(units, part.units[2 * i])
    for i in range(count):
        outputs = tried[i]
        inner = imin(layer.word, outputs) if is_inner else outputs
        left = without(at.room, ceil_div(outputs, layer.word) * sums, 0)
        most_units = most(&left, each, stationary_bytes(layer, inner, inputs))
        if 0 < most_units < units:  # one always fits: the chunk was chosen beside it
            loops = loops_of(1, outputs, evened(units * layer.word, most_units, layer.word), inner, at.at_once, 0)
            block_slices(layer, at.grid, mode, &loops, &plan)
            offer_at(at, mode, &plan)


cdef inline i64 fewest_chunks(LoopLayer* layer, i64 most) noexcept nogil:
    """How many chunks of at most so many words there are, 0 where not even one word fits."""
    return ceil_div(layer.part.words, most) if most > 0 else 0


cdef int chunks(LoopLayer* layer, i64 fewest, i64* tried) noexcept nogil:
    """Fill in the outputs of a chunk tried; return how many there are."""
    cdef i64 outputs = layer.part.outputs, word = layer.word, more, each
    cdef int count = 0
    for more in range(MORE_CHUNKS + 1):
        each = imin(word, outputs)
        if more < MORE_CHUNKS:
            each = evened(outputs, ceil_div(layer.part.words, fewest + more), word)
        if not count or each != tried[count - 1]:
            tried[count] = each
            count += 1
    return count


cdef inline i64 evened(i64 size, i64 most, i64 word) noexcept nogil:
    cdef i64 words = ceil_div(size, word)
    return imin(size, ceil_div(words, ceil_div(words, most)) * word)
