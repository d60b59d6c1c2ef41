"""What a method of scheduling is asked and answers, the best so far; which methods and orders there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cocco.scheduling.budgets import NAMES, Budgets
from cocco.scheduling.graph import Graph
from cocco.scheduling.plan import Plan, cost_of, is_order
from cocco.scheduling.programs.joint import Joint, ScheduleLimits
from cocco.scheduling.programs.solver import cp_sat, has_cp_sat
from simulator.sizes import MAX_CAPACITY
from workloads.errors import shown

Progress = Callable[[str, int, int], object]  #: stage, bytes that the best plan moves, bytes that any plan moves
MAX_TIGHT = 250  #: operators that "auto" gives to TIGHT whole
FREE = ("tight", "windows", "beam")  #: methods that always choose the order
GIVEN = ("gap", "belady", "greedy")  #: methods for a given order
METHODS = ("auto", "tight", "gap", "windows", "divide", "paper", "beam", "belady", "greedy")
ORDERS = ("free", "default", "mpmf")


@dataclass
class BestSchedule:
    """What a search for a free order knows so far; addresses come at its end."""

    graph: Graph
    progress: Progress | None = None
    plan: Plan | None = None
    bound: int = 0

    def offer(self, plan: Plan, stage: str) -> None:
        """Take a plan if it moves less than the best."""
        if self.plan is None or cost_of(self.graph, plan) < cost_of(self.graph, self.plan):
            self.plan = plan
            self._tell(stage)

    def prove(self, bound: int, stage: str) -> None:
        """Take a bound if it says more than the best."""
        if bound > self.bound:
            self.bound = bound
            self._tell(stage)

    @property
    def is_proved(self) -> bool:
        """Whether no plan of any order moves less, before addresses."""
        return self.plan is not None and cost_of(self.graph, self.plan) <= self.bound

    def _tell(self, stage: str) -> None:
        if self.progress is not None and self.plan is not None:
            self.progress(stage, cost_of(self.graph, self.plan), self.bound)


@dataclass(frozen=True)
class ScheduleQuestion:
    """What a method is asked."""

    graph: Graph
    capacity: int
    order: tuple[int, ...] | None  #: None where it is free
    budgets: Budgets
    alignment: int
    limits: ScheduleLimits
    best: BestSchedule


@dataclass(frozen=True)
class Found:
    """What a method answers."""

    joint: Joint
    windows: int = 0
    proved: int = 0


def check_question(
    graph: Graph, scratchpad: object, method: str, alignment: int, limit: float, width: int, seconds: float | None
) -> None:
    """Raise ValueError, one line, where an argument is malformed."""
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


def order_of(
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


def method_of(graph: Graph, method: str, order: tuple[int, ...] | None) -> str:
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
