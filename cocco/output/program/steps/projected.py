"""A step that is an attention with its projections, head by head (order HP): the sources stay whole, or pass."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from cocco.output.program.layout import Layout, Stage, weights_id
from cocco.output.program.steps.pieces import Pieces
from cocco.output.program.text import Code, call_of, is_transposed, regions_of, seconds_of, span


class _ProjectedPieces(Pieces):
    """The regions of sources, of queries, keys and values of some heads, of scores, and of the results of a tile."""

    def _links(self) -> tuple[int, tuple[int, ...]]:
        network = self.layout.network
        self.scores, self.context = (v for v in self.stage.layers if network.layers[v].op == "matmul")
        self.parts = (*network.operands[self.scores], network.operands[self.context][1])  #: queries, keys, values
        scores, self.passes = network.layers[self.scores], self.plan.mode == "ring"
        self.groups, self.sharing = scores.second_heads, scores.groups // scores.second_heads
        return self.context, ()

    def source(self, v: int) -> int:
        """Return what queries, keys or values are made of."""
        return self.layout.network.operands[v][0]

    def sharing_of(self, v: int) -> int:
        """Return how many of these heads belong to a head of keys."""
        return self.sharing if v == self.parts[0] else 1

    def width(self, v: int) -> int:
        """Return the channels of one of these heads."""
        return self.layout.layer(v).channels // (self.groups * self.sharing_of(v))

    def at_once(self, v: int) -> int:
        """Return how many of these heads are on chip at once."""
        return self.plan.apart * self.sharing_of(v) if self.passes else 1

    def _input(self) -> None:
        tensors, room, self.passing = self.layout.network.tensors, "", dict[int, str]()
        sources = [u for u in dict.fromkeys(map(self.source, self.parts)) if self.layout.kept(self.stage, u) is None]
        for u in sources:
            region, cell = self.regions[u], self._up(tensors[u].channels)
            if region.main[0]:
                self.coming[self._define(u, cell, self.place(u))] = u
            if self.layout.elements(region.main_bytes) > prod(region.main) * cell:
                room = f"{self.place(u)} + {prod(region.main) * cell}"  # sources that pass take turns there
        for u in sources:
            if self.regions[u].main[0] < tensors[u].height:
                self.passing[u] = f"{self.layout.region_name(self.stage, u)}_passing"
                region = self.regions[u]._replace(main=(self.plan.tile[0], 1))
                cell = self._up(tensors[u].channels)
                self.lines.append(self.layout.region(self.passing[u], u, room, region, cell))

    def _weights(self) -> None:
        at, offsets = self.layout.at(weights_id(self.stage.number)), dict[int, int]()
        for v in self.parts:
            u, name = self.source(v), self.layout.region_name(self.stage, v)
            first = offsets.get(u, 0) if self.passes else 0
            self.lines.append(
                self.layout.region(name, v, self.place(v), self.regions[v], self.at_once(v) * self._up(self.width(v)))
            )
            self.lines.append(f"static struct weights {self.weights_of(v)} = {{.at = {at} + {first}}};")
            offsets[u] = first + self.at_once(v) * self.width(v) * self.layout.network.tensors[u].channels
        for v in (self.scores, self.context):
            self.lines += seconds_of(f"s{self.stage.number}_{self.layout.names[v]}_second", 1)

    def weights_of(self, v: int) -> str:
        """Return the weights that make queries, keys or values."""
        return f"s{self.stage.number}_{self.layout.names[v]}_weights"

    def _output(self) -> None:
        self.out = self.layout.region_name(self.stage, self.context)
        if not self.is_kept:
            context = self.layout.layer(self.context)
            region, cell = self.regions[self.context], self._up(context.channels // context.groups)
            self.lines.append(self.layout.region(self.out, self.context, self.place(self.context), region, cell))
            self.begin.append(f"drop(&{self.out});")


class _Heads:
    """The loops of the step."""

    def __init__(self, layout: Layout, stage: Stage) -> None:
        assert stage.price.loops is not None
        self.layout, self.stage, self.plan = layout, stage, stage.price.loops
        self.pieces, self.code = _ProjectedPieces(layout, stage), Code()

    def write(self) -> None:
        """Write the function of the step."""
        code, plan, pieces = self.code, self.plan, self.pieces
        with pieces.function(code, f"{plan.tile[0]} queries at once"):
            code("struct tile tile = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}};")
            with code.block("EACH(tile.samples, 0, BATCH, 1)"):
                for region, u in pieces.coming.items():
                    self._arrive(region, u, span(0, pieces.regions[u].main[0]))
                step = f"group += {plan.apart}" if pieces.passes else "group++"
                with code.block(f"for (int group = 0; group < {pieces.groups}; {step})"):
                    self._passing() if pieces.passes else self._whole()

    def _arrive(self, region: str, u: int, rows: str) -> None:
        """Load rows of a source, which its region holds then."""
        channels = span(0, self.layout.network.tensors[u].channels)
        part = f"(struct tile){{tile.samples, {rows}, {span(0, 1)}, {channels}, {span(0, 1)}}}"
        self.code(f"drop(&{region});")
        self.code(f"place(&{region}, {part});")
        self.code(f"load_tile(&{region}, {part});")

    def _whole(self) -> None:
        """A head of keys and its values are made, then for each head of queries its rows, all or a tile at a time."""
        code, pieces, (queries, *others) = self.code, self.pieces, self.pieces.parts
        rows, is_in_bands = self.layout.layer(queries).height, self.plan.chunk < self.layout.layer(queries).height
        for v in others:
            self._make(v, "group", span(0, self.layout.layer(v).height))
        with code.block(f"for (int head = group * {pieces.sharing}; head < (group + 1) * {pieces.sharing}; head++)"):
            if is_in_bands:
                self._load(queries, self._outputs(queries, "head", "head + 1"))
            code("struct span band;")
            with code.block(f"EACH(band, 0, {rows}, {self.plan.chunk})"):
                self._make(queries, "head", "band", is_in_bands)
                self._attend("band.first", "band.stop")

    def _passing(self) -> None:
        """Each source passes once, and all these heads are made of it; then they attend one after the other."""
        code, pieces = self.code, self.pieces
        code(f"int after = least(group + {self.plan.apart}, {pieces.groups});")
        for u in dict.fromkeys(map(pieces.source, pieces.parts)):
            parts = [v for v in pieces.parts if pieces.source(v) == u]
            ends = {v: [f"{end} * {pieces.sharing_of(v)}" for end in ("group", "after")] for v in parts}
            for v in parts:
                self._load(v, self._outputs(v, *ends[v]))
                self._hold(v, self._outputs(v, *ends[v]), span(0, self.layout.layer(v).height))
            height, region = self.layout.network.tensors[u].height, self.layout.region_name(self.stage, u)
            stay = height if u not in pieces.passing else pieces.regions[u].main[0]
            if stay:
                for v in parts:
                    self._convolve(v, region, self._outputs(v, *ends[v]), span(0, stay))
            if u in pieces.passing:
                with code.block(f"EACH(tile.rows, {stay}, {height}, {self.plan.tile[0]})"):
                    self._arrive(pieces.passing[u], u, "tile.rows")
                    for v in parts:
                        self._convolve(v, pieces.passing[u], self._outputs(v, *ends[v]), "tile.rows")
        with code.block(f"for (int head = group * {pieces.sharing}; head < after * {pieces.sharing}; head++)"):
            self._attend("0", str(self.layout.layer(pieces.context).height))

    def _outputs(self, v: int, first: str, stop: str) -> str:
        width = self.pieces.width(v)
        return span(f"({first}) * {width}", f"({stop}) * {width}")

    def _load(self, v: int, outputs: str) -> None:
        name, weights = self.layout.names[v], self.pieces.weights_of(v)
        self.code(f"forget(&{weights});")
        inputs = span(0, self.layout.layer(v).in_channels)
        self.code(f"load_weights(&{weights}, &{name}_layer, {name.upper()}_WEIGHTS, {outputs}, {inputs});")

    def _hold(self, v: int, outputs: str, rows: str) -> None:
        """Let a region hold these heads and rows, which are made next."""
        region = self.layout.region_name(self.stage, v)
        self.code(f"drop(&{region});")
        self.code(f"place(&{region}, (struct tile){{tile.samples, {rows}, {span(0, 1)}, {outputs}, {span(0, 1)}}});")

    def _make(self, v: int, head: str, rows: str, is_loaded: bool = False) -> None:
        """Rows of a head, so many of its outputs at a time."""
        region, width = self.layout.region_name(self.stage, self.pieces.source(v)), self.pieces.width(v)
        self._hold(v, self._outputs(v, head, f"{head} + 1"), rows)
        if is_loaded:
            self._convolve(v, region, self._outputs(v, head, f"{head} + 1"), rows)
            return
        with self.code.block(f"EACH(tile.outputs, {head} * {width}, ({head} + 1) * {width}, {self.plan.inner})"):
            self._load(v, "tile.outputs")
            self._convolve(v, region, "tile.outputs", rows)

    def _convolve(self, v: int, x: str, outputs: str, rows: str) -> None:
        layer, region = self.layout.layer(v), self.layout.region_name(self.stage, v)
        part = f"(struct tile){{tile.samples, {rows}, {span(0, 1)}, {outputs}, {span(0, layer.in_channels)}}}"
        self.code(call_of(layer, self.layout.names[v], [x], self.pieces.weights_of(v), region, "NULL", part))
        if v in self.stage.step.written:
            self.code(f"store_tile(&{region}, {part});")

    def _attend(self, first: str, stop: str) -> None:
        """Tiles of queries meet all keys and values of their head."""
        code, layout, pieces, network = self.code, self.layout, self.pieces, self.layout.network
        layer, keys = layout.layer(pieces.context), layout.layer(pieces.parts[1]).height
        made, depth = layer.channels // layer.groups, pieces.width(pieces.parts[0])
        code(f"tile.outputs = {span(f'head * {made}', f'(head + 1) * {made}')};")
        code(f"tile.inputs = {span(0, keys)};")
        parts = (f"{span(f'head * {keys}', f'(head + 1) * {keys}')}, {span(0, depth)}", "tile.outputs, tile.inputs")
        seconds = [f"s{self.stage.number}_{layout.names[v]}_second" for v in (pieces.scores, pieces.context)]
        for v, u, name, part in zip((pieces.scores, pieces.context), pieces.parts[1:], seconds, parts):
            region = regions_of([layout.region_name(self.stage, u)])
            code(
                f"load_second(&{name}, &{layout.names[v]}_layer, {region}, {int(is_transposed(network, v))}, "
                f"tile.samples.first, head, {part});"
            )
        with code.block(f"EACH(tile.rows, {first}, {stop}, {self.plan.tile[0]})"):
            if not pieces.is_kept:
                code(f"place(&{pieces.out}, tile);")
            queries, scores = layout.region_name(self.stage, pieces.parts[0]), pieces.place(pieces.scores)
            code(
                f"attend(&{layout.names[pieces.scores]}_layer, &{layout.names[pieces.context]}_layer, &{queries}, "
                f"&{seconds[0]}, &{seconds[1]}, {scores}, -1, &{pieces.out}, tile);"
            )
            if pieces.context in self.stage.step.written:
                code(f"store_tile(&{pieces.out}, tile);")


def projected_step(layout: Layout, stage: Stage) -> Iterator[str]:
    """Yield the C of an attention with its projections."""
    heads = _Heads(layout, stage)
    heads.write()
    yield from heads.pieces.lines
    yield from heads.code.lines
