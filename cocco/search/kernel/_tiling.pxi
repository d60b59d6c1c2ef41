# Tiles and regions of a subgraph: simulator/model/subgraph/tiling.py, regions.py

cdef inline void multiply(i64* numerator, i64* denominator, i64 times, i64 over) noexcept nogil:
    """A reduced fraction by times / over, reduced again."""
    cdef i64 g = gcd(times, over)
    times, over = times // g, over // g
    g = gcd(numerator[0], over)
    numerator[0], over = numerator[0] // g, over // g
    g = gcd(denominator[0], times)
    denominator[0], times = denominator[0] // g, times // g
    numerator[0] *= times
    denominator[0] *= over


cdef int spread_rates(Net* net, Work* w, int axis) noexcept nogil:
    """simulator.model.subgraph.tiling.derive_rates: SHORT where strides disagree."""
    cdef i64 n = w.tensors, root, top, u, v, j, k, component = 0, num, den, scale, common, p, begin
    cdef i64* comp = w.component[axis]
    cdef i64* rate = w.rate[axis]
    cdef i64* stride = net.stride[axis]
    cdef i64* upsample = net.upsample[axis]
    cdef int overflow = 0
    cdef long long product
    for u in range(n):
        comp[u] = -1
    for root in range(n):
        if comp[root] >= 0:
            continue
        comp[root] = component
        w.numerator[root] = w.denominator[root] = 1
        w.stack[0] = root
        begin, top = 0, 1  # stack[0:top] lists the component
        while begin < top:
            u = w.stack[begin]
            begin += 1
            for k in range(w.first[u], w.first[u + 1]):  # its readers: rate * upsample / stride
                if not w.is_local[k]:
                    continue
                v = w.reader[k]
                num, den = w.numerator[u], w.denominator[u]
                multiply(&num, &den, upsample[w.ids[v]], stride[w.ids[v]])
                if comp[v] < 0:
                    comp[v] = component
                    w.numerator[v], w.denominator[v] = num, den
                    w.stack[top] = v
                    top += 1
                elif w.numerator[v] != num or w.denominator[v] != den:
                    return SHORT
                if num > (<i64>1 << 40) or den > (<i64>1 << 40):
                    return OVERFLOW
            if u < w.layers:  # its producers: rate * stride / upsample
                for j in range(net.producer_start[w.ids[u]], net.producer_start[w.ids[u] + 1]):
                    p = w.local[net.producers[j]]
                    for k in range(w.first[p], w.first[p + 1]):
                        if w.reader[k] == u and w.is_local[k]:
                            num, den = w.numerator[u], w.denominator[u]
                            multiply(&num, &den, stride[w.ids[u]], upsample[w.ids[u]])
                            if comp[p] < 0:
                                comp[p] = component
                                w.numerator[p], w.denominator[p] = num, den
                                w.stack[top] = p
                                top += 1
                            elif w.numerator[p] != num or w.denominator[p] != den:
                                return SHORT
                            if num > (<i64>1 << 40) or den > (<i64>1 << 40):
                                return OVERFLOW
                            break
        scale = 1
        for j in range(top):
            scale = lcm_within(scale, w.denominator[w.stack[j]], &overflow)
        common = 0
        for j in range(top):
            u = w.stack[j]
            if mul_overflows(w.numerator[u], scale // w.denominator[u], &product):
                return OVERFLOW
            rate[u] = product
            common = gcd(rate[u], common)
        for j in range(top):
            rate[w.stack[j]] //= common
        if overflow:
            return OVERFLOW
        component += 1
    return FITS


cdef int spread_all_rates(Net* net, Work* w) noexcept nogil:
    """Of both axes; where columns are as rows, those of rows. SHORT also where a layer runs in no subgraph of several."""
    cdef i64 i
    cdef int status = FITS
    for i in range(w.layers if w.layers > 1 else 0):
        if net.alone[w.ids[i]]:
            return SHORT
    status = spread_rates(net, w, 0)
    if status != FITS or not w.is_square:
        return status if status != FITS else spread_rates(net, w, 1)
    memcpy(w.component[1], w.component[0], w.tensors * sizeof(i64))
    memcpy(w.rate[1], w.rate[0], w.tensors * sizeof(i64))
    return FITS


cdef int derive_tiles(Net* net, Work* w, int axis, i64 tile, i64 is_exact) noexcept nogil:
    """simulator.model.subgraph.tiling.derive_tiles for rates that are known."""
    cdef i64 n = w.tensors, i, u, v, k, gv, value, early, wanted, has, oldest
    cdef i64* extent = net.extent[axis]
    cdef i64* stride = net.stride[axis]
    cdef i64* upsample = net.upsample[axis]
    cdef i64* reach = net.reach[axis]
    cdef i64* padding = net.padding[axis]
    cdef Axis* a = &w.axis[axis]
    cdef int overflow = 0
    cdef long long product
    for i in range(n):
        u = w.layers - 1 - i if i < w.layers else i
        if w.first[u] == w.first[u + 1]:
            a.step[u] = tile
        elif w.any_whole[u]:
            a.step[u] = extent[w.ids[u]]
        else:
            value = 1
            for k in range(w.first[u], w.first[u + 1]):
                v = w.reader[k]
                if mul_overflows(a.step[v], stride[w.ids[v]], &product):
                    return OVERFLOW
                value = lcm_within(value, product // gcd(product, upsample[w.ids[v]]), &overflow)
            a.step[u] = value
    for u in range(n):
        w.length[w.component[axis][u]] = 1
    for u in range(n):
        value = w.component[axis][u]
        w.length[value] = lcm_within(w.length[value], a.step[u] // gcd(a.step[u], w.rate[axis][u]), &overflow)
    for u in range(n):
        if mul_overflows(w.rate[axis][u], w.length[w.component[axis][u]], &product):
            return OVERFLOW
        a.updates[u] = product // a.step[u]
    if overflow:
        return OVERFLOW
    for i in range(n):
        u = w.layers - 1 - i if i < w.layers else i
        has = 0
        wanted = 0
        for k in range(w.first[u], w.first[u + 1]):
            v = w.reader[k]
            gv = w.ids[v]
            if w.is_local[k]:
                value = ceil_div(stride[gv] * a.lead[v] + reach[gv] - stride[gv] - padding[gv], upsample[gv])
                wanted = imax(wanted, value) if has else value
                has = 1
            if w.any_whole[u]:
                early = imax(0, ceil_div(a.lead[v], a.step[v]))
                if mul_overflows(early, a.updates[u], &product) or product > (<i64>1 << 40):
                    return OVERFLOW
                if mul_overflows(a.step[u], ceil_div(product, a.updates[v]), &product):
                    return OVERFLOW
                wanted = imax(wanted, product) if has else product
                has = 1
        if wanted > (<i64>1 << 40) or wanted < -(<i64>1 << 40):
            return OVERFLOW
        a.lead[u] = wanted
    if not is_exact:
        for u in range(n):
            if w.any_whole[u]:
                a.size[u] = extent[w.ids[u]]
                continue
            value = a.step[u]
            for k in range(w.first[u], w.first[u + 1]):
                gv = w.ids[w.reader[k]]
                value = imax(value, a.step[u] + ceil_div(reach[gv] - stride[gv], upsample[gv]))
            a.size[u] = value
        return FITS
    for u in range(n):
        if w.first[u] == w.first[u + 1]:
            a.size[u] = a.step[u]
        elif w.any_whole[u]:
            a.size[u] = extent[w.ids[u]]
        else:
            has = 0
            oldest = 0
            for k in range(w.first[u], w.first[u + 1]):
                v = w.reader[k]
                gv = w.ids[v]
                value = ceil_div(stride[gv] * a.lead[v] - padding[gv], upsample[gv])
                oldest = imin(oldest, value) if has else value
                has = 1
            a.size[u] = imax(a.step[u], a.step[u] + a.lead[u] - oldest)
    return FITS


cdef int derive_tiling(Net* net, Machine* m, Work* w, i64 rows, i64 columns) noexcept nogil:
    """simulator.model.subgraph.regions.derive_tiling, or schemes.bands.mirrored_tiling where columns are shared."""
    cdef int status
    cdef i64 u, n = w.tensors, alone = 1
    cdef long long product
    status = derive_tiles(net, w, 0, rows, m.is_exact)
    if status != FITS:
        return status
    if w.is_square and rows == columns:
        memcpy(w.axis[1].step, w.axis[0].step, n * sizeof(i64))
        memcpy(w.axis[1].size, w.axis[0].size, n * sizeof(i64))
        memcpy(w.axis[1].lead, w.axis[0].lead, n * sizeof(i64))
        memcpy(w.axis[1].updates, w.axis[0].updates, n * sizeof(i64))
        if w.way == COLUMNS:
            status = sweep_both_ways(net, w)
    elif w.columns != columns:
        status = derive_tiles(net, w, 1, columns, m.is_exact)
        if status == FITS and w.way == COLUMNS:
            status = sweep_both_ways(net, w)
    if status != FITS:
        return status
    w.columns = columns
    for u in range(n):
        if w.axis[1].size[u] < (w.most[u] if w.way == COLUMNS else net.extent[1][w.ids[u]]):
            alone = 0
            break
    w.alone = alone
    for u in range(n):
        product = w.axis[0].step[u]
        if not alone and (mul_overflows(w.axis[0].updates[u], product, &product) or product > (<i64>1 << 60)):
            return OVERFLOW
        w.merged[u] = product
        w.held[u] = w.axis[0].size[u]
        if m.is_exact and w.first[u] < w.first[u + 1]:
            w.held[u] += product - w.axis[0].step[u]
    w.one_operation = 0
    if not w.has_whole:
        for u in range(n):
            if w.held[u] < net.extent[0][w.ids[u]]:
                break
        else:
            w.one_operation = 1
    return FITS


cdef i64 allocate_regions(Net* net, Machine* m, Work* w) noexcept nogil:
    """simulator.model.subgraph.regions.allocate_regions; return the bytes of all regions."""
    cdef i64 u, t, n = w.tensors, band, element, height, overlap, total = 0
    cdef i64 cores = m.cores if w.way == CHANNELS else 1
    for u in range(n):
        t = w.ids[u]
        height = net.extent[0][t]
        band = w.most[u] if w.way == COLUMNS else net.extent[1][t]
        element = element_bytes(net, m, t, w.groups, cores)
        w.main_rows[u] = imin(w.held[u], height)
        w.main_columns[u] = imin(w.axis[1].size[u], band)
        w.side_rows[u] = w.side_columns[u] = 0
        overlap = w.axis[0].size[u] - w.axis[0].step[u]
        if w.first[u] < w.first[u + 1] and w.axis[1].size[u] < band and overlap > 0:
            if m.is_exact and not w.one_operation:
                w.side_rows[u], w.side_columns[u] = imin(overlap, height), band
            elif not m.is_exact and w.axis[0].size[u] < height:
                w.side_rows[u], w.side_columns[u] = overlap, band
        if is_on_chip(w, u):  # it has its whole map, and takes nothing here
            w.main_rows[u], w.main_columns[u] = height, band
            w.side_rows[u] = w.side_columns[u] = w.main_bytes[u] = w.side_bytes[u] = 0
            continue
        w.main_bytes[u] = w.main_rows[u] * w.main_columns[u] * element
        w.side_bytes[u] = w.side_rows[u] * w.side_columns[u] * element
        total += w.main_bytes[u] + w.side_bytes[u]
    return total
