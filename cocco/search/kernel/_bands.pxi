# Columns shared by the cores of a team: simulator/model/schemes/bands.py, and the sweeps of columns.py

cdef struct Band:  # counted from the border where its core begins, in the direction of its sweep
    i64 border
    i64 late
    i64 stop
    i64 is_mirrored


cdef struct Sweep:  # the updates of one core along the columns of a layer
    Band band
    i64 first           # where the first that makes something ends
    i64 step
    i64 times


cdef int derive_bands(Net* net, Machine* m, Work* w) noexcept nogil:
    """The columns between borders, in w.unit and w.most; SHORT where columns cannot be shared. Rates are known."""
    cdef i64 u, t, unit = 1
    cdef long long product
    if w.has_whole:
        return SHORT
    for u in range(w.tensors):
        unit = imax(unit, ceil_div(net.extent[1][w.ids[u]], w.rate[1][u]))
    unit = ceil_div(unit, m.bands)
    for u in range(w.tensors):
        t = w.ids[u]
        if mul_overflows(w.rate[1][u], unit, &product) or product > (<i64>1 << 40):
            return OVERFLOW
        w.unit[u] = product
        w.most[u] = imin(net.extent[1][t], w.unit[u])
    return FITS


cdef bint any_border(Net* net, Work* w) noexcept nogil:
    """Whether more than one core has columns of some layer."""
    cdef i64 v
    for v in range(w.layers):
        if w.unit[v] < net.extent[1][w.ids[v]]:
            return True
    return False


cdef int sweep_both_ways(Net* net, Work* w) noexcept nogil:
    """simulator.model.schemes.bands._both_ways: leads and sizes of columns, whose steps are known."""
    cdef Axis* a = &w.axis[1]
    cdef i64 i, u, v, k, gv, each, pad, stride, spread, reach, lead, oldest, value
    for i in range(w.tensors):
        u = w.layers - 1 - i if i < w.layers else i
        lead = oldest = 0
        for k in range(w.first[u], w.first[u + 1]):
            v = w.reader[k]
            gv = w.ids[v]
            stride, spread, reach = net.stride[1][gv], net.upsample[1][gv], net.reach[1][gv]
            for each in range(2):
                pad = net.padding[1][gv]
                if each:
                    pad = reach + spread - 1 - stride - pad
                value = ceil_div(reach + (a.lead[v] - 1) * stride - pad, spread)
                lead = value if k == w.first[u] and not each else imax(lead, value)
                value = ceil_div(a.lead[v] * stride - pad, spread)
                oldest = value if k == w.first[u] and not each else imin(oldest, value)
        if lead > (<i64>1 << 40) or oldest < -(<i64>1 << 40):
            return OVERFLOW
        a.lead[u] = lead
        a.size[u] = a.step[u]
        if w.first[u] < w.first[u + 1]:
            a.size[u] = imax(a.step[u], a.step[u] + lead - oldest)
    return FITS


cdef inline Band band_of(Work* w, i64 u, i64 core, i64 width) noexcept nogil:
    """simulator.model.schemes.bands.Bands.of."""
    cdef Band band
    cdef i64 unit = w.unit[u]
    band.is_mirrored = core % 2
    if band.is_mirrored:
        band.border, band.stop = unit * (core + 1), unit
        band.late = imin(unit, imax(0, band.border - width))
    else:
        band.border, band.late = unit * core, 0
        band.stop = imin(unit, imax(0, width - band.border))
    return band


cdef bint takes_all(Net* net, Work* w) noexcept nogil:
    """simulator.model.schemes.columns._takes_all."""
    cdef i64 u
    for u in range(w.tensors):
        if w.first[u] < w.first[u + 1]:
            if imin(w.axis[1].step[u] + w.axis[1].lead[u], w.most[u]) > imin(w.axis[1].size[u], w.most[u]):
                return False
    return True


cdef Sweep sweep_of(Net* net, Work* w, i64 v, i64 core, bint is_full) noexcept nogil:
    """simulator.model.schemes.columns._sweep_of."""
    cdef i64 step = w.axis[1].step[v], lead = w.axis[1].lead[v], extent, update
    cdef Sweep sweep
    sweep.band = band_of(w, v, core, net.extent[1][w.ids[v]])
    extent = sweep.band.stop - sweep.band.late
    if w.alone:
        sweep.first, sweep.step = sweep.band.stop, imax(1, extent)
    else:
        update = 1 if is_full else imin(1, -floor_div(lead, step))
        update = imax(update, floor_div(sweep.band.late - lead, step) + 1)
        sweep.first, sweep.step = step * update + lead, step
    sweep.times = 1 + imax(0, ceil_div(sweep.band.stop - sweep.first, sweep.step)) if extent else 0
    return sweep
