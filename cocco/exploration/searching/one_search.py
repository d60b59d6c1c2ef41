"""One search: founders, islands, the partitions of greedy and dp, annealing, polish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cocco.candidates.genome import Genome
from cocco.candidates.stream import POLISH, Stream
from cocco.effort.work_units import once
from cocco.exploration.question.question import Question
from cocco.exploration.searching.annealed import LEAST_ANNEALED, Annealed, annealed
from cocco.exploration.searching.baselines import better_of_baselines
from cocco.exploration.searching.founders import Founders
from cocco.exploration.searching.polish import LEAST_SAMPLES, Polished, polish
from cocco.search.genetic.engine import make_engine
from cocco.search.genetic.genetic import genetic
from cocco.search.genetic.population import Population
from cocco.search.genetic.trace import Trace
from cocco.search.kernel.choice import has_twin
from cocco.search.pricing.genomes import Pricer, Sample


def one_search(
    question: Question, found: Founders, parents: Population | None = None, left: list[Population] | None = None
) -> Trace:
    """Return what a search from these founders finds; their samples count among its own.

    parents: a population to continue with; left: receives the best genomes that the search ends with (both: genetic).
    """
    problem, samples, seed, settings = question.problem, question.samples, question.seed, question.settings
    engine, initial = question.engine, question.initial
    chosen = make_engine(engine, problem, settings, question.threads)
    annealing = int(settings.anneal * samples) if has_twin(problem) else 0
    if annealing < LEAST_ANNEALED:
        annealing = 0
    polishing = int(settings.polish * (samples - annealing))
    if polishing < LEAST_SAMPLES * problem.size:
        polishing = 0
    most = max(samples - annealing - polishing, found.samples + 1)
    if found.is_stopped:
        return of_founders(question, found)
    first, *others = found.islands or [[]]
    room = max(0, min(settings.population, most - found.samples) - len(initial))
    starts: list[Sequence[Sequence[int]]] = [[*initial, *first[:room]], *others]
    trace = genetic(
        problem, most, seed, settings, starts, question.progress, chosen, found.samples, parents, left
    )  # fmt: skip
    is_asked = len(first) > 1 and room > 1  # greedy and dp are among the founders
    if settings.seeds and left is None and not trace.is_stopped and not is_asked:
        _no_worse(question, trace)
    if annealing and not trace.is_stopped:
        genome, rest = trace.best.genome, samples - polishing - trace.samples
        _walked(trace, once(annealed, problem, genome.labels, genome.capacities, rest, seed, engine))
    if polishing and not trace.is_stopped:
        genome = trace.best.genome
        polished = once(polish, problem, genome.labels, genome.capacities, samples - trace.samples - 1, seed, engine)
        _improved(question, trace, polished)
    return trace


def of_founders(question: Question, found: Founders) -> Trace:
    """Return the best of the founders that existed when the user stopped the search."""
    starts = [*question.initial, *(labels for island in found.islands for labels in island)]
    chosen = make_engine(question.engine, question.problem, question.settings)
    settings, samples = replace(question.settings, population=max(2, len(starts)), elite=0), max(1, len(starts))
    trace = genetic(
        question.problem, found.samples + samples, question.seed, settings, [starts], None, chosen, found.samples
    )  # fmt: skip
    trace.is_stopped = True
    return trace


def _no_worse(question: Question, trace: Trace) -> None:
    """Replace the best genome by a cheaper partition of greedy or dp, if there is one; Ctrl-C leaves it as it is."""
    try:
        trace.offer(better_of_baselines(question, trace.best))
    except KeyboardInterrupt:
        trace.is_stopped = True


def _walked(trace: Trace, found: Annealed) -> None:
    """Add the samples that annealing took, of them those that were better than all before in their walk."""
    before = trace.samples
    for at, labels, memory, value, cost in found.found:
        trace.spend(before + at - 1 - trace.samples)
        trace.add(Sample(Genome(labels, memory), value, cost))
        trace.close()
    trace.spend(before + found.samples - trace.samples)
    trace.is_stopped = found.is_stopped


def _improved(question: Question, trace: Trace, found: Polished) -> None:
    """Add the samples that polishing took, and its result as a sample."""
    genome = Genome(found.labels, trace.best.genome.capacities)
    trace.spend(found.samples)
    trace.add(Pricer(question.problem).evaluate(genome, Stream(question.seed, POLISH, 0)))
    trace.close()
    trace.is_stopped = found.is_stopped
