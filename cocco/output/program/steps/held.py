"""A step whose regions and weights are all on chip: its tensors advance tick by tick, rows outside, columns inside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from math import lcm

from cocco.output.program.layout import Layout, Stage, tensor_id, weights_id
from cocco.output.program.text import Code, call_of, is_transposed, regions_of, remark, seconds_of, span
from simulator.model.subgraph.regions import Tiling
from simulator.model.subgraph.subgraph import COLUMNS, ROWS
from simulator.model.subgraph.tiling import Tile
from simulator.model.subgraph.updates import starts_full

Pace = tuple[int, int, int, int, bool]  #: step, lead, extent, ticks from update to update, whether it starts full


def held_step(layout: Layout, stage: Stage) -> Iterator[str]:
    """Yield the C of a step: a region for each tensor, a function for each, and the loops over ticks."""
    residency = stage.model.residency(stage.price)
    paces = [_paces(stage, residency.tiling, axis) for axis in (ROWS, COLUMNS)]
    alignment, order = layout.priced.rules.geometry.technology.channel_alignment, _order(stage)
    for u in order:
        if layout.kept(stage, u) is None:
            cell = -(-layout.network.tensors[u].channels // stage.price.channel_groups // alignment) * alignment
            at = layout.at(tensor_id(layout.network, stage.number, u))
            region = residency.regions[u]
            yield layout.region(layout.region_name(stage, u), u, at, region, cell)
    yield from _weights(layout, stage)
    for u in order:
        rows = residency.tiling.rows[u].step if not stage.model.subgraph.reader_count[u] else 0
        yield from _advance(layout, stage, u, paces[ROWS][u], paces[COLUMNS][u], rows)
    yield from _loops(layout, stage, order, paces, residency.tile)


def _order(stage: Stage) -> tuple[int, ...]:
    """Return what advances, producers first: inputs that come from DRAM, and layers."""
    return tuple(u for u in stage.model.subgraph.inputs if u not in stage.step.on_chip) + stage.layers


def _paces(stage: Stage, tiling: Tiling, axis: int) -> dict[int, Pace]:
    """Return how each tensor advances along an axis."""
    subgraph, alone = stage.model.subgraph, tiling.rows_run_alone
    tiles: dict[int, Tile] = tiling.rows if axis == ROWS else tiling.columns
    extent = subgraph.geometry.extent[axis]
    if (axis == COLUMNS and alone) or (axis == ROWS and not alone and tiling.is_one_operation):
        return {u: (extent[u], 0, extent[u], 1, True) for u in subgraph.tensors}
    is_full = starts_full(subgraph, tiling, axis)
    if axis == ROWS and not alone:
        return {u: (tiling.merged[u], tiles[u].lead, extent[u], 1, is_full) for u in subgraph.tensors}
    times = lcm(*(tiles[u].updates for u in subgraph.tensors))
    return {u: (tiles[u].step, tiles[u].lead, extent[u], times // tiles[u].updates, is_full) for u in subgraph.tensors}


def _ticks(paces: dict[int, Pace], tensors: tuple[int, ...]) -> tuple[int, int]:
    """Return the first tick at which something advances, and the one after the last."""
    first, stop = 0, 1
    for step, lead, extent, period, is_full in (paces[u] for u in tensors):
        if not is_full:
            first = min(first, (min(1, -(lead // step)) - 1) * period)
        stop = max(stop, (-(-(extent - lead) // step) - 1) * period + 1)
    return first, stop


def _part(stage: Stage, channels: int) -> str:
    """Return the channels of the group that is running; there is one unless groups keep apart."""
    size = channels // stage.price.channel_groups
    return span(0, size) if size == channels else span(f"group * {size}", f"(group + 1) * {size}")


def _weights(layout: Layout, stage: Stage) -> Iterator[str]:
    """Yield where the weights of each layer lie, one behind the other."""
    offset = 0
    for v in stage.layers:
        layer = layout.layer(v)
        if layer.has_weights:
            at = f"{layout.at(weights_id(stage.number))} + {offset}"
            yield f"static struct weights s{stage.number}_{layout.names[v]}_weights = {{.at = {at}}};"
            offset += layout.elements(layer.weight_bytes) // stage.price.channel_groups
        elif layer.op == "matmul":
            yield from seconds_of(f"s{stage.number}_{layout.names[v]}_weights", len(layer.inputs) - 1)


def _advance(layout: Layout, stage: Stage, u: int, rows: Pace, columns: Pace, part: int) -> Iterator[str]:
    """Yield the function that loads or makes the next rows and columns of a tensor. part: rows made at once, or 0."""
    name, region = f"s{stage.number}_{layout.names[u]}", layout.region_name(stage, u)
    code = Code()
    is_layer, group = u < len(layout.network.layers), "int group, " if stage.price.channel_groups > 1 else ""
    channels = _part(stage, layout.network.tensors[u].channels)
    code(remark(f"{'make' if is_layer else 'load'} the next rows and columns of {layout.network.tensors[u].name!r}"))
    with code.block(f"static void next_{name}(struct span samples, {group}int down, int across)"):
        for axis, pace in (("rows", rows), ("columns", columns)):
            code(f"static const struct pace {axis} = {{{', '.join(str(int(each)) for each in pace)}}};")
        code("struct span new_rows = span_of(&rows, down), new_columns = span_of(&columns, across);")
        has_side = layout.kept(stage, u) is None and f"{region}_SIDE_ROWS".upper() in layout.constants
        with code.block("if (new_columns.first == new_columns.stop)"):
            code("return;")
        if has_side:
            code(f"restore(&{region}, samples, new_rows, new_columns);")
        if not is_layer or u not in stage.layers:
            code(f"load_tile(&{region}, (struct tile){{samples, new_rows, new_columns, {channels}, {span(0, 1)}}});")
        else:
            layer = layout.layer(u)
            reduction = layer.in_channels // layer.groups
            step = str(part) if part else "new_rows.stop - new_rows.first"
            with code.block(f"for (int row = new_rows.first; row < new_rows.stop; row += {step})"):
                code(
                    f"struct tile tile = {{samples, {{row, least(row + {step}, new_rows.stop)}}, new_columns, "
                    f"{channels}, {{0, {reduction}}}}};"
                )
                operands = [layout.region_name(stage, p) for p in layout.network.operands[u]]
                _make(layout, stage, u, code, operands, region)
                if u in stage.step.written:
                    code(f"store_tile(&{region}, tile);")
        if has_side:
            code(f"save(&{region}, samples, new_rows, new_columns);")
    yield from code.lines
    yield ""


def _make(layout: Layout, stage: Stage, u: int, code: Code, operands: list[str], region: str) -> None:
    layer, weights = layout.layer(u), f"s{stage.number}_{layout.names[u]}_weights"
    if layer.op != "matmul":
        code(call_of(layer, layout.names[u], operands, weights, region))
        return
    width = layer.channels // layer.groups
    with code.block("for (int sample = samples.first; sample < samples.stop; sample++)"):
        heads = _part(stage, layer.groups)
        code(f"struct span heads = {heads};")
        with code.block("for (int head = heads.first; head < heads.stop; head++)"):
            code("tile.samples.first = sample, tile.samples.stop = sample + 1;")
            code(f"tile.outputs.first = head * {width}, tile.outputs.stop = (head + 1) * {width};")
            code(
                f"load_second(&{weights}, &{layout.names[u]}_layer, {regions_of(operands[1:])}, "
                f"{int(is_transposed(layout.network, u))}, sample, head, tile.outputs, tile.inputs);"
            )
            code(call_of(layer, layout.names[u], operands[:1], weights, region))
    code(f"tile.samples = samples, tile.outputs = {_part(stage, layer.channels)};")


def _loops(
    layout: Layout, stage: Stage, order: tuple[int, ...], paces: list[dict[int, Pace]], tile: tuple[int, int]
) -> Iterator[str]:
    code, n = Code(), stage.number
    tensors = stage.model.subgraph.tensors
    rows, columns = (_ticks(each, tensors) for each in paces)
    code(remark(f"step {n}: {', '.join(stage.names)}; all regions on chip, outputs in tiles of {tile[0]} x {tile[1]}"))
    with code.block(f"void step_{n}(void)"):
        for u in tensors:
            code(f"ring(&{layout.region_name(stage, u)});")
        groups, mine = stage.price.channel_groups, [u for u in tensors if layout.kept(stage, u) is None]
        with ExitStack() as stack:
            if groups > 1:
                stack.enter_context(code.block(f"for (int group = 0; group < {groups}; group++)"))
            for u in mine if groups > 1 else ():
                channel = layout.network.tensors[u].channels // groups
                code(f"{layout.region_name(stage, u)}.channel = group * {channel};")
            for v in stage.layers:
                layer, name = layout.layer(v), layout.names[v]
                if layer.has_weights:
                    code(
                        f"load_weights(&s{n}_{name}_weights, &{name}_layer, {name.upper()}_WEIGHTS, "
                        f"{_part(stage, layer.channels)}, {span(0, layer.in_channels // layer.groups)});"
                    )
            stack.enter_context(code.block(f"for (int sample = 0; sample < BATCH; sample += {stage.price.at_once})"))
            code(f"struct span samples = {{sample, least(sample + {stage.price.at_once}, BATCH)}};")
            for u in mine:
                code(f"{layout.region_name(stage, u)}.sample = sample;")
            stack.enter_context(code.block(f"for (int down = {rows[0]}; down < {rows[1]}; down++)"))
            stack.enter_context(code.block(f"for (int across = {columns[0]}; across < {columns[1]}; across++)"))
            for u in order:
                code(f"next_s{n}_{layout.names[u]}(samples, {'group, ' if groups > 1 else ''}down, across);")
    yield from code.lines
