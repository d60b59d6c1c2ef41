"""A memory with a plan of each network: partition, order and kept intervals, where labels alone do not suffice."""

from __future__ import annotations

from typing import NamedTuple

from cocco.candidates.judge import judged_plans
from cocco.candidates.rounding import SAME
from cocco.effort.work_units import stored
from cocco.problem.problem import Problem
from simulator.partition.partition import Partition

Memory = tuple[int, ...]  #: positions in the candidates of each buffer; none on given hardware


@stored
class Planned(NamedTuple):
    """Plans of all networks on one memory, and their cost."""

    memory: Memory
    plans: tuple[Partition, ...]
    value: float  #: Formula 1
    cost: float  #: Formula 2; on given hardware Formula 1


def priced(problem: Problem, memory: Memory, plans: tuple[Partition, ...]) -> Planned:
    """Return plans as the simulator prices them."""
    machine = problem.accelerator_of(memory)
    value = problem.objective.judged(problem.evaluations(plans, machine))
    return Planned(memory, plans, value, problem.objective.cost(value, machine))


def confirmed(problem: Problem, found: Planned) -> Planned:
    """Return what a search found, priced by the simulator; RuntimeError if the two prices differ."""
    winner = judged_plans(problem, found.plans, found.memory, [found.cost], rounding=SAME)
    return found._replace(value=problem.objective.judged(winner.evaluations), cost=winner.values[0])
