"""Check an answer from another machine: the prices it claims must be those of the simulator here.

A plan is priced again here. For a proof, no plan known here may cost less than the bound it claims. The rest of what a
proof rules out cannot be checked from its answer: it is believed because the worker has the same code.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cocco.candidates.rounding import SAME
from cocco.effort.planned import Memory, priced
from cocco.exploration.memories.solved import Solved
from cocco.exploration.searching.divided_search import SearchPart
from cocco.exploration.searching.improve import Improved
from cocco.problem.problem import Problem
from cocco.search.genetic.engine import make_engine
from simulator.partition.partition import Partition


def refuted(asked: tuple[Any, ...], answer: Any) -> str:
    """Return in words what is wrong with a step's answer, '' if nothing was found; asked: the step's arguments."""
    if isinstance(answer, Solved):
        return _solved(asked[0], asked[1], asked[4] if len(asked) > 4 else math.inf, answer)
    if isinstance(answer, Improved) and answer.cost < math.inf:
        return _price("cost", answer.cost, priced(asked[0], (), answer.partitions).value)
    if isinstance(answer, SearchPart):
        found, (problem, *_), (settings, *_) = answer.best, asked, asked[5:]
        again = make_engine(None, problem, settings).price(found.labels, found.capacities)
        return next((_price("cost", *pair) for pair in zip(found.cost, again.cost) if _price("cost", *pair)), "")
    return ""  # plans without prices: the caller prices them


def _solved(problem: Problem, memory: Memory, below: float, answer: Solved) -> str:
    """Return what is wrong with the proof of one memory, '' if nothing."""
    least, best = answer.bound, answer.best
    if answer.is_decided:
        least = below if best is None else best.cost
    if best is not None:
        if best.memory != memory:
            return f"its plan is of memory {best.memory}, asked was {memory}"
        again = priced(problem, memory, best.plans)
        told = _price("cost", best.cost, again.cost) or _price("value", best.value, again.value)
        if told:
            return told
    known = _layer_by_layer(problem, memory)
    if known < (1 - SAME) * least:
        return f"no plan is to cost less than {least!r}, and one costs {known!r}"
    return ""


def _layer_by_layer(problem: Problem, memory: Memory) -> float:
    """Return the cost of the layerwise plan, which needs no search; inf if it does not fit."""
    plans, machine = tuple(Partition.layerwise(each) for each in problem.networks), problem.accelerator_of(memory)
    fits = all(each.fits for each in problem.evaluations(plans, machine))
    return priced(problem, memory, plans).cost if fits else math.inf


def _price(name: str, claimed: float, found: float) -> str:
    same = bool(np.isclose(claimed, found, rtol=SAME, atol=0.0))
    return "" if same else f"the {name} of its plan is {found!r}, it says {claimed!r}"
