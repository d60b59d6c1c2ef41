"""A step that is a pool row by row: each input row is added to all output rows that meet it (order RS)."""

from __future__ import annotations

from collections.abc import Iterator

from cocco.output.program.layout import Layout, Stage
from cocco.output.program.steps.pieces import Pieces
from cocco.output.program.text import WORD, Code


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
        self.begun = [self._name(f"sums_{i}") for i in range(often)]
        for i, name in enumerate(self.begun):
            at = f"{self.place(self.result)} + {i * rows * row}"
            place = region._replace(main=(rows, self.layer.width))
            self.lines.append(self.layout.region(name, self.result, at, place, WORD * sums))


def rows_step(layout: Layout, stage: Stage) -> Iterator[str]:
    """Yield the C of a pool row by row."""
    pieces, code, network = _RowPieces(layout, stage), Code(), layout.network
    v, starts, base = pieces.v, dict[int, list[int]](), 0
    for u in network.operands[v]:
        starts.setdefault(u, []).append(base)
        base += network.tensors[u].channels
    with pieces.function(code, "input rows one by one"):
        code("struct span channels;")
        with code.block("for (int sample = 0; sample < BATCH; sample++)"):
            for u, firsts in starts.items():
                sums = [f"&{each}" for each in pieces.begun[: len(firsts)]]
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
