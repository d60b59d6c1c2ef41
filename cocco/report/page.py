"""The page: one HTML file with everything in it. Its policy forbids the browser to load anything else."""

from __future__ import annotations

import io
import json
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import workloads
from cocco.cli.text import milliseconds
from cocco.report.front import front
from cocco.report.run import Run, RunNetwork, read
from cocco.report.words import costs, facts, recommendation
from simulator.evaluate import evaluate
from simulator.occupancy import Occupancy, occupancies
from simulator.partition import Partition
from workloads.files import write_atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "report.html"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
HEADS = ("#", "layers", "tile", "activations (KB)", "weights (KB)", "off-chip (KB)", "energy (mJ)", "latency (ms)")
LEFT_OUT = {"Date": None, "Creator": None, "Format": None, "Type": None}
WHOLE = "This network is not built in, so its activations are not split into MAIN and SIDE."
OTHERWISE = "This version prices the plan otherwise, so its activations are not split into MAIN and SIDE."


def write(folder: Path) -> Path:
    """Write DIR/report.html for the run in DIR, whole or not at all, and return its path.

    Raises FileFormatError for a folder that is missing, cut off or of something else, and OSError.
    """
    path = folder / NAME
    write_atomic(path, html_of(read(folder)))
    return path


def html_of(run: Run) -> str:
    """Return the page of a run; the same run gives the same bytes."""
    networks = ", ".join(network.name for network in run.networks) or "no plan"
    body = [f"<h1>Cocco: {escape(networks)}</h1>", f'<p id="recommendation">{escape(recommendation(run))}</p>']
    body.append(_facts(run))
    script = ""
    if run.accelerator is not None:
        drawn = front(run)
        data = json.dumps(drawn.data, allow_nan=False).replace("<", "\\u003c")
        body.append(_front(drawn.svg, run))
        body += [_network(run, network) for network in run.networks]
        script = f'<script type="application/json" id="points">{data}</script><script>{_asset("page.js")}</script>'
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>Cocco: {escape(networks)}</title><style>{_asset('page.css')}</style>"
    )
    text = "\n".join(body)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{text}\n{script}</body></html>\n'


def _asset(name: str) -> str:
    return (resources.files("cocco.report") / name).read_text(encoding="utf-8")


def _facts(run: Run) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts(run))
    return f"<dl>{rows}</dl>"


def _front(svg: str, run: Run) -> str:
    return (
        "<section><h2>What else there is</h2>"
        f"<p>Each dot is a memory with a partition for it that the search priced ({len(run.points):,} samples). "
        "No sample beats one on the black line in both; the star is the recommendation. "
        'Point at a dot, or walk along the line with the arrow keys.</p><div class="chart" tabindex="0">'
        f'{svg}<div id="tip" role="status" hidden></div></div></section>'
    )


def _network(run: Run, network: RunNetwork) -> str:
    """Return the table and the pictures of one network."""
    from cocco import pictures

    assert run.accelerator is not None
    occupied, plan, note = _occupied(run, network)
    title = f"{network.name}: bytes that each subgraph holds"
    bars = {str(i): cost.energy_breakdown for i, cost in enumerate(network.subgraphs)}
    axis = "subgraph, in the order they run"
    parts = [
        f"<section><h2>{escape(network.name)}</h2><p>{escape(costs(run, network))}.</p>",
        _table(run, network),
        f'<figure class="occupancy">{_svg(pictures.occupancy_figure(occupied, run.accelerator, title))}',
        f"<figcaption>{escape(note)}</figcaption></figure>",
        f'<figure class="energy">{_svg(pictures.energy_figure(bars, network.name, axis))}</figure>',
    ]
    if plan is not None:
        drawn = _svg(pictures.network_figure(workloads.load(network.name), plan))
        parts.append(f'<details><summary>The network</summary><figure class="network">{drawn}</figure></details>')
    return "\n".join([*parts, "</section>"])


def _occupied(run: Run, network: RunNetwork) -> tuple[list[Occupancy], Partition | None, str]:
    """Return what each subgraph holds, the plan if the network is a built-in one, and a note."""
    whole = [Occupancy(cost.weight_bytes, cost.activation_bytes, 0) for cost in network.subgraphs]
    if network.name not in workloads.names():
        return whole, None, WHOLE
    loaded = workloads.load(network.name)
    try:
        plan = Partition.from_groups(loaded, [cost.layers for cost in network.subgraphs])
        assert run.accelerator is not None
        priced = evaluate(loaded, plan, run.accelerator, run.tile_rule)
    except ValueError:  # a network of the user's with the name of a built-in one
        return whole, None, WHOLE
    if [cost.energy_pj for cost in priced.subgraphs] != [cost.energy_pj for cost in network.subgraphs]:
        return whole, plan, OTHERWISE
    note = (
        "MAIN: windows that slide over the rows. SIDE: rows kept for the next row of tiles. The line is the capacity."
    )
    return list(occupancies(loaded, priced)), plan, note


def _table(run: Run, network: RunNetwork) -> str:
    assert run.accelerator is not None
    clock = run.accelerator.technology.clock_ghz
    rows = []
    for position, cost in enumerate(network.subgraphs):
        names = [escape(name) for name in cost.layers]
        listed = names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]} ({len(names)})"
        if len(names) > 2:
            listed = f"<details><summary>{listed}</summary>{', '.join(names)}</details>"
        cells = [
            (position, str(position)), (len(names), listed),
            (cost.tile[0] * cost.tile[1], f"{cost.tile[0]} x {cost.tile[1]}"),
            *((size, f"{size / 1024:,.1f}") for size in (cost.activation_bytes, cost.weight_bytes, cost.ema_bytes)),
            (cost.energy_pj, f"{cost.energy_pj * 1e-9:.3f}"),
            (cost.latency_cycles, milliseconds(cost.latency_cycles, clock).removesuffix(" ms")),
        ]  # fmt: skip
        rows.append("<tr>" + "".join(f'<td data-v="{value!r}">{text}</td>' for value, text in cells) + "</tr>")
    heads = "".join(f'<th><button type="button">{head}</button></th>' for head in HEADS)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _svg(figure: Figure) -> str:
    """Return a picture as an element of the page, with its letters as text."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "report", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata=LEFT_OUT)
    text = buffer.getvalue()
    return text[text.index("<svg") :]
