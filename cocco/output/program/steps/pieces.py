"""What a step in a loop order holds: the regions of its input, weights and result, and of what follows a layer."""

from __future__ import annotations

from math import prod

from cocco.output.program.layout import Layout, Stage, tensor_id, weights_id
from cocco.output.program.refusal import Refusal, check_second
from cocco.output.program.text import OPS, call_of, span
from workloads.network.layers.ops import JOIN_OPS, WINDOW_OPS


class Pieces:
    """The definitions in C (lines), what runs before the loops (begin), and the names that the loops use."""

    def __init__(self, layout: Layout, stage: Stage) -> None:
        assert stage.price.loops is not None
        self.layout, self.stage, self.plan = layout, stage, stage.price.loops
        self.lines: list[str] = []
        self.begin: list[str] = []
        self.v, self.result = stage.layers[0], stage.layers[-1]
        self.layer = layout.layer(self.v)
        self.made, self.after = self._links()  #: the layer whose results are finished, and those that follow it
        self.is_joined = self.layer.op not in WINDOW_OPS and self.layer.op != "matmul"
        self.regions = stage.model.residency(stage.price).regions
        self.is_kept = layout.kept(stage, self.result) is not None
        self.slices_of = -1  #: a tensor that comes in slices, and again without room of its own
        self.coming: dict[str, int] = {}  #: regions of what is loaded piece by piece, with their tensors
        self.together = "-1"  #: where operands lie one behind the other, if they do
        self._arrive()
        self._input()
        self._weights()
        self._output()
        self._follow()

    @property
    def operands(self) -> list[str]:
        """The regions that the layer reads, in operand order."""
        return [self.layout.region_name(self.stage, u) for u in self.layout.network.operands[self.v]]

    @property
    def whole(self) -> set[int]:
        """Operands that are not read through windows."""
        return {self.layout.network.operands[self.v][place] for place in self.layer.whole}

    def _links(self) -> tuple[int, tuple[int, ...]]:
        return self.v, self.stage.layers[1:]

    def _name(self, what: str) -> str:
        return f"s{self.stage.number}_{self.layout.names[self.v]}_{what}"

    def _at(self, u: int, other: int | None = None) -> str:
        """Return where a tensor lies; operands that take turns lie under the first of them."""
        names = [tensor_id(self.layout.network, self.stage.number, each) for each in (u, u if other is None else other)]
        name = next((each for each in names if each in self.layout.places), None)
        return "AT(0, 0)" if name is None else self.layout.at(name)

    def _define(self, u: int, cell: int, at: str) -> str:
        name, region, more = self.layout.region_name(self.stage, u), self.regions[u], ""
        if self.plan.order == "KP":  # SIDE has the rows that stay
            region = region._replace(side=(self.plan.kept, region.main[1]))
            region = region._replace(main_bytes=self.plan.at_once * prod(region.main) * cell)
            more = f", .stays = {'1' if self.layer.op == 'matmul' else 'BATCH'}"
        more += f", .comes = true, .samples = {self.plan.at_once}"
        self.lines.append(self.layout.region(name, u, at, region, cell, more))
        return name

    def _up(self, channels: int) -> int:
        word = self.layout.priced.rules.geometry.technology.channel_alignment
        return -(-channels // word) * word

    def _arrive(self) -> None:
        """Load what is kept from this step on, whole; and let cross what no window meets."""
        network = self.layout.network
        for u in self.stage.model.subgraph.tensors:
            kept, tensor = self.layout.kept(self.stage, u), network.tensors[u]
            if kept is None:
                continue
            name = self.layout.kept_name(kept)
            self.begin.append(f"ring(&{name});")
            if u in self.stage.step.loaded:
                every = f"(struct span){{0, {tensor.height}}}, (struct span){{0, {tensor.width}}}"
                self.begin.append(f"load_tile(&{name}, (struct span){{0, BATCH}}, {every});")
        for u in network.producers[self.v] if self.layer.op in WINDOW_OPS and self.made == self.v else ():
            if self.layout.kept(self.stage, u) is None:
                self.begin.append(
                    f"dma_pass(unmet(&{self.layout.names[self.v]}_layer, &{self.layout.names[u]}) * BATCH);"
                )

    def _input(self) -> None:
        network, plan, layer = self.layout.network, self.plan, self.layer
        operands = network.operands[self.v]
        local = [u for u in network.producers[self.v] if self.layout.kept(self.stage, u) is None]
        if layer.op == "matmul":
            check_second(layer)
            if layer.second_heads != layer.groups:
                raise Refusal(f"layer {layer.name!r}: heads that share keys have no program yet in a loop order")
            if operands[0] == operands[1]:
                raise Refusal(f"layer {layer.name!r}: a product of a map with itself has no program yet")
            local = [u for u in local if u != operands[1]]
        is_cut = (layer.groups > 1 or plan.order == "BC") and plan.order != "CT" and layer.op != "matmul"
        if layer.groups > 1 and is_cut and len(operands) > len(local):
            raise Refusal(f"layer {layer.name!r}: groups of a map that comes twice, or stays, have no program yet")
        if len(local) > 1 and (is_cut or tensor_id(network, self.stage.number, local[1]) not in self.layout.places):
            self.together = self._at(local[0])
        depth = layer.in_channels // layer.groups
        for u in local:
            channels = network.tensors[u].channels
            held = min(channels, plan.apart) if plan.order in ("CT", "TC") else min(channels, depth)
            if plan.order == "TC" and u in self.whole:
                held = channels
            if plan.order == "BC":
                held = min(plan.slice, depth)
            self.coming[self._define(u, self._up(held), self._at(u, local[0]))] = u
        for region in self.coming:
            self.begin.append(f"drop(&{region});")

    def _weights(self) -> None:
        layer, plan, network = self.layer, self.plan, self.layout.network
        self.weights, self.second = self._name("weights"), ""
        if not layer.has_weights and layer.op != "matmul":
            return
        at, stay = "0", 0
        if layer.has_weights:
            at = self.layout.at(weights_id(self.stage.number))
            stay = plan.kept * layer.kernel[0] * layer.kernel[1] * (layer.in_channels // layer.groups)
        else:
            second = network.operands[self.v][1]
            self.second = self.layout.region_name(self.stage, second)
            if self.layout.kept(self.stage, second) is None:
                at = self._at(second)
                self.lines.append(f"static struct region {self.second} = {{.of = &{self.layout.names[second]}}};")
                if plan.order == "TP":
                    raise Refusal(f"layer {layer.name!r}: products in order TP have no program yet")
        self.lines.append(
            f"static struct weights {self.weights} = {{.at = {at} + {stay if plan.order == 'TP' else 0}}};"
        )
        self.begin.append(f"forget(&{self.weights});")
        if plan.order == "TP":
            self.lines.append(f"static struct weights {self.weights}_stay = {{.at = {at}}};")

    def _output(self) -> None:
        plan, often = self.plan, 1
        self.sums = self._at(self.result)
        self.out = self.layout.region_name(self.stage, self.result)
        cells = {"TKC": plan.chunk, "BC": plan.chunk}  # results lie where their sums lay
        if self.is_kept:
            return
        held = plan.apart if self.is_joined or plan.order == "CT" else plan.chunk
        if any(self.layout.layer(v).op not in JOIN_OPS for v in self.after):
            held = self.layer.channels
        cell = cells.get(plan.order, self._up(held)) * often
        at = self._at(self.result)
        region = self.regions[self.result]._replace(main=plan.tile)
        self.lines.append(self.layout.region(self.out, self.result, at, region, cell))
        self.begin.append(f"drop(&{self.out});")

    def _follow(self) -> None:
        """What follows a layer: sums and products of each result, and layers that need all channels of a position.

        follow: the sums and products before the first of these; tail: what runs once all channels of a tile are there.
        """
        layout, before = self.layout, self.made
        parts, self.tail, self.first_passing = [list[str]()], list[str](), -1
        for v in self.after:
            layer = layout.layer(v)
            others = [u for u in layout.network.operands[v] if u != before]
            parts[-1] += self._leaves(before)
            if len(others) > 1 or (layer.op not in JOIN_OPS and others):
                raise Refusal(f"layer {layer.name!r}: several maps after {self.layer.name!r} have no program yet")
            if layer.op in JOIN_OPS:
                parts[-1] += [self._other(v, u, OPS[layer.op]) for u in others]
            else:
                self.tail.append(call_of(layer, layout.names[v], [self.out], "", self.out, "", "every"))
                parts.append([])
            before = v
        names = [self._entries(number, entries) for number, entries in enumerate(parts)]
        self.follow = names[0]
        after = [f"follow_tile(&{self.out}, {name}, every);" for name in names[1:]]
        self.tail = [line for each in zip(self.tail, after) for line in each if "NULL" not in line]

    def _entries(self, number: int, entries: list[str]) -> str:
        if not entries:
            return "NULL"
        name = self._name(f"follow_{number}" if number else "follow")
        self.lines.append(f"static const struct follow {name}[] = {{{', '.join(entries)}, {{0}}}};")
        return name

    def _leaves(self, v: int) -> list[str]:
        """Return where results in between go that others read, too."""
        kept = self.layout.kept(self.stage, v)
        stored = self.layout.dram[v] if v in self.stage.step.written else -1
        if kept is None and stored < 0:
            return []
        return [f"{{'=', NULL, false, {stored}, {f'&{self.layout.kept_name(kept)}' if kept else 'NULL'}}}"]

    def _other(self, v: int, u: int, op: str) -> str:
        """Return a sum or product with another map: on chip, or passing through the room of a word."""
        layout, stage, tensor = self.layout, self.stage, self.layout.network.tensors[u]
        name = layout.region_name(stage, u)
        is_here = layout.kept(stage, u) is not None or u in self.coming.values()
        if not is_here and u == self.slices_of:
            name += "_again"
            self.lines.append(f"static struct region {name} = {{.of = &{layout.names[u]}}};")
            return f"{{'{op}', &{name}, true, -1, NULL}}"
        is_gate = u in {layout.network.operands[v][place] for place in layout.layer(v).whole}
        if is_gate and not is_here:
            region = self.regions[u]._replace(main=(tensor.height, tensor.width))
            self.lines.append(layout.region(name, u, self._at(u), region, self._up(tensor.channels)))
            every = f"{span(0, tensor.height)}, {span(0, tensor.width)}"
            self.begin += [f"ring(&{name});", f"load_tile(&{name}, {span(0, 'BATCH')}, {every});"]
        elif not is_here:
            self.first_passing = u if self.first_passing < 0 else self.first_passing
            region = self.regions[u]._replace(main=(1, 1), side=(0, 0))
            self.lines.append(layout.region(name, u, self._at(u, self.first_passing), region, 8))
        return f"{{'{op}', &{name}, {str(not is_here and not is_gate).lower()}, -1, NULL}}"
