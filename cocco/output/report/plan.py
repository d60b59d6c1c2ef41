"""One network's plan on a page: what it costs, the table of its subgraphs, what they hold, the network drawn."""

from __future__ import annotations

import io
from html import escape
from typing import TYPE_CHECKING

import workloads
from cocco.output.folders.read_run import RunNetwork
from cocco.output.report.table import kept_table, plan_table
from cocco.output.report.words import cores_sentence, costs, kept_sentence
from simulator.accelerator import Accelerator
from simulator.evaluate import evaluate
from simulator.model.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.views.occupancy import Occupancy, occupancies

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEFT_OUT = {"Date": None, "Creator": None, "Format": None, "Type": None}
WHOLE = "This network is not built in, so its activations are not split into MAIN and SIDE."
OTHERWISE = "This version prices the plan otherwise, so its activations are not split into MAIN and SIDE."


def plan_section(machine: Accelerator, tile_rule: TileRule, network: RunNetwork) -> str:
    """Return the costs, the table and the pictures of one network's plan as a section of the page."""
    from cocco.output import pictures

    occupied, plan, note = _occupied(machine, tile_rule, network)
    title = f"{network.name}: bytes that each subgraph holds"
    bars = {str(i): cost.energy_breakdown for i, cost in enumerate(network.subgraphs)}
    axis = "subgraph, in the order they run"
    parts = [
        f"<section><h2>{escape(network.name)}</h2><p>{escape(costs(machine, network))}.</p>",
        plan_table(machine, network),
        f'<figure class="occupancy">{_svg(pictures.occupancy_figure(occupied, machine, title))}',
        f"<figcaption>{escape(note)}</figcaption></figure>",
        f'<figure class="energy">{_svg(pictures.energy_figure(bars, network.name, axis))}</figure>',
    ]
    if said := cores_sentence(network):
        parts[1:1] = [f"<p>{escape(said)}</p>"]
    if network.keep:
        parts[-1:-1] = [_kept(network)]
    if plan is not None:
        drawn = _svg(pictures.network_figure(workloads.load(network.name), plan))
        parts.append(f'<details><summary>The network</summary><figure class="network">{drawn}</figure></details>')
    return "\n".join([*parts, "</section>"])


def _kept(network: RunNetwork) -> str:
    """Return what stays on chip between subgraphs as bars over them, and as a table."""
    from cocco.output import pictures
    from cocco.output.pictures.kept import KeptBar

    bars = [KeptBar(each.tensor, each.from_step, each.until_step, each.size_bytes) for each in network.keep]
    title = f"{network.name}: tensors that stay on chip between subgraphs"
    drawn = _svg(pictures.kept_figure(bars, len(network.subgraphs), title))
    return (
        f'<figure class="kept">{drawn}<figcaption>{escape(kept_sentence(network))}</figcaption></figure>'
        f"<details><summary>The tensors that stay on chip</summary>{kept_table(network)}</details>"
    )


def _occupied(
    machine: Accelerator, tile_rule: TileRule, network: RunNetwork
) -> tuple[list[Occupancy], Partition | None, str]:
    """Return what each subgraph holds, the plan if the network is a built-in one, and a note."""
    whole = [Occupancy(cost.weight_bytes, cost.activation_bytes, 0, cost.kept_bytes) for cost in network.subgraphs]
    if network.name not in workloads.names():
        return whole, None, WHOLE
    loaded = workloads.load(network.name)
    try:
        keep = [each.to_json() for each in network.keep]
        groups, schemes = [cost.layers for cost in network.subgraphs], [cost.scheme for cost in network.subgraphs]
        plan = Partition.from_groups(loaded, groups, network.metric, keep, schemes)
        priced = evaluate(loaded, plan, machine, tile_rule)
    except ValueError:  # a network of the user's with the name of a built-in one
        return whole, None, WHOLE
    if [cost.energy_pj for cost in priced.subgraphs] != [cost.energy_pj for cost in network.subgraphs]:
        return whole, plan, OTHERWISE
    note = (
        "MAIN: windows that slide over the rows. SIDE: rows kept for the next row of tiles. The line is the capacity."
    )
    if network.keep:
        note = f"Kept whole: tensors that stay from one subgraph to a later one. {note}"
    return list(occupancies(loaded, priced)), plan, note


def _svg(figure: Figure) -> str:
    """Return a picture as an element of the page, with its letters as text."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "report", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata=LEFT_OUT)
    text = buffer.getvalue()
    return text[text.index("<svg") :]
