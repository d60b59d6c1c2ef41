"""verify(): counts every subgraph of a partition, executes it, and compares it with running the layers one by one.

There are two runs. The counting run (judge.py) has the real shapes, all channels and samples, and compares every
printed number. The run of values shows that outputs are equal: no read misses, and nothing is made twice. It has one
core, one sample and two channels of each tensor, because which elements are where does not depend on these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from simulator.accelerator import Accelerator
from simulator.evaluation import summarize
from simulator.execution.claims import plan_of
from simulator.execution.cores import derive_team, run_team
from simulator.execution.cores.addressed import AddressedCores
from simulator.execution.cores.run import HeadedArithmetic
from simulator.execution.count.count import Plan
from simulator.execution.count.inputs import wrong_input
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.count.scheme import derive_scheme, paper_cells
from simulator.execution.count.stays import NOTHING_STAYS, run_steps
from simulator.execution.judge import count_steps, first_wrong, judge_steps, pair_of, where
from simulator.execution.layer import LayerPlan, run_loops_scaled, run_parts
from simulator.execution.printed import check_printed
from simulator.execution.timed import judge_run
from simulator.execution.value.addressed import AddressedMemory, Addresses
from simulator.execution.value.arithmetic import Arithmetic, Block
from simulator.execution.value.executor import Counts, Execution
from simulator.execution.value.residents import Residents
from simulator.execution.verification import Verification
from simulator.model.buffer_plan import make_plan
from simulator.model.price import Price, Shortage
from simulator.model.priced import PricedPartition, price_partition
from simulator.model.pricing import SubgraphModel
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.technology import Technology
from workloads.errors import NetworkError
from workloads.network.network import Network
from workloads.network.rewriting.resize import shrink

CHANNELS = 2  #: our choice: executed channels of a tensor; which elements are where does not depend on them
UPDATES = 6000  #: our choice: tile updates of one subgraph that are executed without scaling its maps down, ~0.5 s
FACTORS = (1, 2, 4, 8, 16, 32)  #: our choice: how far maps are scaled down


class Scaled:
    """The network at one scale, and the values of all its tensors as computed layer by layer."""

    def __init__(self, network: Network, factor: int, channels: int | None = CHANNELS) -> None:
        self.factor, self.channels = factor, channels
        self.network = shrink(network, factor) if factor > 1 else network

    @cached_property
    def arithmetic(self) -> Arithmetic:
        return (Arithmetic if self.channels else HeadedArithmetic)(self.network, self.channels)

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
    places: Iterable[Sequence[Any]] | None = None,
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
        For every buffer of simulator.model.buffer_plan.plan_buffers. Values are then executed in one byte array for
        each memory of each core, all with the same address map, and any overlap fails.
    full : bool
        Execute the values of all channels instead of two per tensor; counts always cover all.
    progress : callable, optional
        Called with (subgraphs executed, subgraphs in total).
    places : iterable of sequences, optional
        Where all lies that the run of the simulation holds (`simulator.execution.places`); judged with the run.

    Returns
    -------
    Verification
        verified: every subgraph ran with equal outputs, and no number differs from the count.

    Raises
    ------
    TypeError
        An argument has a wrong type; the message shows a correct one.
    ValueError
        The partition is of another network, or the tile rule is unknown.

    Notes
    -----
    From a price the counting run takes only the tile, the loop order, and how several cores share a subgraph. It calls
    none of the code that prices (our choice: simulator/execution/count/count.py).

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
    (False, "'pool1': a reader wants [0:14, 0:56], bu")
    """
    priced = price_partition(network, partition, accelerator, tile_rule)
    prices = []
    for names, price in zip(partition.names, priced.prices):
        if isinstance(price, Shortage):
            return Verification(False, f"{where(names)}: {price.reason}", (), 0)
        prices.append(price)
    memory = None if addresses is None else _addressed(priced, addresses)
    scales = {1: Scaled(network, 1, None if full else max(CHANNELS, accelerator.cores))}
    try:
        steps = count_steps(network, accelerator, partition, prices)
    except Miss as miss:  # some step does not find what it reads
        return Verification(False, str(miss), (), 0)
    checks, message = judge_steps(accelerator, partition, prices, steps)
    if wrong := wrong_input(network, priced.rules.geometry, accelerator.batch):
        return Verification(False, wrong, (), 0, checks, partition.names)
    evaluation, replayed = summarize(priced), None
    if not message:
        spans = [each.span for each in partition.keep]
        try:
            replayed = judge_run(network, accelerator, steps, spans, evaluation.simulation.slices, places)
        except Miss as miss:
            message = f"the run cannot be executed: {miss}"
    checks += check_printed(network, partition, evaluation, checks, replayed and replayed.cycles)
    checks += replayed.memories if replayed else ()
    message = message or first_wrong(partition, checks)
    shrunk: dict[int, int] = {}
    smaller = 0
    affordable = [_affordable(network, *each, scales) for each in zip(priced.models, prices)]
    stays = None
    if partition.keep:  # what stays on chip has one scale over all steps
        affordable = [max(affordable, key=lambda each: each.factor)] * len(affordable)
        stays = _residents(priced, prices, affordable[0], memory)
    for step, (names, model, price, scale) in enumerate(zip(partition.names, priced.models, prices, affordable)):
        if scale.factor > 1:
            shrunk[scale.factor] = shrunk.get(scale.factor, 0) + 1
        try:
            if memory is not None:
                memory.begin(step)
            smaller += run_subgraph(model, price, scale, memory, stays and stays.begin(step))
            if stays is not None:
                stays.end()
            if memory is not None:
                memory.end()
        except Miss as miss:
            message = f"{where(names)}, tile {price.tile[0]}x{price.tile[1]}: {miss}"
            return Verification(False, message, _notes(shrunk, smaller, accelerator, full), 0, checks, partition.names)
        if progress is not None:
            progress(step + 1, len(prices))
    notes = _notes(shrunk, smaller, accelerator, full)
    return Verification(not message, message, notes, 0 if message else len(partition), checks, partition.names)


def _notes(shrunk: dict[int, int], smaller: int, accelerator: Accelerator, full: bool) -> tuple[str, ...]:
    channels = max(CHANNELS, accelerator.cores)  # one for each core
    notes = [] if full else [f"tensors were executed with up to {channels} channels each"]
    for factor, count in sorted(shrunk.items()):
        notes.append(f"{count} subgraph{'s' * (count > 1)} ran on maps scaled down by {factor}, with the same tile")
    if smaller:
        notes.append(f"{smaller} loop nest{'s' * (smaller > 1)} ran smaller, in the same loop order")
    if accelerator.batch > 1:
        notes.append("one sample was executed; the samples of a batch repeat it")
    return tuple(notes)


def _addressed(priced: PricedPartition, addresses: Addresses) -> AddressedMemory:
    kind = AddressedMemory if priced.accelerator.cores == 1 else AddressedCores
    return kind(make_plan(priced), addresses)


def _residents(
    priced: PricedPartition, prices: Sequence[Price], scale: Scaled, memory: AddressedMemory | None
) -> Residents:
    layers = len(scale.network.layers)
    inputs = {u: block for u, block in scale.values.items() if u >= layers}
    sizes = {each.tensor_id: priced.rules.whole_bytes(each.tensor_id) for each in priced.partition.keep}
    lies = run_steps(priced.network, priced.partition.subgraphs, [each.span for each in priced.partition.keep])
    plans = [plan_of(*each) for each in zip(priced.partition.subgraphs, prices, lies)]
    pairs = [pair_of(priced.network, priced.accelerator, plan) for plan in plans]
    return Residents(scale.network, priced.partition, scale.arithmetic.channels, inputs, sizes, memory, pairs)


def _affordable(network: Network, model: SubgraphModel, price: Price, scales: dict[int, Scaled]) -> Scaled:
    """Return the network at the largest scale at which this subgraph takes no more than UPDATES tile updates."""
    best = scales[1]
    for factor in FACTORS:
        if factor not in scales:
            try:
                scales[factor] = Scaled(network, factor, best.channels)
            except NetworkError:  # a kernel no longer fits its map
                break
        updates = _updates(Part(scales[factor].network, model.subgraph.layers), price)
        if updates is None:  # a map of one row is no longer enlarged: two paths to it have other strides
            break
        best = scales[factor]
        if updates <= UPDATES:
            break
    return best


def _updates(part: Part, price: Price) -> int | None:
    """Return about how many updates to execute; None if maps this small have no pace; loops have their own scale."""
    try:
        return 0 if price.loops is not None else derive_scheme(part, price.tile, 1).update_count
    except Miss:
        return None


def run_subgraph(
    model: SubgraphModel,
    price: Price,
    scale: Scaled,
    memory: AddressedMemory | None = None,
    stays: Residents | None = None,
) -> bool:
    """Execute the values of one subgraph; raises Miss if anything is not as claimed.

    Returns whether loops were scaled down. stays: what other steps left on chip and in DRAM. The loops of a
    layer run separately: its inputs there are only compared, and its output is put there whole.
    """
    rules, lies = model.rules, NOTHING_STAYS if stays is None else stays.here
    part = Part(scale.network, model.subgraph.layers, lies)
    if stays is not None and price.loops is not None:
        stays.check_inputs(part.layers, scale.values)
        stays.hand_over()
        for v in part.layers:
            stays.write_whole(v, scale.values[v])
    if price.loops is not None:
        if memory is not None:
            memory.fill()
        plan = LayerPlan._make(price.loops[: len(LayerPlan._fields)])
        word = rules.geometry.technology.channel_alignment
        if price.scheme in ("channels", "held"):
            (v,), cores, is_full = part.layers, rules.cores, scale.channels is None
            return run_parts(rules.geometry.network, v, plan, price.scheme, cores, rules.batch, word, is_full)
        return run_loops_scaled(
            rules.geometry.network, part.layers, plan, rules.batch, word, scale.channels is None, lies
        )
    if rules.cores > 1:
        run_on_cores(model, price, scale, stays, memory)
        return False
    scheme = derive_scheme(part, price.tile, 1)
    regions = scheme.cells if rules.tile_rule == "exact" else paper_cells(scheme)
    if stays is None:
        execution = Execution(part, scheme.steps, regions, scale.arithmetic, scale.values)
    else:
        execution = Execution(part, scheme.steps, regions, scale.arithmetic, stays.dram, stays.memory, lies.there)
    if memory is not None:
        memory.put(execution)
    check_traffic(part, execution.run())
    for v, result in execution.stored.items():
        if not np.array_equal(result, scale.values[v]):
            raise Miss(f"tensor {scale.network.layers[v].name!r}: differs from running the layers one by one")
        if stays is not None:
            stays.dram[v] = result
    return False


def run_on_cores(
    model: SubgraphModel,
    price: Price,
    scale: Scaled,
    stays: Residents | None,
    memory: AddressedMemory | None = None,
) -> None:
    """Execute the values of a subgraph that several cores share; raises Miss if anything is not as claimed."""
    rules, arithmetic = model.rules, scale.arithmetic
    lies = NOTHING_STAYS if stays is None else stays.here
    part, machine = Part(scale.network, model.subgraph.layers, lies), Accelerator(shared_buffer=1, cores=rules.cores)
    word = rules.geometry.technology.channel_alignment if scale.channels is None else 1
    machine = replace(machine, batch=rules.batch, technology=Technology(channel_alignment=word))
    team = derive_team(part, Plan(part.layers, price.tile, 1, None, lies, price.scheme), machine, arithmetic.channels)
    there = {} if stays is None else {u: stays.read_whole(u) for u in lies.there & set(part.tensors)}
    place = memory.at_address if isinstance(memory, AddressedCores) else None
    stored, ran = run_team(team, arithmetic, scale.values if stays is None else stays.dram, there, place)
    sizes = [tensor.height * tensor.width for tensor in scale.network.tensors]
    for name, counted, tensors in (("loads", ran.loads, part.loaded), ("stores", ran.stores, part.outputs)):
        if counted != sum(sizes[u] * arithmetic.channels[u] for u in tensors):
            raise Miss(f"DRAM {name} {counted} bytes of {', '.join(scale.network.names(tensors))}")
    for v, result in stored.items():
        if not np.array_equal(result, scale.values[v]):
            raise Miss(f"tensor {scale.network.layers[v].name!r}: differs from running the layers one by one")
    if stays is not None:
        for u in set(part.tensors) - lies.there:
            if u in lies.on_chip or u in stored:
                stays.write_whole(u, scale.values[u])


def check_traffic(part: Part, counts: Counts) -> None:
    """Raise Miss unless everything to and from DRAM moved exactly once."""
    sizes = [height * width for height, width in zip(*part.extent)]
    for name, counted, tensors in (
        ("loads", counts.dram_read, part.loaded), ("stores", counts.dram_written, part.outputs)
    ):  # fmt: skip
        for u in {*counted, *tensors}:
            once = sizes[u] if u in tensors else 0
            if counted[u] != once:
                raise Miss(f"DRAM {name} {counted[u]} positions of {part.name(u)}, which has {once} to move")
