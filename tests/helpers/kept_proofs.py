"""Proofs with kept tensors of one small problem against all plans: optima, floors of all states, certificates."""

from __future__ import annotations

import math
import random
from functools import lru_cache

import pytest

from cocco.bounds import certify
from cocco.bounds.cheapest import cheapest_plans, keep_question
from cocco.bounds.floors.least_kept import Floors
from cocco.bounds.patterns import tables
from cocco.bounds.patterns.tables import patterns_of
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.exact.exact import Search
from cocco.search.exact.moves import Memo
from cocco.search.exact.window import Limits, all_of
from tests.helpers.brute_force import CLOSE
from tests.helpers.every_kept_plan import cheapest
from tests.helpers.exact_plan import exact_plan
from tests.helpers.kept_states import every_state

SHORT = 0.2  #: deterministic time of a certificate


def check_kept(problem: Problem, asked: tuple[EngineName, ...], seed: int) -> int:
    """Compare with all partitions, orders and intervals, and all states of a search; return how many plans."""
    question = keep_question(problem, 0, True, "reference")
    least, plans = cheapest(question._replace(price=lru_cache(None)(question.price)))
    for engine in asked:
        assert cheapest_plans(problem, engine=engine).cost == pytest.approx(least, rel=CLOSE), engine
    if least < math.inf:
        assert Floors(problem).least() <= least * (1 + CLOSE)
        assert certify(problem, range(problem.size), SHORT).lower_bound <= least * (1 + CLOSE)
    check_states(question, problem.objective.metric == "ema", seed)
    return plans


def check_states(question, is_whole: bool, seed: int) -> None:
    """No state costs less to finish than floors and patterns say, and the search with them finds the optimum."""
    tables.MOST_FREE = random.Random(seed).choice((0, 0, 1, 2))
    with_patterns = question._replace(patterns=patterns_of(question, is_whole)[0])
    states, window = every_state(question), all_of(question.network)
    for each in (question, with_patterns):
        search = Search(Memo(each), window, Limits(), merges=False)
        for place, truth in states.items():
            assert search.floor(place) <= truth * (1 + CLOSE), (place, search.floor(place), truth)
    assert exact_plan(with_patterns).cost == pytest.approx(states[window.start], rel=CLOSE)
