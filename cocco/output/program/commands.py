"""A plan as data that a compiler reads: addresses, loop orders, and every transfer with its time (docs/export.md)."""

from __future__ import annotations

from typing import Any

from cocco.allocation.address_map import address_map
from cocco.latency.places import places_of
from cocco.output.program.layout import dram_of
from cocco.output.program.refusal import Refusal
from simulator.evaluation import Evaluation
from simulator.model.price import Price
from simulator.partition.steps import Step, steps_of
from simulator.timing.simulation import Slice
from workloads.network.network import Network

FORMAT = "cocco-plan/1"


def plan_commands(network: Network, evaluation: Evaluation) -> dict[str, Any]:
    """Return a plan as plain data for JSON: memories, DRAM, steps with regions and loops, transfers, what comes ahead.

    Times are slots: the time in which DRAM moves a byte; a cycle has `slots_per_cycle` of them. Addresses are bytes in
    the memory of one core, or in DRAM. Raises ValueError where the plan does not fit, or has no addresses.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition, evaluate
    >>> vgg = workloads.load("vgg16")
    >>> found = plan_commands(vgg, evaluate(vgg, Partition.layerwise(vgg), Accelerator(shared_buffer=2 * MiB)))
    >>> found["transfers"][0]
    {'kind': 'inputs', 'step': 0, 'layer': '', 'operation': 0, 'start': 0, 'stop': 75936, 'bytes': 75936}
    """
    if not evaluation.fits:
        raise Refusal("plan cannot run: see 'cocco evaluate --explain'")
    partition, accelerator, run = evaluation.plan, evaluation.accelerator, evaluation.simulation
    found, places = address_map(network, partition, accelerator), places_of(run)
    if found is None or not found.fits or places is None:
        raise Refusal("plan has no address map: see 'cocco evaluate --addresses'")
    steps = steps_of(network, partition)
    weights, tensors, size = dram_of(network, [v for step in steps for v in step.written], accelerator.batch)
    regions = found.rows()
    return {
        "format": FORMAT,
        "network": network.name,
        "batch": accelerator.batch,
        "cores": accelerator.cores,
        "slots_per_cycle": run.slots_per_cycle,
        "memories": [{"memory": each.memory, "bytes": each.capacity_bytes} for each in found.memories],
        "dram": {
            "bytes": size,
            "weights": {network.layers[v].name: at for v, at in weights.items() if network.layers[v].has_weights},
            "tensors": {network.tensors[u].name: at for u, at in tensors.items()},
        },
        "steps": [
            {"layers": list(names), "start": start, "stop": stop}
            | _step(network, price, step, [row for row in regions if row[1] == number])
            for number, (names, price, step, (start, stop)) in enumerate(
                zip(partition.names, run.priced.prices, steps, run.spans)
            )
            if isinstance(price, Price)
        ],
        "transfers": [_transfer(each) for each in run.slices if each.kind in ("weights", "inputs", "outputs")],
        "ahead": [
            {"memory": room.memory, "kind": room.kind, "step": room.step, "start": room.start, "stop": room.stop,
             "first": first, "end": first + room.size_bytes}
            for room, first in places.placed
            if not room.place
        ],
    }  # fmt: skip


def _step(
    network: Network, price: Price, step: Step, regions: list[tuple[str, int, str, str, int, int]]
) -> dict[str, Any]:
    return {
        "tile": list(price.tile),
        "samples_at_once": price.at_once,
        "order": None if price.loops is None else price.loops.choices(),
        "loaded": list(network.names(step.loaded)),
        "on_chip": list(network.names(step.on_chip)),
        "written": list(network.names(step.written)),
        "regions": [
            {"memory": memory, "tensor": tensor or None, "kind": kind, "first": first, "end": end}
            for memory, _, tensor, kind, first, end in regions
        ],
    }


def _transfer(each: Slice) -> dict[str, Any]:
    return {
        "kind": each.kind, "step": each.subgraph, "layer": each.layer, "operation": each.stage,
        "start": each.start, "stop": each.stop, "bytes": each.size_bytes,
    }  # fmt: skip
