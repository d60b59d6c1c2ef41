"""What a layer, or a nest, holds in its loop order, tensor by tensor: pieces of its inputs, and of its outputs or sums.

The bytes add up to those of the order (orders.py, groups.py); shapes are rows x columns of what the windows meet.
"""

from __future__ import annotations

from math import prod

from simulator.model.chains.needs import chain_pieces
from simulator.model.layer.attention import keys_bytes, most_seen, position_bytes, scores_bytes
from simulator.model.layer.axes import meet
from simulator.model.layer.groups import state_bytes
from simulator.model.layer.loop_layer import LoopLayer, results_at_once, results_of, round_up, stationary_bytes
from simulator.model.layer.orders import LoopPlan, grid_of
from simulator.model.nests.chain import links_of
from simulator.model.nests.heads import heads_regions
from simulator.model.subgraph.regions import Region
from simulator.model.subgraph.subgraph import Subgraph
from workloads.network.layers.attention import keys_and_values
from workloads.network.layers.types import row_bytes

Shape = tuple[int, int]
NOWHERE: Shape = (0, 0)


def loop_regions(subgraph: Subgraph, layer: LoopLayer, plan: LoopPlan) -> dict[int, Region]:
    """Return the region of each tensor of a subgraph of one layer, or of a nest, by tensor id.

    Operands that take turns in one region (slices of a reduction, groups of channels) have it under the first of them.
    """
    if layer.kind == "heads":
        return heads_regions(subgraph, layer, plan)
    if layer.kind == "chain":
        return _chain_regions(subgraph, layer, plan)
    first, v = subgraph.layers[0], subgraph.layers[-1]
    main, side = _shapes(layer, plan)
    regions = {v: Region(plan.tile, NOWHERE, _output_bytes(layer, plan), 0)}
    if layer.kind == "attention" and first != v:
        grid = grid_of(layer, plan.tile)
        scores, rest = scores_bytes(layer, grid, plan.slice), position_bytes(layer, plan.slice < most_seen(layer, grid))
        regions = {
            v: Region(plan.tile, NOWHERE, prod(plan.tile) * rest, 0),
            first: Region(plan.tile, NOWHERE, scores, 0),
        }
    coming = [u for u in subgraph.inputs if u not in subgraph.on_chip]
    local = [u for u in coming if subgraph.readers[u][0].layer == first and subgraph.readers[u][0].local]
    for u, size in _whole_bytes(subgraph, layer, plan).items():
        regions[u] = Region(main if u in local else _all_of(subgraph, u), NOWHERE, size, 0)
    for u, size in _epilogue_bytes(subgraph, layer, first).items():
        regions[u] = Region(main if u in local else (1, 1), NOWHERE, size, 0)
    left = plan.activation_bytes - sum(region.main_bytes for region in regions.values())
    sizes = _input_bytes(subgraph, layer, plan, main, side, local)
    if sum(sizes) != left:
        sizes = [left, *(0 for _ in local[1:])]
    cells = prod(main) + prod(side)
    for u, size in zip(local, sizes):
        beside = size * prod(side) // cells if cells else 0
        had = regions[u].main_bytes if u in regions else 0  # both operands may be one tensor: matmul(x, x)
        regions[u] = Region(main, side if beside else NOWHERE, had + size - beside, beside)
    if not local and left:  # with operands that are kept on chip: statistics, or the word of a copy
        regions[v] = regions[v]._replace(main_bytes=regions[v].main_bytes + left)
    kept = {u: Region(_all_of(subgraph, u), NOWHERE, 0, 0) for u in subgraph.on_chip}
    regions |= {u: region for u, region in kept.items() if u not in regions or not regions[u].main_bytes}
    return {u: regions.get(u, Region(NOWHERE, NOWHERE, 0, 0)) for u in subgraph.tensors}


def _chain_regions(subgraph: Subgraph, layer: LoopLayer, plan: LoopPlan) -> dict[int, Region]:
    """Return the same of a chain; what the openers make together lies under what joins them."""
    layers, network = subgraph.layers, subgraph.geometry.network
    links = next(filter(None, (links_of(network, layers[:count]) for count in range(len(layers), 1, -1))))
    pieces = zip((links.x, links.opened[-1], links.middle, layers[-1]), chain_pieces(layer, plan))
    regions = {u: Region(shape, NOWHERE, size, 0) for u, (shape, size) in pieces if u is not None and size}
    for u, size in _epilogue_bytes(subgraph, layer, links.result).items():
        had = regions.get(u, Region((1, 1), NOWHERE, 0, 0))
        regions[u] = had._replace(main_bytes=had.main_bytes + size)
    shapes = {u: _all_of(subgraph, u) for u in subgraph.on_chip}
    return {u: regions.get(u) or Region(shapes.get(u, NOWHERE), NOWHERE, 0, 0) for u in subgraph.tensors}


def _shapes(layer: LoopLayer, plan: LoopPlan) -> tuple[Shape, Shape]:
    """Return the shapes that stay of the input from tile to tile: the sliding window, and rows of the whole width."""
    grid = grid_of(layer, plan.tile)
    rows, columns = grid.rows, grid.columns
    shapes: dict[str, Shape] = {
        "ring": (rows.ring, columns.union),
        "rows": (rows.most, columns.union),
        "side": (rows.most, columns.ring),
        "slide": (rows.most, columns.ring),
        "block": (rows.most, columns.most),
        "block-row": (meet(layer.rows, 1).ring, columns.most),
        "whole": (rows.union, columns.union),
        "row": (1, columns.union),
    }
    return shapes.get(plan.mode, (1, 1)), (rows.live, columns.union) if plan.mode == "side" else NOWHERE


def _output_bytes(layer: LoopLayer, plan: LoopPlan) -> int:
    cells = plan.at_once * prod(plan.tile)
    if layer.kind == "copy" or (layer.stays.output and plan.order not in ("RS", "TKC", "BC")):
        return 0
    if layer.kind == "attention":  # scores, and outputs or their sums and statistics
        return plan.activation_bytes - keys_bytes(layer, plan.slice) - (prod(_shapes(layer, plan)[0]) * layer.part.room)
    if plan.order == "RS":
        return layer.word * layer.bits.sum_bytes * layer.columns.windows * layer.flying * layer.often
    if layer.kind == "apart":
        return cells * results_of(layer, plan.apart) * layer.often
    if plan.order == "TCC":
        return cells * results_of(layer, layer.word)
    if layer.kind in ("join", "mixed", "norm"):
        return cells * results_of(layer, min(plan.apart, layer.outputs)) + state_bytes(layer, plan.apart)
    if plan.order in ("TKC", "BC"):
        return cells * round_up(layer, plan.chunk) * layer.bits.sum_bytes
    return cells * results_at_once(layer, plan.chunk)


def _whole_bytes(subgraph: Subgraph, layer: LoopLayer, plan: LoopPlan) -> dict[int, int]:
    """Return the bytes of operands that are not read through windows: a second operand, or a broadcast one."""
    whole = [u for u in subgraph.inputs if subgraph.readers[u][0].whole]
    coming = [u for u in whole if u not in subgraph.on_chip]
    if layer.kind == "copy":
        return dict.fromkeys(coming[:1], plan.activation_bytes)
    if layer.kind == "attention":
        if layer.has_second:
            return {}
        operands = [subgraph.geometry.network.operands[v] for v in subgraph.layers]
        of_context = operands[-1][1:] if len(operands) > 1 else ()
        keys, values = keys_and_values(operands[0] + of_context)
        found = dict.fromkeys((keys[0], values[0]), 0)
        for u, width in ((keys[0], layer.part.reduction), (values[0], layer.part.outputs)):
            found[u] += plan.slice * row_bytes(round_up(layer, width), layer.bits.weights)
        return found
    if layer.is_product:
        outputs = plan.inner if plan.order == "BC" else plan.chunk
        size = stationary_bytes(layer, outputs, min(plan.slice, layer.part.reduction))
        if plan.order == "TP":
            size += stationary_bytes(layer, plan.kept, layer.part.reduction)
        return {whole[0]: size} if coming else {}
    step = layer.outputs if plan.order == "TC" else plan.apart
    return {
        u: each.rows * each.columns * row_bytes(round_up(layer, min(step, each.channels)), each.bits)
        for u, each in zip(coming, layer.broadcast)
    }


def _epilogue_bytes(subgraph: Subgraph, layer: LoopLayer, made: int) -> dict[int, int]:
    """Return the bytes of what layers read that follow `made`: a map that is broadcast, a word of the first other."""
    tensors, found, most = subgraph.geometry.network.tensors, dict[int, int](), 0
    for u in subgraph.inputs if layer.epilogue.room else ():
        last, tensor = subgraph.readers[u][-1], tensors[u]
        if u in subgraph.on_chip or last.layer <= made:
            continue
        if last.whole:
            position = row_bytes(round_up(layer, tensor.channels), tensor.bits)
            found[u] = layer.batch * tensor.height * tensor.width * position
        else:
            most, found[u] = max(most, row_bytes(layer.word, tensor.bits)), 0
    passing = [u for u, size in found.items() if not size]
    return found | dict.fromkeys(passing[:1], most)


def _input_bytes(
    subgraph: Subgraph, layer: LoopLayer, plan: LoopPlan, main: Shape, side: Shape, local: list[int]
) -> list[int]:
    """Return the bytes of each operand read through windows, if each has a region of its own."""
    tensors = [subgraph.geometry.network.tensors[u] for u in local]
    cells, most = plan.at_once * (prod(main) + prod(side)), None
    if layer.kind in ("join", "mixed", "norm"):
        cells, most = plan.at_once * prod(plan.tile), None if layer.state else plan.apart
    channels = [round_up(layer, min(each.channels, most or each.channels)) for each in tensors]
    return [cells * row_bytes(count, each.bits) for count, each in zip(channels, tensors)]


def _all_of(subgraph: Subgraph, u: int) -> Shape:
    height, width = subgraph.geometry.extent
    return height[u], width[u]
