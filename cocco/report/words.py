"""The recommendation in words, and the facts under it: pairs of a name and a text, plain, not yet HTML."""

from __future__ import annotations

from cocco.cli.text import buffers, counted, machine, megabytes, millijoules, milliseconds
from cocco.report.run import Run, RunNetwork

METRIC_UNITS = {"ema": "bytes", "energy": "pJ", "latency": "cycles"}
STATUS = {
    "optimal": "proved: no memory and no partition of the space costs less",
    "feasible": "not proved",
    "stopped": "not proved: the user stopped the search, this is the best so far",
}


def recommendation(run: Run) -> str:
    """Return which memory to build, and what the networks cost on it."""
    if run.accelerator is None or not run.networks:
        return f"No memory of this space runs the networks ({run.status})."
    build = f"Build {buffers(run.accelerator)}{machine(run.accelerator)}"
    if len(run.networks) > 1:
        return f"{build} for {', '.join(network.name for network in run.networks)}."
    network = run.networks[0]
    return f"{build}: {costs(run, network)}, in {counted(len(network.subgraphs), 'subgraph')}."


def costs(run: Run, network: RunNetwork) -> str:
    """Return energy, latency and traffic of a network."""
    assert run.accelerator is not None
    clock = run.accelerator.technology.clock_ghz
    return (
        f"energy {millijoules(network.energy_pj)}, latency {milliseconds(network.latency_cycles, clock)}, "
        f"off-chip traffic {megabytes(network.ema_bytes)}"
    )


def facts(run: Run) -> list[tuple[str, str]]:
    """Return how good the answer is, how it was searched and by what."""
    found = []
    if run.accelerator is not None:
        size = run.accelerator.buffer_bytes
        if run.alpha is None:
            found.append(("cost", f"{run.cost:,.0f} {METRIC_UNITS.get(run.metric, '')}"))
        else:
            rest = f"{size:,} bytes of buffer + {run.alpha:g} x {run.metric} ({METRIC_UNITS.get(run.metric, '')})"
            found.append(("cost", f"{run.cost:,.0f} = {rest}"))
        found.append(("optimum", STATUS.get(run.status, run.status)))
        if run.lower_bound is not None and run.status != "optimal":
            gap = "" if run.gap is None else f"; the gap is {100 * run.gap:.2f} %"
            found.append(("lower bound", f"{run.lower_bound:,.0f}{gap}"))
    found.append(("search", f"{run.samples:,} samples by {run.method}, seed {run.seed}, {run.engine} engine"))
    found.append(("command", run.command))
    found.append(("versions", ", ".join(f"{name} {version}" for name, version in run.versions.items())))
    return found
