"""simulate(): the run of a partition as events, and the latency that can be executed (docs/model.md, section 4).

There is one DRAM channel, which works in order, and one PE array. What waits for what:

- A row operation computes when its input rows are there; a layer in it when its weights are.
- Input rows of the next row operation are loaded while one computes only into bytes that no region, no weights and no
  other rows take: MAIN holds the rows in use and no others. Without that room they are loaded after it has computed.
- Output rows are written when their operation has computed; the next computes meanwhile where there is room for both.
- A subgraph ends with its last output row. Its regions live from start to end, its weights from their load to the end.
- When the channel is idle it loads weights: those of later layers, then those of the next subgraph, into whatever bytes
  are still free. A layer that does not fit (streamed) loads a chunk ahead if there is room for two.

All of it is our choice (the paper gives sums): nothing is read before it is there or written without room, and a fixed
order needs no search. Several cores work in lock-step, as one array, with one channel of the bandwidth of all; what
crosses between them does so while the layer computes that reads it, which takes as long as the longer of the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from simulator.accelerator import Accelerator
from simulator.model.price import Price
from simulator.model.priced import PricedPartition, price_partition
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.timing.channel import Slice
from simulator.timing.crossing import working_cores
from simulator.timing.run import Room, Run, room_of
from simulator.timing.stages import course_of
from workloads.network.network import Network


class Use(NamedTuple):
    """Bytes that one core holds from `start` on (slots); never more than the capacity.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition
    >>> from simulator.timing import simulate
    >>> vgg = workloads.load("vgg16")
    >>> run = simulate(vgg, Partition.layerwise(vgg), Accelerator(shared_buffer=2 * MiB))
    >>> run.uses[2][:5]  # the second layer's weights have begun to come
    (152256, 1808128, 198912, 1728, 36864)
    """

    start: int
    activation_bytes: int  #: MAIN and SIDE of the subgraph that runs
    row_bytes: int  #: set aside for rows that come ahead or are being written
    weight_bytes: int  #: of the subgraph that runs, as far as they are loaded
    next_weight_bytes: int
    kept_bytes: int = 0  #: of tensors that stay on chip, whole


@dataclass(frozen=True)
class Simulation:
    """When DRAM, the array and the crossbar do what, and what the buffers hold; times are whole slots.

    A slot is the time in which DRAM moves one byte: 1 / slots_per_cycle cycles. So every time is an integer.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition
    >>> from simulator.timing import simulate
    >>> vgg = workloads.load("vgg16")
    >>> run = simulate(vgg, Partition.layerwise(vgg), Accelerator(shared_buffer=2 * MiB))
    >>> run.slices[0]
    Slice(kind='inputs', subgraph=0, layer='', start=0, stop=75936, size_bytes=75936)
    """

    network: str
    accelerator: Accelerator
    slices: tuple[Slice, ...]  #: by start; those of DRAM do not overlap, nor those of computing, nor of the crossbar
    uses: tuple[Use, ...]  #: by start
    spans: tuple[tuple[int, int], ...]  #: start and end of each subgraph, in execution order
    working: tuple[dict[str, tuple[int, ...]], ...]  #: of each subgraph the cores that compute some of each layer

    def __repr__(self) -> str:
        return f"Simulation({self.network}, {len(self.slices)} slices, {self.cycles:,.0f} cycles)"

    @property
    def slots_per_cycle(self) -> int:
        """DRAM bytes per cycle of all cores."""
        return self.accelerator.dram_bytes_per_cycle

    @property
    def end(self) -> int:
        """When the last output row is written, in slots."""
        return self.spans[-1][1]

    @property
    def cycles(self) -> float:
        """When the last output row is written, in cycles."""
        return self.end / self.slots_per_cycle

    def prefetched_bytes(self, subgraph: int) -> int:
        """Return the weights of a subgraph that are loaded before it starts, all cores."""
        start = self.spans[subgraph][0]
        own = (each for each in self.slices if each.kind == "weights" and each.subgraph == subgraph)
        return sum(each.size_bytes for each in own if each.stop <= start)


def simulate(
    network: Network, partition: Partition, accelerator: Accelerator, tile_rule: TileRule = "exact"
) -> Simulation:
    """Return when each row operation of a partition loads, computes and stores.

    It takes at least as long as computing alone and as DRAM alone. It also takes at least the paper's latency (the
    longer of both, summed over subgraphs) minus the time of weights that are loaded before their subgraph starts.

    Parameters
    ----------
    network : Network
        What is computed, such as `workloads.load("resnet50")`.
    partition : Partition
        Which layers run together; a partition of this network.
    accelerator : Accelerator
        The hardware: capacities in bytes of one core, cores, batch, technology.
    tile_rule : {"exact", "paper"}
        Which rule sizes the regions, and thus determines what is free.

    Returns
    -------
    Simulation
        Slices of DRAM and array, bytes in use over time, start and end of each subgraph, in slots.

    Raises
    ------
    TypeError
        An argument has a wrong type; the message shows a correct one.
    ValueError
        The partition cannot run or is of another network, or the tile rule is unknown.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition
    >>> from simulator.timing import simulate
    >>> vgg = workloads.load("vgg16")
    >>> simulate(vgg, Partition.layerwise(vgg), Accelerator(shared_buffer=2 * MiB))
    Simulation(vgg16, 308 slices, 25,656,145 cycles)
    """
    return simulate_priced(price_partition(network, partition, accelerator, tile_rule))


def simulate_priced(priced: PricedPartition) -> Simulation:
    """Return the run of priced subgraphs; raises ValueError if one cannot run."""
    prices = [price for price in priced.prices if isinstance(price, Price)]
    if len(prices) < len(priced.prices):
        raise ValueError(f"the partition of {priced.network.name!r} cannot run, so it has no latency")
    chip = priced.accelerator
    courses = [course_of(*each, chip.dram_bytes_per_cycle) for each in zip(priced.models, prices)]
    rooms = [room_of(chip, *each) for each in zip(prices, courses)]
    names = [tensor.name for tensor in priced.network.tensors]
    ahead = [_ahead(room.left_bytes, price, chip.cores) for room, price in zip(rooms, prices[1:])]
    run = Run(names, courses, rooms, ahead)
    slices = tuple(sorted(run.channel.slices + run.array + run.crossbar, key=lambda each: (each.start, each.stop)))
    is_streamed = [course.chunk_bytes is not None for course in courses]
    return Simulation(
        priced.network.name,
        chip,
        slices,
        _uses(prices, rooms, is_streamed, run, chip.cores),
        tuple(run.spans),
        tuple({names[v]: cores for v, cores in working_cores(*each).items()} for each in zip(priced.models, prices)),
    )


def _uses(
    prices: Sequence[Price], rooms: Sequence[Room], is_streamed: Sequence[bool], run: Run, cores: int
) -> tuple[Use, ...]:
    """Return what is held each time it changes: at each subgraph's start and at each start of a weight transfer."""
    loads = [each for each in run.channel.slices if each.kind == "weights"]
    changes = [(start, i, 0) for i, (start, _) in enumerate(run.spans)]
    changes = sorted([*changes, *((each.start, each.subgraph, each.size_bytes) for each in loads)], key=_by_start)
    loaded = [0] * (len(prices) + 1)
    running, found = 0, {}
    for start, subgraph, size in changes:
        running = running if size else subgraph
        loaded[subgraph] += size
        own, following = (_in_a_core(prices, i, loaded[i], cores) for i in (running, running + 1))
        if is_streamed[running]:
            own = prices[running].weight_bytes + rooms[running].chunk_bytes
        held = prices[running].activation_bytes, rooms[running].reserved_bytes
        found[start] = Use(start, *held, own, following, prices[running].kept_bytes)
    found[run.spans[-1][1]] = Use(run.spans[-1][1], 0, 0, 0, 0)
    return tuple(found.values())


def _ahead(left: int, price: Price, cores: int) -> int:
    """Return how many bytes of a subgraph's weights, over all cores, fit into these bytes of one core."""
    return left if cores == 1 or not price.weight_bytes else left * price.ema_weight_bytes // price.weight_bytes


def _in_a_core(prices: Sequence[Price], i: int, loaded: int, cores: int) -> int:
    """Return what this many bytes of weights take in one core: the same share of the weights that it holds."""
    if cores == 1 or not loaded:
        return loaded
    return min(prices[i].weight_bytes, -(-loaded * prices[i].weight_bytes // prices[i].ema_weight_bytes))


def _by_start(change: tuple[int, int, int]) -> tuple[int, bool]:
    return change[0], change[2] > 0
