"""The readable exact search over a whole network, without the steps that `cheapest_plans` takes before it."""

from __future__ import annotations

import math

from cocco.effort.budgets import MAX_STATES, MAX_STEPS
from cocco.search.exact.exact import ExactPlan, exact_way, plan_of
from cocco.search.exact.moves import Memo
from cocco.search.exact.question import KeepQuestion
from cocco.search.exact.window import Limits, all_of


def exact_plan(
    question: KeepQuestion, max_states: int = MAX_STATES, max_steps: int = MAX_STEPS, below: float = math.inf
) -> ExactPlan:
    """Return a plan that is proven cheapest, or why there is none; below: only plans that cost less are sought."""
    limits = Limits(max_states, max_steps, below)
    return plan_of(exact_way(Memo(question), all_of(question.network), limits), limits)
