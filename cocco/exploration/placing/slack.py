"""Solve steps that lack addresses again in less room, at no more cost: spare bytes are what addresses need.

A plan proved to be cheapest by bytes fills the memory where that saves something, and sometimes where it saves nothing.
So the steps that lack addresses, and some next to them, are solved again window by window
(cocco.search.exact.neighbourhood), as if the memory were a little smaller, then smaller still. A window is taken if
it then costs no more, at the prices of the real memory.
"""

from __future__ import annotations

from dataclasses import replace

from cocco.bounds.cheapest import keep_question, searcher
from cocco.candidates.stream import Stream
from cocco.effort.budgets import SLACK_STEPS, WINDOW_STATES
from cocco.problem.problem import Problem
from cocco.search.exact.neighbourhood import Neighbourhood, Searcher
from cocco.search.exact.route import Pricing, route_of
from cocco.search.exact.window import Limits
from simulator.accelerator import Accelerator
from simulator.partition.partition import Partition

ROOM_SHARES = (128, 64, 32, 16)  #: the room is less by one part in so many; our choice
ROOM_WORD = 64  #: bytes; what is left stays a multiple of it; our choice
BESIDE = 8  #: steps before and after those without addresses that are solved with them; our choice


class Slack:
    """One network on given hardware. problem: of this network; plans are compared by its objective."""

    def __init__(self, problem: Problem) -> None:
        objective = replace(problem.objective, weights=(1.0,))
        self.problem = replace(problem, objective=objective, keep="auto")
        self.pricing = Pricing(keep_question(self.problem))
        self.searchers: dict[int, Searcher] = {}  # by how much less room there is
        self.steps = 0

    def tightened(self, plan: Partition, where: range, share: int) -> Partition | None:
        """Return a plan that costs no more and takes less room in these steps; None if none was found."""
        network, accelerator = self.problem.networks[0], self.problem.accelerator
        less = accelerator.activation_capacity // share // ROOM_WORD * ROOM_WORD
        left = SLACK_STEPS - self.steps
        if not less or left <= 0:
            return None
        if less not in self.searchers:
            smaller = replace(self.problem, accelerator=_with_less(accelerator, less))
            self.searchers[less] = searcher(
                smaller, 0, keep_question(smaller), Limits(WINDOW_STATES, SLACK_STEPS), None
            )
        search = self.searchers[less]
        start = self.pricing.priced(route_of(plan.subgraphs, [each.span for each in plan.keep]))
        walk = Neighbourhood(self.pricing, search, Stream(0, 0, 0), start)
        first, after = max(0, where.start - BESIDE), max(0, len(plan) - where.stop - BESIDE)
        while first < (end := len(walk.plan.route.groups) - after) - 1 and walk.steps < left:
            last = walk.better(first, min(end, walk.end(first, int(walk.sizes[0]))), 0)
            first = max(first + 1, (first + last) // 2)
        self.steps += walk.steps
        found = walk.plan.route
        if found == start.route:
            return None
        return Partition.from_ids(network, found.subgraphs, plan.metric, found.spans)


def _with_less(accelerator: Accelerator, less: int) -> Accelerator:
    left = accelerator.activation_capacity - less
    return (
        replace(accelerator, shared_buffer=left) if accelerator.is_shared else replace(accelerator, global_buffer=left)
    )
