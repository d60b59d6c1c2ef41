"""The methods by name: each answers a checked problem with a trace of samples, and what it proved."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from cocco.bounds.certificate import unless_refuted
from cocco.bounds.floors.least import lower_bound
from cocco.candidates.genome import Genome, groups_of
from cocco.candidates.stream import Stream
from cocco.effort.budgets import MAX_STEPS, PLAIN_AGAIN, PLAIN_PER_LAYER, PLAIN_STEPS, PLAIN_TOTAL
from cocco.effort.planned import Planned
from cocco.effort.stages import tell
from cocco.effort.status import Unfinished
from cocco.effort.work_units import once
from cocco.exploration.memories.proof import Proof, prove
from cocco.exploration.question.others import searched_by
from cocco.exploration.question.question import Question
from cocco.exploration.searching.divided_search import search
from cocco.exploration.searching.polish import polish
from cocco.problem.names import HardwareMethod, SpaceMethod
from cocco.problem.problem import Problem
from cocco.search.baselines.annealing import annealing
from cocco.search.baselines.dynamic import depth_order, dynamic
from cocco.search.baselines.greedy import greedy
from cocco.search.baselines.two_step import Partitioned, grid_search, random_search
from cocco.search.genetic.engine import make_engine
from cocco.search.genetic.genetic import genetic
from cocco.search.genetic.trace import Trace
from cocco.search.pricing.compiled import subgraph_costs
from cocco.search.pricing.genomes import Pricer, Sample
from cocco.search.pricing.subgraphs import SubgraphCosts


class Outcome(NamedTuple):
    """The samples, how many were priced, by which method; the answer, and a cost that no plan undercuts, if known.

    Samples of exact are the steps of its search; those of greedy and dp are the layers priced over the layers of the
    network.
    """

    trace: Trace
    samples: int
    method: str
    planned: Planned | None = None  #: None: that of the cheapest sample
    bound: float | None = None
    gave_up: bool = False

    @property
    def best(self) -> Planned:
        """The answer."""
        return self.planned or planned_of(self.trace.problem, self.trace.best)

    @property
    def is_open(self) -> bool:
        """Whether it is unknown if any plan runs: none was found or ruled out, and the user did not stop the search."""
        return self.best.cost == math.inf > (self.bound or 0.0) and not self.trace.is_stopped

    @property
    def is_proven(self) -> bool:
        """Whether the answer is the cheapest there is."""
        return self.bound is not None and self.best.cost <= self.bound


def planned_of(problem: Problem, sample: Sample) -> Planned:
    """Return a genome as plans."""
    plans = problem.partitions(groups_of(sample.genome.labels))
    return Planned(sample.genome.capacities, plans, sample.value, sample.cost)


def answer(method: HardwareMethod | SpaceMethod, question: Question, is_start: bool = False) -> Outcome:
    """Return the method's answer; if Ctrl-C comes before it has one, what it had built so far, else layer by layer.

    is_start: another search starts from the answer, so a proof would be useless.
    """
    known = SPACE_METHODS if question.problem.buffers else HARDWARE_METHODS
    try:
        if method in known:
            return automatic(question, is_start) if method == "auto" else known[method](question)
        trace = searched_by(method, question)
        return Outcome(trace, trace.samples, method)
    except Unfinished as stop:
        return stopped(question, stop.labels, method)
    except KeyboardInterrupt:
        return layerwise(question)


def layerwise(question: Question) -> Outcome:
    """Return the layerwise plan in the smallest memory: the answer if Ctrl-C comes before any other."""
    return stopped(question, list(range(question.problem.size)), "layerwise")


def ruled_out(question: Question) -> Outcome:
    """Return the outcome that nothing runs, not even layer by layer in the largest memory; known before any search."""
    problem = question.problem
    sample = Sample(Genome(list(range(problem.size)), problem.memories[-1]), math.inf, math.inf)
    return Outcome(_trace(question, sample), 1, "layerwise", bound=math.inf)


def stopped(question: Question, labels: list[int], method: str) -> Outcome:
    """Return the outcome of a search that was stopped with this partition, in the smallest memory."""
    problem = question.problem
    genome = Genome(labels, (0,) * len(problem.buffers))
    trace = Trace(problem, 1, None, question.engine)
    trace.add(Pricer(problem).evaluate(genome, Stream(question.seed, 0, 0)))
    trace.close()
    trace.is_stopped = True
    return Outcome(trace, 1, method)


def automatic(question: Question, is_start: bool = False) -> Outcome:
    """Prove where a small budget suffices, else search: so most answers come back proven (our choice).

    On given hardware the proof comes first, and nothing is searched if it finishes. Where the memory is chosen, the
    search comes first: its best cost rules out most memories, and its samples show how the cost falls. As the start of
    another search, only what is solved quickly is proved.
    """
    problem, steps = question.problem, question.budget(PLAIN_AGAIN * PLAIN_STEPS)
    if not problem.buffers:
        proof = prove(problem, None, question.engine, steps, steps)
        if proof.is_stopped:
            return layerwise(question)
        return _proven(question, proof) or genetic_algorithm(question)
    found = genetic_algorithm(question)
    if found.trace.is_stopped:
        return found
    most = PLAIN_PER_LAYER * problem.size
    proof = prove(
        problem, found.best, question.engine, steps, question.budget(min(PLAIN_TOTAL, most) if is_start else most)
    )
    found.trace.is_stopped = proof.is_stopped
    assert proof.best is not None
    is_better = proof.best.cost < found.trace.best.cost
    method = "exact" if is_better else found.method
    return found._replace(planned=proof.best, bound=proof.lower_bound, method=method)


def genetic_algorithm(question: Question, name: str = "ga") -> Outcome:
    """Return what the genetic algorithm finds, without any proof; name: of the method."""
    trace = search(question)
    return Outcome(trace, trace.samples, name)


def exact(question: Question) -> Outcome:
    """The exact method (Cocco, Sec. 4.2.1): proven, or "gave_up" with the best of greedy and dynamic programming.

    Ctrl-C on given hardware leaves greedy's partition.
    """
    proof = prove(question.problem, None, question.engine, MAX_STEPS, PLAIN_AGAIN * MAX_STEPS)
    found = _proven(question, proof)
    if proof.is_stopped and found is None:
        if question.problem.buffers:
            return layerwise(question)
        found = fusion(question)
    if found is None:
        if question.problem.buffers:
            found = genetic_algorithm(question)
        else:
            found = min((fusion(question), contiguous(question)), key=lambda each: each.trace.best.cost)
    found.trace.is_stopped |= proof.is_stopped
    return found._replace(method="exact", gave_up=not found.is_proven)


def fusion(question: Question) -> Outcome:
    """Halide's greedy fusion (Cocco, Sec. 4.2.2)."""
    costs = subgraph_costs(question.problem, question.engine)
    return _of_labels(question, greedy(question.problem, costs)[0], costs, "greedy")


def contiguous(question: Question) -> Outcome:
    """Irregular-NN's dynamic programming over the layers by depth (Cocco, Sec. 4.2.3)."""
    costs = subgraph_costs(question.problem, question.engine)
    labels, _ = dynamic(question.problem, costs, depth_order(question.problem))
    return _of_labels(question, labels, costs, "dp")


def iterated(question: Question) -> Outcome:
    """Iterated order DP from dp: the same cut of many linear orders (cocco.search.baselines.dynamic.improve)."""
    problem, costs = question.problem, subgraph_costs(question.problem, question.engine)
    labels, _ = dynamic(problem, costs, depth_order(problem))
    left = max(1, question.samples - costs.samples)
    polished = once(polish, problem, labels, (), left, question.seed, question.engine)
    found = _of_labels(question, polished.labels, costs, "idp")
    found.trace.is_stopped = polished.is_stopped
    return found._replace(samples=costs.samples + polished.samples)


def anneal(question: Question) -> Outcome:
    """Simulated annealing with the mutations of the paper (Cocco, Sec. 4.2.4)."""
    settings = replace(question.settings, shift=0.0)
    trace = annealing(
        question.problem, question.samples, question.seed, settings, question.initial, question.progress,
        engine=question.engine,
    )  # fmt: skip
    return Outcome(trace, trace.samples, "sa")


def two_step(kind: str) -> Callable[[Question], Outcome]:
    """Return RS+GA ("random") or GS+GA ("grid"): memories first, a partition search for each (Cocco, Sec. 5.1.3)."""
    first_step = {"random": random_search, "grid": grid_search}[kind]

    def run(question: Question) -> Outcome:
        problem = question.problem
        trace = Trace(problem, question.samples, question.progress, question.engine)

        def second_step(given: Problem, samples: int, seed: int) -> Partitioned:
            chosen = make_engine(question.engine, given, question.settings, question.threads)
            found = genetic(given, samples, seed, question.settings, (), None, chosen)
            return Partitioned(found.best.genome.labels, found.best.value, found.is_stopped)

        outcome = first_step(problem, question.samples, question.seed, second_step)
        for each in outcome.candidates:
            trace.add(Sample(Genome(each.labels, each.capacities), each.value, each.cost))
            trace.close()
        trace.is_stopped = outcome.is_stopped
        return Outcome(trace, outcome.samples, kind)

    return run


def _certified(problem: Problem, labels: list[int], effort: float, best: float) -> float:
    from cocco.bounds import certify

    return certify(problem, labels, effort, best).lower_bound


def certified(problem: Problem, answer: Outcome, effort: float) -> Outcome:
    """Return the answer with the lower bound that solvers find, unless it is proven or was stopped by the user.

    effort: as in `cocco.bounds.certify`.
    """
    best, floor = answer.best, lower_bound(problem) if answer.bound is None else answer.bound
    if answer.trace.is_stopped or answer.is_proven or best.cost == math.inf:
        return answer
    try:
        tell("bound by solvers", best=best.cost, bound=floor)
        found = once(_certified, problem, problem.labels(best.plans), effort, best.cost)
    except KeyboardInterrupt:
        answer.trace.is_stopped = True
        return answer
    return answer._replace(bound=max(floor, unless_refuted(found, best.cost, floor)))


def _of_labels(question: Question, labels: list[int], costs: SubgraphCosts, method: str) -> Outcome:
    """Return the outcome of a single partition."""
    problem = question.problem
    sample = Pricer(problem).evaluate(Genome(labels, ()), Stream(question.seed, 0, 0))
    return Outcome(_trace(question, sample), max(1, costs.samples), method)


def _proven(question: Question, proof: Proof) -> Outcome | None:
    """Return the outcome of a proof; None if it knows neither plans nor that there are none."""
    best, problem = proof.best, question.problem
    if best is None:
        is_ruled_out = proof.lower_bound == math.inf
        return ruled_out(question)._replace(samples=max(1, proof.steps), method="exact") if is_ruled_out else None
    trace = _trace(question, Sample(Genome(problem.labels(best.plans), best.memory), best.value, best.cost))
    return Outcome(trace, max(1, proof.steps), "exact", best, proof.lower_bound)


def _trace(question: Question, sample: Sample) -> Trace:
    trace = Trace(question.problem, 1, question.progress, question.engine)
    trace.add(sample)
    trace.close()
    return trace


Method = Callable[[Question], Outcome]
HARDWARE_METHODS: dict[str, Method] = {
    "auto": automatic,
    "ga": genetic_algorithm,
    "paper": partial(genetic_algorithm, name="paper"),
    "exact": exact,
    "greedy": fusion,
    "dp": contiguous,
    "idp": iterated,
    "sa": anneal,
}
SPACE_METHODS: dict[str, Method] = {
    "auto": automatic,
    "ga": genetic_algorithm,
    "paper": partial(genetic_algorithm, name="paper"),
    "exact": exact,
    "sa": anneal,
    "random": two_step("random"),
    "grid": two_step("grid"),
}
