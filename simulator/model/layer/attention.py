"""The loop order of an attention: queries in tiles, keys and values in blocks, with a running softmax.

The scores of a tile of queries and a block of keys are held, one head at a time. From block to block each row keeps a
running maximum and sum, and the sums of its outputs; when the maximum grows, both sums are rescaled. Where every tile
has a single block nothing is carried over: the outputs are final. Query heads that share a head of keys count as more
rows, those of one position side by side.

With a mask the keys of a tile are those that some row of it sees, cut into blocks from the first of them. Within these
blocks scores of all pairs are held and copied, but a row computes only those of the keys that it sees. A tile with a
single block loads the keys that the tile before did not see: each comes once.

(Our choice, as for the loop order of any layer. The recurrence is that of Milakov and Gimelshein, arXiv:1805.02867.)
"""

from __future__ import annotations

from simulator.integers import ceil_div, row_bytes
from simulator.model.layer.axes import Grid
from simulator.model.layer.loop_layer import LoopLayer, results_of, round_up
from simulator.model.layer.orders import TB, LoopPlan, Loops, Moved, plan_of


def tiles_blocks(layer: LoopLayer, grid: Grid, block: int) -> LoopPlan:
    """TB: tiles; blocks. Each tile reads the keys and values of a head block by block; a single block stays."""
    outputs, mode, heads = layer.part.outputs, grid.modes[0], layer.outputs // layer.part.outputs
    step, most, cells, scores, carried, seen, reads = rows_alike(layer, grid), most_seen(layer, grid), 0, 0, 0, 0, 0
    block = min(block, most)
    for i in range(ceil_div(layer.rows.windows, step)):
        rows = min(step, layer.rows.windows - i * step)
        start, stop = seen_from(layer, i * step), seen_to(layer, i * step + rows - 1)
        tiles, area = grid.tiles if step > grid.tile[0] else 1, heads * rows * layer.columns.windows
        blocks = ceil_div(stop - start, block)
        last = stop - start - (blocks - 1) * block
        cells += area * blocks
        scores += area * ((blocks - 1) * row_bytes(block, layer.bits.output) + row_bytes(last, layer.bits.output))
        carried += area * (blocks - 1)
        seen += tiles * (stop - start)
        reads += tiles * coming_bytes(layer, start, stop)
    copied = scores + layer.bits.sum_bytes * carried * (outputs + 2)  # of sums, written and read again
    traffic = layer.window_bytes * (cells // heads) + 2 * copied
    moved = Moved(
        layer.coming if block == most else reads, layer.loaded * mode.reads, traffic,
        layer.weights // layer.keys * seen, copied, carried * (outputs + 1),
    )  # fmt: skip
    held = mode.held * layer.part.room + scores_bytes(layer, grid, block)
    held += grid.area * position_bytes(layer, block < most)
    loops = Loops(1, outputs, block, outputs, 1, 0)
    return plan_of(layer, TB, mode.name, grid, loops, held, keys_bytes(layer, block), moved)


def rows_alike(layer: LoopLayer, grid: Grid) -> int:
    """Return how many rows are looked at together: a tile of them with a mask, else all, which see all keys."""
    return grid.tile[0] if layer.sight.is_masked else max(layer.rows.windows, grid.tile[0] + 1)


def place_of(layer: LoopLayer, row: int) -> int:
    """Return the position of a row of queries: they are the last of the keys' positions."""
    return layer.keys - layer.rows.windows // layer.sight.together + row // layer.sight.together


def seen_from(layer: LoopLayer, row: int) -> int:
    """Return the first key that a row sees."""
    if not layer.sight.is_masked:
        return 0
    place = place_of(layer, row)
    first = max(0, place - layer.sight.behind)
    return max(first, place - place % layer.sight.chunk) if layer.sight.chunk > 0 else first


def seen_to(layer: LoopLayer, row: int) -> int:
    """Return the last key that a row sees, + 1."""
    if not layer.sight.is_masked:
        return layer.keys
    place = place_of(layer, row)
    stop = min(layer.keys, place + layer.sight.ahead + 1)
    return min(stop, place - place % layer.sight.chunk + layer.sight.chunk) if layer.sight.chunk > 0 else stop


def most_seen(layer: LoopLayer, grid: Grid) -> int:
    """Return the most keys that the rows of a tile see."""
    step, most = rows_alike(layer, grid), 0
    for i in range(ceil_div(layer.rows.windows, step)):
        last = min((i + 1) * step, layer.rows.windows) - 1
        most = max(most, seen_to(layer, last) - seen_from(layer, i * step))
    return most


def scores_bytes(layer: LoopLayer, grid: Grid, block: int) -> int:
    """Return the bytes that the scores of a tile and a block of keys take, at most."""
    if not layer.sight.is_masked:
        return grid.area * results_of(layer, block)
    step, most = grid.tile[0], 0
    for i in range(ceil_div(layer.rows.windows, step)):
        rows = min(step, layer.rows.windows - i * step)
        seen = seen_to(layer, i * step + rows - 1) - seen_from(layer, i * step)
        most = max(most, rows * results_of(layer, min(block, seen)))
    return most


def coming_bytes(layer: LoopLayer, start: int, stop: int) -> int:
    """Return the bytes of these keys and values of all heads that are not on chip."""
    heads, bits, found = layer.outputs // layer.part.outputs, layer.bits.weights, 0
    for values in range(2):
        first, count = start + values * layer.keys, stop - start
        for i in range(layer.stays.second_count):
            last = min(layer.stays.second_rows[i][1], first + stop - start)
            count -= max(0, last - max(layer.stays.second_rows[i][0], first))
        found += count * heads * row_bytes(layer.part.outputs if values else layer.part.reduction, bits)
    return found


def keys_bytes(layer: LoopLayer, count: int) -> int:
    """Return the bytes that this many keys and values of a head take; 0 where all of them are on chip anyway."""
    if layer.has_second:
        return 0
    keys = row_bytes(round_up(layer, layer.part.reduction), layer.bits.weights)
    return count * (keys + row_bytes(round_up(layer, layer.part.outputs), layer.bits.weights))


def position_bytes(layer: LoopLayer, has_sums: bool) -> int:
    """Return the bytes of a head's row besides queries and scores: outputs, or sums with a running maximum and sum."""
    if has_sums:
        return layer.bits.sum_bytes * (round_up(layer, layer.part.outputs) + 2)
    return 0 if layer.stays.output else results_of(layer, layer.part.outputs)
