"""simulate(): the run of a partition as events, and the latency that can be executed (docs/model.md, section 4).

There is one DRAM channel, which serves one transfer at a time, and one PE array. What waits for what:

- A row operation computes when its input rows are there; a layer in it when its weights are.
- Loads come in the order in which they are needed, as many subgraphs ahead as there is room: a byte comes only where
  its room is free until it is released. Rows that a subgraph wrote are loaded when all its rows are written.
- Input rows of later row operations take bytes beside the regions until theirs begins: MAIN holds the rows in use and
  no others. Without that room they are loaded when the operation before has computed.
- Output rows are written when their operation has computed; later ones compute meanwhile where there is room for both.
- The regions of a subgraph live from its start to its end, its weights from their load to its end; a chunk of a layer
  that does not fit (streamed) until its last step.

Several cores work in lock-step, as one array, with one channel of the bandwidth of all; what crosses between them does
so while the layer computes that reads it, which takes as long as the longer of the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from simulator.accelerator import Accelerator
from simulator.model.price import Price
from simulator.model.priced import PricedPartition, price_partition
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.timing.crossing import working_cores
from simulator.timing.schedule import Schedule
from simulator.timing.stages import course_of
from simulator.timing.work import Work, work_of
from workloads.network.network import Network

Kind = Literal["inputs", "weights", "outputs", "compute", "crossbar"]


class Slice(NamedTuple):
    """What DRAM, the array or the crossbar does from `start` to `stop`, in slots (see Simulation).

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition
    >>> from simulator.timing import simulate
    >>> vgg = workloads.load("vgg16")
    >>> run = simulate(vgg, Partition.layerwise(vgg), Accelerator(shared_buffer=2 * MiB))
    >>> next(each for each in run.slices if each.kind == "compute")[:6]
    ('compute', 0, 'conv1_1', 77664, 1884000, 0)
    """

    kind: Kind
    subgraph: int
    layer: str  #: whose weights, what computes, or for which bytes cross between cores; "" for rows
    start: int
    stop: int
    size_bytes: int  #: that cross to DRAM, or between cores; of all cores; 0 for computing
    stage: int = 0  #: the row operation of the subgraph that needs what is loaded, or made what is stored
    until: int = 0  #: when its room is free again: of weights, when the last operation that uses them has computed; of
    #: input rows, when their operation finds room for them in its regions, or at `start`; of output rows, at `stop`


class Use(NamedTuple):
    """Bytes that one core holds from `start` on (slots); never more than the capacity.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition
    >>> from simulator.timing import simulate
    >>> vgg = workloads.load("vgg16")
    >>> run = simulate(vgg, Partition.layerwise(vgg), Accelerator(shared_buffer=2 * MiB))
    >>> run.uses[3][:5]  # the second layer's weights have begun to come
    (152256, 1808128, 198912, 1728, 36864)
    """

    start: int
    activation_bytes: int  #: MAIN and SIDE of the subgraph that runs
    row_bytes: int  #: of rows that come ahead or are being written
    weight_bytes: int  #: of the subgraph that runs, as far as they are loaded
    next_weight_bytes: int  #: of later subgraphs
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
    Slice(kind='inputs', subgraph=0, layer='', start=0, stop=75936, size_bytes=75936, stage=0, until=0)
    """

    priced: PricedPartition
    work: Work  #: what there was to do
    schedule: Schedule  #: when it was done

    def __repr__(self) -> str:
        return f"Simulation({self.network}, {len(self.slices)} slices, {self.cycles:,.0f} cycles)"

    @property
    def network(self) -> str:
        """The name of the network."""
        return self.priced.network.name

    @property
    def accelerator(self) -> Accelerator:
        """The hardware."""
        return self.priced.accelerator

    @property
    def slots_per_cycle(self) -> float:
        """DRAM bytes per cycle of all cores."""
        return self.accelerator.dram_bytes_per_cycle

    @property
    def end(self) -> int:
        """When the last output row is written, in slots."""
        return self.schedule.end

    @property
    def cycles(self) -> float:
        """When the last output row is written, in cycles."""
        return self.end / self.slots_per_cycle

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Start and end of each subgraph, in execution order: each starts where the one before has computed."""
        starts = [self.schedule.begun[first] for first in self.work.first_operation[:-1]]
        return tuple(zip(starts, [*starts[1:], self.end]))

    @cached_property
    def working(self) -> tuple[dict[str, tuple[int, ...]], ...]:
        """Of each subgraph the cores that compute some of each layer."""
        names, pairs = self._names, zip(self.priced.models, self.priced.prices)
        return tuple(
            {names[v]: cores for v, cores in working_cores(model, price).items()}
            for model, price in pairs
            if isinstance(price, Price)
        )

    @cached_property
    def slices(self) -> tuple[Slice, ...]:
        """By start; those of DRAM do not overlap, nor those of computing, nor of the crossbar."""
        return tuple(sorted(self._slices(), key=lambda each: (each.start, each.stop)))

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """By start."""
        return tuple(_uses(self))

    @property
    def _names(self) -> list[str]:
        return [tensor.name for tensor in self.priced.network.tensors]

    def _slices(self) -> Iterator[Slice]:
        run, first, names = self.schedule, self.work.first_operation, self._names
        for start, stop, operation, _, size, _, step in run.rows:
            until = max(start, run.begun[operation])
            yield Slice("inputs", step, "", start, stop, size, operation - first[step], until)
        released = released_after(self.work)
        for start, stop, operation, v, size, _, step in run.weights:
            until = run.ended[released[operation]]
            yield Slice("weights", step, names[v], start, stop, size, operation - first[step], until)
        for start, stop, operation, _, size, _, step in run.stores:
            yield Slice("outputs", step, "", start, stop, size, operation - first[step], stop)
        step, operation = 0, 0
        for at, (part, start) in enumerate(zip(self.work.parts, run.computed)):
            while self.work.first_part[operation + 1] <= at:
                operation += 1
            while first[step + 1] <= operation:
                step += 1
            place = operation - first[step]
            if part.slots:
                stop = start + part.slots
                yield Slice("compute", step, names[part.layer], start, stop, 0, place, stop)
            if part.passing:
                stop = start + part.passing
                yield Slice("crossbar", step, names[part.layer], start, stop, part.crossing_bytes, place, stop)

    def prefetched_bytes(self, subgraph: int) -> int:
        """Return the weights of a subgraph that are loaded before it starts, all cores."""
        start = self.spans[subgraph][0]
        own = (each for each in self.slices if each.kind == "weights" and each.subgraph == subgraph)
        return sum(min(each.size_bytes, start - each.start) for each in own if each.start < start)


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
    Simulation(vgg16, 443 slices, 24,949,062 cycles)
    """
    return simulate_priced(price_partition(network, partition, accelerator, tile_rule))


def simulate_priced(priced: PricedPartition, lookahead: int | None = None) -> Simulation:
    """Return the run of priced subgraphs; raises ValueError if one cannot run.

    lookahead: how many subgraphs beyond the running one are loaded for; default: all.
    """
    prices = [price for price in priced.prices if isinstance(price, Price)]
    if len(prices) < len(priced.prices):
        raise ValueError(f"the partition of {priced.network.name!r} cannot run, so it has no latency")
    courses = [course_of(*each, priced.accelerator.rate) for each in zip(priced.models, prices)]
    work = work_of(priced, prices, courses)
    ahead = len(prices) if lookahead is None else lookahead
    runs = (Schedule(work, ahead, stores_first) for stores_first in (False, True))
    return Simulation(priced, work, min(runs, key=lambda run: run.end))


def released_after(work: Work) -> list[int]:
    """Return for each operation the one after which the weights that come for it are released."""
    ends = [0] * len(work.rows_kept)
    needs = {load.operation for load in work.weights}
    for step, is_streamed in enumerate(work.is_streamed):
        first, last = work.first_operation[step], work.first_operation[step + 1] - 1
        end = last
        for operation in range(last, first - 1, -1):
            ends[operation] = end
            if is_streamed and operation in needs:
                end = operation - 1
    return ends


def _uses(run: Simulation) -> Iterator[Use]:
    """Yield what is held each time it changes: each transfer takes its room when it starts."""
    work, schedule, prices = run.work, run.schedule, run.priced.prices
    begun = [*schedule.begun, run.end]
    starts = [begun[first] for first in work.first_operation]
    weights = list[tuple[int, int, int]]()  #: time, step, bytes
    rows = list[tuple[int, int]]()  #: time, bytes
    for start, _, operation, _, _, taken, step in schedule.weights:
        end = begun[operation] if work.is_streamed[step] else starts[step + 1]
        weights += [(start, step, taken), (end, step, -taken)] if end > start else []
    for start, _, operation, _, _, taken, _ in schedule.rows:
        rows += [(start, taken), (begun[operation], -taken)] if begun[operation] > start else []
    for _, stop, operation, _, _, freed, step in schedule.stores:  # one that its step leaves behind: from its end
        begin = begun[operation + 1] if stop <= starts[step + 1] else starts[step + 1]
        rows += [(begin, freed), (stop, -freed)] if stop > begin else []
    rows.sort()
    weights.sort()
    held, in_rows, at, row, step = [0] * len(prices), 0, 0, 0, 0
    for time in sorted({0, *(each[0] for each in rows), *(each[0] for each in weights), *starts[:-1]} - {run.end}):
        while row < len(rows) and rows[row][0] <= time:
            in_rows += rows[row][1]
            row += 1
        while at < len(weights) and weights[at][0] <= time:
            held[weights[at][1]] += weights[at][2]
            at += 1
        while step + 1 < len(prices) and starts[step + 1] <= time:
            step += 1
        price = prices[step]
        assert isinstance(price, Price)
        own = held[step] + price.weight_bytes * work.is_streamed[step]
        yield Use(time, price.activation_bytes, in_rows, own, sum(held[step + 1 :]), price.kept_bytes)
    yield Use(run.end, 0, 0, 0, 0)
