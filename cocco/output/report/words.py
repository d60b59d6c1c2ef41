"""The recommendation in words, and the facts under it: pairs of a name and a text, plain, not yet HTML."""

from __future__ import annotations

from cocco.bounds.kinds import kinds_not_tried
from cocco.output.folders.read.chips import ChipsRun
from cocco.output.folders.read.front import FrontRun
from cocco.output.folders.read.parts import Placing
from cocco.output.folders.read.run import Run, RunNetwork
from cocco.output.text.layout.numbers import counted, counted_as
from cocco.output.text.plans.evaluation import busy_text, scheme_counts
from cocco.output.text.plans.hardware import buffers, machine
from cocco.output.text.plans.serving import serving_lines
from cocco.output.text.searches.front import shown
from cocco.output.text.searches.ranges import within_sentence
from cocco.problem.criteria import CRITERIA
from simulator.accelerator import Accelerator
from simulator.units import ENERGY, TIME, TRAFFIC

STATUS = {
    "optimal": "proved: no memory and no partition of the space costs less",
    "feasible": "not proved",
    "stopped": "not proved: the user stopped the search, this is the best so far",
}


FRONT_STATUS = {
    "optimal": "proved: nothing in the space is better, and none is missing",
    "feasible": "not proved: a longer search may find better ones",
    "stopped": "not proved: the user stopped the search, this is the best so far",
    "infeasible": "proved: none in the space does",
}


def recommendation(run: Run) -> str:
    """Return which memory to build, and what the networks cost on it."""
    if run.accelerator is None or not run.networks:
        return f"No memory of this space runs the networks ({run.status})."
    build = f"Build {buffers(run.accelerator)}{machine(run.accelerator)}"
    if len(run.networks) > 1:
        return f"{build} for {', '.join(network.name for network in run.networks)}."
    network = run.networks[0]
    return f"{build}: {costs(run.accelerator, network)}, in {counted(len(network.subgraphs), 'subgraph')}."


def costs(machine: Accelerator, network: RunNetwork) -> str:
    """Return energy, latency and traffic of a network."""
    clock = machine.technology.clock_ghz
    return (
        f"energy {ENERGY.text(network.energy_pj)}, latency {TIME.text(network.latency_cycles / clock)}, "
        f"off-chip traffic {TRAFFIC.text(network.ema_bytes)}"
    )


def busy_sentence(network: RunNetwork) -> str:
    """Return how busy the MACs are; nothing where the run does not say it."""
    if network.utilization is None or network.utilization_executed is None:
        return ""
    return f"MACs busy: {busy_text(network.utilization, network.utilization_executed)}."


def serving_sentence(network: RunNetwork) -> str:
    """Return what a step of a language model takes, in the words of its users; nothing of other networks."""
    said = [f"{name}: {text}." for name, text in serving_lines(network.serving)]
    return " ".join(each[0].upper() + each[1:] for each in said)


def kept_sentence(network: RunNetwork) -> str:
    """Return how many tensors stay on chip between subgraphs, and what that saves."""
    count = counted(len({each.tensor for each in network.keep}), "tensor")
    saved = network.kept_saved_bytes
    less = (
        "without them these subgraphs do not run" if saved is None else f"{TRAFFIC.text(saved)} less off-chip traffic"
    )
    return f"{count} stay whole on chip from the subgraph that makes or loads them to a later reader: {less}."


def placing_sentence(placing: Placing) -> str:
    """Return whether all that is on chip has addresses, and what was changed in the plan for that."""
    if not placing.is_placed:
        return "none were found for all that is kept on chip: the bytes fit, the regions do not"
    if not placing.changes:
        return "every region has one, in the plan as the search found it"
    made = counted(len(placing.changes), "change")
    return f"every region has one, after {made} of the plan, which was priced again: {'; '.join(placing.changes)}"


def cores_sentence(network: RunNetwork) -> str:
    """Return in which ways several cores share the subgraphs; nothing of one core."""
    said = scheme_counts([cost.scheme for cost in network.subgraphs])
    return f"How the cores share the subgraphs: {said}." if said else ""


def facts(run: Run) -> list[tuple[str, str]]:
    """Return how good the answer is, how it was searched and by what."""
    found = []
    if run.accelerator is not None:
        cores, whose = (run.accelerator.cores, " of all cores") if run.count == "all" else (1, "")
        size = run.accelerator.buffer_bytes * cores
        if run.alpha is None:
            found.append(("cost", f"{run.cost:,.0f} {CRITERIA[run.metric].unit}"))
        else:
            rest = f"{size:,} bytes of buffer{whose} + {run.alpha:g} x {run.metric} ({CRITERIA[run.metric].unit})"
            found.append(("cost", f"{run.cost:,.0f} = {rest}"))
        found.append(("optimum", STATUS.get(run.status, run.status)))
        if run.lower_bound is not None and run.status != "optimal":
            gap = "" if run.gap is None else f"; the gap is {100 * run.gap:.2g} %"
            found.append(("lower bound", f"{run.lower_bound:,.0f}{gap}"))
        if run.ranges is not None:
            found.append(("other sizes", within_sentence(run.ranges)))
    return found + _how(run)


def _how(run: Run | FrontRun) -> list[tuple[str, str]]:
    about = run.about
    return [
        ("search", f"{run.samples:,} {work_of(run)} by {run.method}, seed {about.seed}, {about.engine} engine"),
        ("command", about.command),
        ("versions", ", ".join(f"{name} {version}" for name, version in about.versions.items())),
    ]


def work_of(run: Run | FrontRun) -> str:
    """Return what the `samples` of a run are."""
    if isinstance(run, FrontRun):
        return "samples"
    return counted_as(run.method, run.points["generation"].nunique())


def front_sentence(run: FrontRun) -> str:
    """Return how large the front is, or which memory keeps the limits."""
    names = ", ".join(run.names)
    if not run.is_limited:
        low, high = run.front.iloc[0], run.front.iloc[-1]
        ends = ", ".join(
            f"{name} {shown(name, low[CRITERIA[name].column])} to {shown(name, high[CRITERIA[name].column])}"
            for name in run.objectives
        )
        return (
            f"{len(run.front)} {'memory' if len(run.front) == 1 else 'memories'} with partitions for {names}: {ends}."
        )
    limits = " and ".join(f"{name} at most {shown(name, run.limits[name])}" for name in run.limits)
    if run.accelerator is None:
        proved = ", proved" if run.status == "infeasible" else ", as far as the search went"
        return f"No memory keeps {limits}{proved}."
    value = shown(str(run.minimize), run.front.iloc[0][CRITERIA[str(run.minimize)].column])
    build = f"Build {buffers(run.accelerator)}{machine(run.accelerator)} for {names}"
    least = "the least there is" if run.status == "optimal" else "the least that was found"
    is_said = run.minimize == "capacity" and value in build  # of one buffer it is its size
    return f"{build}{',' if is_said else f': {run.minimize} {value},'} {least} with {limits}."


def front_facts(run: FrontRun) -> list[tuple[str, str]]:
    """Return how good the front is, how it was searched and by what."""
    return [("optimum", FRONT_STATUS.get(run.status, run.status)), *_how(run)]


def among(run: Run | FrontRun | ChipsRun) -> list[tuple[str, str]]:
    """Return the kinds of plans that the answer is the least among, and how far it is from what any schedule moves."""
    left_out = kinds_not_tried(run.accelerator) if run.space and run.accelerator is not None else ""
    said = f"; not tried: {left_out}" if left_out else ""
    found = [("among", ", ".join(run.space) + said)] if run.space else []
    far = [
        (each.name, each.ema_bytes / each.any_schedule_bound_bytes - 1, each.any_schedule_bound_bytes)
        for each in run.networks
        if each.any_schedule_bound_bytes
    ]
    above = [
        f"{name}: {100 * more:.3g} % above the {TRAFFIC.text(least)} off chip that any schedule must move"
        for name, more, least in far
    ]
    return found + ([("any schedule", "; ".join(above))] if above else [])
