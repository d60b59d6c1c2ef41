"""What the loops of an attention move, step by step (simulator/model/layer/attention.py has the order)."""

from __future__ import annotations

from simulator.model.layer.attention import keys_bytes
from simulator.model.layer.loop_layer import LoopLayer, results_of
from simulator.model.layer.orders import LoopPlan
from simulator.timing.layer.nest import Moves, Nest, Sizes
from simulator.timing.layer.passes import pieces, tiles_pass


def attention_moves(layer: LoopLayer, plan: LoopPlan) -> Moves:
    """TB: heads of samples; tiles of queries; blocks of keys and values. One block stays, and comes once."""
    part, blocks = layer.part, pieces(layer.keys, plan.slice)
    heads = layer.outputs // part.outputs
    rows, columns = tiles_pass(layer.rows, plan.tile[0]), tiles_pass(layer.columns, plan.tile[1])
    nest = Nest({
        "repeat": layer.repeat, "heads": heads, "rows": len(rows.met), "columns": len(columns.met),
        "blocks": len(blocks),
    })  # fmt: skip
    tiles: dict[str, Sizes] = {"rows": rows.outputs, "columns": columns.outputs}
    first, last = tiles | {"blocks": "first"}, tiles | {"blocks": "last"}
    passing: dict[str, Sizes] = {"blocks": blocks}
    if len(blocks) == 1:
        passing |= {"rows": "first", "columns": "first"}
    inputs, ahead = [], []
    if layer.loaded:
        inputs.append(nest.term(first, layer.loaded, heads))
        ahead.append(nest.term(first, part.room))
    if layer.coming:
        inputs.append(nest.term(passing, layer.coming, heads * layer.keys))
        ahead.append(nest.term(passing, keys_bytes(layer, 1)))
    outputs, behind = nest.term(last, part.outputs), nest.term(last, results_of(layer, part.outputs))
    return Moves(nest, inputs, [], [outputs], [nest.term(tiles | {"blocks": blocks})], ahead, [behind])
