"""The two questions: which partition for this hardware, and which memory with which partition (Cocco, Sec. 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Unpack, get_args

from cocco.bounds.kinds import kept_or_not, kinds_of_plans
from cocco.effort.budgets import EFFORT
from cocco.effort.effort import Effort, ExploreFields, PartitionFields, effort_of
from cocco.effort.levels import LevelName
from cocco.effort.planned import Memory
from cocco.effort.settings import Settings
from cocco.effort.stages import tell, watched_by
from cocco.effort.status import Interrupted, Status
from cocco.exploration.answers.result import Result
from cocco.exploration.answers.second import check_slack
from cocco.exploration.workers.jobs import helped
from cocco.problem.exchange import exchange_of, exchanged
from cocco.problem.names import HardwareMethod, Keep, Metric, Minimized, SpaceMethod
from cocco.problem.problem import Problem, in_memory, on_hardware, over_space
from cocco.problem.space import Space
from simulator.accelerator import Accelerator, Machine, machine_of
from simulator.keywords import check_keywords
from simulator.metrics import DEFAULT_METRIC
from simulator.model.subgraph.tiling import TileRule
from workloads.network.network import Network

if TYPE_CHECKING:
    from cocco.exploration.methods import Outcome
    from cocco.exploration.question.question import Question


#: Methods whose ties are broken, by what may be kept: baselines of the paper stay as they are.
SETTLED = {"auto": ("auto", "exact", "ga", "sa"), "none": ("auto", "exact")}


def partition(
    network: Network,
    accelerator: Accelerator,
    *,
    method: HardwareMethod = "auto",
    metric: Minimized = DEFAULT_METRIC,
    tile_rule: TileRule = "exact",
    keep: Keep | None = None,
    slack: float = 0.0,
    effort: Effort | LevelName | None = None,
    **fields: Unpack[PartitionFields],
) -> Result:
    """Return the best partition found for this hardware: Formula 1 minimized (Cocco, Sec. 4.1.1).

    The same arguments give the same result, to the byte.

    Parameters
    ----------
    network
        What is computed (`workloads.load`).
    accelerator
        The given hardware.
    method
        "auto" (exact where it finishes soon, else ga), "ga" (our genetic algorithm), "paper" (the paper's, exactly
        Sec. 4.4: `Settings.paper`), "exact" (a proof), "greedy" (Halide's fusion), "dp" (contiguous by depth), "idp"
        (dp over many orders) or "sa" (simulated annealing).
    metric
        What to minimize: "ema" (off-chip bytes), "energy" (pJ), "latency" (cycles as executed, with the method "auto")
        or "latency-sum" (cycles, the paper's sum over subgraphs).
    tile_rule
        As in `simulator.evaluate`.
    keep
        "none" (the paper: every tensor between subgraphs goes through DRAM) or "auto": whole tensors stay on chip from
        one subgraph to a later one where that is cheaper. The methods "auto" and "exact" then first search all
        partitions, orders and intervals, which is a proof where it finishes; the other methods never end worse than
        with "none". Default: "auto", with the plans of the paper (`Accelerator.plans`) or its method "none". A fair
        comparison with the paper, or with a heuristic that keeps nothing on chip, asks for "none".
    slack
        How much of the metric may be given for less energy, as a share: 0.005 asks for the least energy among plans
        within 0.5 % of the best (`Result.second`). With 0, the default, it decides among plans that are as good.
    effort
        Samples, seed, engine, and everything else about how to search; by default 50,000 samples. Or "quick", "normal",
        "thorough".
    **fields
        Fields of the effort by name, which replace its own: samples, seed, settings, initial, engine, threads,
        progress, stages, prove, check_addresses, bank. Also population: genomes per generation, at most half of them
        its elite.

    Raises
    ------
    ValueError
        Names the argument, the rule and the value.
    TypeError
        If a keyword is neither a parameter nor such a field.
    RuntimeError
        If the simulator's price of the winner differs from that of the search.
    Interrupted
        After Ctrl-C; its `result` is the best so far.

    Examples
    --------
    >>> import cocco, simulator, workloads
    >>> network = workloads.load("vgg16")
    >>> chip = simulator.Accelerator(global_buffer=2**20, weight_buffer=1152 * 2**10)
    >>> found = cocco.partition(network, chip, samples=500)
    >>> found.status, len(found.plan.subgraphs), found.evaluation.ema_bytes
    ('optimal', 14, 139298472)
    """
    check_keywords(partition, fields, PartitionFields.__optional_keys__)
    chosen = effort_of(effort, fields, Settings.of(method))
    kept = kept_or_not(keep, accelerator, method)

    def solved(metric: Metric, effort: Effort, slack: float = 0.0) -> Result:
        problem = on_hardware(network, accelerator, metric=metric, tile_rule=tile_rule, keep=kept)
        return _banked(problem, method, effort, slack)

    with helped(chosen):
        if metric != "latency":
            return solved(metric, chosen, check_slack(slack))
        if method != "auto":
            raise ValueError(f"method must be 'auto' with metric 'latency', got {method!r}")
        from cocco.exploration.fastest import fastest

        return fastest(network, accelerator, tile_rule, kept, chosen, solved, check_slack(slack))


def explore(
    networks: Network | Sequence[Network],
    *,
    space: Space | None = None,
    machine: Machine | None = None,
    alpha: float = 0.002,
    metric: Metric = "energy",
    weights: Sequence[float] | None = None,
    method: SpaceMethod = "auto",
    tile_rule: TileRule = "exact",
    keep: Keep | None = None,
    effort: Effort | LevelName | None = None,
    **fields: Unpack[ExploreFields],
) -> Result:
    """Return the best memory found, with a partition of each network on it: Formula 2 minimized (Cocco, Sec. 4.1.2).

    The same arguments give the same result, to the byte.

    Parameters
    ----------
    networks
        One network, or several that run one after another on the same memory.
    space
        The memories to choose from: SharedBuffer or SeparateBuffers; by default the paper's shared buffer.
    machine
        Everything else of the hardware: cores, batch, technology, mapper; by default one core of the paper. A mapper
        that looks at tiles searches with the reference engine.
    alpha
        Bytes of buffer per unit of the metric: cost = buffer bytes + alpha * metric.
    metric
        "ema" (off-chip bytes), "energy" (pJ) or "latency-sum" (cycles).
    weights
        How much each network counts: one positive number per network, by default 1.
    method
        "auto" (ga, then a proof where that finishes soon), "ga", "paper", "exact", "sa", or memories first: "random",
        "grid".
    tile_rule, effort
        As in `partition`.
    keep
        As in `partition`: every memory is solved with kept tensors, or ruled out.
    **fields
        Fields of the machine and of the effort by name, which replace their own: cores=2, samples=10_000, ... Also
        count: whether the cost has the buffer bytes of "one" core, as in the paper (the default), or of "all". Also
        exchange, instead of alpha: what a byte (B, KB, MB) or a mm2 of buffer is worth, as "500pJ/B", which is an alpha
        of 0.002, or "2mJ/mm2"; and slack, as in `partition`: a share of the cost, for the least energy in any memory.

    Raises
    ------
    ValueError, TypeError, RuntimeError, Interrupted
        As in `partition`.

    Examples
    --------
    >>> import cocco, workloads
    >>> found = cocco.explore(workloads.load("vgg16"), samples=500, seed=1)
    >>> found.accelerator.shared_buffer // 2**10, found.status
    (960, 'optimal')
    """
    check_keywords(explore, fields, ExploreFields.__optional_keys__)
    count = fields.get("count", "one")
    chosen, shared = effort_of(effort, fields), machine_of(machine, fields)
    problem = over_space(
        networks, space, machine=shared, alpha=alpha, metric=metric, weights=weights, tile_rule=tile_rule,
        keep=kept_or_not(keep, shared, method), count=count,
    )  # fmt: skip
    exchange = fields.get("exchange")
    if exchange is not None:
        problem = exchanged(problem, exchange)
    with helped(chosen):
        return _banked(problem, method, chosen, check_slack(fields.get("slack", 0.0)))


def _banked(problem: Problem, method: HardwareMethod | SpaceMethod, effort: Effort, slack: float) -> Result:
    """Return the answer of a search that also starts from the plans of a bank, if it has one, and adds its own there.

    It costs no more than any of them does here.
    """
    if effort.bank is None:
        return _search(problem, method, effort, slack)
    from cocco.exploration.starts import known_plans, search_name, starts

    known = known_plans(problem, effort, Settings.of(method), method)
    result = _search(problem, method, replace(effort, initial=[*starts(effort.initial), *known.plans]), slack)
    found = (result.accelerator, result.plans, result.evaluations)
    effort.bank.keep(problem, [found], search_name(problem, effort, method))
    return replace(result, bank=known.entries)


def _search(problem: Problem, method: HardwareMethod | SpaceMethod, effort: Effort, slack: float) -> Result:
    from cocco.exploration.memories.edges import edges, extended, met_by
    from cocco.exploration.question.others import is_method
    from cocco.exploration.question.question import question_of

    known = get_args(SpaceMethod if problem.buffers else HardwareMethod)
    if method not in known and not is_method(method):
        raise ValueError(f"method must be one of {', '.join(known)}, got {method!r}")

    question = question_of(problem, effort, Settings.of(method))
    result, is_proven = answered(question, method, effort, slack)
    if not problem.buffers:
        return result
    problem = question.problem
    met = met_by(problem, result)
    wider = extended(problem, *met)
    if wider is None and effort.ranges:
        result = _with_ranges(question, result, is_proven)
        met = met_by(problem, result)
        wider = extended(problem, *met)
    if wider is None:
        return replace(result, searched=problem.space, edges=edges(problem, *met))
    try:
        return _search(wider, method, effort, slack)
    except Interrupted as stop:
        first = replace(result, status="stopped", searched=problem.space)
        raise Interrupted(min(stop.result, first, key=attrgetter("cost"))) from None


def answered(
    question: Question, method: HardwareMethod | SpaceMethod, effort: Effort, slack: float | None,
    certifies: bool = True,
) -> tuple[Result, bool]:  # fmt: skip
    """Return the answer with addresses, and whether it was proved before these were sought.

    slack: None leaves ties as they are (`tied`). certifies: whether solvers may look for a better bound.
    """
    problem = question.problem
    outcome = _outcome(question, method, effort, certifies)
    if outcome.is_open and method not in ("auto", "exact"):  # only a proof can say whether any plan runs
        outcome = _outcome(question, "auto", effort, certifies)
    try:
        result = result_of(problem, outcome, effort.seed)
    except KeyboardInterrupt:  # this takes little time, and the search is done
        outcome.trace.is_stopped = True
        result = result_of(problem, outcome, effort.seed)
    if outcome.trace.is_stopped:
        raise Interrupted(result)
    from cocco.exploration.placing.addresses import with_addresses
    from cocco.exploration.placing.other_memories import in_other_memories
    from cocco.exploration.placing.proof import proved
    from cocco.exploration.starts import no_worse

    is_proven = result.status == "optimal"
    try:
        result = no_worse(problem, result, effort.initial)
        if not result.plans:
            return result, is_proven
        if effort.check_addresses or any(plan.keep for plan in result.plans):
            cost = result.cost
            tell("addresses", best=cost, bound=result.lower_bound or 0.0)
            result = with_addresses(problem, result, effort.check_addresses)
            if is_proven and result.placed is not None and not (result.placed and result.status == "optimal"):
                result = proved(question, result, effort.check_addresses)
            is_moved = result.placed is not None and not (result.placed and result.cost <= cost)
            if problem.buffers and is_moved and not (result.placed and result.status == "optimal"):
                result = in_other_memories(
                    question, result, lambda each: with_addresses(problem, each, effort.check_addresses)
                )
        if slack is not None and (slack or method in SETTLED[problem.keep]):
            result = tied(question, result, effort, slack)
    except KeyboardInterrupt:
        raise Interrupted(replace(result, status="stopped")) from None
    return result, is_proven


def tied(question: Question, result: Result, effort: Effort, slack: float = 0.0) -> Result:
    """Return the plans of the least energy among those that cost as little as an answer, or within a slack."""
    from cocco.exploration.ties.settled import settled

    memory = question.problem.memory_of(result.accelerator)
    thrifty = lambda: answer_in(question, memory, "energy", effort)  # noqa: E731
    return settled(question, result, slack, effort.check_addresses, thrifty)


def plan_that_runs(question: Question) -> Result:
    """Return a plan that runs, or why there is none, for a search of another kind that found none."""
    return result_of(question.problem, _outcome(question, "auto", Effort(), True), question.seed)


def answer_in(question: Question, memory: Memory, metric: Metric, effort: Effort) -> Result:
    """Return what `partition` answers for a metric in one memory of a question, with no bound by solvers."""
    from cocco.exploration.memories.front import of_value
    from cocco.exploration.question.question import question_of

    effort = replace(effort, progress=None, prove=False)
    given = in_memory(replace(of_value(question.problem, metric), chosen_by=None), memory)
    asked = question_of(given, effort, Settings())
    with watched_by(None):  # its costs are of another criterion
        return answered(asked, "auto", effort, 0.0, certifies=False)[0]


def _with_ranges(question: Question, result: Result, is_proven: bool) -> Result:
    """Return an answer with the sizes that cost nearly as little, or without them after Ctrl-C."""
    from cocco.exploration.memories.ranges import ranges_of

    try:
        return replace(result, ranges=ranges_of(question, result, is_proven))
    except KeyboardInterrupt:
        raise Interrupted(result) from None


def _outcome(question: Question, method: HardwareMethod | SpaceMethod, effort: Effort, certifies: bool) -> Outcome:
    if not question.may_run:
        from cocco.exploration.methods import ruled_out

        return ruled_out(question)
    from cocco.bounds import check_solvers, has_solvers, quick_effort
    from cocco.exploration import answer, methods

    if effort.prove:
        check_solvers()
    is_kept = question.problem.keep == "auto"
    found = answer.answer(method, question, effort.prove) if is_kept else methods.answer(method, question)
    if effort.prove:
        return methods.certified(question.problem, found, question.share(EFFORT))
    if certifies and method == "auto" and has_solvers():
        return methods.certified(question.problem, found, quick_effort(question.samples))
    return found


def result_of(problem: Problem, outcome: Outcome, seed: int) -> Result:
    """Return the result of a search, its winner judged by the simulator."""
    from cocco.bounds.floors.least import gap, lower_bound
    from cocco.candidates.judge import judged_plans
    from cocco.exploration.answers.lacking import layer_by_layer

    trace, best = outcome.trace, outcome.best
    winner, cost = judged_plans(problem, best.plans, best.memory, [best.cost]), best.cost
    bound = lower_bound(problem) if outcome.bound is None else outcome.bound
    if cost == math.inf:  # no plan: the evaluations in the largest memory say why
        evaluations = layer_by_layer(problem)
        winner = winner._replace(accelerator=evaluations[0].accelerator, plans=(), evaluations=evaluations)
    return Result(
        method=outcome.method,
        metric=problem.objective.metric,
        seed=seed,
        samples=outcome.samples,
        status=_status(outcome, cost, bound),
        cost=cost,
        alpha=problem.objective.alpha,
        count=problem.objective.count,
        exchange=exchange_of(problem),
        accelerator=winner.accelerator,
        plans=winner.plans,
        evaluations=winner.evaluations,
        weights=problem.objective.weights,
        lower_bound=bound,
        gap=None if cost == math.inf else gap(cost, bound),
        engine=trace.engine,
        seen=trace.seen(),
        keep=problem.keep,
        space=kinds_of_plans(problem.accelerator, problem.keep),
    )


def _status(outcome: Outcome, cost: float, bound: float) -> Status:
    if cost <= bound:
        return "optimal" if cost < math.inf else "infeasible"
    if outcome.trace.is_stopped:
        return "stopped"
    return "gave_up" if outcome.gave_up or cost == math.inf else "feasible"
