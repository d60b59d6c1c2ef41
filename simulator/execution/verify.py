"""verify(): counts every subgraph of a partition, and executes it and compares with running the layers one by one.

Two runs. The counting run (judge.py) has the real shapes, all channels and samples, and compares every printed
number. The run of values shows equal outputs: no read misses, nothing is made twice. It has one core, one sample and
two channels of each tensor: which elements are where does not depend on them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from simulator.accelerator import Accelerator
from simulator.execution.addressed import AddressedMemory, Addresses
from simulator.execution.arithmetic import Arithmetic, Block
from simulator.execution.judge import judge, where
from simulator.execution.machine import Execution, Span, Trace
from simulator.execution.miss import Miss
from simulator.execution.verification import Verification
from simulator.model.cost import price_subgraphs
from simulator.model.held import make_plan
from simulator.model.pricing import Price, PricingRules, Shortage, SubgraphModel
from simulator.model.regions import allocate_regions, derive_tiling
from simulator.model.streaming import Stream, residencies
from simulator.model.subgraph import Geometry, Subgraph
from simulator.model.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.technology import Technology
from workloads.errors import NetworkError
from workloads.network.layer import Layer
from workloads.network.network import Network
from workloads.network.resize import shrink

CHANNELS = 2  #: our choice: executed channels of a tensor; which elements are where does not depend on them
UPDATES = 6000  #: our choice: tile updates of one subgraph that are executed without scaling its maps down, ~0.5 s
FACTORS = (1, 2, 4, 8, 16, 32)  #: our choice: how far maps are scaled down


class _Scaled:
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

    Parameters
    ----------
    network, partition, accelerator, tile_rule
        As for `simulator.evaluate`.
    addresses
        Of every buffer of simulator.model.held.plan_buffers; then values are executed in one array of bytes for each
        memory, and what overlaps fails.
    full
        Execute the values of all channels, not of two for each tensor; counts are of all in any case.
    progress
        Called with (subgraphs executed, subgraphs in total).

    Returns
    -------
    Verification
        verified: every subgraph ran with equal outputs, and no number is different from what was counted.

    Raises
    ------
    ValueError
        Where addresses are given and cores share a sample, which is not executed.

    Notes
    -----
    The counting run takes from a price its tile and loop order only, and calls none of the code that prices (our
    choice: simulator/execution/count.py). Several cores are not counted.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, KiB, Partition
    >>> net = workloads.load("vgg16")
    >>> chip = Accelerator(shared_buffer=2048 * KiB)
    >>> found = verify(net, Partition.layerwise(net), chip)
    >>> found.verified, found.check("ema_bytes").status
    (True, 'equal')
    """
    if addresses is not None and accelerator.bands > 1:
        raise ValueError(f"addresses are executed for one core a sample; here {accelerator.bands} cores share one")
    rules = PricingRules(Geometry(network, accelerator.technology), accelerator, tile_rule)
    models = [SubgraphModel(rules, group) for group in partition.subgraphs]
    prices = []
    for names, price in zip(partition.names, price_subgraphs(models, accelerator)):
        if isinstance(price, Shortage):
            return Verification(False, f"{where(names)}: {price.reason}", (), 0)
        prices.append(price)
    memory = None
    if addresses is not None:
        memory = AddressedMemory(make_plan(network, accelerator, partition.names, models, prices), addresses)
    scales = {1: _Scaled(network, 1, accelerator.technology, None if full else CHANNELS)}
    checks, message = judge(network, accelerator, partition, prices)
    shrunk: dict[int, int] = {}
    for step, (names, model, price) in enumerate(zip(partition.names, models, prices)):
        scale = _affordable(network, model, price, scales, tile_rule)
        if scale.factor > 1:
            shrunk[scale.factor] = shrunk.get(scale.factor, 0) + 1
        try:
            if memory is not None:
                memory.begin(step)
            _run(model, price, scale, tile_rule, memory)
            if memory is not None:
                memory.end()
        except Miss as miss:
            message = f"{where(names)}, tile {price.tile[0]}x{price.tile[1]}: {miss}"
            return Verification(False, message, _notes(shrunk, accelerator, full), 0, checks, partition.names)
        if progress is not None:
            progress(step + 1, len(prices))
    notes = _notes(shrunk, accelerator, full)
    return Verification(not message, message, notes, 0 if message else len(models), checks, partition.names)


def _notes(shrunk: dict[int, int], accelerator: Accelerator, full: bool) -> tuple[str, ...]:
    notes = [] if full else [f"tensors were executed with up to {CHANNELS} channels each"]
    for factor, count in sorted(shrunk.items()):
        notes.append(f"{count} subgraph{'s' * (count > 1)} ran on maps scaled down by {factor}, with the same tile")
    if accelerator.cores > 1 or accelerator.batch > 1:
        notes.append("one sample was executed on one core; samples of a batch and bands of columns repeat it")
    return tuple(notes)


def _affordable(
    network: Network, model: SubgraphModel, price: Price, scales: dict[int, _Scaled], tile_rule: TileRule
) -> _Scaled:
    """Return the network at the largest scale at which this subgraph takes no more than UPDATES tile updates."""
    best = scales[1]
    for factor in FACTORS:
        if factor not in scales:
            try:
                scales[factor] = _Scaled(network, factor, best.geometry.technology, best.channels)
            except NetworkError:  # a kernel no longer fits its map
                break
        best = scales[factor]
        if _count_updates(best.geometry, model.subgraph.layers, price, tile_rule) <= UPDATES:
            break
    return best


def _count_updates(geometry: Geometry, layers: Sequence[int], price: Price, tile_rule: TileRule) -> int:
    """Return the updates to execute; a row of a passing operand counts as one."""
    subgraph = Subgraph(geometry, layers)
    tiling = derive_tiling(subgraph, price.tile, tile_rule)
    assert tiling is not None, "a priced subgraph has a tiling"
    height, width = geometry.extent
    updates = {u: -(-height[u] // tiling.merged[u]) * -(-width[u] // tiling.columns[u].step) for u in subgraph.tensors}
    passed = 0
    if price.stream is not None and price.stream.order == "operand":
        passed = max(height[u] for u in subgraph.inputs) * updates[subgraph.layers[0]]
    return sum(updates.values()) + passed


def _run(
    model: SubgraphModel, price: Price, scale: _Scaled, tile_rule: TileRule, memory: AddressedMemory | None
) -> None:
    """Execute one subgraph; raises Miss where anything is not as claimed."""
    subgraph = Subgraph(scale.geometry, model.subgraph.layers)
    if price.stream is not None:
        stored = _run_streamed(subgraph, price.stream, price.tile, scale, tile_rule, memory)
    else:
        tiling = derive_tiling(subgraph, price.tile, tile_rule)
        assert tiling is not None, "a priced subgraph has a tiling"
        execution = Execution(subgraph, tiling, allocate_regions(subgraph, tiling), scale.arithmetic, scale.values)
        _place(execution, memory)
        check_traffic(subgraph, execution.run())
        stored = execution.stored
    for v, result in stored.items():
        if not np.array_equal(result, scale.values[v]):
            raise Miss(f"tensor {scale.network.layers[v].name!r}: differs from running the layers one by one")


def _place(execution: Execution, memory: AddressedMemory | None) -> None:
    """Let the execution work at the addresses of a map, where there is one."""
    if memory is not None:
        memory.put(execution)


def check_traffic(subgraph: Subgraph, trace: Trace) -> None:
    """Raise Miss unless each of in(S) was loaded once and each of out(S) stored once: the model's EMA."""
    tensors = subgraph.geometry.network.tensors
    for what, counted, expected in (
        ("loads", trace.dram_read, subgraph.inputs),
        ("stores", trace.dram_written, subgraph.outputs),
    ):
        if dict(counted) != {u: tensors[u].height * tensors[u].width for u in expected}:
            found = {tensors[u].name: count for u, count in counted.items()}
            raise Miss(f"DRAM {what} {found} (elements); the model has {subgraph_names(subgraph, expected)} once each")


def subgraph_names(subgraph: Subgraph, tensors: Sequence[int]) -> str:
    """Return the names of some tensors, for a message."""
    return ", ".join(subgraph.geometry.network.names(tensors))


def _run_streamed(
    subgraph: Subgraph,
    stream: Stream,
    tile: tuple[int, int],
    scale: _Scaled,
    tile_rule: TileRule,
    memory: AddressedMemory | None,
) -> dict[int, Block]:
    """Execute a single layer that does not fit. Every pass over the inputs is the same sweep with other weights."""
    (v,) = subgraph.layers
    if stream.order == "element":
        return {v: _run_elements(subgraph, scale)}
    if stream.order == "operand":
        return _run_passing(subgraph, tile, scale, tile_rule, memory)
    residency = next(
        each
        for each in residencies(subgraph, tile_rule)
        if each.has_side == stream.has_side
        and each.is_whole_map == stream.is_whole_map
        and (each.is_whole_map or each.tile == tile)
    )
    execution = Execution(
        subgraph, residency.tiling, residency.regions, scale.arithmetic, scale.values,
        reload_halo=not residency.has_side,
    )  # fmt: skip
    _place(execution, memory)
    trace = execution.run()
    channels = subgraph.geometry.channels
    read = stream.input_passes * sum(count * channels[u] for u, count in trace.dram_read.items())
    claimed = math.ceil(subgraph.input_bytes * stream.input_passes * residency.halo)
    if read > claimed or (residency.halo == 1 and read != claimed):
        raise Miss(f"DRAM loads {read} bytes of {subgraph_names(subgraph, subgraph.inputs)}; the model has {claimed}")
    return execution.stored


def _run_passing(
    subgraph: Subgraph, tile: tuple[int, int], scale: _Scaled, tile_rule: TileRule, memory: AddressedMemory | None
) -> dict[int, Block]:
    """Execute a layer whose whole operands pass by, row by row, for each tile."""
    (v,) = subgraph.layers
    tiling = derive_tiling(subgraph, tile, tile_rule)
    assert tiling is not None, "a single layer has a tiling"
    regions = allocate_regions(subgraph, tiling)
    passing = [u for u in subgraph.inputs if subgraph.readers[u][0].whole]
    for u in passing:
        regions[u] = regions[u]._replace(main=(1, regions[u].main[1]))
    execution = Execution(subgraph, tiling, regions, scale.arithmetic, scale.values, passing=passing)
    _place(execution, memory)
    trace = execution.run()
    layer = scale.network.layers[v]
    tiles = -(-layer.height // tile[0]) * -(-layer.width // tile[1])
    for u in subgraph.inputs:
        tensor = scale.network.tensors[u]
        claimed = tensor.height * tensor.width * (tiles if u in passing else 1)
        if trace.dram_read[u] != claimed:
            raise Miss(f"DRAM loads {trace.dram_read[u]} elements of {tensor.name!r}; the model has {claimed}")
    return execution.stored


def taps_inside(layer: Layer, axis: int, output: int, inside: Span) -> int:
    """Return how many taps of one output position meet an element of this span of the input."""
    start = output * layer.stride[axis] - layer.padding[axis]
    places = [start + tap * layer.dilation[axis] for tap in range(layer.kernel[axis])]
    spread = layer.upsample[axis]
    return sum(place % spread == 0 and inside[0] <= place // spread < inside[1] for place in places)


def _run_elements(subgraph: Subgraph, scale: _Scaled) -> Block:
    """Execute the last resort: every output position loads its window, and whole operands, from DRAM."""
    (v,) = subgraph.layers
    layer, values = scale.network.layers[v], scale.values
    result = np.zeros_like(values[v])
    loads: Counter[int] = Counter()

    def read(u: int, rows: Span, columns: Span) -> Block:
        loads[u] += taps_inside(layer, 0, row, rows) * taps_inside(layer, 1, column, columns)
        return values[u][:, rows[0] : rows[1], columns[0] : columns[1]]

    def whole(u: int) -> Block:
        loads[u] += values[u].shape[1] * values[u].shape[2]
        return values[u]

    for row in range(layer.height):
        for column in range(layer.width):
            block = scale.arithmetic.block(v, (row, row + 1), (column, column + 1), read, whole)
            result[:, row : row + 1, column : column + 1] = block
    for u in subgraph.inputs:
        ((_, local, whole_edge),) = subgraph.readers[u]
        elements = values[u].shape[1] * values[u].shape[2]
        times = local * layer.kernel[0] * layer.kernel[1] + whole_edge * layer.height * layer.width
        if loads[u] > elements * times * scale.network.operands[v].count(u):
            name = scale.network.tensors[u].name
            raise Miss(f"DRAM loads {loads[u]} elements of {name!r}; the model has {times} times it")
    return result
