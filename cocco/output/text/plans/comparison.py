"""What compare and capacity print for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cocco.output.text.layout.numbers import capacity, counted, table
from cocco.output.text.plans.evaluation import group_text
from cocco.output.text.plans.hardware import buffers, machine
from simulator.units import ENERGY, SIZE, TIME, TRAFFIC

if TYPE_CHECKING:
    from cocco.plans.compare import Compared, Comparison, Difference, Side
    from simulator import Evaluation, LeastCapacity, Partition

DIFFERENCES_SHOWN = 12  #: differences that are shown; our choice
GROUPS_NAMED = 3  #: subgraphs of a difference that are named; our choice


def comparison_text(found: Comparison) -> str:
    """Return the table of partitions, then where they differ."""
    first = found.partitions[0].evaluation
    title = (
        f"{found.network} in {counted(len(found.partitions), 'partition')} on "
        f"{buffers(first.accelerator)}{machine(first.accelerator)}"
    )
    parts = [title, _partitions(found.partitions)]
    short = [f"  {each.name}: {why}" for each in found.partitions for why in each.evaluation.infeasible]
    if short:
        parts.append("\n".join(["Cannot run:", *short]))
    return "\n\n".join([*parts, _differences(found)])


def brought_text(found: Comparison) -> str:
    """Return what became of the first of two partitions, and what each change brought, in the network's order."""
    if not found.differences:
        return _differences(found)
    first, second = found.partitions
    changed = [_brought(*each.sides) for each in found.differences]
    whole = _brought(*(each.evaluation if each.evaluation.fits else None for each in (first, second)))
    names = [group_text(each.layers) for each in found.differences]
    counts = [" -> ".join(str(len(side.subgraphs)) for side in each.sides) for each in found.differences]
    rest = [None if None in column else total - sum(column) for *column, total in zip(*changed, whole)]
    rows = [*zip(names, counts, *zip(*changed))]
    if any(round(each or 0.0) for each in rest):  # energies are sums of fractions
        rows.append(("the others, by what is kept on chip", "", *rest))
    rows.append(("in all", f"{len(first.partition)} -> {len(second.partition)}", *whole))
    named, counted_, moved, spent, cycles = zip(*rows)
    clock = first.evaluation.accelerator.technology.clock_ghz
    energy, energies = ENERGY.column(spent)
    time, times = TIME.column([None if each is None else each / clock for each in cycles])
    cells = zip(named, counted_, SIZE.texts(moved), energies, times)
    return table((f"what became of {first.name}", "subgraphs", "off-chip", energy, time), [*cells])


def _brought(before: Side | Evaluation | None, after: Side | Evaluation | None) -> tuple[float | None, ...]:
    """Return by how much off-chip traffic, energy and latency changed; None where one of the two cannot run."""
    names = ("ema_bytes", "energy_pj", "latency_cycles")
    found = [[getattr(each, name, None) for name in names] for each in (before, after)]
    return tuple(None if None in pair else pair[1] - pair[0] for pair in zip(*found))


def runs_text(names: Sequence[str], answers: Sequence[Sequence[str]], questions: Sequence[Sequence[str]]) -> str:
    """Return two runs side by side: rows of their answers, and of how their questions differ."""
    asked = "The same was asked."
    if questions:
        asked = "Asked differently:\n\n" + table(("", *names), [row[:3] for row in questions], left=3)
    return f"{table(('', *names, 'change'), answers, left=3)}\n\n{asked}"


def capacity_text(plan: Partition, runs: LeastCapacity, held: LeastCapacity) -> str:
    """Return the least memories, and which subgraphs decide them."""
    if not runs.fits:
        return "\n".join([
            f"Infeasible: {plan.network_name} runs like this in no memory",
            *(f"  {each}" for each in runs.infeasible),
        ])  # fmt: skip
    rows = [
        ("it runs (single layers streamed where they must)", *map(_size, _buffers(runs))),
        ("all of it is held, nothing streamed", *map(_size, _buffers(held))),
    ]
    named = (
        ("shared buffer", runs.shared_layers, held.shared_layers),
        ("global buffer", runs.global_layers, held.global_layers),
        ("weight buffer", runs.weight_layers, held.weight_layers),
    )
    deciding = [(name, _group(run), _group(hold)) for name, run, hold in named]
    heads = ("decided by", "it runs", "all held")
    return "\n\n".join([
        f"{plan.network_name} in {counted(len(plan), 'subgraph')}: the least memory of one core on which",
        table(("", "shared buffer", "or global buffer", "and weight buffer"), rows),
        table(heads, deciding, left=3),
    ])  # fmt: skip


def _partitions(compared: Sequence[Compared]) -> str:
    found = [each.evaluation for each in compared]
    clock = found[0].accelerator.technology.clock_ghz
    moved, spent, cycles = (
        [getattr(each, name) if each.fits else None for each in found]
        for name in ("ema_bytes", "energy_pj", "latency_cycles")
    )
    energy, energies = ENERGY.column(spent)
    time, times = TIME.column([None if each is None else each / clock for each in cycles])
    columns: list[tuple[str, Sequence[object]]] = [
        ("partition", [each.name for each in compared]), ("subgraphs", [len(each.partition) for each in compared])
    ]  # fmt: skip
    if any(each.partition.keep for each in compared):
        columns.append(("kept", [len(each.partition.keep) for each in compared]))
    columns += [
        ("off-chip", TRAFFIC.texts(moved)), ("", _changes(moved)), (energy, energies), ("", _changes(spent)),
        (time, times), ("", _changes(cycles)),
        ("GB/s mean / peak", [_rates(each, clock) for each in found]), ("runs from", list(map(_least, compared))),
    ]  # fmt: skip
    heads, cells = zip(*columns)
    return table(heads, list(zip(*cells)))


def _rates(found: Evaluation, clock: float) -> str:
    if not found.fits:
        return "-"
    return " / ".join(
        f"{each * clock:.1f}" for each in (found.bandwidth_mean_bytes_per_cycle, found.bandwidth_peak_bytes_per_cycle)
    )


def _least(each: Compared) -> str:
    if not each.least.fits:
        return "no memory"
    if each.evaluation.accelerator.is_shared:
        return _size(each.least.shared_buffer)
    return f"{_size(each.least.global_buffer)} + {_size(each.least.weight_buffer)}"


def _differences(found: Comparison) -> str:
    if not found.differences:
        plans = {(each.partition.subgraphs, each.partition.keep) for each in found.partitions}
        if len(plans) > 1:
            return "The subgraphs are the same; the partitions differ in their order or in what they keep on chip."
        return "The partitions are the same."
    clock = found.partitions[0].evaluation.accelerator.technology.clock_ghz
    shown = sorted(sorted(found.differences, key=_weight)[:DIFFERENCES_SHOWN], key=found.differences.index)
    sides = [side for difference in shown for side in difference.sides]
    energy, energies = ENERGY.column([side.energy_pj for side in sides])
    time, times = TIME.column([None if side.latency_cycles is None else side.latency_cycles / clock for side in sides])
    costs = iter(zip(SIZE.texts([side.ema_bytes for side in sides]), energies, times))
    rows: list[tuple[object, ...]] = []
    for difference in shown:
        for compared, side in zip(found.partitions, difference.sides):
            name = group_text(difference.layers) if compared is found.partitions[0] else ""
            rows.append((name, compared.name, _subgraphs(side.subgraphs), *next(costs)))
    more = len(found.differences) - len(shown)
    text = table(("where they differ", "partition", "subgraphs", "off-chip", energy, time), rows, left=3)
    return text + (f"\n  and {counted(more, 'more difference')}; --json prints all of them" if more else "")


def _weight(difference: Difference) -> tuple[bool, int]:
    """What cannot run first, then by how far the traffic differs."""
    sizes = [side.ema_bytes for side in difference.sides if side.ema_bytes is not None]
    return (len(sizes) == len(difference.sides), min(sizes, default=0) - max(sizes, default=0))


def _subgraphs(groups: Sequence[Sequence[str]]) -> str:
    named = " | ".join(map(group_text, groups[:GROUPS_NAMED]))
    return named if len(groups) <= GROUPS_NAMED else f"{named} | ... ({len(groups)} subgraphs)"


def _buffers(least: LeastCapacity) -> tuple[int | None, ...]:
    return least.shared_buffer, least.global_buffer, least.weight_buffer


def _group(layers: Sequence[str]) -> str:
    return group_text(layers) if layers else "-"


def _size(size: int | None) -> str:
    return "-" if size is None else capacity(size)


def _changes(values: Sequence[float | None]) -> list[str]:
    """Return how much each differs from the first; '-' where that or the first is not known."""
    base = values[0]
    return [
        "-" if value is None else "" if base is None or value == base else f"{100 * (value / base - 1):+.1f} %"
        for value in values
    ]
