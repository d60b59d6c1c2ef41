"""What is printed in addition to the sums of a plan: counted here from shapes and executions, or marked as uncounted.

The saving of kept tensors is the difference between two counting runs: of the plan, and of its subgraphs without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from simulator.accelerator import Accelerator
from simulator.chip.logic import Logic
from simulator.evaluation import Evaluation
from simulator.execution.count import layer_facts as facts
from simulator.execution.count.checks import Check, Number
from simulator.execution.count.count import kept_bytes
from simulator.execution.count.stays import Lies
from simulator.execution.judge import judge
from simulator.model.price import Price
from simulator.model.priced import price_partition
from simulator.partition.partition import Partition
from workloads.network.network import Network

OFF_CHIP = ("ema_weight_bytes", "ema_input_bytes", "ema_output_bytes")


def check_printed(
    network: Network, partition: Partition, evaluation: Evaluation, checks: Sequence[Check], replayed: Number = None
) -> tuple[Check, ...]:
    """Return a check of each number printed in addition to the sums of a partition.

    checks: those of the judge. replayed: cycles at which a replay of the run ends, if there was one.
    """
    counted = dict(_counted(network, partition, evaluation, checks)) | {"latency_executed_cycles": replayed}
    claimed = _claimed(evaluation)
    found = [_check(name, claim, counted.get(name)) for name, claim in claimed.items()]
    return (*found, *_busy(network, partition, evaluation, checks, replayed))


def _claimed(evaluation: Evaluation) -> dict[str, Number]:
    """Return what is printed, in its order; numbers that nothing counts come last."""
    chip = evaluation.accelerator
    claims: dict[str, Number] = {
        "subgraphs": len(evaluation.subgraphs),
        "compulsory_bytes": evaluation.compulsory_bytes,
        "bandwidth_mean_bytes_per_cycle": evaluation.bandwidth_mean_bytes_per_cycle,
        "bandwidth_peak_bytes_per_cycle": evaluation.bandwidth_peak_bytes_per_cycle,
    }
    if evaluation.keep:
        claims["keep_bytes"] = sum(each.size_bytes for each in evaluation.keep)
        claims["kept_saved_bytes"] = evaluation.kept_saved_bytes
    claims |= {"latency_executed_cycles": evaluation.latency_executed_cycles, "area_mm2": chip.area_mm2}
    claims |= {"leakage_mw": chip.leakage_mw} if chip.has_tables else {}
    claims |= {"chip_area_mm2": chip.chip_area.total} if chip.technology.logic else {}
    claims |= {f"missed_clock_ns_{name}": cycle for name, cycle in chip.missed_clock.items()}
    return claims | ({"rereads": len(evaluation.rereads)} if evaluation.rereads else {})


def _counted(
    network: Network, partition: Partition, evaluation: Evaluation, checks: Sequence[Check]
) -> Iterator[tuple[str, Number]]:
    chip, found = evaluation.accelerator, {(each.name, each.subgraph): each.counted for each in checks}
    yield "subgraphs", len({each.subgraph for each in checks} - {None})
    yield "compulsory_bytes", _once(network, chip)
    if chip.technology.logic:
        yield "chip_area_mm2", _chip_mm2(chip, chip.technology.logic)
    needs = _needs([{name: found[name, i] for name in (*OFF_CHIP, "compute_cycles")} for i in range(len(partition))])
    if needs:
        total: float = 0
        for need in needs:  # left to right
            total += need
        yield "bandwidth_mean_bytes_per_cycle", total / len(needs)
        yield "bandwidth_peak_bytes_per_cycle", max(needs)
    if partition.keep:
        word = chip.technology.channel_alignment
        whole = [kept_bytes(network, Lies(kept=frozenset({each.tensor_id})), word, chip) for each in partition.keep]
        yield "keep_bytes", sum(whole)
        without, moved = _without_kept(network, partition, evaluation), found["ema_bytes", None]
        yield "kept_saved_bytes", None if without is None or moved is None else without - moved


def _busy(
    network: Network, partition: Partition, evaluation: Evaluation, checks: Sequence[Check], replayed: Number
) -> Iterator[Check]:
    """Yield a check of the share of the MACs that each subgraph does, and all of them; macs per cycle: all lanes."""
    chip = evaluation.accelerator
    cycles = {each.subgraph: each.counted for each in checks if each.name == "compute_cycles"}
    array, whole = chip.technology, 0
    lanes = chip.cores * array.pe_rows * array.pe_columns * array.pe_inputs * array.pe_outputs
    own = facts.with_experts(network, chip.batch)

    def check(name: str, claimed: float, macs: int, counted: Number) -> Check:
        return _check(name, claimed, counted and min(1.0, chip.batch * macs / (lanes * counted)))

    for i, layers in enumerate(partition.subgraphs):
        macs = sum(facts.macs(own, v) for v in layers)
        whole += macs
        if len(evaluation.subgraphs) == len(partition):
            yield replace(check("utilization", evaluation.subgraphs[i].utilization, macs, cycles.get(i)), subgraph=i)
    yield check("utilization", evaluation.utilization, whole, cycles.get(None))
    yield check("utilization_executed", evaluation.utilization_executed, whole, replayed)


def _chip_mm2(chip: Accelerator, logic: Logic) -> float:
    """Return the area of what there is on a chip: cores, their PEs, MACs, buffers and ports, and DRAM's interfaces."""
    array, cores = chip.technology, chip.cores
    pes, lanes = array.pe_rows * array.pe_columns, array.pe_inputs * array.pe_outputs
    buffers: float = 0
    if chip.has_tables:
        for memory in chip.memories.values():
            buffers += memory.area_mm2
    else:
        buffers = array.sram_area_mm2(chip.buffer_bytes)
    each = (cores * logic.core_mm2, cores * pes * logic.pe_mm2, cores * (pes * lanes) * logic.mac_mm2, cores * buffers)
    phys = (array.dram_channels or cores) * (logic.phy_of(array.dram_kind) or 0.0)
    total: float = 0
    for part in (*each, cores * logic.port_mm2 if cores > 1 else 0.0, phys):  # left to right
        total += part
    return total


def _once(network: Network, accelerator: Accelerator) -> int:
    """Return the bytes of all weights once, plus the model's inputs and outputs once per sample."""
    own, layers, batch = facts.with_experts(network, accelerator.batch), range(len(network.layers)), accelerator.batch
    read = {u for producers in network.producers for u in producers}
    ends = [u for u, _ in enumerate(network.tensors) if u in read and u not in layers]
    ends += [v for v in layers if network.is_output[v]]
    loaded = facts.loaded_by(own, layers) if accelerator.cores == 1 else layers  # cores share no weights of several
    return sum(facts.weight_bytes(own, v) for v in loaded) + batch * sum(facts.size_bytes(own, u) for u in ends)


def _needs(counted: Sequence[dict[str, Number]]) -> list[float]:
    """Return the bandwidth each subgraph needs while it computes: for its activations and the weights of the next.

    Empty if anything was not executed.
    """
    needs, last = [], dict[str, Number](ema_weight_bytes=0)
    for each, following in zip(counted, [*counted[1:], last]):
        weights, read, written = following["ema_weight_bytes"], each["ema_input_bytes"], each["ema_output_bytes"]
        cycles = each["compute_cycles"]
        if weights is None or read is None or written is None or not cycles:
            return []
        needs.append((read + written + weights) / cycles)
    return needs


def _without_kept(network: Network, partition: Partition, evaluation: Evaluation) -> Number:
    """Return the off-chip bytes counted when the same subgraphs run with nothing kept; None if one of them cannot."""
    plain = Partition.from_ids(network, partition.subgraphs, partition.metric, schemes=partition.schemes)
    chip = evaluation.accelerator
    priced = price_partition(network, plain, chip, evaluation.tile_rule)
    prices = [price for price in priced.prices if isinstance(price, Price)]
    if len(prices) < len(plain):
        return None
    checks, _ = judge(network, chip, plain, prices)
    return next((each.counted for each in checks if (each.name, each.subgraph) == ("ema_bytes", None)), None)


def _check(name: str, claimed: Number, counted: Number) -> Check:
    if counted is None:
        return Check(name, claimed, None, "not executed")
    return Check(name, claimed, counted, "equal" if claimed == counted else "different")
