"""verify(): counts every subgraph of a partition, and executes it and compares with running the layers one by one.

Two runs. The counting run (judge.py) has the real shapes, all channels and samples, and compares every printed
number. The run of values shows equal outputs: no read misses, nothing is made twice. It has one core, one sample and
two channels of each tensor: which elements are where does not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from simulator.accelerator import Accelerator
from simulator.execution.addressed import AddressedMemory, Addresses
from simulator.execution.arithmetic import Arithmetic, Block
from simulator.execution.checks import Check
from simulator.execution.executor import Counts, Execution, Span
from simulator.execution.judge import judge, where
from simulator.execution.miss import Miss
from simulator.execution.verification import Verification
from simulator.model.held import make_plan
from simulator.model.priced import price_partition
from simulator.model.pricing import Price, PricingRules, Shortage, SubgraphModel
from simulator.model.streaming import Residency, input_reads, residency_of, whole_operands
from simulator.model.subgraph import ROWS, Geometry, Subgraph
from simulator.model.tiling import TileRule
from simulator.model.updates import derive_updates
from simulator.partition.partition import Partition
from simulator.technology import Technology
from simulator.timing.simulation import simulate_priced
from workloads.errors import NetworkError
from workloads.network.layer import Layer
from workloads.network.network import Network
from workloads.network.resize import shrink

CHANNELS = 2  #: our choice: executed channels of a tensor; which elements are where does not depend on them
UPDATES = 6000  #: our choice: tile updates of one subgraph that are executed without scaling its maps down, ~0.5 s
FACTORS = (1, 2, 4, 8, 16, 32)  #: our choice: how far maps are scaled down


class Scaled:
    """The network at one scale, and the values of all its tensors from running layer by layer."""

    def __init__(self, network: Network, factor: int, technology: Technology, channels: int | None = CHANNELS) -> None:
        self.factor, self.channels = factor, channels
        self.network = shrink(network, factor) if factor > 1 else network
        self.geometry = Geometry(self.network, technology)

    @cached_property
    def arithmetic(self) -> Arithmetic:
        return Arithmetic(self.network, self.channels)

    @cached_property
    def values(self) -> dict[int, Block]:
        return self.arithmetic.run_layers(self.arithmetic.model_inputs())


def verify(
    network: Network,
    partition: Partition,
    accelerator: Accelerator,
    tile_rule: TileRule = "exact",
    addresses: Addresses | None = None,
    full: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Verification:
    """Return whether every subgraph of the partition runs as the model prices it, number by number.

    Two runs: one counts every number with the real shapes, the other executes tile by tile with integers
    (docs/model.md, section 9).

    Parameters
    ----------
    network : Network
        What is computed, such as `workloads.load("resnet50")`.
    partition : Partition
        Which layers run together; a partition of this network.
    accelerator : Accelerator
        The hardware: capacities in bytes of one core, cores, batch, technology.
    tile_rule : {"exact", "paper"}
        "exact" sizes the regions so that the schedule really runs; "paper" reproduces Cocco, Sec. 3.1.
    addresses : mapping of memory to mapping of buffer id to first byte, optional
        Of every buffer of simulator.model.held.plan_buffers: then values are executed in one array of bytes for each
        memory, and what overlaps fails.
    full : bool
        Execute the values of all channels, not of two for each tensor; counts are of all in any case.
    progress : callable, optional
        Called with (subgraphs executed, subgraphs in total).

    Returns
    -------
    Verification
        verified: every subgraph ran with equal outputs, and no number is different from what was counted.

    Raises
    ------
    TypeError
        An argument is of another type; the message shows one that would do.
    ValueError
        The partition is of another network, there is no such tile rule, or addresses are given where cores share a
        sample, which is not executed.

    Notes
    -----
    The counting run takes from a price its tile and loop order only, and calls none of the code that prices (our
    choice: simulator/execution/count.py). Several cores are not counted.

    Examples
    --------
    The paper's tile rule loses data where branches of different depth meet:

    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition
    >>> from simulator.execution import verify
    >>> network = workloads.load("resnet50")
    >>> block, chip = Partition.from_groups(network, [["s1b1_*"]]), Accelerator(shared_buffer=1 * MiB)
    >>> verify(network, block, chip).check("ema_bytes").status
    'equal'
    >>> found = verify(network, block, chip, tile_rule="paper")
    >>> found.verified, found.message.partition("tensor ")[2][:40]
    (False, "'pool1': a reader wants [0:16, 0:16], bu")
    """
    priced = price_partition(network, partition, accelerator, tile_rule)
    if addresses is not None and accelerator.bands > 1:
        raise ValueError(f"addresses are executed for one core a sample; here {accelerator.bands} cores share one")
    prices = []
    for names, price in zip(partition.names, priced.prices):
        if isinstance(price, Shortage):
            return Verification(False, f"{where(names)}: {price.reason}", (), 0)
        prices.append(price)
    memory = AddressedMemory(make_plan(priced), addresses) if addresses is not None else None
    scales = {1: Scaled(network, 1, accelerator.technology, None if full else CHANNELS)}
    checks, message = judge(network, accelerator, partition, prices)
    checks += (Check("latency_executed_cycles", simulate_priced(priced).cycles, None, "not executed"),)
    shrunk: dict[int, int] = {}
    for step, (names, model, price) in enumerate(zip(partition.names, priced.models, prices)):
        scale = _affordable(network, model, price, scales, tile_rule)
        if scale.factor > 1:
            shrunk[scale.factor] = shrunk.get(scale.factor, 0) + 1
        try:
            if memory is not None:
                memory.begin(step)
            run_subgraph(model, price, scale, memory)
            if memory is not None:
                memory.end()
        except Miss as miss:
            message = f"{where(names)}, tile {price.tile[0]}x{price.tile[1]}: {miss}"
            return Verification(False, message, _notes(shrunk, accelerator, full), 0, checks, partition.names)
        if progress is not None:
            progress(step + 1, len(prices))
    notes = _notes(shrunk, accelerator, full)
    return Verification(not message, message, notes, 0 if message else len(partition), checks, partition.names)


def _notes(shrunk: dict[int, int], accelerator: Accelerator, full: bool) -> tuple[str, ...]:
    notes = [] if full else [f"tensors were executed with up to {CHANNELS} channels each"]
    for factor, count in sorted(shrunk.items()):
        notes.append(f"{count} subgraph{'s' * (count > 1)} ran on maps scaled down by {factor}, with the same tile")
    if accelerator.cores > 1 or accelerator.batch > 1:
        notes.append("one sample was executed on one core; samples of a batch and bands of columns repeat it")
    return tuple(notes)


def _affordable(
    network: Network, model: SubgraphModel, price: Price, scales: dict[int, Scaled], tile_rule: TileRule
) -> Scaled:
    """Return the network at the largest scale at which this subgraph takes no more than UPDATES tile updates."""
    best = scales[1]
    for factor in FACTORS:
        if factor not in scales:
            try:
                scales[factor] = Scaled(network, factor, best.geometry.technology, best.channels)
            except NetworkError:  # a kernel no longer fits its map
                break
        best = scales[factor]
        if _updates(Subgraph(best.geometry, model.subgraph.layers), price, tile_rule) <= UPDATES:
            break
    return best


def _updates(subgraph: Subgraph, price: Price, tile_rule: TileRule) -> int:
    """Return the updates to execute; a row of a passing operand counts as one."""
    rows, columns = derive_updates(subgraph, residency_of(subgraph, price.tile, None, tile_rule).tiling)
    updates = {u: rows[u].times * columns[u].times for u in subgraph.tensors}
    passed = 0
    if price.streaming is not None and price.streaming.order == "operand":
        passed = max(subgraph.geometry.extent[ROWS][u] for u in subgraph.inputs) * updates[subgraph.layers[0]]
    return sum(updates.values()) + passed


def run_subgraph(model: SubgraphModel, price: Price, scale: Scaled, memory: AddressedMemory | None = None) -> None:
    """Execute one subgraph; raises Miss where anything is not as claimed.

    Of a streamed layer, every pass over the inputs is the same sweep with other weights: one is executed.
    """
    subgraph, streaming = Subgraph(scale.geometry, model.subgraph.layers), price.streaming
    held = residency_of(subgraph, price.tile, streaming, model.rules.tile_rule)
    if streaming is not None and streaming.order == "element":
        stored, counts = _run_elements(subgraph, scale)
    else:
        is_passing = streaming is not None and streaming.order == "operand"
        execution = Execution(
            subgraph, held.tiling, held.regions, scale.arithmetic, scale.values,
            reload_halo=not held.has_side, passing=whole_operands(subgraph) if is_passing else (),
        )  # fmt: skip
        if memory is not None:
            memory.put(execution)
        counts = execution.run()
        stored = execution.stored
    check_traffic(subgraph, counts, _claim(subgraph, held, price, scale, model.rules))
    for v, result in stored.items():
        if not np.array_equal(result, scale.values[v]):
            raise Miss(f"tensor {scale.network.layers[v].name!r}: differs from running the layers one by one")


class Claim(NamedTuple):
    """What the model says crosses to DRAM, bytes of one sample."""

    read: int
    written: int
    passes: int = 1  #: over the inputs, one of which is executed
    is_bound: bool = False  #: `read` is the most: rows read again are counted for full tiles, windows without padding


def _claim(subgraph: Subgraph, held: Residency, price: Price, scale: Scaled, rules: PricingRules) -> Claim:
    """Return what is priced, or on maps scaled down, and where cores share a map, what would be priced."""
    streaming = price.streaming
    read, written = price.ema_input_bytes // rules.batch, price.ema_output_bytes // rules.batch
    if scale.factor > 1 or rules.bands > 1:
        read = input_reads(subgraph, held, streaming) if streaming else subgraph.input_bytes
        written = subgraph.output_bytes
    is_bound = streaming is not None and (streaming.order == "element" or held.halo > 1)
    return Claim(read, written, streaming.input_passes if streaming else 1, is_bound)


def check_traffic(subgraph: Subgraph, counts: Counts, claim: Claim) -> None:
    """Raise Miss unless what was counted is what the model claims: its EMA."""
    channels, names = subgraph.geometry.channels, subgraph.geometry.network.names
    read = claim.passes * sum(count * channels[u] for u, count in counts.dram_read.items())
    written = sum(count * channels[v] for v, count in counts.dram_written.items())
    if read > claim.read or (read < claim.read and not claim.is_bound):
        what = ", ".join(names(subgraph.inputs))
        raise Miss(f"DRAM loads {read} bytes of {what}; the model has {claim.read}")
    if written != claim.written:
        raise Miss(
            f"DRAM stores {written} bytes of {', '.join(names(subgraph.outputs))}; the model has {claim.written}"
        )


def taps_inside(layer: Layer, axis: int, output: int, inside: Span) -> int:
    """Return how many taps of one output position meet an element of this span of the input."""
    start = output * layer.stride[axis] - layer.padding[axis]
    places = [start + tap * layer.dilation[axis] for tap in range(layer.kernel[axis])]
    spread = layer.upsample[axis]
    return sum(place % spread == 0 and inside[0] <= place // spread < inside[1] for place in places)


def _run_elements(subgraph: Subgraph, scale: Scaled) -> tuple[dict[int, Block], Counts]:
    """Execute the last resort: every output position loads its window, and whole operands, from DRAM, each once."""
    (v,) = subgraph.layers
    layer, values = scale.network.layers[v], scale.values
    result, counts = np.zeros_like(values[v]), Counts()
    windows: dict[int, int] = {}  # elements by operand, however often it is read at one position
    wholes: dict[int, int] = {}

    def read(u: int, rows: Span, columns: Span) -> Block:
        windows[u] = taps_inside(layer, 0, row, rows) * taps_inside(layer, 1, column, columns)
        return values[u][:, rows[0] : rows[1], columns[0] : columns[1]]

    def whole(u: int) -> Block:
        wholes[u] = values[u].shape[1] * values[u].shape[2]
        return values[u]

    for row, column in np.ndindex(layer.height, layer.width):
        windows.clear()
        wholes.clear()
        block = scale.arithmetic.block(v, (row, row + 1), (column, column + 1), read, whole)
        result[:, row : row + 1, column : column + 1] = block
        counts.dram_read.update(windows)
        counts.dram_read.update(wholes)
        counts.dram_written[v] += 1
    return {v: result}, counts
