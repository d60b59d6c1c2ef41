"""A step that is an attention (order TB), one layer or a nest: tiles of queries, blocks of keys and values, by head."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from math import prod
from typing import NamedTuple

from cocco.output.program.layout import Layout, Stage
from cocco.output.program.steps.pieces import Pieces
from cocco.output.program.text import Code, is_transposed, layer_text, sharing_of, span
from workloads.network.layers.attention import keys_and_values, steps_of
from workloads.network.layers.layer import Layer


class _Product(NamedTuple):
    """Scores or context: the layer and its name in C, the maps of its second operand, and how they lie."""

    layer: Layer
    name: str
    maps: tuple[int, ...]
    is_turned: bool


class _AttentionPieces(Pieces):
    """The regions of queries, keys, values, scores, and of the results or their sums."""

    def _links(self) -> tuple[int, tuple[int, ...]]:
        names, network, v, result = self.layout.names, self.layout.network, self.v, self.stage.layers[-1]
        layers = network.layers
        if self.layer.op == "matmul":
            self.products = [
                _Product(layers[u], names[u], network.operands[u][1:], is_transposed(network, u)) for u in (v, result)
            ]
        else:
            first, _, last = steps_of(self.layer)
            maps = map(tuple, keys_and_values(network.operands[v]))
            self.products = [
                _Product(layer, self._name(what), found, is_turned)
                for layer, what, found, is_turned in zip((first, last), ("scores", "context"), maps, (True, False))
            ]
            self.lines += [layer_text(each.layer, each.name, 1) for each in self.products]
        return result, ()

    @property
    def keys(self) -> int:
        """How many keys a query meets."""
        return self.products[0].layer.channels // self.layer.groups

    def _is_twice(self, u: int) -> bool:
        return u == self.layout.network.operands[self.v][0] and any(u in each.maps for each in self.products)

    def _input(self) -> None:
        queries, depth = self.layout.network.operands[self.v][0], self.layer.in_channels // self.layer.groups
        self.first = self._by_heads(queries, depth)
        if self.layout.kept(self.stage, queries) is None:
            self.coming[self._define(queries, self._up(depth), self.place(queries))] = queries

    def _weights(self) -> None:
        keys, values = (each.maps for each in self.products)
        beside = self.plan.slice * self._up(self.layer.in_channels // self.layer.groups) if keys[0] == values[0] else 0
        self.pieces = [f"s{self.stage.number}_{each.name}_second" for each in self.products]
        self.maps = [
            self._seconds(each.maps, {name: offset})
            for each, name, offset in zip(self.products, self.pieces, (0, beside))
        ]

    def _output(self) -> None:
        context = self.products[1].layer
        made = context.channels // context.groups
        self.has_sums, self.scores, self.sums = self.plan.slice < self.keys, self.place(self.v), self.place(self.result)
        if self.v == self.result:  # one layer has one region: scores, and behind them the rest
            self.sums += f" + {prod(self.plan.tile) * self._up(self.plan.slice)}"
        self.out = self._by_heads(self.result, made)
        if self.is_kept:
            return
        region = self.regions[self.result]._replace(main=self.plan.tile)
        cell = made if self.has_sums else self._up(made)  # results lie where their sums lay
        self.lines.append(
            self.layout.region(self.out, self.result, self.sums, region, cell, of=self.of.get(self.result, ""))
        )
        self.begin.append(f"drop(&{self.out});")


def attention_step(layout: Layout, stage: Stage) -> Iterator[str]:
    """Yield the C of an attention in blocks."""
    pieces, code, plan = _AttentionPieces(layout, stage), Code(), stage.price.loops
    assert plan is not None
    scores, context = pieces.products
    layer, made = context.layer, context.layer.channels // context.layer.groups
    sharing, depth, keys = sharing_of(layer), scores.layer.in_channels // layer.groups, pieces.keys
    with pieces.function(code, f"{plan.tile[0]} queries, blocks of {plan.slice} keys"):
        code("struct tile tile = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}};")
        with ExitStack() as stack:
            stack.enter_context(code.block("EACH(tile.samples, 0, BATCH, 1)"))
            stack.enter_context(code.block(f"for (int head = 0; head < {layer.groups}; head += {sharing})"))
            code(f"tile.outputs = {span(f'head * {made}', f'(head + 1) * {made}')};")
            stack.enter_context(code.block(f"EACH(tile.rows, 0, {layer.height * sharing}, {plan.tile[0]})"))
            stack.enter_context(code.block(f"EACH(tile.columns, 0, {layer.width}, {plan.tile[1]})"))
            channels = span(f"head * {depth}", f"(head + 1) * {depth}")
            for region in pieces.coming:
                code(f"bring(&{region}, &{scores.name}_layer, BLOCK, {channels}, tile);")
            if not pieces.is_kept:
                code(f"place(&{pieces.out}, tile);")
            with code.block(f"EACH(tile.inputs, 0, {keys}, {plan.slice})"):
                ends = (f"head * {keys} + tile.inputs.{end}" for end in ("first", "stop"))
                parts = (f"{span(*ends)}, {span(0, depth)}", "tile.outputs, tile.inputs")
                for each, name, maps, part in zip(pieces.products, pieces.pieces, pieces.maps, parts):
                    code(
                        f"load_second(&{name}, &{each.name}_layer, {maps}, {int(each.is_turned)}, "
                        f"tile.samples.first, head, {part});"
                    )
                sums = pieces.sums if pieces.has_sums else "-1"
                code(
                    f"attend(&{scores.name}_layer, &{context.name}_layer, &{pieces.first}, "
                    f"&{pieces.pieces[0]}, &{pieces.pieces[1]}, {pieces.scores}, {sums}, &{pieces.out}, tile);"
                )
            if pieces.result in stage.step.written:
                code(f"store_tile(&{pieces.out}, tile);")
    yield from pieces.lines
    yield from code.lines
