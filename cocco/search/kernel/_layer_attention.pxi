# The loop order of an attention: simulator/model/layer/attention.py

cdef void tiles_blocks(LoopLayer* layer, Grid* grid, Mode* mode, i64 block, LoopPlan* plan) noexcept nogil:
    cdef i64 blocks = ceil_div(layer.keys, block), cells = tile_area(grid)
    cdef i64 held = mode.held * layer.part.room + cells * results_of(layer, block)
    cdef i64 rows = layer.output_elements // layer.part.outputs
    cdef i64 scores = (blocks - 1) * row_bytes(block, layer.bits.output)
    cdef i64 sums = layer.bits.sum_bytes * (blocks - 1) * (layer.output_elements + 2 * rows)
    cdef Loops loops = loops_of(1, layer.part.outputs, block, layer.part.outputs, 1, 0)
    cdef Moved moved
    held += cells * position_bytes(layer, blocks > 1)
    scores = rows * (scores + row_bytes(layer.keys - (blocks - 1) * block, layer.bits.output))
    moved = moved_of(
        layer.coming * (1 if blocks == 1 else grid_tiles(grid)), layer.loaded * mode.reads,
        layer.window_bytes * grid_windows(grid) * blocks + 2 * (scores + sums), layer.weights * grid_tiles(grid),
        scores + sums,
    )
    plan_of(layer, TB, mode, grid, &loops, held, keys_bytes(layer, block), &moved, plan)
    plan.totals.rescalings = layer.repeat * layer.batch * (blocks - 1) * (layer.output_elements + rows)


cdef inline i64 keys_bytes(LoopLayer* layer, i64 count) noexcept nogil:
    if not layer.coming:
        return 0
    return count * (
        row_bytes(round_up(layer, layer.part.reduction), layer.bits.weights)
        + row_bytes(round_up(layer, layer.part.outputs), layer.bits.weights)
    )


cdef inline i64 position_bytes(LoopLayer* layer, bint has_sums) noexcept nogil:
    """What a row of a head takes beside queries and scores."""
    if has_sums:
        return layer.bits.sum_bytes * (round_up(layer, layer.part.outputs) + 2)
    return 0 if layer.stays.output else results_of(layer, layer.part.outputs)


cdef void attention_plans(Place* at) noexcept nogil:
    """plans_of_tile"""
    cdef LoopLayer* layer = at.layer
    cdef i64 cells = tile_area(at.grid), words = ceil_div(layer.keys, layer.word), blocks
    cdef Mode modes[3]
    cdef Room left
    cdef LoopPlan plan
    modes_of(at.grid, modes)
    tiles_blocks(layer, at.grid, &modes[0], layer.keys, &plan)
    if holds(&at.room, plan.activations, plan.weights):
        offer_at(at, &modes[0], &plan)
    left = without(at.room, modes[0].held * layer.part.room + cells * position_bytes(layer, True), 0)
    blocks = most(&left, cells * results_of(layer, layer.word) + keys_bytes(layer, layer.word), 0)
    blocks = imin(blocks, words - 1)
    if blocks > 0:
        tiles_blocks(layer, at.grid, &modes[0], ceil_div(words, ceil_div(words, blocks)) * layer.word, &plan)
        offer_at(at, &modes[0], &plan)
