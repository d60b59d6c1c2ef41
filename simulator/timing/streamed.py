"""The stages of one layer that does not fit: a slice for each chunk of weights and each tile, as its order nests them.

Bytes, and computing, are spread evenly: the n-th of m stages ends at the n-th m-th of each total.
"""

from __future__ import annotations

from collections.abc import Sequence

from simulator.model.pricing import Price, SubgraphModel
from simulator.model.subgraph import COLUMNS, ROWS
from simulator.timing.course import Course, Stage, spread


def streamed_course(model: SubgraphModel, price: Price, slots_per_cycle: int, most: int) -> Course:
    """Return the stages of a streamed layer, at most so many."""
    streaming, (v,) = price.streaming, model.subgraph.layers
    assert streaming is not None
    chunks, tiles = _chunks(model, price), _tiles(model, price)
    outer = min(most, chunks if streaming.order == "chunk" else tiles)
    inner = min(most // outer, tiles if streaming.order == "chunk" else chunks)
    every = [True] * (outer * inner)
    first = [place % inner == 0 for place in range(outer * inner)]  # of each turn of the outer loop
    once = [place < inner for place in range(outer * inner)]
    is_chunked = chunks > 1 or streaming.order == "element"
    weights_at = first if streaming.order == "chunk" else every if is_chunked else once[:1] + [False] * len(once[1:])
    inputs_at = first if streaming.order != "chunk" else once if streaming.is_whole_map else every
    inputs, weights = spread(price.ema_input_bytes, inputs_at), spread(price.ema_weight_bytes, weights_at)
    outputs, slots = spread(price.ema_output_bytes, every), spread(price.compute_cycles * slots_per_cycle, every)
    stages = tuple(
        Stage(rows, ((v, chunk),) if chunk else (), ((v, time),), written)
        for rows, chunk, time, written in zip(inputs, weights, slots, outputs)
    )
    subgraph = model.subgraph
    coming, going = ([u for u in each if u not in subgraph.on_chip] for each in (subgraph.loaded, subgraph.outputs))
    return Course(
        stages,
        0 if streaming.is_whole_map else most_beside(model, coming, inputs[1:]),
        0 if streaming.is_whole_map else most_beside(model, going, outputs[:-1]),
        -(-max(weights[1:], default=0) // model.rules.cores),
    )


def core_bytes(model: SubgraphModel, u: int, rows: int | None = None) -> int:
    """Return what rows of a tensor, or all of them, take in the buffer of one core."""
    geometry, rules = model.subgraph.geometry, model.rules
    columns = -(-geometry.extent[COLUMNS][u] // rules.bands)
    return (geometry.extent[ROWS][u] if rows is None else rows) * columns * geometry.held_bytes(u) * rules.samples


def most_beside(model: SubgraphModel, tensors: Sequence[int], moved: Sequence[int]) -> int:
    """Return what the most of these bytes take in one core, whose channels are rounded up."""
    plain = model.rules.batch * sum(model.subgraph.geometry.size_bytes[u] for u in tensors)
    return -(-max(moved, default=0) * sum(core_bytes(model, u) for u in tensors) // max(1, plain))


def _chunks(model: SubgraphModel, price: Price) -> int:
    return -(-model.weights // (price.weight_bytes * model.rules.cores)) if price.weight_bytes else 1


def _tiles(model: SubgraphModel, price: Price) -> int:
    """Return the tiles of the band of one core; of single elements, the positions."""
    (v,) = model.subgraph.layers
    assert price.streaming is not None
    height, width = (extent[v] for extent in model.subgraph.geometry.extent)
    if price.streaming.order == "element":
        return height * width
    return -(-height // price.tile[ROWS]) * -(-width // (model.rules.bands * price.tile[COLUMNS]))
