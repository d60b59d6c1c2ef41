"""A step that is an attention in one nest: tiles of queries, blocks of keys and values, head by head (order TB)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from cocco.output.program.layout import Layout, Stage
from cocco.output.program.refusal import Refusal
from cocco.output.program.steps.pieces import Pieces
from cocco.output.program.text import Code, is_transposed, sharing_of, span


class _AttentionPieces(Pieces):
    """The regions of queries, keys, values, scores, and of the results or their sums."""

    def _links(self) -> tuple[int, tuple[int, ...]]:
        self.context = self.stage.layers[-1]
        if self.layer.op != "matmul":
            raise Refusal(f"layer {self.layer.name!r}: {self.layer.op} has no program yet")
        if any(
            len(set(self.layout.network.operands[v])) < len(self.layout.network.operands[v]) for v in self._products
        ):
            raise Refusal(f"layer {self.layer.name!r}: a product of a map with itself has no program yet")
        return self.context, ()

    @property
    def _products(self) -> tuple[int, int]:
        return self.v, self.stage.layers[-1]

    def _input(self) -> None:
        queries, depth = self.layout.network.operands[self.v][0], self.layer.in_channels // self.layer.groups
        self.first = self._by_heads(queries, depth)
        if self.layout.kept(self.stage, queries) is None:
            self.coming[self._define(queries, self._up(depth), self.place(queries))] = queries

    def _weights(self) -> None:
        self.pieces = [f"s{self.stage.number}_{self.layout.names[v]}_second" for v in self._products]
        self.maps = [self._seconds(v, {name: 0}) for v, name in zip(self._products, self.pieces)]

    def _output(self) -> None:
        context = self.layout.layer(self.context)
        made = context.channels // context.groups
        self.has_sums, self.sums = self.plan.slice < self.keys, self.place(self.result)
        self.scores, self.out = self.place(self.v), self._by_heads(self.result, made)
        if self.is_kept:
            return
        region = self.regions[self.result]._replace(main=self.plan.tile)
        cell = made if self.has_sums else self._up(made)  # results lie where their sums lay
        self.lines.append(
            self.layout.region(self.out, self.result, self.sums, region, cell, of=self.of.get(self.result, ""))
        )
        self.begin.append(f"drop(&{self.out});")

    @property
    def keys(self) -> int:
        """How many keys a query meets."""
        return self.layer.channels // self.layer.groups


def attention_step(layout: Layout, stage: Stage) -> Iterator[str]:
    """Yield the C of an attention in blocks."""
    pieces, code, plan = _AttentionPieces(layout, stage), Code(), stage.price.loops
    assert plan is not None
    network, n, (scores, context) = layout.network, stage.number, (stage.layers[0], stage.layers[-1])
    layer, made = layout.layer(context), layout.layer(context).channels // layout.layer(context).groups
    sharing, depth, keys = sharing_of(layer), layout.layer(scores).in_channels // layer.groups, pieces.keys
    code(f"/* step {n}: {', '.join(stage.names)}; order TB, {plan.tile[0]} queries, blocks of {plan.slice} keys */")
    with code.block(f"void step_{n}(void)"):
        code("struct tile tile = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}};")
        for line in pieces.begin:
            code(line)
        with ExitStack() as stack:
            stack.enter_context(code.block("EACH(tile.samples, 0, BATCH, 1)"))
            stack.enter_context(code.block(f"for (int head = 0; head < {layer.groups}; head += {sharing})"))
            code(f"tile.outputs = {span(f'head * {made}', f'(head + 1) * {made}')};")
            stack.enter_context(code.block(f"EACH(tile.rows, 0, {layer.height * sharing}, {plan.tile[0]})"))
            stack.enter_context(code.block(f"EACH(tile.columns, 0, {layer.width}, {plan.tile[1]})"))
            channels = span(f"head * {depth}", f"(head + 1) * {depth}")
            for region in pieces.coming:
                code(f"bring(&{region}, &{layout.names[scores]}_layer, BLOCK, {channels}, tile);")
            if not pieces.is_kept:
                code(f"place(&{pieces.out}, tile);")
            with code.block(f"EACH(tile.inputs, 0, {keys}, {plan.slice})"):
                ends = (f"head * {keys} + tile.inputs.{end}" for end in ("first", "stop"))
                parts = (f"{span(*ends)}, {span(0, depth)}", "tile.outputs, tile.inputs")
                for v, name, maps, part in zip((scores, context), pieces.pieces, pieces.maps, parts):
                    code(
                        f"load_second(&{name}, &{layout.names[v]}_layer, {maps}, {int(is_transposed(network, v))}, "
                        f"tile.samples.first, head, {part});"
                    )
                sums = pieces.sums if pieces.has_sums else "-1"
                code(
                    f"attend(&{layout.names[scores]}_layer, &{layout.names[context]}_layer, &{pieces.first}, "
                    f"&{pieces.pieces[0]}, &{pieces.pieces[1]}, {pieces.scores}, {sums}, &{pieces.out}, tile);"
                )
            if context in stage.step.written:
                code(f"store_tile(&{pieces.out}, tile);")
    yield from pieces.lines
    yield from code.lines
