"""What the loops of an attention with its projections move, step by step (simulator/model/nests/by_heads.py)."""

from __future__ import annotations

from simulator.integers import row_bytes
from simulator.model.layer.loop_layer import LoopLayer, results_of, round_up
from simulator.model.layer.orders import LoopPlan
from simulator.timing.layer.nest import Moves, Nest, Sizes, Term
from simulator.timing.layer.passes import pieces, tiles_pass


def heads_moves(layer: LoopLayer, plan: LoopPlan) -> Moves:
    """HP: samples; steps of heads of keys; heads of queries; tiles. What a head needs comes with its first tile."""
    heads, steps = layer.heads, pieces(layer.heads.groups, plan.apart)
    rows, part, together = tiles_pass(layer.rows, plan.tile[0]).outputs, layer.part, plan.apart * layer.heads.sharing
    nest = Nest({"repeat": layer.repeat, "steps": len(steps), "heads": together, "tiles": len(rows)})
    step: dict[str, Sizes] = {"steps": steps, "heads": "first", "tiles": "first"}
    head: dict[str, Sizes] = {"steps": steps, "tiles": "first"}  # in each: what `together` heads of a full step share
    tile: dict[str, Sizes] = {"steps": steps, "tiles": rows}
    inputs: list[Term] = []
    weights, ahead, leaving = [], [], []
    work = [nest.term(tile, layer.keys * heads.sharing * (part.reduction + part.outputs), together)]
    for i, each in enumerate(heads.operands):
        size, bits = each.reduction * each.width, layer.bits.weights
        is_made_by_head = i == 0 and plan.mode == "whole"
        often = heads.sharing if i == 0 else 1
        if each.made:
            weights.append(nest.term(head, row_bytes(size, bits) * often, together) if is_made_by_head
                           else nest.term(step, row_bytes(size, bits) * often))  # fmt: skip
            work.append(nest.term(head, each.made * size * often, together) if is_made_by_head
                        else nest.term(step, each.made * size * often))  # fmt: skip
        if each.leaves:
            leaving.append(nest.term(step, each.made * row_bytes(each.width, each.bits) * often))
        row, room = row_bytes(each.width, each.bits), row_bytes(round_up(layer, each.width), each.bits)
        if i == 0 and each.coming:
            inputs.append(nest.term(tile, row * heads.sharing, together))
            ahead.append(nest.term({"tiles": rows}, room))
        elif each.coming:
            inputs.append(nest.term(step, each.coming * row))
            ahead.append(nest.term({"heads": "first", "tiles": "first"}, each.coming * room))
        if each.source == i and not each.is_there:
            start: dict[str, Sizes] = {"steps": "first", "heads": "first", "tiles": "first"}
            stay = each.made if plan.mode == "whole" else min(plan.kept, each.made)
            source = row_bytes(each.reduction, each.source_bits)
            position = row_bytes(round_up(layer, each.reduction), each.source_bits)
            inputs.append(nest.term(start, stay * source))
            passing: dict[str, Sizes] = {"heads": "first", "tiles": "first"}
            inputs.append(nest.term(passing, (each.made - stay) * source))
            ahead.append(nest.term(passing, (each.made - stay) * position))
    if layer.stays.is_written:
        leaving.append(nest.term(tile, row_bytes(part.outputs, layer.bits.output) * heads.sharing, together))
    behind = nest.term({"tiles": rows}, results_of(layer, part.outputs))
    return Moves(nest, inputs, weights, leaving, work, ahead, [behind])
