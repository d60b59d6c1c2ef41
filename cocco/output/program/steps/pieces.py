"""What a step in a loop order holds: the regions of its input, weights and result, and of what follows a layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod

from cocco.output.program.layout import Layout, Stage, tensor_id, weights_id
from cocco.output.program.refusal import Refusal
from cocco.output.program.text import (
    OPS,
    Code,
    call_of,
    experts_of,
    is_transposed,
    regions_of,
    remark,
    seconds_of,
    sharing_of,
)
from simulator.model.subgraph.regions import Region
from workloads.network.layers.ops import JOIN_OPS, PRODUCT_OPS, WINDOW_OPS


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
        self.is_cut = False  #: whether only some channels of an operand are there at once
        self.slices_of = -1  #: a tensor that comes in slices, and again without room of its own
        self.of: dict[int, str] = {}  #: tensors whose heads are read as rows
        self.coming: dict[str, int] = {}  #: regions of what is loaded piece by piece, with their tensors
        self.together = "-1"  #: where operands lie one behind the other, if they do
        self._arrive()
        self._input()
        self._weights()
        self._output()
        self._follow()

    @contextmanager
    def function(self, code: Code, loops: str) -> Iterator[None]:
        """Write the head of the function of the step, and what runs before its loops; the body writes the rest."""
        number, names = self.stage.number, ", ".join(self.stage.names)
        code(remark(f"step {number}: {names}; order {self.plan.order}, {loops}"))
        with code.block(f"void step_{number}(void)"):
            for line in self.begin:
                code(line)
            yield

    @property
    def operands(self) -> list[str]:
        """The regions that the layer reads, in operand order."""
        if self.layer.op == "matmul":
            return [self.first]
        return self._names_of(self.layout.network.operands[self.v])

    def _names_of(self, operands: Sequence[int]) -> list[str]:
        """Return the regions of operands; of a map that is cut in parts, each place where it is read has its own."""
        names = list[str]()
        for i, u in enumerate(operands):
            is_again = self.is_cut and u in operands[:i] and self.layout.kept(self.stage, u) is None
            names.append(self.layout.region_name(self.stage, u) + (f"_at_{i}" if is_again else ""))
        return names

    def _by_heads(self, u: int, width: int) -> str:
        """Return the region of an operand or result of a product: the heads that share keys are its rows."""
        name, heads = self.layout.region_name(self.stage, u), sharing_of(self.layer)
        if heads == 1:
            return name
        tensor, of = self.layout.network.tensors[u], f"s{self.stage.number}_{self.layout.names[u]}_heads"
        self.of[u] = of
        self.lines.append(self.layout.tensor(u, of, heads, width))
        kept = self.layout.kept(self.stage, u)
        if kept is None:
            return name
        at = self.layout.at(self.layout.buffers.places[kept])
        region = Region((tensor.height, tensor.width), (0, 0), 0, 0)
        cell = self._up(tensor.channels)
        self.lines.append(self.layout.region(f"{of}_map", u, at, region, cell, ", .folds = true", of))
        self.begin.append(f"ring(&{of}_map);")
        return f"{of}_map"

    @property
    def whole(self) -> set[int]:
        """Operands that are not read through windows."""
        return {self.layout.network.operands[self.v][place] for place in self.layer.whole}

    def _links(self) -> tuple[int, tuple[int, ...]]:
        return self.v, self.stage.layers[1:]

    def _name(self, what: str) -> str:
        return f"s{self.stage.number}_{self.layout.names[self.v]}_{what}"

    def place(self, *tensors: int) -> str:
        """Return where a tensor lies; operands that take turns lie under one of them."""
        names = [tensor_id(self.layout.network, self.stage.number, each) for each in tensors]
        name = next((each for each in names if each in self.layout.places), None)
        return "AT(0, 0)" if name is None else self.layout.at(name)

    def _define(self, u: int, cell: int, at: str, name: str = "") -> str:
        name, region, more = name or self.layout.region_name(self.stage, u), self.regions[u], ""
        main = self.plan.at_once * prod(region.main) * cell
        mine, room = main, self.layout.elements(region.main_bytes + region.side_bytes)
        if self.plan.order == "KP":  # SIDE has the rows that stay
            stays = 1 if self.layer.op == "matmul" else self.layout.batch
            region = region._replace(side=(self.plan.kept, region.main[1]))
            mine += stays * prod(region.side) * cell
            more = f", .stays = {stays}"
        elif region.side[0]:
            mine += self.plan.at_once * prod(region.side) * cell
        if self._is_twice(u):  # behind the parts of the same map that are a second operand
            at += f" + {room - mine}"
        if self._is_twice(u) or self.plan.order == "KP":
            region = region._replace(main_bytes=main * self.layout.element)
        more += f", .comes = true, .samples = {self.plan.at_once}"
        self.lines.append(self.layout.region(name, u, at, region, cell, more, self.of.get(u, "")))
        return name

    def _is_twice(self, u: int) -> bool:
        """Return whether a map is the first operand of a product, and a second one."""
        first, *seconds = self.layout.network.operands[self.v]
        return self.layer.op in PRODUCT_OPS and u == first and u in seconds

    def _up(self, channels: int) -> int:
        word = self.layout.priced.rules.geometry.technology.channel_alignment
        return -(-channels // word) * word

    def _arrive(self) -> None:
        """Load what is kept from this step on, whole; and let cross what no window meets."""
        network = self.layout.network
        for u in self.stage.model.subgraph.tensors:
            kept = self.layout.kept(self.stage, u)
            if kept is None:
                continue
            name = self.layout.kept_name(kept)
            self.begin.append(f"{'load_map' if u in self.stage.step.loaded else 'ring'}(&{name});")
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
            local = [u for u in local if u == operands[0]]
            self.first = self._by_heads(operands[0], layer.in_channels // layer.groups)
        self.is_cut = (layer.groups > 1 or plan.order == "BC") and plan.order != "CT" and layer.op != "matmul"
        names = self._names_of(local)
        if self.is_cut:
            names = [name for u, name in zip(operands, self._names_of(operands)) if u in local]
            local = [u for u in operands if u in local]
        have_places = all(tensor_id(network, self.stage.number, u) in self.layout.places for u in local[1:2])
        if len(local) > 1 and (self.is_cut or not have_places):
            self.together = self.place(local[0])
        depth = layer.in_channels // layer.groups
        for u, name in zip(local, names):
            channels = network.tensors[u].channels
            held = min(channels, plan.apart) if plan.order in ("CT", "TC") else min(channels, depth)
            if plan.order == "TC" and u in self.whole:
                held = channels
            if plan.order == "BC":
                held = min(plan.slice, depth)
            self.coming[self._define(u, self._up(held), self.place(u, local[0]), name)] = u
        for region in self.coming:
            self.begin.append(f"drop(&{region});")

    def _weights(self) -> None:
        layer, plan, depth = self.layer, self.plan, self.layer.in_channels // self.layer.groups
        self.weights, self.second = self._name("weights"), ""
        used, active = experts_of(layer)
        if layer.has_weights:
            stay = plan.kept * prod(layer.kernel) * depth * used // active
        elif layer.op == "matmul":
            is_turned = is_transposed(self.layout.network, self.v)
            stay = plan.kept * self._up(depth) if is_turned else depth * self._up(plan.kept)
        else:
            return
        names = {self.weights: stay, f"{self.weights}_stay": 0} if plan.order == "TP" else {self.weights: 0}
        if plan.order == "CT":  # channels of a map that is read twice come once, with the weights of both
            operands = self.layout.network.operands[self.v]
            often = max(map(operands.count, operands))
            names |= {f"{self.weights}_{i}": i * plan.apart * prod(layer.kernel) for i in range(1, often)}
        if layer.op == "matmul":
            self.second = self._seconds(self.layout.network.operands[self.v][1:], names)
            return
        for name, offset in names.items():
            self._piece(name, f"{self.layout.at(weights_id(self.stage.number))} + {offset}")

    def _piece(self, name: str, at: str) -> None:
        self.lines.append(f"static struct weights {name} = {{.at = {at}}};")
        self.begin.append(f"forget(&{name});")

    def _seconds(self, maps: Sequence[int], names: dict[str, int]) -> str:
        """Define pieces of the second operand of a product, or where its maps are whole on chip; return these maps."""
        coming = [u for u in maps if self.layout.kept(self.stage, u) is None]
        for name, offset in names.items():
            if coming:
                self._piece(name, f"{self.place(*maps)} + {offset}")
            else:
                self.lines += seconds_of(name, len(maps))
        regions = [self.layout.region_name(self.stage, u) + ("_second" if u in coming else "") for u in maps]
        for u, name in zip(maps, regions):
            line = f"static struct region {name} = {{.of = &{self.layout.names[u]}}};"
            self.lines += [line] if u in coming and line not in self.lines else []
        return regions_of(regions)

    def _output(self) -> None:
        plan, often = self.plan, 1
        self.sums = self.place(self.result)
        self.out = self.layout.region_name(self.stage, self.result)
        if self.layer.op == "matmul":
            self.out = self._by_heads(self.result, self.layer.channels // self.layer.groups)
        cells = {"TKC": plan.chunk, "BC": plan.chunk}  # results lie where their sums lay
        if self.is_kept:
            return
        held = plan.apart if self.is_joined or plan.order == "CT" else plan.chunk
        if any(self.layout.layer(v).op not in JOIN_OPS for v in self.after):
            held = self.layer.channels
        cell = cells.get(plan.order, self._up(held)) * often
        at = self.place(self.result)
        region = self.regions[self.result]._replace(main=plan.tile)
        self.lines.append(self.layout.region(self.out, self.result, at, region, cell, of=self.of.get(self.result, "")))
        self.begin.append(f"drop(&{self.out});")

    def _follow(self) -> None:
        """What follows a layer: sums and products of each result, and layers that need all channels of a position.

        follow: the sums and products before the first of these; tail: what runs once all channels of a tile are there.
        """
        layout, before = self.layout, self.made
        parts, self.tail = [list[str]()], list[str]()
        for v in self.after:
            layer = layout.layer(v)
            others = [u for u in layout.network.operands[v] if u != before]
            parts[-1] += self._leaves(before)
            if layer.op not in JOIN_OPS and others:
                raise Refusal(f"layer {layer.name!r}: another map after {self.layer.name!r} has no program yet")
            if layer.op in JOIN_OPS:
                parts[-1] += [self._other(v, u, OPS[layer.op]) for u in others]
            else:
                self.tail.append(call_of(layer, layout.names[v], [self.out], "", self.out, "", "every"))
                parts.append([])
            before = v
        names = [self._entries(number, entries) for number, entries in enumerate(parts)]
        self.follow = names[0]
        after = [f"settle(NULL, &{self.out}, {name}, every);" for name in names[1:]]
        self.tail = [line for each in zip(self.tail, after) for line in each if ", NULL, every" not in line]

    def _entries(self, number: int, entries: list[str]) -> str:
        if not entries:
            return "NULL"
        name = self._name(f"follow_{number}" if number else "follow")
        self.lines.append(f"static const struct follow {name}[] = {{{', '.join(entries)}, {{0}}}};")
        return name

    def _leaves(self, v: int) -> list[str]:
        """Return where results in between go that others read, too."""
        kept = self.layout.kept(self.stage, v)
        stored = self.layout.in_dram(v) if v in self.stage.step.written else -1
        if kept is None and stored < 0:
            return []
        return [f"{{'=', NULL, false, {stored}, {f'&{self.layout.kept_name(kept)}' if kept else 'NULL'}}}"]

    def _word(self) -> str:
        """Return the room of a word through which maps pass: under the first of them, behind what its windows need."""
        network, layout = self.layout.network, self.layout
        after = [(layout.layer(v).whole, network.operands[v]) for v in self.after]
        passing = {u for whole, operands in after for i, u in enumerate(operands) if i not in whole}
        names = {u: tensor_id(network, self.stage.number, u) for u in self.stage.model.subgraph.inputs if u in passing}
        u = next(u for u, name in names.items() if name in layout.places and layout.kept(self.stage, u) is None)
        return self.place(u) + (
            f" + {self.layout.elements(self.regions[u].main_bytes) - 8}" if u in self.coming.values() else ""
        )

    def _other(self, v: int, u: int, op: str) -> str:
        """Return a sum or product with another map: on chip, or passing through the room of a word."""
        layout, stage, tensor = self.layout, self.stage, self.layout.network.tensors[u]
        name = layout.region_name(stage, u)
        is_window = u in self.coming.values()  # of a chain the rows for the addition are those of x
        is_here = layout.kept(stage, u) is not None or (is_window and self.made != self.v)
        if not is_here and u == self.slices_of:
            name += "_again"
            self.lines.append(f"static struct region {name} = {{.of = &{layout.names[u]}}};")
            return f"{{'{op}', &{name}, true, -1, NULL}}"
        is_gate = u in {layout.network.operands[v][place] for place in layout.layer(v).whole}
        if is_gate and not is_here:
            region = self.regions[u]._replace(main=(tensor.height, tensor.width))
            self.lines.append(layout.region(name, u, self.place(u), region, self._up(tensor.channels)))
            self.begin.append(f"load_map(&{name});")
        elif not is_here:
            name += "_word" if is_window else ""
            region = self.regions[u]._replace(main=(1, 1), side=(0, 0))
            self.lines.append(layout.region(name, u, self._word(), region, 8))
        return f"{{'{op}', &{name}, {str(not is_here and not is_gate).lower()}, -1, NULL}}"
