"""A schedule that somebody else made, judged by the simulator and answered like our own."""

from __future__ import annotations

from typing import Literal

from cocco.scheduling.answer import ScheduleResult
from cocco.scheduling.budgets import budgets_of
from cocco.scheduling.graph import graph_of
from simulator.schedule.operators import Concat, operators_of
from simulator.schedule.replay import replay
from simulator.schedule.schedule import Schedule, ScheduleError, compulsory_bytes, parameter_names
from workloads.errors import shown
from workloads.network.network import Network


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
