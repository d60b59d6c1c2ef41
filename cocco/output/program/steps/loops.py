"""A step in a loop order: a table of the loops of each order, outermost first, and what stands in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from cocco.output.program.layout import Layout, Stage
from cocco.output.program.steps.nest import Nest
from cocco.output.program.text import regions_of, span
from workloads.network.layers.ops import WINDOW_OPS

ORDERS = {
    "TK": "groups samples tiles bring chunks weights compute",
    "TP": "groups stay samples tiles bring parts",
    "KT": "groups chunks weights samples tiles bring compute",
    "KP": "groups chunks weights samples tiles bring compute",
    "WK": "groups samples whole chunks weights tiles compute",
    "KS": "groups chunks weights samples whole tiles compute",
    "TKC": "groups samples tiles bring chunks slices weights add",
    "BC": "groups samples tiles chunks slices block",
    "CT": "producers channels weights samples tiles bring compute",
}  #: outermost first
#: the same of element-wise layers
JOINED = {
    "CT": "samples channels fetch tiles operands join",
    "TC": "samples fetch tiles channels operands join",
    "copy": "copy",
}


def loop_step(layout: Layout, stage: Stage) -> Iterator[str]:
    """Yield the C of a step in a loop order: its regions, and one function with its loops."""
    assert stage.price.loops is not None
    is_joined = layout.layer(stage.layers[0]).op not in WINDOW_OPS and layout.layer(stage.layers[0]).op != "matmul"
    order, table = stage.price.loops.order, JOINED if is_joined else ORDERS
    nest = _Apart(layout, stage) if order in JOINED else Nest(layout, stage)
    nest.write(table[order].split())
    yield from nest.pieces.lines
    yield from nest.code.lines


class _Apart(Nest):
    """Loops of layers whose channels are independent, and of element-wise layers."""

    def _run(self, tokens: list[str]) -> None:
        if tokens[0] == "producers":
            self._producers(tokens[1:])
        else:
            super()._run(tokens)

    def _bring(self, stack: ExitStack, rest: list[str], mode: str = "") -> None:
        mode = mode or self.plan.mode.upper()
        for region in self.pieces.coming:
            self.code(f"bring(&{region}, &{self.name}_layer, {mode}, channels, tile);")

    def _producers(self, rest: list[str]) -> None:
        """Write the loops once for each producer, each with its place among the channels."""
        network, base, starts = self.layout.network, 0, dict[int, list[int]]()
        for u in network.operands[self.v]:
            starts.setdefault(u, []).append(base)
            base += network.tensors[u].channels
        every = self.pieces.coming
        for self.producer, self.starts in starts.items():
            self.pieces.coming = {region: u for region, u in every.items() if u == self.producer}
            with self.code.block(f"/* channels of {self.layout.names[self.producer]} */"):
                self._run(rest)
        self.pieces.coming = every

    def _channels(self, stack: ExitStack, rest: list[str]) -> None:
        if self.pieces.is_joined:
            self._each(stack, "outputs", 0, self.layer.channels, self.plan.apart)
            return
        count = self.layout.network.tensors[self.producer].channels
        self.code("struct span channels;")
        stack.enter_context(self.code.block(f"EACH(channels, 0, {count}, {self.plan.apart})"))

    def _weights(self, stack: ExitStack, rest: list[str], of: str = "", outputs: str = "") -> None:
        for i, first in enumerate(self.starts):  # a map that is read twice has two parts of the weights
            outputs = span(f"{first} + channels.first", f"{first} + channels.stop")
            super()._weights(stack, rest, f"_{i}" if i else "", outputs)

    def _compute(self, stack: ExitStack, rest: list[str], of: str = "") -> None:
        for i, first in enumerate(self.starts):
            self.code(
                f"tile.outputs = (struct span){{least({first} + channels.first, {self.layer.channels}), "
                f"least({first} + channels.stop, {self.layer.channels})}};"
            )
            self._place(self.pieces.out)
            self.code(self._call(self.pieces.weights + (f"_{i}" if i else "")))
            self._store()

    def _fetch(self, stack: ExitStack, rest: list[str]) -> None:
        """Operands that are broadcast over the map: all of a sample, or of these channels."""
        self._everywhere()
        for region, u in self.pieces.coming.items():
            if u not in self.pieces.whole:
                continue
            count, is_apart = self.layout.network.tensors[u].channels, "tiles" in rest and "channels" not in rest
            channels = "tile.outputs" if is_apart and count > 1 else span(0, count)
            test = "if (tile.outputs.first == 0)" if is_apart and count == 1 else ""
            with self.code.block(test) if test else ExitStack():
                self.code(f"drop(&{region});")
                self.code(f"bring(&{region}, &{self.name}_layer, WHOLE, {channels}, tile);")

    def _operands(self, stack: ExitStack, rest: list[str]) -> None:
        for region, u in self.pieces.coming.items():
            if u in self.pieces.whole:
                continue
            count = self.layout.network.tensors[u].channels
            channels = "tile.outputs" if count == self.layer.channels else span(0, count)
            test = "if (tile.outputs.first == 0)" if self.plan.order == "TC" and count < self.layer.channels else ""
            with self.code.block(test) if test else ExitStack():
                self.code(f"bring(&{region}, &{self.name}_layer, BLOCK, {channels}, tile);")

    def _join(self, stack: ExitStack, rest: list[str]) -> None:
        self._place(self.pieces.out)
        self.code(self._call(""))
        self._store()

    def _copy(self, stack: ExitStack, rest: list[str]) -> None:
        layout, pieces = self.layout, self.pieces
        word = pieces.place(*pieces.coming.values(), self.v)
        out, stored = f"&{pieces.out}" if pieces.is_kept else "NULL", -1
        if self.v in self.stage.step.written:
            stored = layout.in_dram(self.v)
        self.code(f"copy(&{self.name}_layer, {regions_of(pieces.operands)}, {out}, {word}, {stored});")
