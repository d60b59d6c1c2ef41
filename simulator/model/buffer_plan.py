"""What a partition holds on chip, as buffers over time: the input of address allocation (docs/allocation.md).

Step i is the i-th subgraph in execution order. Bytes are those of one core, as in docs/model.md, sections 3 and 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from simulator.accelerator import Accelerator
from simulator.allocation.buffers import Buffer
from simulator.model.price import Price
from simulator.model.priced import PricedPartition, price_partition
from simulator.model.pricing import SubgraphModel
from simulator.model.subgraph.regions import Region
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.intervals import KeptInterval
from simulator.partition.partition import Partition
from workloads.network.network import Network

Memory = Literal["shared", "global", "weight"]


class Holding(NamedTuple):
    """What one subgraph holds; empty for the last resort, where elements pass one by one and nothing stays."""

    names: tuple[str, ...]  #: its layers
    regions: dict[int, Region]  #: by tensor id
    weight_bytes: int  #: all weights, or a chunk of them where they are streamed
    is_streamed: bool


@dataclass(frozen=True)
class BufferPlan:
    """The buffers of a partition in each memory, and what they consist of."""

    network: Network
    accelerator: Accelerator
    holdings: tuple[Holding, ...]
    buffers: dict[Memory, tuple[Buffer, ...]]
    keep: tuple[KeptInterval, ...] = ()  #: of the first memory
    places: Mapping[KeptInterval, str] = field(default_factory=dict)  #: of each the buffer where it lies

    def capacity(self, memory: Memory) -> int:
        """Return the bytes of this memory, rounded down to whole words."""
        machine = self.accelerator
        capacity = machine.weight_capacity if memory == "weight" else machine.activation_capacity
        word = machine.technology.buffer_word_bytes
        return capacity // word * word

    def live(self, memory: Memory, step: int) -> list[Buffer]:
        """Return the buffers that this memory holds while a subgraph runs."""
        return [buffer for buffer in self.buffers[memory] if buffer.lower <= step < buffer.upper]


def plan_buffers(
    network: Network, partition: Partition, accelerator: Accelerator, tile_rule: TileRule = "exact"
) -> BufferPlan | None:
    """Return the buffers of a partition, or None where a subgraph does not fit by its bytes (see `evaluate`).

    One shared memory, or "global" for activations and "weight" for weights. A tensor is one buffer, its MAIN and
    behind it its SIDE: the region manager has one (start, end) pair for each tensor (Cocco, Sec. 3.2 and 5.1.2).
    The weights of a subgraph are one buffer. All live in [i, i + 1), a tensor that is kept whole from step a to step z
    in [a, z + 1); one buffer if a result takes the place of its operand in z. Sizes are rounded up to words.
    """
    priced = price_partition(network, partition, accelerator, tile_rule)
    return make_plan(priced) if priced.fits else None


def make_plan(priced: PricedPartition) -> BufferPlan:
    """Return the buffers of a partition whose subgraphs all fit."""
    assert priced.fits, "a subgraph does not fit"
    network, accelerator = priced.network, priced.accelerator
    holdings = tuple(
        Holding(layers, _own_regions(model, price), price.weight_bytes, price.is_streamed)
        for layers, model, price in zip(priced.partition.names, priced.models, priced.prices)
        if isinstance(price, Price)
    )
    buffers: dict[Memory, list[Buffer]] = {"shared": []} if accelerator.is_shared else {"global": [], "weight": []}
    word = accelerator.technology.buffer_word_bytes
    first, last = list(buffers.values())[0], list(buffers.values())[-1]
    places = _places(priced)
    for name in dict.fromkeys(places.values()):
        lives = [each for each in places if places[each] == name]
        size = round_up(priced.rules.whole_bytes(lives[0].tensor_id), word)
        first.append(Buffer(name, lives[0].from_step, lives[-1].until_step + 1, size, word))
    for i, holding in enumerate(holdings):
        for u, region in holding.regions.items():
            size = round_up(region.main_bytes + region.side_bytes, word)
            first.append(Buffer(tensor_id(network, i, u), i, i + 1, size, word))
        if holding.weight_bytes:
            size = round_up(holding.weight_bytes, word)
            last.append(Buffer(weights_id(i), i, i + 1, size, word))
    placed = {memory: tuple(found) for memory, found in buffers.items()}
    return BufferPlan(network, accelerator, holdings, placed, priced.partition.keep, places)


def _places(priced: PricedPartition) -> dict[KeptInterval, str]:
    """Return the id of the buffer of each kept interval: that of an operand in whose place it lies, or its own."""
    found: dict[KeptInterval, str] = {}
    ends = {each.span[::2]: each for each in priced.partition.keep}
    for kept in sorted(priced.partition.keep, key=lambda each: each.from_step):
        price, step = priced.prices[kept.from_step], priced.steps[kept.from_step]
        pair = priced.rules.handed(step.layers, step.touched, step.last)
        is_there = pair is not None and pair[1] == kept.tensor_id and isinstance(price, Price) and price.loops
        found[kept] = found[ends[pair[0], kept.from_step]] if pair and is_there else kept_id(kept)
    return found


def _own_regions(model: SubgraphModel, price: Price) -> dict[int, Region]:
    """Return the regions by tensor id; operands that take turns in one region have it under the first."""
    return {u: each for u, each in model.residency(price).regions.items() if each.main_bytes or each.side_bytes}


def tensor_id(network: Network, step: int, tensor: int) -> str:
    """Return the id of the buffer of a tensor's MAIN and SIDE."""
    return f"{step}/{network.tensors[tensor].name}/main"


def kept_id(kept: KeptInterval) -> str:
    """Return the id of the buffer of a tensor that is kept, whole, from one step to a later one."""
    return f"{kept.from_step}-{kept.until_step}/{kept.tensor}/whole"


def weights_id(step: int) -> str:
    """Return the id of the buffer of a subgraph's weights; with its single slash it is never a tensor's id."""
    return f"{step}/weights"


def round_up(size: int, word: int) -> int:
    """Return these bytes rounded up to whole words."""
    return -(-size // word) * word
