"""Proves the bound of a run again, from the plans of the run, by the search that would prove it otherwise."""

from __future__ import annotations

from cocco.effort.budgets import STEPS
from cocco.effort.planned import priced
from cocco.exploration.memories.proof import prove
from cocco.output.folders.read.compared import SAME
from cocco.output.folders.verified.recomputed import WorkedOut
from cocco.search.kernel.choice import engine_name
from simulator.execution.count.checks import Check, Status


def bound_again(found: WorkedOut) -> Check | None:
    """Return a check of the claimed bound against the one proved here; None if the run has none.

    "equal", or "within" if more is proved here; "different" if a plan costs less. "not executed" if the proof of a
    default search does not reach that far: for searches under limits, for --prove, and for the cheapest plan that has
    addresses.
    """
    claimed = found.result.optional("lower_bound")
    if claimed is None:
        return None
    if not found.has_plans or "minimize" in found.result.content:
        return Check("lower_bound", claimed, None, "not executed")
    proved, best = _prove(found)
    status: Status = "not executed"
    if abs(proved - claimed) <= SAME * claimed:
        status = "equal"
    elif proved > claimed:
        status = "within"
    elif best < claimed * (1 - SAME) and "placed" not in found.result.content:
        status = "different"
    return Check("lower_bound", claimed, best if status == "different" else proved, status)


def _prove(found: WorkedOut) -> tuple[float, float]:
    """Return a bound, and the cost of the best plan that the proof met."""
    problem, chip = found.problem, found.machine
    memory = problem.memory_of(chip)
    known, engine = priced(problem, memory, found.plans), engine_name(None, problem)
    per_memory, in_total, _ = STEPS[problem.keep]
    proof = prove(problem, known, engine, per_memory, in_total)
    if proof.is_stopped:
        raise KeyboardInterrupt
    return proof.lower_bound, known.cost if proof.best is None else proof.best.cost
