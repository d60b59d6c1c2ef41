"""Where the energy goes: DRAM, buffers, computing, crossbar; one bar per subgraph, network or design."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from cocco.output.pictures.style import FILLS, MORE_FILLS, bar_figure, legend_below, stack
from cocco.output.text.plans.evaluation import ENERGY_PARTS
from simulator.evaluation import Evaluation
from simulator.model.cost import EnergyBreakdown
from simulator.units import ENERGY

MOST_NAMES = 40  #: bars that carry their names; our choice: more would overlap


def energy_figure(bars: Mapping[str, EnergyBreakdown], title: str = "", axis: str = "") -> Figure:
    """Return one stacked bar for each breakdown, pJ in; the legend says the share of each part in the sum."""
    if not bars:
        raise ValueError("a picture of the energy needs a bar")
    figure, (axes,) = bar_figure(len(bars), title)
    whole = sum(breakdown.total for breakdown in bars.values())
    unit = ENERGY.unit(*(breakdown.total for breakdown in bars.values()))
    parts = {}
    for part, name in ENERGY_PARTS.items():
        heights = [(getattr(breakdown, part) or 0.0) / unit.size for breakdown in bars.values()]
        share = sum(heights) * unit.size / whole if whole else 0.0
        if share:
            parts[f"{name} {share:.1%}"] = heights
    stack(axes, parts, FILLS if len(parts) <= len(FILLS) else (*FILLS, *MORE_FILLS))
    axes.set_ylabel(f"energy ({unit.name})")
    axes.set_xlabel(axis)
    if len(bars) <= MOST_NAMES:
        turned = max(map(len, bars)) > 4
        axes.set_xticks(range(len(bars)), list(bars), rotation=60 if turned else 0, ha="right" if turned else "center")
        for label in axes.get_xticklabels():
            label.set_parse_math(False)  # a name may have dollar signs
        axes.tick_params(axis="x", labelsize=7)
    legend_below(axes, 4)
    return figure


def subgraph_energy_figure(evaluation: Evaluation) -> Figure:
    """Return where the energy of each subgraph goes, in the order they run."""
    bars = {str(position): cost.energy_breakdown for position, cost in enumerate(evaluation.subgraphs)}
    title = f"{evaluation.network}: {ENERGY.text(evaluation.energy_pj)} in {len(bars)} subgraphs"
    return energy_figure(bars, title, "subgraph, in the order they run")
