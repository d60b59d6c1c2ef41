"""The entry point: make the operators, choose the budget, ask a method, let the simulator replay its answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypedDict, Unpack

from cocco.effort.status import Interrupted
from cocco.scheduling.answer import ScheduleResult
from cocco.scheduling.budgets import aligned_need, budgets_of
from cocco.scheduling.graph import graph_of
from cocco.scheduling.methods import POLISH_STATES, RUN, with_addresses
from cocco.scheduling.packing import schedule_of
from cocco.scheduling.plan import cost_of
from cocco.scheduling.programs.joint import ScheduleLimits
from cocco.scheduling.programs.solver import SOLVER_LIMIT
from cocco.scheduling.question import (
    GIVEN,
    BestSchedule,
    Found,
    Progress,
    ScheduleQuestion,
    check_question,
    method_of,
    order_of,
)
from cocco.scheduling.searches.beam import WIDTH
from cocco.scheduling.searches.fixed import fixed_order
from simulator.keywords import check_keywords
from simulator.schedule.operators import Concat, operators_of
from simulator.schedule.replay import replay
from simulator.schedule.schedule import Operator, Schedule, ScheduleError, compulsory_bytes, parameter_names
from workloads.errors import shown
from workloads.network.network import Network


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
    limit, width, seconds = limits.get("limit", SOLVER_LIMIT), limits.get("width", WIDTH), limits.get("seconds")
    operators = operators_of(network, parameters, concat) if isinstance(network, Network) else tuple(network)
    if not isinstance(network, Network):
        parameters = any(each.parameters for each in operators)
    graph = graph_of(operators, input_has_host_copy)
    check_question(graph, scratchpad, method, alignment, limit, width, seconds)
    deadline = None if seconds is None else begun + seconds
    method_of(graph, method, None)  # a missing solver is said before anything else
    best = BestSchedule(graph, progress)
    if scratchpad not in ("half", "peak"):  # what needs no peak is known before the peak is
        _offer_default(best, scratchpad, method, order, alignment)
    budgets = budgets_of(graph, alignment)
    capacity = budgets.bytes_of(scratchpad) if isinstance(scratchpad, str) else scratchpad
    given, order_from = order_of(graph, budgets, order, method)
    chosen = method_of(graph, method, given)
    question = ScheduleQuestion(
        graph, capacity, given, budgets, alignment, ScheduleLimits(limit, width=width, deadline=deadline), best
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
        stopped = _judged(blank, question, Found(with_addresses(question, best.plan)))
        raise Interrupted(stopped if stopped.status == "optimal" else replace(stopped, status="stopped")) from None


def _offer_default(best: BestSchedule, scratchpad: object, method: str, order: object, alignment: int) -> None:
    """Offer the plan of the default order where a free order is requested and the scratchpad is large enough."""
    graph = best.graph
    least = max(aligned_need(graph, o, alignment) for o in range(len(graph)))
    capacity = least if scratchpad == "minimum" else scratchpad
    is_free = order in (None, "free") and method not in GIVEN
    if is_free and isinstance(capacity, int) and capacity >= least:
        best.offer(fixed_order(graph, range(len(graph)), capacity, POLISH_STATES).plan, "default order")


def _judged(blank: ScheduleResult, question: ScheduleQuestion, found: Found) -> ScheduleResult:
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


def checked(
    network: Network,
    scratchpad: int | Literal["minimum", "half", "peak"],
    schedule: Schedule,
    *,
    parameters: bool = False,
    concat: Concat = "copy",
    input_has_host_copy: bool = False,
    alignment: int = 1,
) -> ScheduleResult:
    """Return what a given schedule moves; its method is "given", its bound 0.

    Raises ScheduleError, one line with step, tensor and rule, where it breaks a rule.
    """
    operators = operators_of(network, parameters, concat)
    budgets = budgets_of(graph_of(operators, input_has_host_copy), alignment)
    capacity = budgets.bytes_of(scratchpad) if isinstance(scratchpad, str) else scratchpad
    found = replay(schedule, operators, capacity, input_has_host_copy, alignment)
    if found.violations:
        first = min(found.violations, key=lambda each: (each.step is None, each.step))
        more = f" (and {len(found.violations) - 1} more)" if len(found.violations) > 1 else ""
        where = "" if first.step is None else f" at step {first.step}"
        raise ScheduleError(
            f"the schedule breaks the rule {first.rule!r}{where}, tensor {shown(first.tensor)}: {first.message}{more}"
        )
    return ScheduleResult(
        network.name, len(operators), len(operators) + len(parameter_names(operators)), capacity, parameters, concat,
        input_has_host_copy, alignment, "given", "file", "feasible" if found.offchip_bytes else "optimal", schedule,
        found, compulsory_bytes(operators), 0, budgets.minimum, budgets.half, budgets.peak, budgets.peak_is_proved,
        "none", 0, 0, 0, True, operators[budgets.operator].name,
    )  # fmt: skip
