"""Checks a run folder: prices its plans again, and names the first number of result.json that differs.

What cannot be computed from the plans and the question is a record of the run (RECORDS): listed, not compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cocco.exploration.answers.ranges import Terms
from cocco.output.folders.read.compared import Compared
from cocco.output.folders.verified.made_for import RunFolder
from cocco.output.folders.verified.proved_again import bound_again
from cocco.output.folders.verified.recomputed import WorkedOut
from cocco.output.folders.written.about import RESULT
from simulator.execution.count.checks import Check
from workloads.errors import FileFormatError, one_line
from workloads.network.network import Network

#: numbers of result.json that no plan says again, by the beginning of their names, without positions: how the search
#: was asked and went, bounds of other sizes, and prices of plans that the folder does not have
RECORDS = (
    "seconds",
    "settings: samples",
    "settings: space",  # where the recommendation is one of its candidates
    "result: samples",
    "result: splits",
    "result: lower_bound",  # of an answer that is not proved; evaluate --verify proves it again
    "result: ranges: sizes: bound",
    "result: ranges: sizes: value",
    *(f"result: ranges: sizes: {name}_pj" for name in Terms._fields),
    "result: compromise: alone",
    "result: compromise: samples",
)
SLOW = ("result: addresses", "result: networks: addresses")  #: numbers that are compared with --verify only
TABLES = ("history.csv", "samples.csv")
BOUND = {"equal": "is proved again", "within": "is proved again, and more", "not executed": "is not proved again"}


class Checked(NamedTuple):
    """How many numbers of result.json were recomputed, all equal, and the names of those that were not recomputed."""

    numbers: int
    records: tuple[str, ...]
    bound: Check | None = None  #: the claimed bound next to the one proved again, where that was requested

    def summary(self) -> str:
        """Return what was compared and what was not, as text."""
        bound = "" if self.bound is None else f", lower_bound {BOUND[self.bound.status]}"
        return (
            f"Folder: {self.numbers:,} numbers of {RESULT} are what its plans take{bound}.\nNot compared: "
            + ", ".join([*self.records, *TABLES])
        )

    def to_json(self) -> dict[str, Any]:
        """Return what --json prints."""
        bound = {} if self.bound is None else {self.bound.name: self.bound.to_json()}
        return {"numbers_compared": self.numbers, "not_compared": [*self.records, *TABLES], **bound}


def check_numbers(
    run: RunFolder, networks: Mapping[str, Network], is_full: bool = False, is_proved: bool = False
) -> Checked | None:
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
    compared = Compared(path, run.about)
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
    return Checked(compared.numbers, tuple(compared.records), bound)
