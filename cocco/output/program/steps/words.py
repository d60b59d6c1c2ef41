"""A step that is a softmax or norm whose channels pass word by word, twice: statistics, then results (order TCC)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from math import prod
from typing import NamedTuple

from cocco.output.program.layout import Layout, Stage
from cocco.output.program.steps.pieces import Pieces
from cocco.output.program.text import WORD, Code, heads_of, span


class _Part(NamedTuple):
    """Channels of the input, from the first to before the last, and the region where they are; passes: word by word."""

    region: str
    low: int
    high: int
    passes: bool


class _WordPieces(Pieces):
    """The regions of channels that stay, of a word that passes, and of a word of results; where statistics are."""

    def _input(self) -> None:
        (u,), area = self.layout.network.producers[self.v], prod(self.plan.tile)
        name, channels = self.layout.region_name(self.stage, u), self.layer.channels
        self.inputs, self.statistics = [_Part(name, 0, channels, False)], self.place(self.result)
        if not self.is_kept:
            self.statistics += f" + {area * self._up(min(WORD, channels))}"
        if self.layout.kept(self.stage, u) is not None:
            return
        kept, region = self.plan.kept, self.regions[u]._replace(main=self.plan.tile)
        parts = _Part(name, 0, kept, False), _Part(f"{name}_word", kept, channels, True)
        self.inputs, behind = [each for each in parts if each.low < each.high], 0
        for part in self.inputs:
            cell, at = self._up(WORD if part.passes else kept), f"{self.place(u)} + {behind}"
            self.lines.append(self.layout.region(part.region, u, at, region, cell, ", .comes = true, .samples = 1"))
            behind += area * cell
        self.statistics = f"{self.place(u)} + {behind}"

    def _output(self) -> None:
        self.out = self.layout.region_name(self.stage, self.result)
        if not self.is_kept:
            region = self.regions[self.result]._replace(main=self.plan.tile)
            self.lines.append(self.layout.region(self.out, self.result, self.place(self.result), region, WORD))
            self.begin.append(f"drop(&{self.out});")


def twice_step(layout: Layout, stage: Stage) -> Iterator[str]:
    """Yield the C of a softmax or norm that gathers statistics of a tile, and reads it again for the results."""
    pieces, code, layer = _WordPieces(layout, stage), Code(), layout.layer(stage.layers[0])
    name, heads = layout.names[pieces.v], heads_of(layout.network, pieces.v)
    is_loaded = layout.kept(stage, layout.network.producers[pieces.v][0]) is None
    down, across = pieces.plan.tile
    with pieces.function(code, f"{down} x {across} positions at once"), ExitStack() as stack:
        code("struct tile tile = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}};")
        stack.enter_context(code.block("EACH(tile.samples, 0, BATCH, 1)"))
        stack.enter_context(code.block(f"EACH(tile.rows, 0, {layer.height}, {down})"))
        stack.enter_context(code.block(f"EACH(tile.columns, 0, {layer.width}, {across})"))
        for region, low, high, passes in pieces.inputs:
            if is_loaded and not passes:
                code(f"bring(&{region}, &{name}_layer, BLOCK, {span(low, high)}, tile);")
        width = layer.channels // heads
        if heads > 1:
            stack.enter_context(code.block(f"for (int head = 0; head < {heads}; head++)"))
        ends = ("head * {0}", "(head + 1) * {0}") if heads > 1 else ("0", "{0}")
        first, stop = (each.format(width) for each in ends)
        for work in ("gather", "normalize"):
            for region, low, high, passes in pieces.inputs:
                is_cut = len(pieces.inputs) > 1
                bounds = f"most({low}, {first}), least({high}, {stop})" if is_cut else f"{first}, {stop}"
                with code.block(f"EACH(tile.outputs, {bounds}, {WORD})"):
                    if passes:
                        code(f"bring(&{region}, &{name}_layer, BLOCK, tile.outputs, tile);")
                    if work == "gather":
                        code(f"gather(&{name}_layer, &{region}, {pieces.statistics}, tile);")
                        continue
                    if not pieces.is_kept:
                        code(f"place(&{pieces.out}, tile);")
                    code(f"normalize(&{name}_layer, &{region}, {pieces.statistics}, &{pieces.out}, tile);")
                    if pieces.v in stage.step.written:
                        code(f"store_tile(&{pieces.out}, tile);")
    yield from pieces.lines
    yield from code.lines
