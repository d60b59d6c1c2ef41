# Layers as their loops see them beside kept tensors: simulator.model.layer.loops.loop_layer with Kept

cdef LoopLayer layer_beside(
    Net* net, KeptLayer* also, LoopLayer* plain, Kept* kept, i64* spare
) noexcept nogil:
    """A layer, or a nest, where these tensors stay; spare: room for its producers and four numbers of each whole map."""
    cdef LoopLayer layer = plain[0]
    cdef i64 i, u, size
    if layer.is_large:  # has nothing but that, and is answered by the readable code
        return layer
    layer.passing, layer.broadcast = spare, <Map*>(spare + layer.producer_count)
    layer.loaded = layer.operands_loaded = layer.broadcast_count = layer.unmet_bytes = layer.stays.arriving_bytes = 0
    layer.most_bits = 0
    for i in range(layer.producer_count):
        layer.passing[i] = 0 if has(kept.on_chip, also.producers[i]) else layer.producers[i]
        if layer.passing[i]:
            size = row_bytes(layer.passing[i], layer.producer_bits[i])
            layer.loaded += size
            layer.unmet_bytes += also.holes * size * also.is_new[i]
            layer.most_bits = imax(layer.most_bits, layer.producer_bits[i])
    layer.most_bits = layer.most_bits or 8
    for i in range(also.place_count):
        layer.operands_loaded += row_bytes(layer.passing[also.places[i]], layer.producer_bits[also.places[i]])
    for i in range(layer.whole_count):
        if not has(kept.on_chip, also.whole[i]):
            layer.broadcast[layer.broadcast_count] = layer.whole[i]
            layer.broadcast_count += 1
    for i in range(also.input_count):
        u = also.inputs[i]
        if has(kept.on_chip, u) and has(kept.loaded, u):
            layer.stays.arriving_bytes += net.size_bytes[u]
    if also.other_count or also.leaving_count:
        stay_beside(net, &layer, also, kept)
    stay_second(net, &layer, also, kept)
    layer.stays.output, layer.stays.is_written = has(kept.on_chip, also.made), has(kept.written, also.made)
    layer.part.room = part_channels(&layer, also)
    return layer


cdef void stay_beside(Net* net, LoopLayer* layer, KeptLayer* also, Kept* kept) noexcept nogil:
    """What layers that follow read and make of what is not on chip: simulator.model.nests.epilogue."""
    cdef i64 i, word = 0
    layer.epilogue.room = layer.epilogue.loaded = layer.epilogue.left = 0
    for i in range(also.other_count):
        if not has(kept.on_chip, also.others[i][0]):
            layer.epilogue.loaded += also.others[i][1]
            layer.epilogue.room += also.others[i][2]
            word = imax(word, also.others[i][3])
    layer.epilogue.room += word
    for i in range(also.leaving_count):
        if has(kept.written, also.leaving[i]):
            layer.epilogue.left += net.size_bytes[also.leaving[i]]


cdef void stay_second(Net* net, LoopLayer* layer, KeptLayer* also, Kept* kept) noexcept nogil:
    """What of the second operand of a product is on chip."""
    cdef i64 i, row = 0
    cdef i64 (*rows)[2]
    layer.coming, layer.stays.second_count = layer.weights, 0
    for i in range(also.second_count):
        if has(kept.on_chip, also.second[i]):
            layer.coming -= net.size_bytes[also.second[i]]
            rows = &layer.stays.second_rows[layer.stays.second_count]
            rows[0][0], rows[0][1] = row, row + also.second_rows[i]
            layer.stays.second_count += 1
        row += also.second_rows[i]
    layer.has_second = not layer.coming and layer.weights


cdef i64 part_channels(LoopLayer* layer, KeptLayer* also) noexcept nogil:
    """simulator.model.layer.loops._part: bytes of a position of what comes from DRAM, of a part, in words."""
    cdef i64 i, first, begin, end, overlap, size, most = 0, total = 0
    if also.groups == 1:
        for i in range(layer.producer_count):
            most += ceil_div(layer.passing[i], layer.word) * row_bytes(layer.word, layer.producer_bits[i])
        return most
    if layer.part.reduction == 1:
        return row_bytes(layer.word, layer.most_bits) if layer.loaded else 0
    for i in range(layer.producer_count):
        total += layer.producers[i]
    first = 0
    while first < total:
        size = begin = 0
        for i in range(layer.producer_count):
            end = begin + layer.producers[i]
            overlap = imin(end, first + layer.part.reduction) - imax(begin, first)
            if layer.passing[i] and overlap > 0:
                size += ceil_div(overlap, layer.word) * row_bytes(layer.word, layer.producer_bits[i])
            begin = end
        most = imax(most, size)
        first += layer.part.reduction
    return most


def _kept_numbers(network, layer, operands, found, first_input, offset):
    """Return what a KeptLayer points to, and its numbers: tensors are ids of the union.

    found: the layer that reads these operands; of a nest, the one that it is taken for (Nest.layer).
    """
    from workloads.network.layers.ops import PRODUCT_OPS

    def union(u):
        return offset + u if u < len(network.layers) else first_input + u - len(network.layers)

    local = [u for i, u in enumerate(operands) if i not in found.whole]
    whole = list(dict.fromkeys(u for i, u in enumerate(operands) if i in found.whole and found.op not in PRODUCT_OPS))
    producers = local if layer.kind == "dense" and found.groups > 1 else list(dict.fromkeys(local))
    is_new = [u not in producers[:i] for i, u in enumerate(producers)]
    sizes = [bytes_of_row(*each) for each in zip(layer.producers, layer.producer_bits)]
    met = sum(size for size, new in zip(sizes, is_new) if new)
    seconds = operands[1:] if found.op in PRODUCT_OPS else ()
    seconds = [(union(u), network.tensors[u].height * network.tensors[u].width // found.blocks) for u in seconds]
    holes = layer.unmet_bytes // met if met else 0
    inputs = list(map(union, dict.fromkeys(operands)))
    return [list(map(union, producers)), is_new, layer.operands, list(map(union, whole)), inputs], (
        len(seconds), holes, found.second_heads, *seconds
    )
