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
    """Return the regions by tensor id; the softmax lies where the scores were.

    Sources that pass one after the other have the room of the one that takes most, under that one.
    """
    operands = subgraph.geometry.network.operands
    scores, context = (v for v in subgraph.layers if subgraph.geometry.network.layers[v].op == "matmul")
    made, loops = (*operands[scores], operands[context][1]), Loops._make(plan[3:9])
    found = {scores: _rows(plan.tile[0], results_of(layer, layer.keys))}
    found[context] = _rows(plan.tile[0], 0 if layer.stays.output else results_of(layer, layer.part.outputs))
    passing, widest = 0, context
    for i, (v, each) in enumerate(zip(made, layer.heads.operands)):
        size = heads_at_once(layer, plan.mode, loops, i) * row_bytes(round_up(layer, each.width), each.bits)
        found[v] = _rows(plan.chunk if i == 0 else layer.keys, size)
        (source,), rows = operands[v], layer.heads.rows[each.source]
        position = row_bytes(round_up(layer, layer.passing[each.source]), layer.producer_bits[each.source])
        there = rows if plan.mode == WHOLE else min(plan.kept, rows)
        found[source] = _rows(there, position)
        if min(plan.tile[0], rows - there) * position > passing:
            passing, widest = min(plan.tile[0], rows - there) * position, source
    found[widest] = found[widest]._replace(main_bytes=found[widest].main_bytes + passing)
    return {u: found.get(u, _rows(0, 0)) for u in subgraph.tensors}


def _rows(count: int, size: int) -> Region:
    return Region((count, 1) if count else NOWHERE, NOWHERE, count * size, 0)
