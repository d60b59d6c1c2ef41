"""The bridge: start and end of every region of a partition, for the buffer region manager (Cocco, Sec. 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from cocco.allocation.allocate import allocate
from cocco.allocation.answer import AllocationResult
from cocco.effort.status import Status
from simulator.accelerator import Accelerator
from simulator.allocation.buffers import Buffer
from simulator.model.buffer_plan import BufferPlan, Memory, plan_buffers, tensor_id, weights_id
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.sizes import MAX_CAPACITY
from workloads.network.network import Network

LOW_NODES = 20_000  #: to lower a map; our choice: what takes more is left where it fits, or only its capacity is sought

Kind = Literal["main", "side", "weights", "kept"]


class Placed(NamedTuple):
    """One region while a subgraph runs: its first byte and the byte after its last."""

    tensor: str | None  #: None for weights
    kind: Kind
    start: int
    end: int


@dataclass(frozen=True)
class MemoryMap:
    """Where everything is stored in one memory of one core.

    status: "optimal" (no map is lower), "feasible", "infeasible" (proved: there is no map in this capacity), or
    "gave_up". least_bytes: the least capacity for which a map was found. fragmentation: that over the largest
    contention, minus 1. regions: for each subgraph its regions, none of them where the map does not fit.
    """

    memory: Memory
    status: Status
    capacity_bytes: int  #: in whole words of 8 bytes
    height_bytes: int | None  #: the highest address in use plus one
    least_bytes: int
    lower_bound_bytes: int
    fragmentation: float
    needed_bytes: tuple[int, ...]  #: live while each subgraph runs
    pairs: tuple[int, ...]  #: (start, end) pairs of each subgraph: one for a tensor, one for weights
    regions: tuple[tuple[Placed, ...], ...]
    addresses: dict[str, int]  #: by the ids of simulator.model.buffer_plan

    @property
    def fits(self) -> bool:
        """Whether every region has an address within the capacity."""
        return self.height_bytes is not None

    @property
    def short(self) -> tuple[int, ...]:
        """Positions of the subgraphs that do not fit: those that need more bytes, else those that need the most."""
        if self.fits:
            return ()
        most = min(self.capacity_bytes + 1, max(self.needed_bytes))
        return tuple(i for i, needed in enumerate(self.needed_bytes) if needed >= most)


@dataclass(frozen=True)
class AddressMap:
    """The maps of all memories. `layers` names those of each subgraph, in execution order."""

    network: str
    layers: tuple[tuple[str, ...], ...]
    max_regions: int | None
    memories: tuple[MemoryMap, ...]

    @property
    def fits(self) -> bool:
        """Whether the capacities suffice: every region has its address."""
        return all(each.fits for each in self.memories)

    @property
    def region_manager_bytes(self) -> int | None:
        """Bytes of the registers that hold a (start, end) pair of words of 8 bytes for each of N regions, all memories.

        Cocco, Sec. 3.3: 272 bytes for N = 64 and 1 MB, 17 bits an address. None where N has no limit.
        """
        if self.max_regions is None:
            return None
        bits = sum(2 * self.max_regions * address_bits(each.capacity_bytes) for each in self.memories)
        return -(-bits // 8)

    @property
    def crowded(self) -> tuple[int, ...]:
        """Positions of the subgraphs with more (start, end) pairs in one memory than the region manager has."""
        most = self.max_regions
        return tuple(i for i in range(len(self.layers)) if most and any(each.pairs[i] > most for each in self.memories))

    def failing(self) -> list[int]:
        """Return the subgraphs of several layers that have no address, or too many pairs; single layers are exempt."""
        found = {i for each in self.memories for i in each.short} | set(self.crowded)
        return [i for i in sorted(found) if len(self.layers[i]) > 1]

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that --addresses adds to --json, under the key "addresses"."""
        return {
            "fits": self.fits,
            "max_regions": self.max_regions,
            "over_max_regions": list(self.crowded),
            "region_manager_bytes": self.region_manager_bytes,
            "memories": [_memory_json(each) for each in self.memories],
        }

    def rows(self) -> list[tuple[str, int, str, str, int, int]]:
        """Return memory, subgraph, tensor ('' for weights), kind, start and end of every region."""
        return [
            (each.memory, i, placed.tensor or "", placed.kind, placed.start, placed.end)
            for each in self.memories
            for i, regions in enumerate(each.regions)
            for placed in regions
        ]


WORD = 8  #: bytes: the global buffer is 64 bits wide (Cocco, Sec. 3.3)


def address_bits(capacity_bytes: int) -> int:
    """Return the bits of an address of a word of 8 bytes.

    >>> address_bits(1024 * 1024)
    17
    """
    return max(1, (-(-capacity_bytes // WORD) - 1).bit_length())


def address_map(
    network: Network, partition: Partition, accelerator: Accelerator, tile_rule: TileRule = "exact"
) -> AddressMap | None:
    """Return the address of every MAIN, SIDE and weights of a partition, in bytes of one core.

    None if a subgraph does not fit by its bytes alone: `simulator.evaluate` says which. A memory without a map is an
    answer: see MemoryMap.status. Addresses are multiples of 8 and have passed check_allocation.
    """
    plan = plan_buffers(network, partition, accelerator, tile_rule)
    return None if plan is None else map_of(plan)


def map_of(plan: BufferPlan) -> AddressMap:
    """Return the addresses of buffers that are planned already (`address_map` plans them first)."""
    maps = tuple(_memory_map(plan, memory) for memory in plan.buffers)
    layers = tuple(holding.names for holding in plan.holdings)
    return AddressMap(plan.network.name, layers, plan.accelerator.max_regions, maps)


def _memory_map(plan: BufferPlan, memory: Memory) -> MemoryMap:
    buffers, capacity = plan.buffers[memory], plan.capacity(memory)
    found = _lowest(buffers, capacity)
    assert found.allocation is not None and found.height_bytes is not None, "all after each other always fit"
    status: Status = found.status
    fits = found.height_bytes <= capacity
    if not fits:
        refuted = max(found.proved_infeasible_bytes or 0, found.lower_bound_bytes - 1)
        status = "infeasible" if capacity <= refuted else "gave_up"
    live = [plan.live(memory, i) for i in range(len(plan.holdings))]
    addresses = dict(found.allocation.addresses) if fits else {}
    return MemoryMap(
        memory,
        status,
        capacity,
        found.height_bytes if fits else None,
        found.height_bytes,
        found.lower_bound_bytes,
        found.fragmentation or 0.0,
        tuple(sum(buffer.size for buffer in each) for each in live),
        tuple(len(each) for each in live),
        tuple(tuple(_placed(plan, memory, i, addresses)) for i in range(len(plan.holdings))) if fits else (),
        addresses,
    )


def _lowest(buffers: Sequence[Buffer], capacity: int) -> AllocationResult:
    """Return the lowest addresses found quickly; if they exceed the capacity, what all methods find within it.

    Without kept tensors the first greedy rule reaches the lower bound.
    """
    found = allocate(buffers, min(MAX_CAPACITY, sum(buffer.size for buffer in buffers)), minimize=True, nodes=LOW_NODES)
    if (found.height_bytes or 0) <= capacity or found.lower_bound_bytes > capacity:
        return found
    within = allocate(buffers, capacity, explain=False)
    if within.allocation is not None:
        return within
    refuted = max(found.proved_infeasible_bytes or 0, within.proved_infeasible_bytes or 0)
    return replace(found, proved_infeasible_bytes=refuted)


def _placed(plan: BufferPlan, memory: Memory, step: int, addresses: dict[str, int]) -> list[Placed]:
    holding, found = plan.holdings[step], list[Placed]()
    sizes = {buffer.id: buffer.size for buffer in plan.live(memory, step)}
    for kept in plan.keep if memory != "weight" else ():
        if kept.from_step <= step <= kept.until_step:
            start = addresses[plan.places[kept]]
            found.append(Placed(kept.tensor, "kept", start, start + sizes[plan.places[kept]]))
    for u, region in holding.regions.items() if memory != "weight" else ():
        start, name = addresses[tensor_id(plan.network, step, u)], plan.network.tensors[u].name
        middle = start + region.main_bytes
        found.append(Placed(name, "main", start, middle))
        if region.side_bytes:
            found.append(Placed(name, "side", middle, middle + region.side_bytes))
    name = weights_id(step)
    if name in sizes:
        found.append(Placed(None, "weights", addresses[name], addresses[name] + sizes[name]))
    return found


def _memory_json(each: MemoryMap) -> dict[str, Any]:
    keys = (
        "memory", "status", "capacity_bytes", "height_bytes", "least_bytes", "lower_bound_bytes", "fragmentation",
        "fits",
    )  # fmt: skip
    content = {key: getattr(each, key) for key in keys}
    return content | {
        "short": list(each.short),
        "needed_bytes": list(each.needed_bytes),
        "pairs": list(each.pairs),
        "regions": [[placed._asdict() for placed in regions] for regions in each.regions],
    }
