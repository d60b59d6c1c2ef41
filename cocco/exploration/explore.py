"""The two questions: which partition for this hardware, and which memory with which partition (Cocco, Sec. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from cocco.bounds.least import gap, lower_bound
from cocco.exploration.result import Result
from cocco.problem.genome import groups_of
from cocco.problem.problem import Problem, on_hardware, over_space
from cocco.problem.settings import Settings
from cocco.problem.space import Space
from cocco.problem.status import Status
from cocco.problem.stream import check_seed
from simulator.accelerator import Accelerator
from simulator.evaluate import evaluate
from simulator.mapping.mappers import Mapper
from simulator.model.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.technology import MAX_REGIONS, Technology
from workloads.network.network import Network

if TYPE_CHECKING:
    from cocco.exploration.methods import Answer
    from cocco.search.genetic.trace import Progress

MAX_SAMPLES = 10**8  #: our choice: hours of the fastest engine; each sample keeps some 30 bytes

Initial = Partition | Sequence[Partition] | Sequence[Sequence[Partition]]


def partition(
    network: Network,
    accelerator: Accelerator,
    *,
    method: str = "auto",
    metric: str = "ema",
    samples: int = 50_000,
    seed: int = 0,
    tile_rule: TileRule = "exact",
    initial: Initial = (),
    population: int | None = None,
    engine: str | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    settings: Settings | None = None,
    prove: bool = False,
) -> Result:
    """Return the best partition found for this hardware: Formula 1 made small (Sec. 4.1.1).

    method: "auto" (exact where it finishes soon, else ga), "ga", "exact", "greedy", "dp", "idp" or "sa"
    (cocco.exploration.methods).
    metric: "ema", "energy" or "latency". initial: partitions to start from. population: genomes per generation,
    in place of the one in settings, of which at most half are its elite. prove: where the optimum is not proven, find a
    better lower bound by solvers, which takes minutes (docs/bounds.md; extra "solvers"). engine: "fast" (compiled; the
    default where it is built) or "reference", with the same answers; threads: of the fast engine. progress: called with
    (samples done, samples in total, best cost so far).
    The same arguments give the same result, to the byte. Ctrl-C ends the search with status "stopped".
    """
    problem = on_hardware(network, accelerator, metric=metric, tile_rule=tile_rule)
    settings = settings or Settings()
    if population is not None:
        elite = min(settings.elite, population // 2) if isinstance(population, int) else settings.elite
        settings = replace(settings, population=population, elite=elite)
    return _search(problem, method, samples, seed, settings, initial, progress, engine, threads, prove)


def explore(
    networks: Network | Sequence[Network],
    *,
    space: Space | None = None,
    alpha: float = 0.002,
    metric: str = "energy",
    method: str = "auto",
    samples: int = 50_000,
    seed: int = 0,
    weights: Sequence[float] | None = None,
    cores: int = 1,
    batch: int = 1,
    max_regions: int | None = MAX_REGIONS,
    prefetch: Literal["free", "resident"] = "free",
    technology: Technology | None = None,
    tile_rule: TileRule = "exact",
    initial: Initial = (),
    engine: str | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    settings: Settings | None = None,
    prove: bool = False,
    check_addresses: bool = False,
    mapper: Mapper | None = None,
) -> Result:
    """Return the best memory found, with a partition of each network on it: Formula 2 made small (Sec. 4.1.2).

    method: "auto" (ga, then a proof where enumeration finishes soon), "ga", "exact", "sa", "random" or "grid".
    space: SharedBuffer or SeparateBuffers, by default the paper's shared buffer. alpha: bytes per unit of the
    metric. weights: one positive number per network, by default 1. initial: partitions to start from; for several
    networks, tuples of one partition each. check_addresses: split what fits by its bytes but has no addresses
    (cocco.exploration.addresses). mapper: as in `simulator.Accelerator`; one that looks at tiles searches with the
    reference engine. The rest as in `partition`.
    """
    problem = over_space(
        networks, space, alpha=alpha, metric=metric, weights=weights, cores=cores, batch=batch,
        max_regions=max_regions, prefetch=prefetch, technology=technology, tile_rule=tile_rule, mapper=mapper,
    )  # fmt: skip
    settings = settings or Settings()
    result = _search(problem, method, samples, seed, settings, initial, progress, engine, threads, prove)
    if not check_addresses or not result.plans:
        return result
    from cocco.exploration.addresses import with_addresses

    return with_addresses(problem, result)


def _search(
    problem: Problem,
    method: str,
    samples: int,
    seed: int,
    settings: Settings,
    initial: Initial,
    progress: Progress | None,
    engine: str | None,
    threads: int,
    prove: bool,
) -> Result:
    if isinstance(samples, bool) or not isinstance(samples, int) or not 1 <= samples <= MAX_SAMPLES:
        raise ValueError(f"samples must be an integer from 1 to {MAX_SAMPLES}, got {samples!r}")
    check_seed(seed)
    if not isinstance(settings, Settings):
        raise ValueError(f"settings must be a cocco.Settings, got {settings!r}")
    from cocco.exploration import methods as known
    from cocco.search.kernel.choice import engine_name

    methods = known.SPACE_METHODS if problem.buffers else known.HARDWARE_METHODS
    if method not in methods:
        raise ValueError(f"method must be one of {', '.join(methods)}, got {method!r}")
    start = _initial_labels(problem, initial, min(samples, settings.population))
    name = engine_name(engine, problem, threads)
    question = known.Question(problem, samples, seed, settings, start, progress, name, threads)
    if prove:
        from cocco.bounds import check_solvers

        check_solvers()
    answer = known.answer(methods[method], question)
    return judged(problem, known.certified(problem, answer) if prove else answer, seed)


def judged(problem: Problem, answer: Answer, seed: int) -> Result:
    """Return the result of a search, its winner priced again by the simulator.

    Raises RuntimeError if the search priced it differently: one of the two is wrong, and no answer is better.
    """
    trace, proof = answer.trace, answer.proof
    best = trace.best if proof is None or proof.best is None else proof.best
    machine = problem.machine(best.genome.capacities)
    plans = problem.partitions(groups_of(best.genome.labels))
    evaluations = tuple(
        evaluate(network, plan, machine, problem.tile_rule) for network, plan in zip(problem.networks, plans)
    )
    objective = problem.objective
    cost = objective.cost(objective.judged(evaluations), machine)
    if cost != best.cost:
        raise RuntimeError(
            f"the search priced its winner at {best.cost!r}, the simulator at {cost!r} ({objective.metric}); "
            "please report this with the network and the seed"
        )
    bound = lower_bound(problem) if proof is None else proof.lower_bound
    return Result(
        method="exact" if cost < trace.best.cost else answer.method,
        metric=objective.metric,
        seed=seed,
        samples=answer.samples,
        status=_status(answer, cost, bound),
        cost=cost,
        alpha=objective.alpha,
        accelerator=machine,
        plans=plans,
        evaluations=evaluations,
        weights=objective.weights,
        lower_bound=bound,
        gap=gap(cost, bound),
        engine=trace.engine,
        history=trace.history(),
        points=trace.points(),
    )


def _status(answer: Answer, cost: float, bound: float) -> Status:
    if cost <= bound:
        return "optimal"
    if answer.trace.is_stopped:
        return "stopped"
    return "gave_up" if answer.gave_up else "feasible"


def _initial_labels(problem: Problem, initial: Initial, most: int) -> list[list[int]]:
    given: list[Partition | Sequence[Partition]] = [initial] if isinstance(initial, Partition) else list(initial)
    if len(given) > most:
        raise ValueError(f"initial must have at most {most} partitions (the first generation), got {len(given)}")
    return [problem.labels([each] if isinstance(each, Partition) else each) for each in given]
