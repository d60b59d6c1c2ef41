"""Checks a run folder: prices its plans again, and names the first number of result.json that differs.

What cannot be computed from the plans and the question is a record of the run (RECORDS): listed, not compared. The
bound is proved again from the plans, by the search that would prove it otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cocco.effort.budgets import PROOF_STEPS
from cocco.effort.planned import priced
from cocco.exploration.answers.ranges import Terms
from cocco.exploration.memories.proof import prove
from cocco.output.folders.read.compared import SAME, Comparer
from cocco.output.folders.verified.made_for import RunFolder
from cocco.output.folders.verified.recomputed import WorkedOut
from cocco.output.folders.written.about import CHIPS_TABLE, RESULT
from cocco.search.kernel.choice import engine_name
from simulator.execution.count.checks import Check, Status
from workloads.errors import FileFormatError, one_line
from workloads.network.network import Network

#: numbers of result.json that no plan says again, by the beginning of their names, without positions: how the search
#: was asked and went, bounds of other sizes, and prices of plans that the folder does not have
RECORDS = (
    "seconds",
    "settings: samples",
    "settings: slack",
    "settings: space",  # where the recommendation is one of its candidates
    "result: searched",  # as settings: space
    "result: edges",
    "result: samples",
    "result: machines",  # but the best of them
    "result: floors",
    "result: steps",
    "result: nearest: memory_bytes",  # of machines: bounds
    "result: nearest: factor",
    "result: least_excess",  # a bound
    "result: left_out",
    "result: sensitivity",
    "result: splits",
    "result: lower_bound",  # of an answer that is not proved; evaluate --verify proves it again
    "result: ranges: sizes: bound",
    "result: ranges: sizes: value",
    *(f"result: ranges: sizes: {name}_pj" for name in Terms._fields),
    "result: compromise: alone",
    "result: compromise: samples",
)
SLOW = ("result: addresses", "result: networks: addresses")  #: numbers that are compared with --verify only
CSV_TABLES = ("history.csv", "samples.csv")
BOUND = {"equal": "is proved again", "within": "is proved again, and more", "not executed": "is not proved again"}


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
    per_memory, in_total, _ = PROOF_STEPS[problem.keep]
    proof = prove(problem, known, engine, per_memory, in_total)
    if proof.is_stopped:
        raise KeyboardInterrupt
    return proof.lower_bound, known.cost if proof.best is None else proof.best.cost


class CheckedRun(NamedTuple):
    """How many numbers of result.json were recomputed, all equal, and the names of those that were not recomputed."""

    numbers: int
    records: tuple[str, ...]
    bound: Check | None = None  #: the claimed bound next to the one proved again, where that was requested
    tables: tuple[str, ...] = CSV_TABLES

    def summary(self) -> str:
        """Return what was compared and what was not, as text."""
        bound = "" if self.bound is None else f", lower_bound {BOUND[self.bound.status]}"
        return (
            f"Folder: {self.numbers:,} numbers of {RESULT} are what its plans take{bound}.\nNot compared: "
            + ", ".join([*self.records, *self.tables])
        )

    def to_json(self) -> dict[str, Any]:
        """Return what --json prints."""
        bound = {} if self.bound is None else {self.bound.name: self.bound.to_json()}
        return {"numbers_compared": self.numbers, "not_compared": [*self.records, *self.tables], **bound}


def check_numbers(
    run: RunFolder, networks: Mapping[str, Network], is_full: bool = False, is_proved: bool = False
) -> CheckedRun | None:
    """Price the plans of a run folder again and compare with its result.json; None without its networks.

    networks: by name. is_full: also compare what takes longer, plans of other sizes and addresses. is_proved: prove the
    bound again.

    Raises FileFormatError, one line that names the first number that differs, with the right value.
    """
    names = run.networks
    if any(name not in networks for name in names) or len(set(names)) < len(names):
        return None
    found = WorkedOut(run, [networks[name] for name in names], is_full)
    path = run.folder / RESULT
    compared = Comparer(path, run.about)
    try:
        compared.compare(run.content, found.content())
        bound = bound_again(found) if is_proved else None
    except FileFormatError:
        raise
    except (TypeError, ValueError, KeyError) as error:
        raise FileFormatError(f"{path}: its plan cannot be priced again: {one_line(error)}") from None
    if bound is not None and bound.status == "different":
        raise FileFormatError(f"{path}: result: lower_bound is {bound.claimed}, and a plan costs {bound.counted}")
    if bound is not None and bound.status != "not executed":
        compared.records.pop("result: lower_bound", None)
    tables = (CHIPS_TABLE,) if "machines" in run.result.content else CSV_TABLES
    return CheckedRun(compared.numbers, tuple(compared.records), bound, tables)
