"""A step that is an attention in one nest: tiles of queries, blocks of keys and values, head by head (order TB)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from cocco.output.program.layout import Layout, Stage
from cocco.output.program.refusal import Refusal
from cocco.output.program.steps.pieces import Pieces
from cocco.output.program.text import Code, is_transposed, span


class _AttentionPieces(Pieces):
    """The regions of queries, keys, values, scores, and of the results or their sums."""

    def _links(self) -> tuple[int, tuple[int, ...]]:
        self.context = self.stage.layers[-1]
        if self.layer.op != "matmul" or self.layer.second_heads != self.layer.groups:
            raise Refusal(f"layer {self.layer.name!r}: heads that share keys have no program yet in a loop order")
        if any(
            len(set(self.layout.network.operands[v])) < len(self.layout.network.operands[v]) for v in self._products
        ):
            raise Refusal(f"layer {self.layer.name!r}: a product of a map with itself has no program yet")
        return self.context, ()

    @property
    def _products(self) -> tuple[int, int]:
        return self.v, self.stage.layers[-1]

    def _input(self) -> None:
        queries = self.layout.network.operands[self.v][0]
        self.queries = self.layout.region_name(self.stage, queries)
        if self.layout.kept(self.stage, queries) is None:
            depth = self.layer.in_channels // self.layer.groups
            self.coming[self._define(queries, self._up(depth), self._at(queries))] = queries

    def _weights(self) -> None:
        """Keys and values, each a part of a map that is loaded, or the map where it is whole on chip."""
        self.second: list[str] = []  # type: ignore[assignment]
        for v in self._products:
            u = self.layout.network.operands[v][1]
            region, weights = (
                self.layout.region_name(self.stage, u),
                f"s{self.stage.number}_{self.layout.names[v]}_second",
            )
            at = "0"
            if self.layout.kept(self.stage, u) is None:
                at = self._at(u)
                line = f"static struct region {region} = {{.of = &{self.layout.names[u]}}};"
                self.lines += [line] if line not in self.lines else []
            self.lines.append(f"static struct weights {weights} = {{.at = {at}}};")
            self.begin.append(f"forget(&{weights});")
            self.second.append(weights)

    def _output(self) -> None:
        context = self.layout.layer(self.context)
        self.has_sums, self.sums = self.plan.slice < self.keys, self._at(self.result)
        self.scores, self.out = self._at(self.v), self.layout.region_name(self.stage, self.result)
        if self.is_kept:
            return
        made = context.channels // context.groups
        region = self.regions[self.result]._replace(main=self.plan.tile)
        cell = made if self.has_sums else self._up(made)  # results lie where their sums lay
        self.lines.append(self.layout.region(self.out, self.result, self.sums, region, cell))
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
    depth, keys = layout.layer(scores).in_channels // layer.groups, pieces.keys
    code(f"/* step {n}: {', '.join(stage.names)}; order TB, {plan.tile[0]} queries, blocks of {plan.slice} keys */")
    with code.block(f"void step_{n}(void)"):
        code("struct tile tile = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}};")
        for line in pieces.begin:
            code(line)
        with ExitStack() as stack:
            stack.enter_context(code.block("EACH(tile.samples, 0, BATCH, 1)"))
            stack.enter_context(code.block(f"for (int head = 0; head < {layer.groups}; head++)"))
            code(f"tile.outputs = {span(f'head * {made}', f'(head + 1) * {made}')};")
            for region in pieces.coming:
                code(f"drop(&{region});")
            stack.enter_context(code.block(f"EACH(tile.rows, 0, {layer.height}, {plan.tile[0]})"))
            stack.enter_context(code.block(f"EACH(tile.columns, 0, {layer.width}, {plan.tile[1]})"))
            for region in pieces.coming:
                channels = span(f"head * {depth}", f"(head + 1) * {depth}")
                mode = plan.mode.replace("-", "_").upper()
                code(f"bring(&{region}, &{layout.names[scores]}_layer, {mode}, {channels}, tile);")
            if not pieces.is_kept:
                code(f"place(&{pieces.out}, tile);")
            with code.block(f"EACH(tile.inputs, 0, {keys}, {plan.slice})"):
                spans = (
                    f"{span(*(f'head * {keys} + tile.inputs.{end}' for end in ('first', 'stop')))}, {span(0, depth)}",
                    "tile.outputs, tile.inputs",
                )
                for v, weights, each in zip((scores, context), pieces.second, spans):
                    region = layout.region_name(stage, network.operands[v][1])
                    is_turned = int(is_transposed(network, v))
                    code(
                        f"load_second(&{weights}, &{layout.names[v]}_layer, &{region}, {is_turned}, "
                        f"tile.samples.first, head, {each});"
                    )
                sums = pieces.sums if pieces.has_sums else "-1"
                code(
                    f"attend(&{layout.names[scores]}_layer, &{layout.names[context]}_layer, &{pieces.queries}, "
                    f"&{pieces.second[0]}, &{pieces.second[1]}, {pieces.scores}, {sums}, &{pieces.out}, tile);"
                )
            if context in stage.step.written:
                code(f"store_tile(&{pieces.out}, tile);")
    yield from pieces.lines
    yield from code.lines
