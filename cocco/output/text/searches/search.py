"""What cocco partition and cocco explore print for people: the recommendation, how good it is, the tables."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from cocco.bounds.any_schedule import any_schedule_json
from cocco.bounds.kinds import kinds_not_tried
from cocco.effort.status import Status
from cocco.exploration.answers.front import buffer_bytes
from cocco.exploration.answers.lacking import least_memory
from cocco.exploration.answers.result import Result
from cocco.exploration.answers.second import Second
from cocco.exploration.compromise import Compromise
from cocco.exploration.starts import METHOD
from cocco.output.text.layout.numbers import buffer_columns, buffer_name, capacity, counted, counted_as, table
from cocco.output.text.plans.evaluation import energy_text, experts_text, subgraphs_text, totals_text
from cocco.output.text.plans.hardware import buffers, machine
from cocco.output.text.searches.ranges import edges_text, ranges_text
from cocco.problem.criteria import CRITERIA
from simulator import Accelerator, Evaluation, Partition, evaluate
from simulator.units import ENERGY, TIME, TRAFFIC
from workloads import Network
from workloads.network.rewriting.repeats import repeat_text

BY_BYTES = "less, by bytes"  #: stands for the share that a size costs more
SIZES_SHOWN = 8  #: capacities in the table of what the search saw


def partition_text(result: Result, networks: Sequence[Network]) -> str:
    """Return what was found for given hardware."""
    if not result.plans:
        return no_plan_text(result.evaluations, result.status)
    evaluation, is_executed = result.evaluation, result.metric == "latency"
    first = (
        f"Run {evaluation.network} in {counted(len(evaluation.subgraphs), 'subgraph')} on "
        f"{buffers(result.accelerator)}{machine(result.accelerator)}: {_numbers(evaluation, is_executed)}."
    )
    return "\n\n".join([first, _quality(result, networks), _details(evaluation)])


def explore_text(result: Result, networks: Sequence[Network], paid: Sequence[Compromise] = ()) -> str:
    """Return which memory to build, for one network or several; paid: what sharing it costs each of them."""
    if not result.plans:
        return no_plan_text(result.evaluations, result.status)
    build = f"Build {buffers(result.accelerator)}{machine(result.accelerator)}"
    if len(networks) == 1:
        parts = [
            f"{build}: {_numbers(result.evaluation)}, in {counted(len(result.evaluation.subgraphs), 'subgraph')}.",
            _quality(result, networks),
            _details(result.evaluation),
        ]
    else:
        parts = [f"{build} for {len(networks)} networks.", _networks(result), _quality(result, networks)]
        parts += [_compromise(paid)] if paid else []
        parts += [f"{evaluation.network}:\n\n{_details(evaluation)}" for evaluation in result.evaluations]
    parts.append(_sizes_seen(result))
    return "\n\n".join([*parts, ranges_text(result)] if result.ranges is not None else parts)


def _compromise(paid: Sequence[Compromise]) -> str:
    """Return what each network has alone and together, and the difference."""
    quantity = CRITERIA[paid[0].metric].quantity
    unit = quantity.unit(*(value for each in paid for value in (each.own_value, each.common_value)))
    rows = [
        (
            each.network,
            " + ".join(capacity(size) for size in buffer_bytes(each.own).values()),
            unit.number(each.own_value),
            unit.number(each.common_value),
            f"{100 * (each.common_value / each.own_value - 1):+.2f} %",
            f"{each.own_cost:,.0f}",
            f"{each.common_cost:,.0f}",
            f"{each.paid:+,.0f}",
            f"{100 * each.paid / each.own_cost:+.2f} %",
        )
        for each in paid
    ]
    heads = (
        "network",
        "its own best",
        f"{paid[0].metric} {unit.name}: own",
        "common",
        "differs",
        "cost: own",
        "common",
        "pays",
        "",
    )
    return "What each pays for the common memory, against the best found for it alone:\n\n" + table(heads, rows, left=1)


def no_plan_text(evaluations: Sequence[Evaluation], status: Status) -> str:
    """Return that no plan runs, what does not fit in the largest memory layer by layer, and what memory would do."""
    machine_, names = evaluations[0].accelerator, " + ".join(each.network for each in evaluations)
    how = {"infeasible": "Infeasible: no plan of {} runs", "stopped": "Stopped before a plan of {} was found that runs"}
    head = how.get(status, "Gave up: no plan of {} was found that runs, and none excluded").format(names)
    lines = [f"{head} on {buffers(machine_)}{machine(machine_)}. Layer by layer:"]
    lines += [f"  {each}" for evaluation in evaluations for each in evaluation.infeasible]
    least = least_memory(evaluations)
    return "\n".join([*lines, f"Layer by layer it runs from {buffers(least)} on."])


def _numbers(evaluation: Evaluation, is_executed: bool = False) -> str:
    clock = evaluation.accelerator.technology.clock_ghz
    cycles = evaluation.latency_executed_cycles if is_executed else evaluation.latency_cycles
    return (
        f"energy {ENERGY.text(evaluation.energy_pj)}, latency {TIME.text(cycles / clock)}, "
        f"off-chip traffic {TRAFFIC.text(evaluation.ema_bytes)}"
    )


def _details(evaluation: Evaluation) -> str:
    return "\n\n".join([totals_text(evaluation), energy_text(evaluation), subgraphs_text(evaluation)])


def _quality(result: Result, networks: Sequence[Network]) -> str:
    """Return the cost, how far it may be from the optimum, and what running layer by layer would take."""
    unit = CRITERIA[result.metric].unit
    value = result.objective.judged(result.evaluations)
    if result.alpha is None:
        cost = f"  {result.metric:<16}{value:,.0f} {unit}"
    else:
        size, whose = result.objective.buffer_bytes(result.accelerator), cores_counted(result)
        cost = (
            f"  cost            {result.cost:,.0f} = {size:,} bytes of buffer{whose} "
            f"+ {result.alpha:g} x {value:,.0f} {unit}"
        )
        if result.exchange is not None:
            remark = result.exchange.remark
            cost += f"\n  alpha           {result.exchange}{'' if remark is None else f'; {remark}'}"
    if result.lower_bound is None:
        bound = "  optimum         unknown: this method proves no lower bound"
    elif result.status == "optimal":
        bound = "  optimum         proved: the cost is equal to the lower bound"
    else:
        gap = "" if result.gap is None else f"; the gap is {100 * result.gap:.2f} %{_share_text(result, value)}"
        why = f" ({result.bounded_by})" if result.bounded_by else ""
        bound = f"  lower bound     {result.lower_bound:,.0f}{why}{gap}"
    bound += "\n" + second_text(result.second, 18) if result.second is not None else ""
    bound += "\n" + among_text(result.space, result.accelerator, 18)
    bound += "".join("\n" + any_schedule_text(each, len(networks) > 1) for each in result.evaluations)
    samples = result.seen.samples
    first = int(samples["cost"].argmin())
    if result.method == METHOD:
        which = "none better than a partition that it started from"
    elif result.cost < float(samples["cost"][first]):
        better = "the exact search" if result.method == "exact" else "exact windows"
        which = f"{better} found better than its best, {float(samples['cost'][first]):,.0f}"
    else:
        which = f"the best was sample {int(samples['number'][first]):,}"
    what = work_of(result)
    if what != "samples":
        sizes = f", {len(samples['cost'])} sizes solved" if len(samples["cost"]) > 1 else ""
        search = f"  search          exact: {result.samples:,} {what}{sizes}"
    else:
        search = f"  search          {result.samples:,} samples, seed {result.seed}; {which}"
    alone = [
        evaluate(network, Partition.layerwise(network, evaluation.metric), result.accelerator, evaluation.tile_rule)
        for network, evaluation in zip(networks, result.evaluations)
    ]
    lines = [cost, bound, *edges_text(result.searched, result.edges).splitlines(), search]
    if all(evaluation.fits for evaluation in alone):
        other = result.objective.judged(alone)
        lines.append(f"  layer by layer  {other:,.0f} {unit} on the same memory, {other / value:.2f} times as much")
    batch = result.accelerator.batch
    experts = [text for network in networks if (text := experts_text(network, batch))]
    found = [text for network in networks if (text := repeat_text(network))]
    lines += [f"  experts         {text}" for text in experts]
    return "\n".join([*lines, *(f"  repeats         {text}; equivalent layers are priced once" for text in found)])


def _share_text(result: Result, value: float) -> str:
    """Return how much is proved of the traffic that a plan can influence: all beyond what every plan moves once."""
    if result.metric != "ema" or result.alpha is not None or result.lower_bound is None:
        return ""
    once = sum([weight * each.compulsory_bytes for weight, each in zip(result.weights, result.evaluations)])
    if value <= once:
        return ""
    share = max(0.0, result.lower_bound - once) / (value - once)
    return f", of what moves beyond weights, inputs and outputs once {100 * share:.1f} % is proved"


def among_text(space: Sequence[str], accelerator: Accelerator, width: int) -> str:
    """Return which kinds of plans an answer is the least among, and which this machine leaves out."""
    left_out = kinds_not_tried(accelerator)
    lines = [f"{'  among':<{width}}{', '.join(space)}"]
    if left_out:
        lines.append(f"{'  not tried':<{width}}{left_out}")
    return "\n".join(lines)


def any_schedule_text(evaluation: Evaluation, is_named: bool) -> str:
    """Return how far the traffic is from what any schedule must move."""
    bound = any_schedule_json(evaluation)["any_schedule_bound_bytes"]
    assert bound is not None, "it fits"
    whose = f" of {evaluation.network}" if is_named else ""
    if evaluation.ema_bytes <= bound:
        return f"  any schedule    moves at least as much{whose} off chip: {bound:,} bytes"
    above = 100 * (evaluation.ema_bytes / bound - 1)
    return f"  any schedule    moves at least {bound:,} bytes{whose} off chip; this plan {above:.3g} % more"


def cores_counted(result: Result) -> str:
    """Return whose buffers the cost counts, where it is not those of one core."""
    return f" of {result.accelerator.cores} cores" if result.count == "all" else ""


def second_text(second: Second, width: int) -> str:
    """Return what decided among plans that are as good: what was given for it and gained, and whether it is proved."""
    title, proved = "least " + second.criterion, second.status == "optimal"
    among = f"within {100 * second.slack:g} % of the best" if second.slack else "as good"
    least = CRITERIA[second.criterion].quantity.text(second.lower_bound)
    how = f"proved: no plan {among} takes less" if proved else f"the least found {among}; none takes less than {least}"
    if second.slack:
        how += f"; {100 * second.given:.3g} % given, {100 * second.gained:.3g} % of {second.criterion} gained"
    return f"  {title:<{width - 2}}{how}"


def _networks(result: Result) -> str:
    found, clock = result.evaluations, result.accelerator.technology.clock_ghz
    rows = zip(
        [each.network for each in found], [f"{weight:g}" for weight in result.weights],
        [len(each.subgraphs) for each in found], ENERGY.texts([each.energy_pj for each in found]),
        TIME.texts([each.latency_cycles / clock for each in found]), TRAFFIC.texts([each.ema_bytes for each in found]),
    )  # fmt: skip
    return table(("network", "weight", "subgraphs", "energy", "latency", "off-chip"), list(rows))


def work_of(result: Result) -> str:
    """Return what the `samples` of a result are."""
    return counted_as(result.method, len(result.seen.generations["samples"]))


def _sizes_seen(result: Result) -> str:
    """Return the sizes with the cheapest samples: how flat the cost is around the recommendation."""
    names = buffer_columns(result.seen.columns)
    cheapest = sorted(result.seen.cheapest(), key=itemgetter("cost"))[:SIZES_SHOWN]
    best = sorted(cheapest, key=itemgetter(*names))
    unit, values = CRITERIA[result.metric].quantity.column([row["value"] for row in best])
    rows = [
        (
            *(capacity(row[name]) for name in names),
            value,
            f"{row['cost']:,.0f}",
            _to_the_best(row["cost"], result.cost),
        )
        for value, row in zip(values, best)
    ]
    heads = [*map(buffer_name, names), f"{result.metric} {unit}", "cost", "to the best"]
    head = "The cheapest samples by size; a search at a fixed size may still improve them:"
    if work_of(result) == "steps":
        head = "The optima of the sizes that were solved; all others cost more:"
        if result.status != "optimal":
            head = "The optima of the sizes that were solved:"
    shown = table(heads, rows, left=0)
    if result.cost > cheapest[0]["cost"]:
        shown += f"\n\n{BY_BYTES}: before the plan was changed so that every region has an address"
    return head + "\n\n" + shown


def _to_the_best(cost: float, best: float) -> str:
    """Return how much more a size costs; less only by a plan that was changed since."""
    return BY_BYTES if cost < best else f"{100 * (cost / best - 1):+.2f} %"
