"""What the loops of an attention move, alone or with its projections, step by step."""

from __future__ import annotations

from simulator.integers import row_bytes
from simulator.model.layer.attention import most_seen, seen_from, seen_to
from simulator.model.layer.axes import WHOLE
from simulator.model.layer.loop_layer import LoopLayer, results_of, round_up
from simulator.model.layer.orders import LoopPlan, grid_of
from simulator.model.nests.by_heads import weights_of
from simulator.timing.layer.nest import Moves, Nest, Sizes
from simulator.timing.layer.passes import coming_rows, pieces, tiles_pass


def attention_moves(layer: LoopLayer, plan: LoopPlan) -> Moves:
    """TB: heads of samples; tiles of queries; blocks of keys and values. One block stays, and comes once."""
    if layer.sight.is_masked:
        return _masked_moves(layer, plan)
    part, blocks = layer.part, pieces(layer.keys, plan.slice)
    heads = layer.outputs // part.outputs
    rows, columns = tiles_pass(layer.rows, plan.tile[0]), tiles_pass(layer.columns, plan.tile[1])
    nest = Nest({
        "repeat": layer.repeat, "heads": heads, "rows": len(rows.met), "columns": len(columns.met),
        "blocks": len(blocks),
    })  # fmt: skip
    tiles: dict[str, Sizes] = {"rows": rows.outputs, "columns": columns.outputs}
    first, last = tiles | {"blocks": "first"}, tiles | {"blocks": "last"}
    once: dict[str, Sizes] = {"rows": "first", "columns": "first"} if len(blocks) == 1 else {}
    inputs, ahead = [], []
    if layer.loaded:
        inputs.append(nest.term(first, layer.loaded, heads))
        ahead.append(nest.term(first, part.room))
    for first_row, channels in ((0, part.reduction), (layer.keys, part.outputs)):
        passing = {"blocks": coming_rows(layer.stays.second_rows, blocks, first_row)} | once
        inputs.append(nest.term(passing, row_bytes(channels, layer.bits.weights)))
        ahead.append(nest.term(passing, row_bytes(round_up(layer, channels), layer.bits.weights)))
    outputs, behind = nest.term(last, part.outputs), nest.term(last, results_of(layer, part.outputs))
    return Moves(nest, inputs, [], [outputs], [nest.term(tiles | {"blocks": blocks})], ahead, [behind])


def _masked_moves(layer: LoopLayer, plan: LoopPlan) -> Moves:
    """The same with a mask: tiles have blocks of their own; what single blocks share with the tile before stays."""
    part, heads, total = layer.part, layer.outputs // layer.part.outputs, layer.rows.windows
    is_single, before, step, blocks = plan.slice >= most_seen(layer, grid_of(layer, plan.tile)), 0, plan.tile[0], []
    begun, made, work = list[int](), list[int](), list[int]()
    for first in range(0, total, step):
        rows = min(step, total - first)
        start, stop = seen_from(layer, first), seen_to(layer, first + rows - 1)
        for at in range(start, stop, plan.slice):
            end = min(at + plan.slice, stop)
            begun.append(rows * (at == start))
            made.append(rows * (end == stop))
            work.append(rows * (end - at))
            blocks.append((max(at, before) if is_single else at, end))
        before = stop
    nest = Nest({"repeat": layer.repeat, "heads": heads, "steps": len(blocks)})
    inputs, ahead = [], []
    if layer.loaded:
        inputs.append(nest.term({"steps": begun}, layer.loaded, heads))
        ahead.append(nest.term({"steps": begun}, part.room))
    for below, channels in ((0, part.reduction), (layer.keys, part.outputs)):
        coming = [
            coming_rows(layer.stays.second_rows, [end - at], below + at)[0] if end > at else 0 for at, end in blocks
        ]
        inputs.append(nest.term({"steps": coming}, row_bytes(channels, layer.bits.weights)))
        ahead.append(nest.term({"steps": coming}, row_bytes(round_up(layer, channels), layer.bits.weights)))
    outputs, behind = (nest.term({"steps": made}, size) for size in (part.outputs, results_of(layer, part.outputs)))
    return Moves(nest, inputs, [], [outputs], [nest.term({"steps": work})], ahead, [behind])


def heads_moves(layer: LoopLayer, plan: LoopPlan) -> Moves:
    """HP: samples; steps of heads of keys; heads of queries; tiles. What a head needs comes with its first tile."""
    heads, steps, is_whole = layer.heads, pieces(layer.heads.groups, plan.apart), plan.mode == WHOLE
    rows, part, together = tiles_pass(layer.rows, plan.tile[0]).outputs, layer.part, plan.apart * heads.sharing
    nest = Nest({"repeat": layer.repeat, "steps": len(steps), "heads": together, "tiles": len(rows)})
    step: dict[str, Sizes] = {"steps": steps, "heads": "first", "tiles": "first"}
    head: dict[str, Sizes] = {"steps": steps, "tiles": "first"}  # in each: what `together` heads of a full step share
    tile: dict[str, Sizes] = {"steps": steps, "tiles": rows}
    inputs, ahead, weights, start = [], [], [], step | {"steps": "first"}
    passing: dict[str, Sizes] = {"heads": "first", "tiles": "first"}
    for count, channels, bits in zip(heads.rows, layer.passing, layer.producer_bits):
        stay = count if is_whole else min(plan.kept, count)
        inputs += [nest.term(start, stay * row_bytes(channels, bits))]
        inputs += [nest.term(passing, (count - stay) * row_bytes(channels, bits))]
        room = row_bytes(round_up(layer, channels), bits)
        ahead += [nest.term(start, stay * room), nest.term(passing, (count - stay) * room)]
    work = [nest.term(tile, layer.keys * heads.sharing * (part.reduction + part.outputs), together)]
    for i, each in enumerate(heads.operands):
        often, size = heads.sharing if i == 0 else 1, weights_of(layer, i, 0)
        macs = heads.rows[each.source] * layer.producers[each.source] * each.width
        sizes, over = (head, together) if i == 0 and is_whole else (step, 1)
        weights.append(nest.term(sizes, size * often, over))
        work.append(nest.term(sizes, macs * often, over))
    left = nest.term(step, layer.epilogue.left, heads.groups)  # rows of keys and values that others read: they pass
    outputs = [left]
    if layer.stays.is_written:
        outputs.append(nest.term(tile, row_bytes(part.outputs, layer.bits.output) * heads.sharing, together))
    return Moves(
        nest, inputs, weights, outputs, work, ahead, [nest.term({"tiles": rows}, results_of(layer, part.outputs)), left]
    )
