"""The loops of one step in a loop order, written from the outside to the inside."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import accumulate

from cocco.output.program.layout import Layout, Stage
from cocco.output.program.steps.pieces import Pieces
from cocco.output.program.text import Code, call_of, is_transposed, regions_of, sharing_of, span


class Nest:
    """The loops of one step, written from the outside to the inside."""

    def __init__(self, layout: Layout, stage: Stage) -> None:
        assert stage.price.loops is not None
        self.layout, self.stage, self.plan = layout, stage, stage.price.loops
        self.code, self.pieces = Code(), Pieces(layout, stage)
        self.v, self.layer = stage.layers[0], layout.layer(stage.layers[0])
        self.name, self.is_product = layout.names[self.v], self.layer.op == "matmul"
        self.sharing = sharing_of(self.layer)
        self.width, self.depth = self.layer.channels // self.layer.groups, self.layer.in_channels // self.layer.groups

    def write(self, tokens: list[str]) -> None:
        """Write the function of the step."""
        code, plan = self.code, self.plan
        with self.pieces.function(code, f"tiles of {plan.tile[0]} x {plan.tile[1]}, input {plan.mode}"):
            if plan.order != "copy":
                code(f"struct tile tile = {{{{0, 1}}, {{0, 1}}, {{0, 1}}, {{0, 1}}, {{0, {self.depth}}}}};")
            if self.is_product:
                tokens = ["products", *(each for each in tokens if each not in ("groups", "samples"))]
            self._run(tokens)

    def _run(self, tokens: list[str]) -> None:
        """Write loops one inside the other."""
        with ExitStack() as stack:
            for at, token in enumerate(tokens):
                getattr(self, f"_{token}")(stack, tokens[at + 1 :])

    def _each(self, stack: ExitStack, span: str, first: object, stop: object, step: object) -> None:
        stack.enter_context(self.code.block(f"EACH(tile.{span}, {first}, {stop}, {step})"))

    def _products(self, stack: ExitStack, rest: list[str]) -> None:
        """Samples and heads of a product, one after the other: each has its own second operand."""
        stack.enter_context(self.code.block("EACH(tile.samples, 0, BATCH, 1)"))
        self._groups(stack, rest)

    def _groups(self, stack: ExitStack, rest: list[str]) -> None:
        if self.layer.groups > 1:
            step = f"group += {self.sharing}" if self.sharing > 1 else "group++"
            stack.enter_context(self.code.block(f"for (int group = 0; group < {self.layer.groups}; {step})"))

    def _samples(self, stack: ExitStack, rest: list[str]) -> None:
        self._each(stack, "samples", 0, "BATCH", self.plan.at_once)

    def _tiles(self, stack: ExitStack, rest: list[str]) -> None:
        if "bring" in rest:
            for region in self.pieces.coming:
                self.code(f"drop(&{region});")
        self._each(stack, "rows", 0, self.layer.height * self.sharing, self.plan.tile[0])
        self._each(stack, "columns", 0, self.layer.width, self.plan.tile[1])

    def _first(self, output: int) -> str:
        """Return this output of the group, or head, that is running."""
        return f"group * {self.width} + {output}" if self.layer.groups > 1 else str(output)

    def _chunks(self, stack: ExitStack, rest: list[str]) -> None:
        self._each(stack, "outputs", self._first(0), self._first(self.width), self.plan.chunk)

    def _slices(self, stack: ExitStack, rest: list[str]) -> None:
        self.code(f"struct sums sums = {{{self.pieces.sums}, tile}};")
        if "block" not in rest or len(self.operands) == 1:
            self._each(stack, "inputs", 0, self.depth, self.plan.slice)
            return
        ends = accumulate(self.layout.network.tensors[u].channels for u in self.layout.network.operands[self.v])
        code, low = self.code, f" - group * {self.depth}" if self.layer.groups > 1 else ""
        code(f"static const int ends[] = {{0, {', '.join(map(str, ends))}}};")
        stack.enter_context(code.block(f"for (int operand = 0; operand < {len(self.operands)}; operand++)"))
        self._each(
            stack,
            "inputs",
            f"most(0, ends[operand]{low})",
            f"least({self.depth}, ends[operand + 1]{low})",
            self.plan.slice,
        )

    def _bring(self, stack: ExitStack, rest: list[str], mode: str = "") -> None:
        mode = mode or self.plan.mode.replace("-", "_").upper()
        if self.pieces.coming:
            low = f"group * {self.depth}" if self.layer.groups > 1 else "0"
            self._bring_all(mode, span(low, f"{low} + {self.depth}"), "tile")

    def _bring_all(self, mode: str, channels: str, tile: str) -> None:
        is_cut = self.layer.groups > 1 or self.plan.order == "BC"
        operands = self.operands if is_cut else [*dict.fromkeys(self.operands)]
        x, layer = f"{regions_of(operands)}, {self.pieces.together}", f"&{self.name}_layer"
        self.code(f"bring_all({x}, {layer}, {mode}, {channels}, {tile});")

    @property
    def operands(self) -> list[str]:
        """What passes through the windows of the layer; the second operand of a product is its weights."""
        return self.pieces.operands

    def _everywhere(self) -> None:
        self.code(
            f"tile.rows = {span(0, self.layer.height * self.sharing)}, tile.columns = {span(0, self.layer.width)};"
        )

    def _whole(self, stack: ExitStack, rest: list[str]) -> None:
        for region in self.pieces.coming:
            self.code(f"drop(&{region});")
        self._everywhere()
        self._bring(stack, rest, "WHOLE")

    def _weights(self, stack: ExitStack, rest: list[str], of: str = "", outputs: str = "tile.outputs") -> None:
        weights = f"{self.pieces.weights}{of}"
        if self.is_product:
            second, is_turned = self.pieces.second, int(is_transposed(self.layout.network, self.v))
            self.code(
                f"load_second(&{weights}, &{self.name}_layer, {second}, {is_turned}, "
                f"tile.samples.first, {'group' if self.layer.groups > 1 else 0}, {outputs}, tile.inputs);"
            )
        elif self.layer.has_weights:
            self.code(
                f"load_weights(&{weights}, &{self.name}_layer, {self.name.upper()}_WEIGHTS, {outputs}, tile.inputs);"
            )

    def _compute(self, stack: ExitStack, rest: list[str], of: str = "") -> None:
        out = self.pieces.out
        self._place(out)
        self.code(self._call(f"{self.pieces.weights}{of}"))
        self._store()

    def _call(self, weights: str) -> str:
        return call_of(self.layer, self.name, self.operands, weights, self.pieces.out, self.pieces.follow)

    def _place(self, out: str) -> None:
        """Let the region of the result hold this tile, of a chunk or of all channels where they are needed at once."""
        if self.pieces.tail:
            self.code("struct tile every = tile;")
            self.code(f"every.outputs = {span(0, self.layer.channels)};")
        if not self.pieces.is_kept:
            self.code(f"place(&{out}, {'every' if self.pieces.tail else 'tile'});")

    def _store(self) -> None:
        if self.pieces.tail:
            with self.code.block(f"if (tile.outputs.stop == {self.layer.channels})"):
                for line in self.pieces.tail:
                    self.code(line)
                if self.stage.layers[-1] in self.stage.step.written:
                    self.code(f"store_tile(&{self.pieces.out}, every);")
            return
        if self.stage.layers[-1] in self.stage.step.written:
            self.code(f"store_tile(&{self.pieces.out}, tile);")

    def _stay(self, stack: ExitStack, rest: list[str]) -> None:
        self._weights(stack, rest, "_stay", span(self._first(0), self._first(self.plan.kept)))

    def _parts(self, stack: ExitStack, rest: list[str]) -> None:
        kept = self.plan.kept
        with self.code.block(f"EACH(tile.outputs, {self._first(0)}, {self._first(kept)}, {self.plan.chunk})"):
            self._compute(stack, rest, "_stay")
        with self.code.block(f"EACH(tile.outputs, {self._first(kept)}, {self._first(self.width)}, {self.plan.chunk})"):
            self._weights(stack, rest)
            self._compute(stack, rest)
            self.code(f"forget(&{self.pieces.weights});")

    def _add(self, stack: ExitStack, rest: list[str]) -> None:
        self._add_slice("tile")
        self._settle(stack)

    def _add_slice(self, tile: str) -> None:
        self.code(
            f"add_slice(&{self.name}_layer, {regions_of(self.operands)}, &{self.pieces.weights}, "
            f"&sums, tile.inputs.first == 0, {tile});"
        )

    def _settle(self, stack: ExitStack) -> None:
        with self.code.block(f"if (tile.inputs.stop == {self.depth})"):
            self._place(self.pieces.out)
            self._shrink()
            self.code(f"settle(&sums, &{self.pieces.out}, {self.pieces.follow}, sums.of);")
            self._store()
        self.code(f"forget(&{self.pieces.weights});")

    def _shrink(self) -> None:
        """Let results lie as close as their sums: those of a shorter last chunk must not reach sums of later ones."""
        if not self.pieces.is_kept:
            self.code(f"{self.pieces.out}.cell = tile.outputs.stop - tile.outputs.first;")

    def _block(self, stack: ExitStack, rest: list[str]) -> None:
        """The input of a block, whole or row by row, for a slice of its channels; weights of some outputs at a time."""
        for region in self.pieces.coming:
            self.code(f"drop(&{region});")
        low = f"group * {self.depth} + " if self.layer.groups > 1 else ""
        is_row = self.plan.mode == "block-row"
        self.code("struct tile part = tile;")
        mode, channels = "BLOCK_ROW" if is_row else "BLOCK", span(f"{low}tile.inputs.first", f"{low}tile.inputs.stop")
        head = "EACH(part.rows, tile.rows.first, tile.rows.stop, %s)" % (1 if is_row else self.plan.tile[0])
        with self.code.block(head):
            if self.pieces.coming:
                self._bring_all(mode, channels, "part")
            with self.code.block(f"EACH(part.outputs, tile.outputs.first, tile.outputs.stop, {self.plan.inner})"):
                self._weights(stack, rest, outputs="part.outputs")
                self._add_slice("part")
        self._settle(stack)
