"""The chip by one genetic algorithm over machines, memories and partitions (Cocco, Sec. 4.4), without a proof.

Most samples go to the search over all (genes.py), the others to the partitions on the best few chips that it finds.
"""

from __future__ import annotations

import numpy as np

from cocco.candidates.genome import groups_of
from cocco.chips.genes import BROKEN, Machines
from cocco.chips.search import Answer, Pair, Search
from cocco.effort.effort import Effort
from cocco.effort.settings import Settings
from cocco.effort.work_units import once
from cocco.exploration.question.question import question_of
from cocco.exploration.searching.cloud import rows_of
from cocco.exploration.searching.founders import Founders, founders
from cocco.search.genetic.genetic import genetic
from cocco.search.genetic.trace import Trace

ALL = 0.6  #: share of the samples of the search over all machines; our choice, with the next
CHIPS = 3  #: machines with a memory that share the others: the best may change when partitions are better


def evolve(search: Search, effort: Effort) -> int:
    """Find the chip of a search that has not begun, and return the samples; bounds of pairs stay those of any plan."""
    try:
        search.begin()
        if all(pair.why for pair in search.pairs):
            return 0
        middle = search.chips[len(search.chips) // 2]
        question = question_of(search.asked.problem(middle.machine, middle.buffers), effort, Settings())
        settings, found = question.settings, Founders([], 0)
        if settings.seeds:
            asked = question.problem, question.engine, settings.islands, question.samples, question.seed
            found = once(founders, *asked)
            search.is_stopped = found.is_stopped
            if found.is_stopped:
                return found.samples
        engine = Machines(search.question, search.asked, search.chips, settings)
        most = max(found.samples + 1, int(ALL * question.samples))
        trace = genetic(
            engine.problem, most, question.seed, settings, found.islands, effort.progress, engine, found.samples
        )
        search.is_stopped = trace.is_stopped
        left, labels = 0 if trace.is_stopped else max(0, question.samples - trace.samples), trace.best.genome.labels
        chosen = _cheapest(trace)[: CHIPS if left >= CHIPS else 1]
        for number, capacities in enumerate(chosen):
            share = left * (number + 1) // len(chosen) - left * number // len(chosen)
            fitting = engine.price(*rows_of(engine.problem, labels, [capacities])).labels[0].tolist()
            given = engine.accelerator(capacities), engine.problem.partitions(groups_of(fitting))
            pair = next(each for each in search.pairs if each.accelerator == given[0])
            _take(search, pair, search.answered.priced(*given))  # for the case that Ctrl-C ends what follows
            if share:
                _take(search, pair, search.answered.improved(*given, share))
        return trace.samples + left
    except KeyboardInterrupt:
        search.is_stopped = True
        return 0


def _take(search: Search, pair: Pair, answer: Answer | None) -> None:
    if answer is not None:
        search.take(pair, answer)


def _cheapest(trace: Trace) -> list[tuple[int, ...]]:
    """Return the chips on which samples keep all limits, as genomes have them, the cheapest first."""
    of = trace.seen().samples
    order = np.argsort(of["cost"], kind="stable")
    order = order[of["cost"][order] < BROKEN]
    return list(dict.fromkeys(map(tuple, of["capacities"][order].tolist())))
