"""The two questions: which partition for this hardware, and which memory with which partition (Cocco, Sec. 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from cocco.bounds import gap, lower_bound
from cocco.result import Result, Status
from cocco.search.genome import groups_of
from cocco.search.problem import Problem, on_hardware, over_space
from cocco.search.settings import Settings
from cocco.search.stream import check_seed
from cocco.space import Space
from simulator.accelerator import Accelerator
from simulator.evaluate import evaluate
from simulator.partition import Partition
from simulator.technology import MAX_REGIONS, Technology
from simulator.tiling import TileRule
from workloads.network import Network

if TYPE_CHECKING:
    from cocco.search.trace import Progress, Trace

MAX_SAMPLES = 10**8  #: our choice: hours of the fastest engine; each sample keeps some 30 bytes

Initial = Partition | Sequence[Partition] | Sequence[Sequence[Partition]]


def _genetic(
    problem: Problem,
    samples: int,
    seed: int,
    settings: Settings,
    initial: Sequence[Sequence[int]],
    progress: Progress | None,
    engine: str | None,
    threads: int,
) -> Trace:
    from cocco.search.engine import make_engine
    from cocco.search.genetic import genetic  # here and not above: `import cocco` stays light

    chosen = make_engine(engine, problem, settings, threads)
    return genetic(problem, samples, seed, settings, initial, progress, chosen)


METHODS: dict[str, Callable[..., Trace]] = {"ga": _genetic}


def partition(
    network: Network,
    accelerator: Accelerator,
    *,
    method: str = "ga",
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
) -> Result:
    """Return the best partition found for this hardware: Formula 1 made small (Sec. 4.1.1).

    metric: "ema", "energy" or "latency". initial: partitions to start from. population: genomes per generation,
    in place of the one in settings. engine: "fast" (compiled; the default where it is built) or "reference", with
    the same answers; threads: of the fast engine. progress: called with (samples done, samples in total, best cost
    so far).
    The same arguments give the same result, to the byte. Ctrl-C ends the search with status "stopped".
    """
    problem = on_hardware(network, accelerator, metric=metric, tile_rule=tile_rule)
    settings = settings or Settings()
    if population is not None:
        settings = replace(settings, population=population)
    return _search(problem, method, samples, seed, settings, initial, progress, engine, threads)


def explore(
    networks: Network | Sequence[Network],
    *,
    space: Space | None = None,
    alpha: float = 0.002,
    metric: str = "energy",
    method: str = "ga",
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
) -> Result:
    """Return the best memory found, with a partition of each network on it: Formula 2 made small (Sec. 4.1.2).

    space: SharedBuffer or SeparateBuffers, by default the paper's shared buffer. alpha: bytes per unit of the
    metric. weights: one positive number per network, by default 1. initial: partitions to start from; for several
    networks, tuples of one partition each. The rest as in `partition`.
    """
    problem = over_space(
        networks, space, alpha=alpha, metric=metric, weights=weights, cores=cores, batch=batch,
        max_regions=max_regions, prefetch=prefetch, technology=technology, tile_rule=tile_rule,
    )  # fmt: skip
    return _search(problem, method, samples, seed, settings or Settings(), initial, progress, engine, threads)


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
) -> Result:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if isinstance(samples, bool) or not isinstance(samples, int) or not 1 <= samples <= MAX_SAMPLES:
        raise ValueError(f"samples must be an integer from 1 to {MAX_SAMPLES}, got {samples!r}")
    check_seed(seed)
    if not isinstance(settings, Settings):
        raise ValueError(f"settings must be a cocco.Settings, got {settings!r}")
    start = _initial_labels(problem, initial, min(samples, settings.population))
    trace = METHODS[method](problem, samples, seed, settings, start, progress, engine, threads)
    return judged(problem, trace, method, seed)


def judged(problem: Problem, trace: Trace, method: str, seed: int) -> Result:
    """Return the result of a search, its winner priced again by the simulator.

    Raises RuntimeError if the search priced it differently: one of the two is wrong, and no answer is better.
    """
    best = trace.best
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
    bound = lower_bound(problem)
    status: Status = "optimal" if cost <= bound else "stopped" if trace.is_stopped else "feasible"
    return Result(
        method=method,
        metric=objective.metric,
        seed=seed,
        samples=trace.samples,
        status=status,
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


def _initial_labels(problem: Problem, initial: Initial, most: int) -> list[list[int]]:
    given: list[Partition | Sequence[Partition]] = [initial] if isinstance(initial, Partition) else list(initial)
    if len(given) > most:
        raise ValueError(f"initial must have at most {most} partitions (the first generation), got {len(given)}")
    return [problem.labels([each] if isinstance(each, Partition) else each) for each in given]
