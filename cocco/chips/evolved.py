"""The chip by one genetic algorithm over machines, memories and partitions (Cocco, Sec. 4.4), without a proof.

Most samples go to the search over all (genes.py), the others to the partition on the chip that it finds.
"""

from __future__ import annotations

from cocco.candidates.genome import groups_of
from cocco.chips.genes import BROKEN, Machines
from cocco.chips.search import Search
from cocco.effort.effort import Effort
from cocco.effort.settings import Settings
from cocco.effort.work_units import once
from cocco.exploration.question.question import question_of
from cocco.exploration.searching.founders import Founders, founders
from cocco.search.genetic.genetic import genetic

ALL = 0.6  #: share of the samples of the search over all machines; our choice


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
        engine = Machines(search.question, search.asked, search.chips, settings)
        most = max(found.samples + 1, int(ALL * question.samples))
        trace = genetic(
            engine.problem, most, question.seed, settings, found.islands, effort.progress, engine, found.samples
        )
        search.is_stopped = trace.is_stopped
        best = trace.best
        if best.cost >= BROKEN:
            return trace.samples
        accelerator = engine.accelerator(best.genome.capacities)
        pair = next(each for each in search.pairs if each.accelerator == accelerator)
        plans = engine.problem.partitions(groups_of(best.genome.labels))
        left = 0 if trace.is_stopped else max(0, question.samples - trace.samples)
        answer = (
            search.answered.improved(accelerator, plans, left) if left else search.answered.priced(accelerator, plans)
        )
        if answer is not None:
            search.take(pair, answer)
        return trace.samples + left
    except KeyboardInterrupt:
        search.is_stopped = True
        return 0
