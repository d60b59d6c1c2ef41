"""Answers that keep tensors on chip between subgraphs: proven where the exact search finishes, else searched.

The proof comes first; where the memory is chosen, the optima of the memories are the samples. If the proof gives up, a
search without kept tensors finds plans to start from, a second one adds kept tensors (searching/keeping.py), and its
result is the best known plan for a second proof. Both searches share the samples requested, and the answer is never
worse than that of the first.
"""

from __future__ import annotations

from dataclasses import replace

from cocco.bounds.floors.least_kept import Floors
from cocco.candidates.genome import Genome
from cocco.effort.budgets import HARDWARE_STEPS, KEPT_STEPS, KEPT_TOTAL, MAX_STEPS, MEMORIES_STEPS, SECOND_SHARE
from cocco.effort.effort import Progress
from cocco.effort.planned import Planned, confirmed
from cocco.effort.stages import without_bounds
from cocco.exploration import methods
from cocco.exploration.memories.proof import Proof, prove
from cocco.exploration.methods import Outcome
from cocco.exploration.question.question import Question
from cocco.exploration.searching.keeping import BestPlans, genetic_search, improve
from cocco.problem.names import HardwareMethod, SpaceMethod
from cocco.problem.problem import Problem
from cocco.search.genetic.trace import Trace
from cocco.search.pricing.genomes import Sample

GENETIC = ("auto", "ga", "sa")  #: methods that search once more, with the intervals of each genome
SECOND_SEARCH_SHARE = 2  #: of the samples one in so many is left to the second search; our choice


def answer(method: HardwareMethod | SpaceMethod, question: Question, is_thorough: bool = False) -> Outcome:
    """Return the method's answer with kept tensors; is_thorough: "auto" takes the budgets of "exact"."""
    most = MAX_STEPS
    if method == "auto" and not is_thorough:
        steps = question.budget(KEPT_STEPS if question.problem.buffers else HARDWARE_STEPS)
        return automatic(question, steps, question.budget(KEPT_TOTAL))
    if method == "auto":
        return automatic(question, most, MEMORIES_STEPS * MAX_STEPS)
    if method == "exact":
        found = automatic(question, most, MEMORIES_STEPS * MAX_STEPS)
        return found._replace(method="exact", gave_up=not found.is_proven)
    return searched(question, method)


def automatic(question: Question, per_memory: int, in_total: int) -> Outcome:
    """Return the answer of a proof; if it gives up, search, and try the proof again from what the search found."""
    proof = prove(question.problem, None, question.engine, per_memory, in_total)
    if proof.best is not None and (proof.is_optimal or proof.is_stopped):
        return _solved(question, proof)
    found = _layerwise(question) if proof.is_stopped else _searched(question, proof)
    found = found._replace(bound=max(found.bound or 0.0, proof.lower_bound))
    if found.trace.is_stopped or (proof.best is not None and found.best.cost >= proof.best.cost):
        return found  # another proof would know no more than before
    share = 1 if proof.solved else SECOND_SHARE
    again = prove(question.problem, found.best, question.engine, per_memory // share, in_total // share)
    assert again.best is not None
    found.trace.is_stopped = again.is_stopped
    method = "exact" if again.best.cost < found.best.cost else found.method
    return found._replace(planned=again.best, bound=max(again.lower_bound, proof.lower_bound), method=method)


def _searched(question: Question, proof: Proof) -> Outcome:
    """Return what a search finds, starting from what a proof knows; after Ctrl-C between its parts, what is known."""
    try:
        return searched(question, "auto", proof.best)
    except KeyboardInterrupt:
        if proof.best is not None:
            return _solved(question, proof._replace(is_stopped=True))
        return _layerwise(question)


def _layerwise(question: Question) -> Outcome:
    """Return the layerwise plan, which is the answer if Ctrl-C comes before any other, and a lower bound."""
    problem = question.problem
    found = methods.layerwise(replace(question, problem=problem.plain))
    return found._replace(planned=confirmed(problem, found.best), bound=_least(problem))


def searched(question: Question, method: HardwareMethod | SpaceMethod, known: Planned | None = None) -> Outcome:
    """Return the best of what is known and what a method finds without kept tensors, improved with kept tensors.

    A method that is followed by a second search leaves at least a share of the samples to it: both together price no
    more than requested.
    """
    problem, wanted = question.problem, question.samples
    is_twice = method in GENETIC and wanted >= SECOND_SEARCH_SHARE
    first = question if not is_twice else replace(
        question, samples=wanted - wanted // SECOND_SEARCH_SHARE, progress=_told(question.progress, 0, wanted)
    )  # fmt: skip
    with without_bounds():
        found = methods.answer(method, replace(first, problem=problem.plain), is_start=True)
    planned = confirmed(problem, found.best)
    known_best = BestPlans(problem, planned if known is None or planned.cost <= known.cost else known)
    trace, samples = found.trace, found.samples
    left = wanted - trace.samples if is_twice else 0
    if left > 0 and not trace.is_stopped:
        again = replace(question, samples=left, progress=_told(question.progress, trace.samples, wanted))
        try:
            trace.follow(genetic_search(again, known_best))
        except KeyboardInterrupt:  # before it had an answer
            trace.is_stopped = True
    if is_twice:
        samples = trace.samples
    if not trace.is_stopped:
        trace.is_stopped = improve(question, known_best)
    name = "exact" if known_best.planned is known else found.method
    return Outcome(trace, samples, name, planned=known_best.planned, bound=_least(problem))


def _told(progress: Progress | None, before: int, wanted: int) -> Progress | None:
    """Return a progress callback for one of two searches that counts both; before: samples that the first took."""
    return None if progress is None else lambda samples, _, best: progress(before + samples, wanted, best)


def _solved(question: Question, proof: Proof) -> Outcome:
    """Return what a proof found, with one sample for each memory that it solved."""
    problem = question.problem
    trace = Trace(problem, len(proof.solved), question.progress, question.engine)
    for each in proof.solved:
        trace.add(Sample(Genome(problem.labels(each.plans), each.memory), each.value, each.cost))
    trace.is_stopped = proof.is_stopped
    try:
        trace.close()
    except KeyboardInterrupt:  # from the progress callback, called last: the samples are complete
        trace.is_stopped = True
    return Outcome(trace, max(1, proof.steps), "exact", planned=proof.best, bound=proof.lower_bound)


def _least(problem: Problem) -> float:
    """Return a cost that no plan with kept tensors undercuts in any memory."""
    return Floors(problem).least()
