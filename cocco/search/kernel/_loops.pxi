# A layer as its loops see it: simulator/model/layer/loop_layer.py; axes.py counts what the tiles meet (_layers.pxi)

cdef enum:  # simulator.model.layer.loops.KINDS, in its order
    DENSE = 0
    TRANSPOSED = 1
    PRODUCT = 2
    APART = 3
    JOIN = 4
    MIXED = 5
    COPY = 6
    NORM = 7
    ATTENTION = 8


cdef enum:
    MOST_SECOND = 4     # inputs held as weights are: workloads.network.layers.attention.MOST_INPUTS without the queries


cdef enum:  # what comes once for all cores: simulator.model.layer.loops.Shared, in its order
    NOTHING_SHARED = 0
    INPUTS_SHARED = 1
    WEIGHTS_SHARED = 2
    ALL_SHARED = 3


cdef struct Met:  # what the tiles of an axis meet, in rows of the input
    i64 tiles
    i64 visits
    i64 most
    i64 united          # `union` there, a word of C
    i64 ring
    i64 live


cdef struct Grid:  # the tiles of a map: simulator.model.layer.orders.Grid
    i64 tile[2]
    Met rows
    Met columns


cdef struct Part:  # the channels that run together
    i64 channels        # as bytes
    i64 outputs
    i64 words           # of outputs
    i64 reduction
    i64 unit_count
    i64* units          # words of inputs, how many parts of the layer have so many


cdef struct LoopLayer:
    i64 kind
    i64 windows[2]      # rows and columns of the output
    i64 taps            # rows x columns of a window
    i64 producer_count
    i64* producers
    i64* producer_bits
    i64 channels        # of all of them, as bytes
    i64 often           # simulator.model.layer.groups.most_often
    i64 operand_channels  # of all operands, as bytes: a producer again for each that it is
    i64* passing        # per producer its channels, 0 where it stays on chip: simulator.model.layer.loops.Stays, as all below
    i64 loaded          # bytes of a position that come from DRAM
    i64 operands_loaded
    i64 broadcast_count
    i64* broadcast      # what of `whole` comes from DRAM
    i64 most_bits       # of a producer that does
    i64 coming          # of the weights, or of a second operand what is not on chip
    i64 second_count    # runs of its rows that are
    i64 second_first[MOST_SECOND]
    i64 second_end[MOST_SECOND]
    i64 is_output_kept
    i64 is_written
    i64 arriving_bytes
    Part part
    i64 outputs
    i64 output_bytes
    i64 output_elements
    i64 output_bits
    i64 sum_bytes
    i64 weight_bits     # or of the second operand of a product
    i64 used            # experts whose weights are loaded, for each so many
    i64 active          # that take part
    i64 weights
    i64 whole_count
    i64* whole          # rows, columns, channels, bits
    i64 unmet_bytes
    i64 batch
    i64 repeat
    i64 word
    i64 at_most
    i64 flying          # simulator.model.layer.loops.in_flight of the rows
    i64 additions
    Met row             # tiles of one row
    i64 grid_count
    Grid* grids         # of the tiles tried: simulator.model.layer.cheapest.tiles_of; the first is the whole map
    i64 is_large        # 64 bits may not hold what a plan moves
    i64 cores           # simulator.model.layer.loops.Team, as all below
    i64 alike
    i64 shared
    i64 other_count
    LoopLayer* others   # each with the number of its cores in `alike`
    i64 keys            # positions of keys, and of values


cdef inline i64 is_product(LoopLayer* layer) noexcept nogil:
    return layer.kind == TRANSPOSED or layer.kind == PRODUCT or layer.kind == ATTENTION


cdef inline i64 round_up(LoopLayer* layer, i64 channels) noexcept nogil:
    return ceil_div(channels, layer.word) * layer.word


cdef inline i64 results_of(LoopLayer* layer, i64 channels) noexcept nogil:
    """LoopLayer.results"""
    return row_bytes(round_up(layer, channels), layer.output_bits)


cdef inline i64 inputs_of(LoopLayer* layer, i64 channels) noexcept nogil:
    """LoopLayer.inputs"""
    return row_bytes(round_up(layer, channels), layer.most_bits)


cdef inline i64 stationary_bytes(LoopLayer* layer, i64 outputs, i64 inputs) noexcept nogil:
    if not layer.coming and layer.weights:  # has_second
        return 0
    if layer.kind == TRANSPOSED:
        return outputs * row_bytes(round_up(layer, inputs), layer.weight_bits)
    if layer.kind == PRODUCT:
        return inputs * row_bytes(round_up(layer, outputs), layer.weight_bits)
    if layer.used == layer.active:
        return row_bytes(outputs * inputs * layer.taps, layer.weight_bits)
    return ceil_div(outputs * inputs * layer.taps * layer.weight_bits * layer.used, 8 * layer.active)


cdef i64 coming_after(LoopLayer* layer, i64 outputs) noexcept nogil:
    """LoopLayer.coming_after"""
    cdef i64 after = layer.weights * (layer.part.outputs - outputs) // layer.part.outputs, there = 0, i
    if layer.kind != TRANSPOSED:
        return after * layer.coming // layer.weights if layer.coming < layer.weights else after
    for i in range(layer.second_count):
        there += imax(0, layer.second_end[i] - imax(layer.second_first[i], outputs))
    return after - layer.weights * there // layer.part.outputs


cdef inline i64 grid_tiles(Grid* grid) noexcept nogil:
    return grid.rows.tiles * grid.columns.tiles


cdef inline i64 grid_windows(Grid* grid) noexcept nogil:
    return grid.rows.visits * grid.columns.visits


cdef inline i64 grid_united(Grid* grid) noexcept nogil:
    return grid.rows.united * grid.columns.united


cdef inline i64 tile_area(Grid* grid) noexcept nogil:
    return grid.tile[0] * grid.tile[1]
