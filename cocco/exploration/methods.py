"""The methods by name: each answers a checked problem with a trace of samples, and what it proved."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from cocco.bounds.certificate import unless_refuted
from cocco.bounds.enumeration import AGAIN, QUICK_PER_LAYER, QUICK_STEPS, QUICK_TOTAL, Proof, prove
from cocco.bounds.least import lower_bound
from cocco.candidates.genome import Genome
from cocco.candidates.stream import Stream
from cocco.effort.planned import Planned
from cocco.effort.stages import tell
from cocco.effort.status import Unfinished
from cocco.effort.work_units import once
from cocco.exploration.divided_search import divided_search, is_divided
from cocco.exploration.founders import Founders, founders
from cocco.exploration.one_search import one_search
from cocco.exploration.polish import polish
from cocco.exploration.question import Question
from cocco.problem.names import HardwareMethod, SpaceMethod
from cocco.problem.problem import Problem
from cocco.search.baselines.annealing import annealing
from cocco.search.baselines.dynamic import depth_order, dynamic
from cocco.search.baselines.greedy import greedy
from cocco.search.baselines.two_step import Partitioned, grid_search, random_search
from cocco.search.exact.window import MAX_STEPS
from cocco.search.genetic.engine import make_engine
from cocco.search.genetic.genetic import genetic
from cocco.search.genetic.trace import Trace
from cocco.search.pricing.compiled import subgraph_costs
from cocco.search.pricing.genomes import Pricer, Sample
from cocco.search.pricing.subgraphs import SubgraphCosts


class Outcome(NamedTuple):
    """The samples, how many were priced, by which method; `proof` where enumeration was tried.

    Samples of exact are the subgraphs that it tried (more than the genomes they would make); those of greedy and dp are
    the layers priced over the layers of the network. With kept tensors `planned` is the answer and `bound` a cost that
    no plan undercuts; then samples of exact are the steps of its search.
    """

    trace: Trace
    samples: int
    method: str
    proof: Proof | None = None
    gave_up: bool = False
    planned: Planned | None = None
    bound: float = 0.0

    @property
    def best(self) -> Sample:
        """The cheapest sample without kept tensors."""
        return self.trace.best if self.proof is None or self.proof.best is None else self.proof.best

    @property
    def is_open(self) -> bool:
        """Whether it is unknown if any plan runs: none was found or ruled out, and the user did not stop the search."""
        if self.planned is not None:
            cost, bound = self.planned.cost, self.bound
        else:
            cost, bound = self.best.cost, 0.0 if self.proof is None else self.proof.lower_bound
        return cost == math.inf > bound and not self.trace.is_stopped

    @property
    def is_proven(self) -> bool:
        """Whether the answer with kept tensors is the cheapest there is."""
        return self.planned is not None and self.planned.cost <= self.bound


def answer(method: HardwareMethod | SpaceMethod, question: Question, is_start: bool = False) -> Outcome:
    """Return the method's answer; if Ctrl-C comes before it has one, what it had built so far, else layer by layer.

    is_start: another search starts from the answer, so a proof would be useless.
    """
    known = SPACE_METHODS if question.problem.buffers else HARDWARE_METHODS
    try:
        return automatic(question, is_start) if method == "auto" else known[method](question)
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
    return Outcome(_trace(question, sample), 1, "layerwise", Proof(sample, math.inf, True, 0))


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
    """Enumerate where a small budget suffices, else search: so most answers come back proven (our choice).

    On given hardware the enumeration comes first, and nothing is searched if it finishes. Where the memory is chosen,
    the search comes first: its best cost rules out most memories, and its samples show how the cost falls. As the start
    of another search, only what is solved quickly is enumerated.
    """
    if question.problem.buffers:
        found = search(question)
        if found.trace.is_stopped:
            return found
        most = QUICK_PER_LAYER * question.problem.size
        steps, total = question.budget(QUICK_STEPS), question.budget(min(QUICK_TOTAL, most) if is_start else most)
        proof = prove(question.problem, found.trace.best, question.engine, steps, total)
        found.trace.is_stopped = proof.is_stopped
        return found._replace(proof=proof)
    steps = question.budget(QUICK_STEPS)
    proof = prove(question.problem, None, question.engine, steps, AGAIN * steps)
    if proof.is_stopped:
        return layerwise(question)
    return _proven(question, proof) if proof.best is not None else search(question)


def search(question: Question) -> Outcome:
    """The genetic algorithm (Cocco, Sec. 4.4) from founders, whose work counts among the samples."""
    found = Founders([], 0)
    if question.settings.seeds:
        asked = question.problem, question.engine, question.settings.islands, question.samples, question.seed
        found = once(founders, *asked)
    trace = (divided_search if is_divided(question) else one_search)(question, found)
    return Outcome(trace, trace.samples, "ga")


def enumeration(question: Question) -> Outcome:
    """The exact method (Cocco, Sec. 4.2.1): proven, or "gave_up" with the best of greedy and dynamic programming.

    Ctrl-C on given hardware leaves greedy's partition.
    """
    proof = prove(question.problem, None, question.engine, MAX_STEPS, 4 * MAX_STEPS)
    if proof.is_stopped:
        if proof.best is not None:
            found = _proven(question, proof)
        elif question.problem.buffers:
            return layerwise(question)
        else:
            found = fusion(question)
        found.trace.is_stopped = True
        return found._replace(method="exact")
    if proof.best is not None:
        return _proven(question, proof)._replace(gave_up=not proof.is_optimal)
    if question.problem.buffers:
        found = search(question)
    else:
        found = min((fusion(question), contiguous(question)), key=lambda each: each.trace.best.cost)
    return found._replace(method="exact", gave_up=True)


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
    proof = answer.proof or Proof(None, lower_bound(problem), False, 0)
    if answer.trace.is_stopped or proof.is_optimal or answer.best.cost == math.inf:
        return answer
    best = answer.best
    try:
        tell("bound by solvers", best=best.cost, bound=proof.lower_bound)
        found = once(_certified, problem, best.genome.labels, effort, best.cost)
    except KeyboardInterrupt:
        answer.trace.is_stopped = True
        return answer
    bound = max(proof.lower_bound, unless_refuted(found, best.cost, proof.lower_bound))
    return answer._replace(proof=proof._replace(lower_bound=bound, is_optimal=bound >= best.cost))


def _of_labels(question: Question, labels: list[int], costs: SubgraphCosts, method: str) -> Outcome:
    """Return the outcome of a single partition."""
    problem = question.problem
    sample = Pricer(problem).evaluate(Genome(labels, ()), Stream(question.seed, 0, 0))
    return Outcome(_trace(question, sample), max(1, costs.samples), method)


def _proven(question: Question, proof: Proof) -> Outcome:
    assert proof.best is not None
    return Outcome(_trace(question, proof.best), max(1, proof.transitions), "exact", proof)


def _trace(question: Question, sample: Sample) -> Trace:
    trace = Trace(question.problem, 1, question.progress, question.engine)
    trace.add(sample)
    trace.close()
    return trace


Method = Callable[[Question], Outcome]
HARDWARE_METHODS: dict[str, Method] = {
    "auto": automatic,
    "ga": search,
    "exact": enumeration,
    "greedy": fusion,
    "dp": contiguous,
    "idp": iterated,
    "sa": anneal,
}
SPACE_METHODS: dict[str, Method] = {
    "auto": automatic,
    "ga": search,
    "exact": enumeration,
    "sa": anneal,
    "random": two_step("random"),
    "grid": two_step("grid"),
}
