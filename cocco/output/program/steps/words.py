"""Steps of the least memory: pools row by row (order RS), softmax and norms word by word, twice (order TCC)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import prod
from typing import NamedTuple

from cocco.output.program.layout import Layout, Stage
from cocco.output.program.steps.pieces import Pieces
from cocco.output.program.text import Code, heads_of, span

WORD = 8  #: channels


class _RowPieces(Pieces):
    """The regions of an input row, and of the sums of output rows that are begun; results take their place."""

    def _input(self) -> None:
        local = [u for u in self.layout.network.producers[self.v] if self.layout.kept(self.stage, u) is None]
        for u in local:
            self.coming[self._define(u, WORD, self.place(u, local[0]))] = u

    def _output(self) -> None:
        operands, region = self.layout.network.operands[self.v], self.regions[self.result]
        sums = 4 // self.layout.element  # elements of a sum
        often = max(map(operands.count, operands))
        row = WORD * sums * self.layer.width
        rows = self.layout.elements(region.main_bytes) // (row * often)
        self.sums = [self._name(f"sums_{i}") for i in range(often)]
        for i, name in enumerate(self.sums):
            at = f"{self.place(self.result)} + {i * rows * row}"
            place = region._replace(main=(rows, self.layer.width))
            self.lines.append(self.layout.region(name, self.result, at, place, WORD * sums))


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


@contextmanager
def _function(code: Code, stage: Stage, what: str, pieces: Pieces) -> Iterator[None]:
    """Write the head of the function of a step, and what runs before its loops; the body writes the rest."""
    order = pieces.plan.order
    code(f"/* step {stage.number}: {', '.join(stage.names)}; order {order}, {what} at once */")
    with code.block(f"void step_{stage.number}(void)"):
        for line in pieces.begin:
            code(line)
        yield


def rows_step(layout: Layout, stage: Stage) -> Iterator[str]:
    """Yield the C of a pool row by row."""
    pieces, code, network = _RowPieces(layout, stage), Code(), layout.network
    v, starts, base = pieces.v, dict[int, list[int]](), 0
    for u in network.operands[v]:
        starts.setdefault(u, []).append(base)
        base += network.tensors[u].channels
    with _function(code, stage, "a row", pieces):
        code("struct span channels;")
        with code.block("for (int sample = 0; sample < BATCH; sample++)"):
            for u, firsts in starts.items():
                sums = [f"&{each}" for each in pieces.sums[: len(firsts)]]
                kept = f"&{layout.region_name(stage, v)}"
                out = [kept] * len(firsts) if pieces.is_kept else sums
                with code.block(f"EACH(channels, 0, {network.tensors[u].channels}, {WORD})"):
                    code(
                        f"sum_rows(&{layout.names[v]}_layer, &{layout.region_name(stage, u)}, channels, "
                        f"(struct region *const[]){{{', '.join(sums)}}}, (struct region *const[]){{{', '.join(out)}}}, "
                        f"(const int[]){{{', '.join(map(str, firsts))}}}, {len(firsts)}, sample, "
                        f"{str(v in stage.step.written).lower()});"
                    )
    yield from pieces.lines
    yield from code.lines


def twice_step(layout: Layout, stage: Stage) -> Iterator[str]:
    """Yield the C of a softmax or norm that gathers statistics of a tile, and reads it again for the results."""
    pieces, code, layer = _WordPieces(layout, stage), Code(), layout.layer(stage.layers[0])
    name, heads = layout.names[pieces.v], heads_of(layout.network, pieces.v)
    is_loaded = layout.kept(stage, layout.network.producers[pieces.v][0]) is None
    with (
        _function(code, stage, f"{pieces.plan.tile[0]} x {pieces.plan.tile[1]} positions", pieces),
        ExitStack() as stack,
    ):
        code("struct tile tile = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}};")
        stack.enter_context(code.block("EACH(tile.samples, 0, BATCH, 1)"))
        stack.enter_context(code.block(f"EACH(tile.rows, 0, {layer.height}, {pieces.plan.tile[0]})"))
        stack.enter_context(code.block(f"EACH(tile.columns, 0, {layer.width}, {pieces.plan.tile[1]})"))
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
                bounds = (
                    f"most({low}, {first}), least({high}, {stop})" if len(pieces.inputs) > 1 else f"{first}, {stop}"
                )
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
