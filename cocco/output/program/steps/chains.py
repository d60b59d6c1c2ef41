"""A step that is a chain of layers in one nest: openers, what keeps channels apart, closer, in chunks of the middle.

Rows of a tile come from a table: those of D that the closer reads, those of E that make them, those of x. A chunk of
the middle channels is made from all of x; with several chunks the results are sums until the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from cocco.output.program.layout import Layout, Stage
from cocco.output.program.steps.chained import ChainPieces, rows_of_tiles
from cocco.output.program.text import Code, call_of, regions_of, span

CHAIN_ORDERS = ("TM", "TW", "TS", "MT")


def chain_step(layout: Layout, stage: Stage) -> Iterator[str]:
    """Yield the C of a chain: its regions, the tables of its rows, and one function with its loops."""
    chain = _Chain(layout, stage)
    chain.write()
    yield from chain.pieces.lines
    yield from chain.code.lines


class _Chain:
    """The loops of a chain."""

    def __init__(self, layout: Layout, stage: Stage) -> None:
        assert stage.price.loops is not None
        self.layout, self.stage, self.plan = layout, stage, stage.price.loops
        self.pieces, self.code = ChainPieces(layout, stage), Code()
        self.links = self.pieces.links
        self.x = layout.region_name(stage, self.links.x)
        self.e = layout.region_name(stage, self.links.opened[-1])
        self.d = self.e if self.links.middle is None else layout.region_name(stage, self.links.middle)
        self.closer = layout.layer(self.links.closer)

    def write(self) -> None:
        """Write the function of the step."""
        code, plan = self.code, self.plan
        self._tables()
        with self.pieces.function(code, f"tiles of {plan.tile[0]} rows"):
            code(f"struct tile tile = {{{{0, 1}}, {{0, 1}}, {{0, {self.closer.width}}}, {{0, 1}}, {{0, 1}}}};")
            code("struct span chunk;")
            if plan.order == "MT":
                self._chunks_outside()
            else:
                self._tiles_outside()

    def _tables(self) -> None:
        network, links = self.layout.network, self.links
        extents = {links.closer: network.tensors[network.operands[links.closer][0]].height}
        extents[links.openers[0]] = network.tensors[links.x].height
        if links.middle is not None:
            extents[links.middle] = network.tensors[network.operands[links.middle][0]].height
        tables = rows_of_tiles(links, network.layers, extents, self.plan.tile[0], self.plan.order not in ("TM", "TS"))
        passes = self.pieces.coming and self.plan.mode != "whole"
        for name in tables[0] if passes else [each for each in tables[0] if each != "x"]:
            spans = ", ".join(f"{{{first}, {stop}}}" for first, stop in (rows[name] for rows in tables))
            self.code(f"static const struct span s{self.stage.number}_rows_of_{name}[] = {{{spans}}};")

    def _rows(self, name: str) -> str:
        return f"s{self.stage.number}_rows_of_{name}[tile.rows.first / {self.plan.tile[0]}]"

    def _tiles_outside(self) -> None:
        code, plan, middle = self.code, self.plan, self.pieces.middle
        stay = self.pieces.stay
        if stay:
            self._load_staying(span(0, stay))
        with ExitStack() as stack:
            stack.enter_context(code.block("EACH(tile.samples, 0, BATCH, 1)"))
            self._begin_sample()
            stack.enter_context(code.block(f"EACH(tile.rows, 0, {self.closer.height}, {plan.tile[0]})"))
            self._bring()
            stack.enter_context(code.block(f"EACH(tile.outputs, 0, {self.closer.channels}, {plan.slice})"))
            if self.pieces.has_sums:
                code(f"struct sums sums = {{{self.pieces.sums}, tile}};")
            for low, high in ((0, stay), (stay, middle)):
                if low < high:
                    with code.block(f"EACH(chunk, {low}, {high}, {plan.chunk})"):
                        self._chunk(stays=high <= stay)
            if self.pieces.has_sums:
                self._settle()

    def _chunks_outside(self) -> None:
        code, plan = self.code, self.plan
        if self.pieces.has_sums:
            every = (
                f"{{0, BATCH}}, {{0, {self.closer.height}}}, {{0, {self.closer.width}}}, {{0, {self.closer.channels}}}"
            )
            code(f"struct sums sums = {{{self.pieces.sums}, {{{every}, {{0, 1}}}}}};")
        if plan.mode == "whole":
            self._whole()
        with code.block(f"EACH(chunk, 0, {self.pieces.middle}, {plan.chunk})"):
            self._load_staying("chunk")
            with code.block("EACH(tile.samples, 0, BATCH, 1)"):
                self._begin_sample()
                with code.block(f"EACH(tile.rows, 0, {self.closer.height}, {plan.tile[0]})"):
                    self._bring()
                    code(f"tile.outputs = (struct span){{0, {self.closer.channels}}};")
                    self._chunk(stays=True)
        if self.pieces.has_sums:
            code("tile = sums.of;")
            self._settle()

    def _whole(self) -> None:
        """All samples of x, which stay over the chunks."""
        for region in self.pieces.coming:
            self.code(f"load_map(&{region});")

    def _begin_sample(self) -> None:
        for region in (*self.pieces.coming, *dict.fromkeys((self.e, self.d))):
            if region not in self.pieces.coming or self.plan.mode != "whole":
                self.code(f"{region}.sample = tile.samples.first;")
        if self.pieces.coming and self.plan.mode != "whole":
            self.code(f"ring(&{self.x});")
            self.code("int rows_here = 0;")

    def _bring(self) -> None:
        """Rows of x that are not there yet, each into the slot of one that no tile reads any more."""
        if self.pieces.coming and self.plan.mode != "whole":
            x, rows = self.layout.network.tensors[self.links.x], span("rows_here", f"{self._rows('x')}.stop")
            new = f"{{tile.samples, {rows}, {span(0, x.width)}, {span(0, x.channels)}, {span(0, 1)}}}"
            self.code(f"load_tile(&{self.x}, (struct tile){new});")
            self.code(f"rows_here = {self._rows('x')}.stop;")

    def _load_staying(self, channels: str) -> None:
        for v in self.pieces.dense:
            layer = self.layout.layer(v)
            spans = f"{channels}, {span(0, layer.in_channels // layer.groups)}"
            if v == self.links.closer:
                spans = f"{span(0, layer.channels)}, {channels}"
            self._load(v, self.pieces.staying(v), spans)

    def _load(self, v: int, weights: str, spans: str) -> None:
        name = self.layout.names[v]
        self.code(f"load_weights(&{weights}, &{name}_layer, {name.upper()}_WEIGHTS, {spans});")

    def _chunk(self, stays: bool) -> None:
        """Rows of E and of D of these middle channels, and what they add to the results."""
        code, links = self.code, self.links
        for region in dict.fromkeys((self.e, self.d)):
            code(f"{region}.channel = chunk.first;")
        opened = self.layout.layer(links.opened[-1])
        with code.block(f"if ({self._rows('e')}.first < {self._rows('e')}.stop)"):
            if self.plan.order == "TS":
                self._open_in_slices()
            for v in links.openers if self.plan.order != "TS" else ():
                rows = self._rows("e")
                self._part(v, self.x, self.e, rows, opened.width, self.plan.apart, stays, self._joining(v))
        if links.middle is not None:
            layer = self.layout.layer(links.middle)
            with code.block(f"if ({self._rows('d')}.first < {self._rows('d')}.stop)"):
                self._part(links.middle, self.e, self.d, self._rows("d"), layer.width, self.plan.chunk, stays, "NULL")
        self._close(stays)

    def _open_in_slices(self) -> None:
        """Rows of E of this chunk from slices of x, each of which comes anew; their sums lie where E does."""
        code, pieces, opener = self.code, self.pieces, self.links.openers[0]
        layer, sums = self.layout.layer(opener), "opened"
        code(f"struct tile {sums} = {{tile.samples, {self._rows('e')}, {{0, {layer.width}}}, chunk, {{0, 1}}}};")
        code(f"place(&{self.e}, {sums});")
        if pieces.is_cut:
            code(f"{self.e}.cell = chunk.stop - chunk.first;")
        for number, _ in enumerate(self.links.openers if pieces.is_cut else ()):
            size = f"SUM * (chunk.stop - chunk.first) * ({sums}.rows.stop - {sums}.rows.first) * {layer.width}"
            at = f"{self.e}.main" + (f" + {size}" if number else "")
            code(f"struct sums sums_{number} = {{{at}, {sums}}};")
        with code.block(f"EACH({sums}.inputs, 0, {layer.in_channels}, {self.plan.kept})"):
            if self.layout.kept(self.stage, self.links.x) is None:
                name = self.layout.names[opener]
                code(f"drop(&{self.x});")
                code(f"bring(&{self.x}, &{name}_layer, BLOCK, {sums}.inputs, {sums});")
            for number, v in enumerate(self.links.openers):
                self._open_slice(number, v, sums)
        for number, v in enumerate(self.links.openers if pieces.is_cut else ()):
            code(f"settle(&sums_{number}, &{self.e}, {self._joining(v)}, {sums});")

    def _open_slice(self, number: int, v: int, sums: str) -> None:
        code, name, part = self.code, self.layout.names[v], f"{self.layout.names[v]}_tile"
        code(f"struct tile {part} = {sums};")
        with code.block(f"EACH({part}.outputs, chunk.first, chunk.stop, {self.plan.apart})"):
            weights = self._weights(v, f"{part}.outputs, {part}.inputs", stays=False)
            if not self.pieces.is_cut:
                code(call_of(self.layout.layer(v), name, [self.x], weights, self.e, self._joining(v), part))
                return
            code(
                f"add_slice(&{name}_layer, {regions_of([self.x])}, &{weights}, &sums_{number}, "
                f"{part}.inputs.first == 0, {part});"
            )

    def _joining(self, v: int) -> str:
        """Return what the results of an opener pass through: the second joins those of the first, in their place."""
        if v == self.links.openers[0] or self.links.join is None:
            return "NULL"
        op = "*" if self.layout.layer(self.links.join).op == "mul" else "+"
        return f"(const struct follow[]){{{{'{op}', &{self.e}, false, -1, NULL}}, {{0}}}}"

    def _part(self, v: int, x: str, out: str, rows: str, width: int, piece: int, stays: bool, follow: str) -> None:
        """Rows of a layer that makes these middle channels, so many at once."""
        layer, code = self.layout.layer(v), self.code
        inputs = layer.in_channels // layer.groups
        name = f"{self.layout.names[v]}_tile"
        code(f"struct tile {name} = {{tile.samples, {rows}, {{0, {width}}}, {{0, 1}}, {{0, {inputs}}}}};")
        with code.block(f"EACH({name}.outputs, chunk.first, chunk.stop, {piece})"):
            weights = self._weights(v, f"{name}.outputs, {name}.inputs", stays)
            code(call_of(layer, self.layout.names[v], [x], weights, out, follow, name))

    def _weights(self, v: int, spans: str, stays: bool) -> str:
        """Return where the weights of a piece are; those that do not stay come each time."""
        if stays or not self.layout.layer(v).has_weights:
            return self.pieces.staying(v)
        self.code(f"forget(&{self.pieces.weights});")
        self._load(v, self.pieces.weights, spans)
        return self.pieces.weights

    def _close(self, stays: bool) -> None:
        """What a chunk adds to the results of a tile, so many outputs at once; the results if it is the only one."""
        code, v, name = self.code, self.links.closer, f"{self.layout.names[self.links.closer]}_tile"
        code(f"struct tile {name} = {{tile.samples, tile.rows, tile.columns, tile.outputs, chunk}};")
        tail = self.pieces.tail if not self.pieces.has_sums else []
        if tail:
            self._place("tile")
        with code.block(f"EACH({name}.outputs, tile.outputs.first, tile.outputs.stop, {self.plan.inner})"):
            weights = self._weights(v, f"{name}.outputs, chunk", stays)
            if self.pieces.has_sums:
                code(
                    f"add_slice(&{self.layout.names[v]}_layer, {regions_of([self.d])}, &{weights}, "
                    f"&sums, chunk.first == 0, {name});"
                )
                return
            if not tail:
                self._place(name)
            out, follow = self.pieces.out, self.pieces.follow
            code(call_of(self.closer, self.layout.names[v], [self.d], weights, out, follow, name))
            if not tail:
                self._store(name)
        if tail:
            self._finish("tile")

    def _settle(self) -> None:
        self._place("tile")
        if not self.pieces.is_kept:  # as close as their sums: a shorter last slice must not reach sums of later ones
            self.code(f"{self.pieces.out}.cell = tile.outputs.stop - tile.outputs.first;")
        self.code(f"settle(&sums, &{self.pieces.out}, {self.pieces.follow}, sums.of);")
        self._finish("tile")

    def _place(self, tile: str) -> None:
        if not self.pieces.is_kept:
            self.code(f"place(&{self.pieces.out}, {tile});")

    def _finish(self, tile: str) -> None:
        """What needs all channels of a position, and the results to DRAM."""
        for line in self.pieces.tail:
            self.code(line.replace("every", tile))
        self._store(tile)

    def _store(self, tile: str) -> None:
        if self.stage.layers[-1] in self.stage.step.written:
            self.code(f"store_tile(&{self.pieces.out}, {tile});")
