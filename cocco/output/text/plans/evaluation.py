"""What the commands print for people: the answer first, then the tables it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cocco.output.text.layout.numbers import capacity_above, counted, percent, table, the_buffers
from cocco.output.text.plans.hardware import buffers, chip_lines, machine, missed_lines
from cocco.output.text.plans.serving import serving_lines
from simulator.subgraph_cost import clipped
from simulator.units import AREA, ENERGY, POWER, RATE, SIZE, TIME, TRAFFIC
from workloads.network.rewriting.in_blocks import LEFT, MADE, attention_text
from workloads.network.rewriting.repeats import longest_run

if TYPE_CHECKING:
    from simulator import Accelerator, Evaluation, SubgraphCost
    from simulator.model.compulsory import Reread
    from workloads import Network, Note

MANY = 16  #: subgraphs up to which a table shows all of them
ROWS_SHOWN = 12  #: how many it shows otherwise
ENERGY_PARTS = {
    "dram": "DRAM", "global_buffer": "global buffer", "weight_buffer": "weight buffer",
    "compute": "computing", "crossbar": "crossbar", "leakage": "leakage", "dram_background": "DRAM background",
    "logic_leakage": "logic leakage", "idle": "idle MACs",
}  # fmt: skip
SCHEME_WORDS = {
    "channels": "channels dealt", "rotated": "columns or samples shared, weights rotate",
    "held": "columns or samples shared, all weights in every core", "alone": "one core alone",
}  # fmt: skip  #: how several cores share a subgraph (docs/model.md, section 7)


def layers_table(network: Network) -> str:
    """Return the layers of a network, one per line, and the totals."""
    rows = [
        (
            layer.name, layer.op + (f" ({layer.mask})" if layer.mask else ""), _inputs(layer.inputs),
            f"{layer.height} x {layer.width} x {layer.channels}",
            f"{layer.macs:,}", f"{layer.weight_bytes:,}",
        )
        for layer in network.layers
    ]  # fmt: skip
    heads = ("layer", "op", "inputs", "output (H x W x C)", "MACs", "weight bytes")
    return (
        f"{network.name}: {counted(len(network.layers), 'layer')}, {counted(network.edges, 'edge')}, "
        f"{network.macs:,} MACs, {network.weight_bytes:,} weight bytes\n{_types_text(network)}\n"
        + (f"experts: {experts}\n" if (experts := experts_text(network)) else "")
        + (f"attention: {attention_text(network)}\n" if {MADE, LEFT} & {note.how for note in network.notes} else "")
        + f"\n{table(heads, rows, left=3)}"
    )


def experts_text(network: Network, batch: int = 1) -> str:
    """Return how many experts of a layer are in use; nothing of a network without."""
    return "; ".join(experts.said(tokens) for experts, tokens in network.experts_of(batch))


def _types_text(network: Network) -> str:
    """Return the number types: as in the paper unless stated otherwise."""
    types = "; ".join(f"{kind} {', '.join(names)}" for kind, names in network.number_types().items())
    return f"numbers: {types}" + (" (assumed, as in the paper)" if network.has_paper_types else "")


def notes_table(network: Network) -> str:
    """Return what was assumed of an imported network: nodes that are no layers, weights, inputs, extents, types."""
    groups: dict[tuple[str, str], list[Note]] = {}
    for note in network.notes:
        kind = {"shared": "weights of several layers", "not loaded": "weights"}.get(note.how, note.op)
        groups.setdefault((note.how, kind), []).append(note)
    rows = []
    for (how, op), notes in sorted(groups.items()):
        elements = sum(note.weights for note in notes)
        rows.append((op, how, _inputs([note.node for note in notes]), len(notes), f"{elements:,}" if elements else ""))
    return table(("assumed", "is", "which", "number", "elements"), rows, left=3)


def evaluation_text(evaluation: Evaluation) -> str:
    """Return the price of a partition, or why it cannot run."""
    if not evaluation.fits:
        return infeasible_text(evaluation)
    accelerator = evaluation.accelerator
    rule = "" if evaluation.tile_rule == "exact" else f", {evaluation.tile_rule} tile rule"
    title = (
        f"{evaluation.network} in {counted(len(evaluation.subgraphs), 'subgraph')} on "
        f"{buffers(accelerator)}{machine(accelerator)}{rule}"
    )
    experts = experts_text(evaluation.source[0], accelerator.batch) if evaluation.source else ""
    totals = totals_text(evaluation) + (f"\n  experts                 {experts}" if experts else "")
    return "\n\n".join([title, totals, energy_text(evaluation), subgraphs_text(evaluation)])


def infeasible_text(evaluation: Evaluation) -> str:
    """Return which subgraphs cannot run, and why."""
    accelerator = evaluation.accelerator
    head = f"Infeasible: {evaluation.network} cannot run like this on {buffers(accelerator)}{machine(accelerator)}"
    return "\n".join([head, *(f"  {each}" for each in evaluation.infeasible)])


def totals_text(evaluation: Evaluation) -> str:
    """Return the totals, one per line."""
    accelerator, clock = evaluation.accelerator, evaluation.accelerator.technology.clock_ghz
    area = accelerator.area_mm2
    moved, weights, inputs, outputs = TRAFFIC.texts([
        evaluation.ema_bytes, evaluation.ema_weight_bytes, evaluation.ema_input_bytes, evaluation.ema_output_bytes,
    ])  # fmt: skip
    return "\n".join([
        f"  off-chip traffic (EMA)  {moved}: weights {weights}, inputs {inputs}, outputs {outputs}; "
        f"{evaluation.ema_bytes / evaluation.compulsory_bytes:,.2f} times the least (weights, inputs, outputs once)",
        *(f"    {line}" for line in _reread_lines(evaluation)),
        *_kept_lines(evaluation),
        *_scheme_lines(evaluation),
        f"  energy                  {ENERGY.text(evaluation.energy_pj)}",
        f"  latency                 {TIME.text(evaluation.latency_cycles / clock)} (paper's sum), "
        f"{TIME.text(evaluation.latency_executed_cycles / clock)} executed "
        f"({evaluation.latency_executed_cycles / evaluation.latency_cycles:.3f}), "
        f"{TIME.text(evaluation.compute_cycles / clock)} computing alone at {clock:g} GHz",
        *(f"  {name:<24}{text}" for name, text in serving_lines(evaluation.serving)),
        f"  MACs busy               {busy_text(evaluation.utilization, evaluation.utilization_executed)}",
        f"  DRAM bandwidth          {bandwidth_text(accelerator)}; computing never waits with "
        f"{RATE.text(evaluation.bandwidth_mean_bytes_per_cycle * clock)} in the mean subgraph, "
        f"{RATE.text(evaluation.bandwidth_peak_bytes_per_cycle * clock)} in the worst case",
        f"  buffer area             {AREA.text(area)} {'of all cores' if accelerator.has_tables else 'at 12 nm'}",
        *_table_lines(evaluation),
        *chip_lines(accelerator),
    ])  # fmt: skip


def bandwidth_text(accelerator: Accelerator) -> str:
    """Return the bandwidth of DRAM: of all cores together, and of each where they are several."""
    rate = accelerator.dram_bytes_per_cycle * accelerator.technology.clock_ghz
    each = f" in all, {rate / accelerator.cores:g} for each of {accelerator.cores} cores"
    return f"{rate:g} GB/s{each if accelerator.cores > 1 else ''}"


def busy_text(computing: float, executed: float) -> str:
    """Return the share of the MACs possible that is done, in the cycles of computing and in the executed latency."""
    return f"{percent(computing, 1)} of the cycles of computing, {percent(executed, 1)} of the executed latency"


def _table_lines(evaluation: Evaluation) -> list[str]:
    """Return what tables say in addition to energy and area; empty without a table."""
    accelerator = evaluation.accelerator
    if not accelerator.has_tables:
        return []
    leakage = f"  leakage                 {POWER.text(accelerator.leakage_mw)} in {the_buffers(accelerator.cores)}"
    return [leakage, *(f"  {line}" for line in missed_lines(accelerator))]


def _kept_lines(evaluation: Evaluation) -> list[str]:
    """Return how many tensors stay on chip between subgraphs, and what that saves; nothing where none does."""
    if not evaluation.keep:
        return []
    saved = evaluation.kept_saved_bytes
    less = "; the same subgraphs without them do not run" if saved is None else f", {TRAFFIC.text(saved)} less off chip"
    tensors = {each.interval.tensor for each in evaluation.keep}
    return [f"  kept on chip            {counted(len(tensors), 'tensor')} from one subgraph to a later one{less}"]


def _scheme_lines(evaluation: Evaluation) -> list[str]:
    """Return in which ways several cores share the subgraphs; nothing of one core."""
    said = scheme_counts([cost.scheme for cost in evaluation.subgraphs])
    if not said:
        return []
    return [f"  cores                   {said}; {TRAFFIC.text(evaluation.crossbar_bytes)} cross between them"]


def scheme_counts(schemes: Sequence[str]) -> str:
    """Return how often cores share a subgraph in which way; nothing of one core."""
    return ", ".join(
        f"{each} {schemes.count(each)} ({words})" for each, words in SCHEME_WORDS.items() if each in schemes
    )


def _reread_lines(evaluation: Evaluation) -> list[str]:
    """Return what layers move again and again; those that differ by name only on one line."""
    alike: dict[Reread, list[str]] = {}
    for each in evaluation.rereads:
        alike.setdefault(each._replace(layer=""), []).append(each.layer)
    lines = []
    for each, names in alike.items():
        more = "" if len(names) == 1 else f" (and so do {len(names) - 1} like it, to {_short(names[-1])})"
        lines.append(reread_text(each._replace(layer=names[0]), evaluation.accelerator) + more)
    return lines


def reread_text(reread: Reread, accelerator: Accelerator) -> str:
    """Return what a layer moves again and again, and from which memory on it does not: with room for the layer."""
    activations, weights = reread.activation_bytes, reread.weight_bytes
    if accelerator.is_shared:
        room = capacity_above(activations + weights)
    else:
        room = f"a global buffer of {capacity_above(activations)} and a weight buffer of {capacity_above(weights)}"
    return f"{_short(reread.layer)} moves its {reread.what} {reread.times:,.1f} times; it fits from {room} on"


def energy_text(evaluation: Evaluation) -> str:
    """Return where the energy goes."""
    assert evaluation.energy_breakdown is not None
    parts, unit = evaluation.energy_breakdown.parts(), ENERGY.unit(evaluation.energy_pj)
    rows = [
        (ENERGY_PARTS[part], unit.number(value), percent(value, evaluation.energy_pj)) for part, value in parts.items()
    ]
    return table(("energy", unit.name, "share"), rows)


def subgraphs_text(evaluation: Evaluation) -> str:
    """Return the subgraphs in execution order; of many one block if they repeat, or those that take most energy."""
    costs = evaluation.subgraphs
    shown: Sequence[int] = range(len(costs))
    note = ""
    if len(costs) > MANY:
        shown, note = _one_block(costs) or _most_expensive(costs)
    clock = evaluation.accelerator.technology.clock_ghz
    listed = [costs[i] for i in shown]
    energy, energies = ENERGY.column([cost.energy_pj for cost in listed])
    time, times = TIME.column([cost.latency_cycles / clock for cost in listed])
    assert evaluation.source is not None, "evaluate() made it"
    network = evaluation.source[0]
    columns: dict[str, Sequence[object]] = {"#": shown, "subgraph": [group_text(cost.layers) for cost in listed]}
    if evaluation.accelerator.cores > 1:
        columns["cores"] = [cost.scheme for cost in listed]
    columns["tile"] = [tile_text(cost.tile, network, cost.layers) for cost in listed]
    columns["activations"] = SIZE.texts([cost.activation_bytes for cost in listed])
    if evaluation.keep:
        columns["kept"] = SIZE.texts([cost.kept_bytes for cost in listed])
    columns |= {
        "weights": SIZE.texts([cost.weight_bytes for cost in listed]),
        "off-chip": SIZE.texts([cost.ema_bytes for cost in listed]),
        energy: energies, time: times, "MACs busy": [percent(cost.utilization, 1) for cost in listed],
    }  # fmt: skip
    left = list(columns).index("tile")
    return table(list(columns), list(zip(*columns.values())), left=left) + note


def _most_expensive(costs: Sequence[SubgraphCost]) -> tuple[Sequence[int], str]:
    """Return the subgraphs that take the most energy, in order, and what to say about the others."""
    shown = sorted(sorted(range(len(costs)), key=lambda i: (-costs[i].energy_pj, i))[:ROWS_SHOWN])
    return shown, (
        f"\n  the {len(shown)} of {len(costs)} subgraphs that take the most energy, in the order they run; "
        "--json prints all of them"
    )


def _one_block(costs: Sequence[SubgraphCost]) -> tuple[Sequence[int], str] | None:
    """Return the subgraphs without repetitions, and what to say about these; None where that leaves many."""
    found = longest_run([replace(cost, layers=()) for cost in costs])
    if found is None:
        return None
    run, more = found
    first, last = run.first + run.period, run.first + run.covered + more
    shown = [*range(first), *range(last, len(costs))]
    if len(shown) > MANY:
        return None
    which = f"{run.first} to {first - 1}" if run.period > 1 else str(run.first)
    return shown, (
        f"\n  subgraphs {first} to {last - 1} ({_short(costs[first].layers[0])} to "
        f"{_short(costs[last - 1].layers[-1])}) repeat {which}; --json prints all of them"
    )


def tile_text(tile: tuple[int, int], network: Network, layers: Sequence[str]) -> str:
    """Return a tile of a subgraph, no larger than the map that it is of."""
    rows, columns = clipped(tile, network, layers)
    return f"{rows} x {columns}"


def group_text(layers: Sequence[str]) -> str:
    """Return a subgraph as its first and last layer and their number."""
    if len(layers) == 1:
        return _short(layers[0])
    return f"{_short(layers[0])} .. {_short(layers[-1])} ({len(layers)})"


def _inputs(names: Sequence[str]) -> str:
    return ", ".join(map(_short, names[:3])) + (f", ... ({len(names)})" if len(names) > 3 else "")


def _short(name: str, most: int = 32) -> str:
    return name if len(name) <= most else f"{name[: most - 3]}..."
