"""The second criterion: what decides among plans that cost as little, or little more than the cheapest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cocco.candidates.rounding import SAME
from cocco.effort.status import Status
from cocco.problem.criteria import CRITERIA


@dataclass(frozen=True)
class Second:
    """The least of a criterion among plans within a slack of the least cost.

    Examples
    --------
    >>> found = Second("energy", 75.0, 60.0, slack=0.005, first=1000.0, cost=1002.0, before=100.0)
    >>> found.status, round(found.given, 6), found.gained
    ('feasible', 0.002, 0.25)
    """

    criterion: str
    value: float  #: of the answer
    lower_bound: float  #: of all plans within the slack
    slack: float  #: the share of the cost that may be given
    first: float  #: the least cost that was found
    cost: float  #: of the answer
    before: float  #: the criterion of the plan that costs least

    @property
    def status(self) -> Status:
        """Whether no plan within the slack is proved to have less."""
        return "optimal" if self.value <= self.lower_bound * (1 + SAME) else "feasible"

    @property
    def given(self) -> float:
        """By which share the answer costs more than the cheapest."""
        return max(0.0, self.cost / self.first - 1)

    @property
    def gained(self) -> float:
        """Which share of the criterion that saves."""
        return 1 - self.value / self.before

    def to_json(self) -> dict[str, Any]:
        """Return the plain data of `--json`."""
        return {
            "criterion": CRITERIA[self.criterion].column,
            "status": self.status,
            "lower_bound": self.lower_bound,
            "slack": self.slack,
            "least_cost": self.first,
            "given": self.given,
            "gained": self.gained,
        }


def check_slack(slack: object) -> float:
    """Return a slack; a ValueError names the rule and the value."""
    if isinstance(slack, bool) or not isinstance(slack, (int, float)) or not 0 <= slack <= 1:
        raise ValueError(f"slack must be a share from 0 to 1, such as 0.005 for 0.5 %, got {slack!r}")
    return float(slack)
