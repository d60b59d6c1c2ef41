"""The entry point: make the operators, choose the budget, ask a method, let the simulator replay its answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypedDict, Unpack

from cocco.problem.status import Interrupted
from cocco.scheduling.answer import ScheduleResult
from cocco.scheduling.best import Best, Progress
from cocco.scheduling.budgets import NAMES, Budgets, aligned_need, budgets_of
from cocco.scheduling.graph import Graph, graph_of
from cocco.scheduling.packing import schedule_of
from cocco.scheduling.pieces.divide import divide
from cocco.scheduling.pieces.windows import slide
from cocco.scheduling.plan import Plan, cost_of, is_order
from cocco.scheduling.programs.away import must_move
from cocco.scheduling.programs.joint import Joint, Limits, given_order, tight
from cocco.scheduling.programs.paper import solve_paper
from cocco.scheduling.programs.solver import LIMIT, cp_sat, has_cp_sat
from cocco.scheduling.searches.beam import WIDTH, beam
from cocco.scheduling.searches.fixed import STATES, fixed_order
from cocco.scheduling.searches.linear import linear
from simulator.accelerator import MAX_CAPACITY
from simulator.keywords import check_keywords
from simulator.schedule.operators import Concat, operators_of
from simulator.schedule.replay import replay
from simulator.schedule.schedule import Operator, compulsory_bytes, parameter_names
from workloads.errors import shown
from workloads.network.network import Network

MAX_TIGHT = 250  #: operators that "auto" gives to TIGHT whole
POLISH_STATES = 500  #: of our own search for a given order between two passes of windows; our choice
FREE = ("tight", "windows", "beam")  #: methods that always choose the order
GIVEN = ("gap", "belady", "greedy")  #: methods for a given order
METHODS = ("auto", "tight", "gap", "windows", "divide", "paper", "beam", "belady", "greedy")
ORDERS = ("free", "default", "mpmf")


@dataclass(frozen=True)
class _Question:
    """What a method is asked."""

    graph: Graph
    capacity: int
    order: tuple[int, ...] | None  #: None where it is free
    budgets: Budgets
    alignment: int
    limits: Limits
    best: Best


@dataclass(frozen=True)
class _Found:
    """What a method answers."""

    joint: Joint
    windows: int = 0
    proved: int = 0


class LimitFields(TypedDict, total=False):
    """What a schedule may take, as keywords."""

    limit: float
    width: int
    seconds: float | None


def schedule(
    network: Network | Sequence[Operator],
    scratchpad: int | Literal["minimum", "half", "peak"],
    *,
    parameters: bool = False,
    method: str = "auto",
    order: str | Sequence[str] | None = None,
    concat: Concat = "copy",
    input_has_host_copy: bool = False,
    alignment: int = 1,
    progress: Progress | None = None,
    **limits: Unpack[LimitFields],
) -> ScheduleResult:
    """Return order, residency, spills and addresses of whole tensors, for the fewest off-chip bytes (COSMA).

    Parameters
    ----------
    network : Network or sequence of simulator.schedule.replay.Operator
        Operators have their own parameters.
    scratchpad : int or str
        Bytes, or a budget: "minimum" (what the largest operator needs), "peak" (the least peak without spilling),
        "half" (half way).
    parameters : bool
        Weights lie in the scratchpad too.
    method : str
        "auto" ("tight" up to 250 operators, else "windows"; "gap" where an order is given), "tight" (proves the joint
        optimum), "gap" (of a given order), "windows", "divide", "paper" (its program, of any order or a given one),
        "beam" (ours, without a solver), "belady", "greedy" (baselines).
    order : str or sequence of str, optional
        "free", "default", "mpmf" (that of the least peak) or names of operators; by default free, and "default" for
        gap and the baselines.
    concat : str
        Whether a concatenation is an operator that copies ("copy", as in the paper), or is "dissolved" in its readers.
    input_has_host_copy : bool
        A model input need not be spilled before it is retrieved.
    alignment : int
        Bytes of which every address is a multiple.
    progress : callable, optional
        Called where the order is free, with every better plan and bound: the stage, the bytes that the plan moves, and
        those that any plan moves. The first, at once, is the default order's.
    **limits
        limit: deterministic time of CP-SAT in all, about seconds. width: states of a layer of the beam. seconds: from
        the call on; the solver stops then, our own search does not, and the answer depends on the machine.

    Returns
    -------
    ScheduleResult
        The schedule, replayed by the simulator, the bytes that it moves, and what is proved.

    Raises
    ------
    ValueError
        One line, for malformed arguments and where a method lacks the extra `solvers`.
    TypeError
        For an unknown keyword; names the nearest.
    Interrupted
        After Ctrl-C, where the order is free: its `result` is the best so far, with the status "stopped".

    References
    ----------
    COSMA (arXiv 2311.18246); docs/scheduling.md.

    Examples
    --------
    `a` is read again by `d`, and `c` needs 6 of 9 bytes, so that 4 bytes leave and return:

    >>> from simulator.schedule.replay import Operator
    >>> sizes = {"x": (2, ()), "a": (4, ("x",)), "b": (3, ("a",)), "c": (3, ("b",)), "d": (2, ("c", "a"))}
    >>> operators = [Operator(name, reads, size) for name, (size, reads) in sizes.items()]
    >>> [schedule(operators, size, method="gap").offchip_bytes for size in (9, 10)]
    [8, 0]
    """
    begun = time.monotonic()
    check_keywords(schedule, limits, LimitFields.__optional_keys__)
    limit, width, seconds = limits.get("limit", LIMIT), limits.get("width", WIDTH), limits.get("seconds")
    operators = operators_of(network, parameters, concat) if isinstance(network, Network) else tuple(network)
    if not isinstance(network, Network):
        parameters = any(each.parameters for each in operators)
    graph = graph_of(operators, input_has_host_copy)
    _check(graph, scratchpad, method, alignment, limit, width, seconds)
    deadline = None if seconds is None else begun + seconds
    _method(graph, method, None)  # a missing solver is said before anything else
    best = Best(graph, progress)
    if scratchpad not in ("half", "peak"):  # what needs no peak is known before the peak is
        _offer_default(best, scratchpad, method, order, alignment)
    budgets = budgets_of(graph, alignment)
    capacity = budgets.bytes_of(scratchpad) if isinstance(scratchpad, str) else scratchpad
    given, order_from = _order(graph, budgets, order, method)
    chosen = _method(graph, method, given)
    question = _Question(
        graph, capacity, given, budgets, alignment, Limits(limit, width=width, deadline=deadline), best
    )
    blank = ScheduleResult(
        network.name if isinstance(network, Network) else "operators",
        len(graph), len(graph) + len(parameter_names(operators)), capacity, parameters, concat, input_has_host_copy,
        alignment, chosen, order_from, "infeasible", None, None, compulsory_bytes(operators), None, budgets.minimum,
        budgets.half, budgets.peak, budgets.peak_is_proved, "none", 0, 0, 0, seconds is None,
        operators[budgets.operator].name,
    )  # fmt: skip
    if capacity < budgets.minimum:
        return blank
    try:
        return _judged(blank, question, RUN[chosen](question))
    except KeyboardInterrupt:
        if given is not None or best.plan is None:
            raise
        stopped = _judged(blank, question, _Found(_free(question, best.plan)))
        raise Interrupted(stopped if stopped.status == "optimal" else replace(stopped, status="stopped")) from None


def _offer_default(best: Best, scratchpad: object, method: str, order: object, alignment: int) -> None:
    """Offer the plan of the default order where a free order is asked for and the scratchpad is large enough."""
    graph = best.graph
    least = max(aligned_need(graph, o, alignment) for o in range(len(graph)))
    capacity = least if scratchpad == "minimum" else scratchpad
    is_free = order in (None, "free") and method not in GIVEN
    if is_free and isinstance(capacity, int) and capacity >= least:
        best.offer(fixed_order(graph, range(len(graph)), capacity, POLISH_STATES).plan, "default order")


def _judged(blank: ScheduleResult, question: _Question, found: _Found) -> ScheduleResult:
    """Return the answer with what the simulator counts; a difference is our error."""
    joint, graph = found.joint, question.graph
    result = replace(
        blank, status=joint.status, lower_bound_bytes=joint.bound, packing=joint.packing, cuts=joint.cuts,
        windows=found.windows, windows_proved=found.proved,
    )  # fmt: skip
    if joint.plan is None:
        return result
    made = schedule_of(graph, joint.plan, joint.addresses)
    counted = replay(made, graph.operators, question.capacity, blank.input_has_host_copy, question.alignment)
    assert not counted.violations, counted.violations[0].message
    assert counted.offchip_bytes == cost_of(graph, joint.plan), "the simulator counts other bytes than the optimiser"
    return replace(result, schedule=made, replay=counted)


def _check(
    graph: Graph, scratchpad: object, method: str, alignment: int, limit: float, width: int, seconds: float | None
) -> None:
    if not len(graph):
        raise ValueError("there is no operator to schedule")
    is_bytes = isinstance(scratchpad, int) and not isinstance(scratchpad, bool) and 1 <= scratchpad <= MAX_CAPACITY
    if not is_bytes and scratchpad not in NAMES:
        raise ValueError(
            f"scratchpad must be a number of bytes from 1 to {MAX_CAPACITY}, or one of {', '.join(NAMES)}, "
            f"got {shown(scratchpad)}"
        )
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {shown(method)}")
    for name, value in (("alignment", alignment), ("width", width)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_CAPACITY:
            raise ValueError(f"{name} must be a whole number from 1 to {MAX_CAPACITY}, got {shown(value)}")
    for name, number in (("limit", limit), ("seconds", seconds)):
        if number is not None and not 0 < number < float("inf"):
            raise ValueError(f"{name} must be a number above 0, got {shown(number)}")


def _order(
    graph: Graph, budgets: Budgets, order: str | Sequence[str] | None, method: str
) -> tuple[tuple[int, ...] | None, str]:
    """Return the order that is given, None where it is free, and where it comes from."""
    if order is None:
        order = "default" if method in GIVEN else "free"
    if order == "free":
        if method in GIVEN:
            raise ValueError(f"method {method} is for a given order; give one, or take one of {', '.join(FREE)}")
        return None, "free"
    if method in FREE:
        raise ValueError(f"method {method} chooses the order itself; leave the order free, or take method gap")
    if order == "default":
        return tuple(range(len(graph))), "default"
    if order == "mpmf":
        return budgets.peak_order, "mpmf"
    if isinstance(order, str):
        raise ValueError(f"order must be one of {', '.join(ORDERS)}, or names of operators, got {shown(order)}")
    return _named_order(graph, order), "file"


def _named_order(graph: Graph, names: Sequence[str]) -> tuple[int, ...]:
    index = {operator.name: i for i, operator in enumerate(graph.operators)}
    done: set[str] = set()
    for step, name in enumerate(names):
        if name not in index:
            raise ValueError(f"order: step {step} runs {shown(name)}, which is no operator")
        if name in done:
            raise ValueError(f"order: step {step} runs {shown(name)} again; every operator runs once")
        for operand in graph.operators[index[name]].inputs:
            if operand not in done:
                raise ValueError(f"order: step {step} runs {shown(name)} before its operand {shown(operand)}")
        done.add(name)
    if len(done) < len(graph):
        missing = next(name for name in index if name not in done)
        raise ValueError(f"order: has {len(done)} of {len(graph)} operators; {shown(missing)} never runs")
    found = tuple(index[name] for name in names)
    assert is_order(graph, found)
    return found


def _method(graph: Graph, method: str, order: tuple[int, ...] | None) -> str:
    """Return what "auto" stands for; raise ValueError where a method needs a solver that is not there."""
    if method == "auto":
        if order is not None:
            return "gap"
        if not has_cp_sat():
            return "beam"
        return "tight" if len(graph) <= MAX_TIGHT else "windows"
    if method in ("tight", "windows", "divide", "paper"):
        cp_sat()
    return method


def _start(question: _Question) -> Plan:
    """Return the cheapest plan known without a solver; `question.best` has what is proved of all orders."""
    graph, capacity, best, budgets = question.graph, question.capacity, question.best, question.budgets
    orders = {"default order": tuple(range(len(graph))), "order of the least peak": budgets.peak_order}
    for stage, order in orders.items():
        best.offer(fixed_order(graph, order, capacity, POLISH_STATES).plan, stage)
        assert best.plan is not None
        if not cost_of(graph, best.plan):
            return best.plan
    best.prove(must_move(graph, capacity, budgets.peak if budgets.peak_is_proved else 0), "bound")
    if not best.is_proved:
        found = beam(graph, capacity, question.limits.width)
        best.offer(found.plan, "beam")
        if found.is_optimal:
            best.prove(found.cost, "beam")
    assert best.plan is not None
    return best.plan


def _free(question: _Question, plan: Plan) -> Joint:
    """Return a plan of a free order with its addresses; the bound of its order is none of the others."""
    joint = given_order(question.graph, plan.order, question.capacity, question.alignment, question.limits)
    return _bounded(question, joint)


def _bounded(question: _Question, joint: Joint, bound: int = 0) -> Joint:
    """Return an answer with the best bound of any order."""
    bound = max(bound, question.best.bound)
    if joint.plan is None:
        return joint._replace(bound=bound)
    cost = cost_of(question.graph, joint.plan)
    return joint._replace(bound=min(bound, cost), status="optimal" if cost <= bound else "feasible")


def _tight(question: _Question) -> _Found:
    plan = _start(question)
    if question.best.is_proved:
        joint = _free(question, plan)
        if joint.status == "optimal":
            return _Found(joint)
    found = tight(question.graph, question.capacity, question.alignment, question.limits, plan)
    return _Found(_bounded(question, found, found.bound))


def _beam(question: _Question) -> _Found:
    return _Found(_free(question, _start(question)))


def _windows(question: _Question) -> _Found:
    graph, capacity, limits, best = question.graph, question.capacity, question.limits, question.best
    plan = _start(question)
    if best.is_proved:
        return _Found(_free(question, plan))

    def polish(plan: Plan) -> Plan:
        found = fixed_order(graph, plan.order, capacity, POLISH_STATES).plan
        best.offer(plan, "windows")
        best.offer(found, "windows")
        return found

    found = slide(graph, plan, capacity, limits.solver, polish, limits.deadline)
    return _Found(_free(question, found.plan), found.windows, found.proved)


def _divide(question: _Question) -> _Found:
    graph, capacity, limits = question.graph, question.capacity, question.limits
    order = question.budgets.peak_order if question.order is None else question.order
    start = fixed_order(graph, order, capacity, STATES).plan
    found = divide(graph, start, capacity, limits.solver, limits.deadline)
    return _Found(_free(question, found.plan), found.windows, found.proved)


def _gap(question: _Question) -> _Found:
    assert question.order is not None
    return _Found(given_order(question.graph, question.order, question.capacity, question.alignment, question.limits))


def _paper(question: _Question) -> _Found:
    limits = question.limits
    found = solve_paper(
        question.graph, question.capacity, limits.solver, question.alignment, limits.deadline, question.order
    )
    if found.plan is None:
        return _Found(Joint("gave_up", None, {}, "none", found.bound))
    status: Literal["optimal", "feasible"] = "optimal" if found.solved.status == "optimal" else "feasible"
    return _Found(Joint(status, found.plan, found.addresses, "model", found.bound))


def _baseline(replacement: Literal["belady", "greedy"]) -> Callable[[_Question], _Found]:
    def run(question: _Question) -> _Found:
        assert question.order is not None
        found = linear(question.graph, question.order, question.capacity, replacement, question.alignment)
        if found is None:
            return _Found(Joint("gave_up", None, {}, "none", 0))
        status: Literal["optimal", "feasible"] = "feasible" if cost_of(question.graph, found.plan) else "optimal"
        return _Found(Joint(status, found.plan, found.addresses, "none", 0))

    return run


RUN: dict[str, Callable[[_Question], _Found]] = {
    "tight": _tight, "gap": _gap, "windows": _windows, "divide": _divide, "paper": _paper, "beam": _beam,
    "belady": _baseline("belady"), "greedy": _baseline("greedy"),
}  # fmt: skip
