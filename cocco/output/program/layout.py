"""Where everything of a plan lies, in DRAM and at addresses on chip, and the names that the C has for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.resources import files

from cocco.allocation.address_map import address_map
from cocco.output.program.refusal import Refusal, check_supported
from cocco.output.program.text import literal
from simulator.model.buffer_plan import BufferPlan, make_plan, round_up, tensor_id, weights_id
from simulator.model.price import Price
from simulator.model.priced import PricedPartition
from simulator.model.pricing import SubgraphModel
from simulator.model.subgraph.regions import Region
from simulator.partition.intervals import KeptInterval
from simulator.partition.steps import Step, steps_of
from workloads.network.layers.layer import Layer
from workloads.network.network import Network


@dataclass(frozen=True)
class Stage:
    """A step of the plan: its layers, price, and where its tensors lie."""

    number: int
    model: SubgraphModel
    price: Price
    step: Step
    names: tuple[str, ...]

    @property
    def layers(self) -> tuple[int, ...]:
        """Ids of its layers, ascending."""
        return self.step.layers

    @property
    def comes(self) -> tuple[int, ...]:
        """Inputs that are loaded from DRAM."""
        return self.step.loaded


@dataclass
class Layout:
    """The addresses and names of a plan."""

    priced: PricedPartition
    buffers: BufferPlan
    places: dict[str, tuple[int, int]]  #: of a buffer its address on chip, and its place among all by address
    stages: tuple[Stage, ...]
    names: dict[int, str]  #: by tensor id
    dram: dict[int, int]  #: first byte of a tensor
    weights: dict[int, int]  #: first byte of a layer's weights
    dram_bytes: int
    constants: dict[str, int] = field(default_factory=dict)

    @property
    def network(self) -> Network:
        """What is computed; of experts so many are in use as the batch needs."""
        return self.priced.rules.geometry.network

    @property
    def batch(self) -> int:
        """Samples."""
        return self.priced.accelerator.batch

    @property
    def capacity(self) -> int:
        """Bytes of the buffers, together."""
        return sum(map(self.buffers.capacity, self.buffers.buffers))

    @property
    def element(self) -> int:
        """Bytes of an element, of maps and weights alike."""
        return self.network.tensors[0].bits // 8

    def elements(self, size: int) -> int:
        """Return bytes as elements, in which the program counts addresses."""
        return size // self.element

    def layer(self, v: int) -> Layer:
        """Return a layer."""
        return self.network.layers[v]

    def at(self, name: str) -> str:
        """Return the first byte of a buffer as C; guards come between any two in the build that checks them."""
        address, place = self.places[name]
        return f"AT({self.elements(address)}, {place})"

    def kept(self, stage: Stage, u: int) -> KeptInterval | None:
        """Return the interval over which a tensor stays on chip during a step, None if it does not."""
        found = (each for each in self.priced.partition.keep if each.tensor_id == u)
        return next((each for each in found if each.from_step <= stage.number <= each.until_step), None)

    def kept_name(self, kept: KeptInterval) -> str:
        """Return the C name of the region of a tensor that stays."""
        number = [each for each in self.priced.partition.keep if each.tensor_id == kept.tensor_id].index(kept)
        return f"kept_{self.names[kept.tensor_id]}" + (f"_{number}" if number else "")

    def region_name(self, stage: Stage, u: int) -> str:
        """Return the C name of the region where a tensor lies in a step."""
        kept = self.kept(stage, u)
        return self.kept_name(kept) if kept else f"s{stage.number}_{self.names[u]}"

    def in_dram(self, u: int) -> int:
        """Return the first element of a tensor in DRAM, -1 if it is not there."""
        return self.elements(self.dram[u]) if u in self.dram else -1

    def tensor(self, u: int, name: str, heads: int = 1, apart: int = 0) -> str:
        """Return the definition of a tensor; heads: so many are rows one below the other, these channels apart."""
        of = self.network.tensors[u]
        shape = f"{of.height * heads}, {of.width}, {of.channels}"
        where = f"{self.in_dram(u)}, {of.height}, {apart}"
        return f"static const struct tensor {name} = {{{literal(of.name)}, {shape}, {where}}};"

    def region(self, name: str, u: int, at: str, region: Region, cell: int, more: str = "", of: str = "") -> str:
        """Return the definition of a region; its sizes become constants. more: other fields; of: another tensor."""
        (rows, columns), (side_rows, side_columns) = region.main, region.side
        self.constants |= {f"{name}_ROWS".upper(): rows, f"{name}_COLUMNS".upper(): columns}
        side = ""
        if side_rows:
            self.constants[f"{name}_SIDE_ROWS".upper()] = side_rows
            side = f", .side = {at} + {self.elements(region.main_bytes)}, .side_rows = {name.upper()}_SIDE_ROWS"
            side += f", .side_columns = {side_columns}"
        return (
            f"static struct region {name} = {{.of = &{of or self.names[u]}, .main = {at}, .rows = {name.upper()}_ROWS, "
            f".columns = {name.upper()}_COLUMNS, .cell = {cell}{side}{more}}};"
        )

    def guarded(self, stage: Stage) -> list[tuple[str, int]]:
        """Return start and elements of every region that holds something in a step."""
        memories = self.buffers.buffers
        live = [each for memory in memories for each in self.buffers.live(memory, stage.number)]
        return [(self.at(each.id), self.elements(each.size)) for each in live]


def lay_out(priced: PricedPartition) -> Layout:
    """Return the layout of a plan; raises Refusal for what the program cannot do, or has no address."""
    network, partition, accelerator = priced.rules.geometry.network, priced.partition, priced.accelerator
    check_supported(priced)
    found = address_map(network, partition, accelerator)
    if found is None or not found.fits:
        raise Refusal("the plan has no address map: no program; see 'cocco evaluate --addresses'")
    buffers = make_plan(priced)
    base, placed = 0, list[tuple[int, int, str]]()
    for memory in found.memories:
        sizes = {each.id: each.size for each in buffers.buffers[memory.memory]}
        placed += [(base + address, sizes[name], name) for name, address in memory.addresses.items()]
        base += buffers.capacity(memory.memory)
    places = {name: (address, place) for place, (address, _, name) in enumerate(sorted(placed))}
    stages = tuple(
        Stage(i, model, price, step, names)
        for i, (model, price, step, names) in enumerate(
            zip(priced.models, priced.prices, steps_of(network, partition), partition.names)
        )
        if isinstance(price, Price)
    )
    stored = [v for stage in stages for v in stage.step.written]
    weights, dram, end = dram_of(network, stored, accelerator.batch)
    return Layout(priced, buffers, places, stages, _names(network), dram, weights, max(1, end))


def dram_of(network: Network, stored: Iterable[int], batch: int) -> tuple[dict[int, int], dict[int, int], int]:
    """Return the first byte of the weights of each layer, of each tensor in DRAM, and the bytes of all together.

    Model inputs stand behind the weights, and what is stored behind them; each with all samples.
    """
    weights, tensors, end = dict[int, int](), dict[int, int](), 0
    for v, layer in enumerate(network.layers):
        weights[v], end = end, end + layer.weight_bytes
    for u in (*range(len(network.layers), len(network.tensors)), *sorted(set(stored))):
        tensors[u], end = end, end + network.tensors[u].size_bytes * batch
    return weights, tensors, end


def _names(network: Network) -> dict[int, str]:
    """Return a C name of every tensor: its own in small letters, with a number where two are equal."""
    header = (files("cocco.output.program") / "c" / "on_chip.h").read_text()
    found, taken = dict[int, str](), {*KEYWORDS, *re.findall(r"([a-z]\w*)\(", header)}
    for u, tensor in enumerate(network.tensors):
        name = plain = re.sub(r"\W", "_", tensor.name.lower(), flags=re.ASCII).strip("_") or "tensor"
        if plain[0].isdigit():
            name = plain = f"t{plain}"
        number = 1
        while name in taken:
            name, number = f"{plain}_{number}", number + 1
        taken.add(name)
        found[u] = name
    return found


KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main on_chip "
    "dram moved tile samples sample rows columns row down across group head heads channels every ends operand part "
    "chunk sums rows_here element total band after".split()
)

__all__ = ["Layout", "Refusal", "Stage", "lay_out", "round_up", "tensor_id", "weights_id"]
