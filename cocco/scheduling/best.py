"""The best plan so far and what is proved of all: told as they come, and kept where the user stops the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cocco.scheduling.graph import Graph
from cocco.scheduling.plan import Plan, cost_of

Progress = Callable[[str, int, int], object]  #: stage, bytes that the best plan moves, bytes that any plan moves


@dataclass
class Best:
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
