# Tiles of a map: simulator/model/layer/orders.py

cdef inline i64 grid_tiles(Grid* grid) noexcept nogil:
    return grid.rows.tiles * grid.columns.tiles


cdef inline i64 grid_windows(Grid* grid) noexcept nogil:
    return grid.rows.visits * grid.columns.visits


cdef inline i64 grid_united(Grid* grid) noexcept nogil:
    return grid.rows.united * grid.columns.united


cdef inline i64 tile_area(Grid* grid) noexcept nogil:
    return grid.tile[0] * grid.tile[1]
