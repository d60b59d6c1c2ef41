# A loop order on several cores, each with its part of the layer: simulator/model/layer/on_cores.py

cdef void together(LoopLayer* layer, Grid* grid, Mode* mode, LoopPlan* plan) noexcept nogil:
    """The totals of all cores in the place of those of the largest part; grid, mode: NULL where the order has none."""
    cdef Totals every = plan.totals, first = plan.totals
    cdef LoopPlan other
    cdef i64 i
    many_totals(&every, layer.alike)
    for i in range(layer.other_count):
        again(&layer.others[i], grid, mode, plan, &other)
        many_totals(&other.totals, layer.others[i].alike)
        add_totals(&every, &other.totals)
    share(layer, &first, &every)
    plan.totals = every


cdef void share(LoopLayer* layer, Totals* first, Totals* every) noexcept nogil:
    """What all cores hear comes once, as the core with the largest part does, and crosses."""
    cdef i64 heard = 0
    if layer.shared == INPUTS_SHARED:
        heard = every.ema_inputs - every.second
        every.ema_inputs = first.ema_inputs - first.second + every.second
    elif layer.shared == WEIGHTS_SHARED:
        heard = every.ema_weights
        every.ema_weights = first.ema_weights
    elif layer.shared == ALL_SHARED:
        heard = every.ema_weights + every.ema_inputs + every.ema_outputs
    every.crossbar = heard - ceil_div(heard, layer.cores)


cdef void again(LoopLayer* layer, Grid* grid, Mode* mode, LoopPlan* first, LoopPlan* plan) noexcept nogil:
    """The plan of another part of the same layer."""
    cdef Loops loops = first.loops
    cdef i64 order = first.order
    if order == RS:
        running_sums(layer, plan)
    elif order == WORDS:
        copy(layer, plan)
    elif layer.kind == ATTENTION:
        tiles_blocks(layer, grid, mode, loops.slice, plan)
    elif order == TCC:
        two_passes(layer, grid, mode, loops.kept, plan)
    elif layer.kind == APART:
        channels_tiles(layer, grid, mode, loops.apart, loops.at_once, plan)
    elif order == CT or order == TC:
        joined(layer, grid, mode, order, loops.apart, 0, plan)
    elif order == TK:
        tiles_chunks(layer, grid, mode, &loops, plan)
    elif order == KT:
        chunks_tiles(layer, grid, mode, &loops, plan)
    elif order == WK:
        whole_chunks(layer, grid, mode, &loops, plan)
    elif order == KS:
        chunks_whole(layer, grid, mode, &loops, plan)
    elif order == TP:
        loops.kept = imin(loops.kept, layer.part.outputs)
        tiles_partly(layer, grid, mode, &loops, plan)
    elif order == KP:
        chunks_partly(layer, grid, mode, &loops, plan)
    elif order == TKC:
        tiles_slices(layer, grid, mode, &loops, plan)
    else:
        block_slices(layer, grid, mode, &loops, plan)


cdef inline void many_totals(Totals* total, i64 times) noexcept nogil:
    cdef i64* numbers = <i64*>total
    cdef i64 i
    for i in range(<i64>(sizeof(Totals) // sizeof(i64))):
        numbers[i] *= times


cdef inline void add_totals(Totals* total, Totals* other) noexcept nogil:
    cdef i64* numbers = <i64*>total
    cdef i64 i
    for i in range(<i64>(sizeof(Totals) // sizeof(i64))):
        numbers[i] += (<i64*>other)[i]
