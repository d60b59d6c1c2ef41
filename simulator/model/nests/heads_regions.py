"""What an attention with its projections holds in its loop order, tensor by tensor (by_heads.py has the sum)."""

from __future__ import annotations

from simulator.integers import row_bytes
from simulator.model.layer.axes import WHOLE
from simulator.model.layer.loop_layer import LoopLayer, results_of, round_up
from simulator.model.layer.orders import LoopPlan, Loops
from simulator.model.nests.by_heads import heads_at_once
from simulator.model.subgraph.regions import Region
from simulator.model.subgraph.subgraph import Subgraph

NOWHERE = (0, 0)


def heads_regions(subgraph: Subgraph, layer: LoopLayer, plan: LoopPlan) -> dict[int, Region]:
    """Return the regions by tensor id.

    Keys, and values, have one region each, under the rows that come last. The softmax lies where the scores were.
    Sources that pass one after the other have the room of the one that takes most, under that one.
    """
    network = subgraph.geometry.network
    scores, context = (v for v in subgraph.layers if network.layers[v].op == "matmul")
    rows = network.operands[scores][:1], network.operands[scores][1:], network.operands[context][1:]
    loops = Loops(plan.apart, plan.chunk, plan.slice, plan.inner, plan.at_once, plan.kept)
    found = {scores: _rows(plan.tile[0], results_of(layer, layer.keys))}
    found[context] = _rows(plan.tile[0], 0 if layer.stays.output else results_of(layer, layer.part.outputs))
    passing, widest = 0, context
    for i, each in enumerate(layer.heads.operands):
        size = heads_at_once(layer, plan.mode, loops, i) * row_bytes(round_up(layer, each.width), each.bits)
        if each.coming or each.made:
            found[rows[i][-1]] = _rows(plan.chunk if i == 0 else each.loaded + each.made, size)
        if each.source == i and not each.is_there:
            (source,) = {network.operands[u][0] for u in rows[i] if u in subgraph.layers}
            position = row_bytes(round_up(layer, each.reduction), each.source_bits)
            there = each.made if plan.mode == WHOLE else min(plan.kept, each.made)
            found[source] = _rows(there, position)
            if min(plan.tile[0], each.made - there) * position > passing:
                passing, widest = min(plan.tile[0], each.made - there) * position, source
    found[widest] = found[widest]._replace(main_bytes=found[widest].main_bytes + passing)
    return {u: found.get(u, _rows(0, 0)) for u in subgraph.tensors}


def _rows(count: int, size: int) -> Region:
    return Region((count, 1) if count else NOWHERE, NOWHERE, count * size, 0)
