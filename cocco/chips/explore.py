"""Which chip to build: machines and memories explored together with the partitions of networks (our extension)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Unpack, get_args

from cocco.bounds.kinds import kept_or_not, kinds_of_plans
from cocco.chips.answer import ChipsAnswer, answer_of
from cocco.chips.axes import Axes, Chip, Value, with_prices
from cocco.chips.classes import Asked, Classes, Sizes
from cocco.chips.evolved import evolve
from cocco.chips.question import ChipQuestion, check_question
from cocco.chips.search import Answer, Search
from cocco.chips.sensitivity import shifts
from cocco.effort.effort import Effort, FrontFields, effort_of
from cocco.effort.levels import LevelName, level_of
from cocco.effort.settings import Settings
from cocco.effort.status import Interrupted
from cocco.exploration.answers.result import Result
from cocco.exploration.explore import answered
from cocco.exploration.limits import minimize
from cocco.exploration.question.question import Question, question_of
from cocco.exploration.ties.settled import settled
from cocco.exploration.workers.jobs import helped
from cocco.problem.criteria import of_a_sum
from cocco.problem.names import ChipMethod, Keep
from cocco.problem.problem import Problem, in_memory, over_space
from cocco.problem.space import Range, SharedBuffer, Space, space_of
from cocco.search.kernel.choice import engine_name
from simulator.accelerator import Accelerator, Machine, machine_of
from simulator.evaluation import Evaluation, evaluate
from simulator.keywords import check_keywords
from simulator.metrics import METRIC_NAMES
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from workloads.network.network import Network

FEWER = 4  #: times fewer samples has the search for the memory of a machine that no proof reaches; our choice
MOST_ALPHA = 1e6  #: bytes for a unit of the metric, where nothing is paid for the chip; our choice
SAMPLES = 2_000  #: of a search under limits, beside its proof; our choice


def explore_chips(
    networks: Network | Sequence[Network],
    axes: Mapping[str, Sequence[Value]],
    *,
    minimized: str = "energy",
    exchange: str | None = None,
    limits: Mapping[str, float] | None = None,
    rates: Mapping[str, float] | None = None,
    idle: float = 1.0,
    method: ChipMethod = "auto",
    sensitivity: bool = False,
    space: Space | None = None,
    machine: Machine | None = None,
    weights: Sequence[float] | None = None,
    tile_rule: TileRule = "exact",
    keep: Keep | None = None,
    effort: Effort | LevelName | None = None,
    **fields: Unpack[FrontFields],
) -> ChipsAnswer:
    """Return the chip to build: the machine and memory of least cost, with a partition of each network.

    Parameters
    ----------
    networks, space, weights, tile_rule, keep, effort, **fields
        As in `explore`. The space is a range of buffers for all machines; it is not extended.
    axes
        By axis its values, as {"pe": [(4, 4), (8, 8)], "cores": [1, 2], "dram": ["lpddr5", "hbm2e"]}
        (`cocco.chips.axes`).
    machine
        What no axis names. What logic costs is in its technology (docs/chips.md); by default it costs nothing.
    minimized
        "energy" (of a sample, pJ), "ema" (bytes), "latency" (of a batch, ns, the sum over subgraphs), "power" (mW, at
        the rates), "area" (mm2 of the chip), "price" ($), "capacity" (bytes of all cores) or "leakage" (mW of buffers).
    exchange
        What a mm2 or a dollar of the whole chip is worth, such as "0.5mJ/mm2" or "2mJ/$"; or a byte of all buffers.
    limits
        The most of each, in the units above; a latency in cycles. Of one network: {"resnet50.latency": 2e7}.
    rates
        Frames a second of each network: then the chip leaks all the time, and all that is asked of it must fit in it.
    idle
        The share of all that leaks (buffers, logic, DRAM's background) that goes on while nothing runs; 0: all is off.
    method
        "auto" proves the answer by bounds that machines share. "ga" is one genetic algorithm over machines, memories
        and partitions, whose genome has a gene for each axis (`cocco.chips.genes`), and proves nothing.
    sensitivity
        Whether to ask again with numbers of the hardware halved and doubled (`cocco.chips.sensitivity`).

    Raises
    ------
    ValueError, TypeError, RuntimeError, Interrupted
        As in `explore`.

    Examples
    --------
    >>> import cocco, workloads
    >>> from simulator import Machine, Technology
    >>> from simulator.chip.logic import NVDLA
    >>> machine = Machine(technology=Technology(logic=NVDLA))
    >>> found = cocco.explore_chips(
    ...     workloads.load("vgg16"), {"pe": [(4, 4), (8, 8)]}, machine=machine, exchange="0.5mJ/mm2", keep="none",
    ...     space=cocco.SharedBuffer(256 * 2**10, 1024 * 2**10, 256 * 2**10))
    >>> found.status, found.chip.name, found.accelerator.shared_buffer // 2**10
    ('optimal', 'pe 4x4', 1024)
    """
    check_keywords(explore_chips, fields, FrontFields.__optional_keys__)
    if method not in get_args(ChipMethod):
        raise ValueError(
            f"method must be one of {', '.join(get_args(ChipMethod))} where machines are chosen, got {method!r}"
        )
    chosen, shared = effort_of(effort, fields), machine_of(machine, fields)
    kept = kept_or_not(keep, shared)
    product, ranges = Axes(axes), space or SharedBuffer()
    given = over_space(networks, ranges, machine=shared, weights=weights, tile_rule=tile_rule, keep=kept)
    chips, left_out = product.chips(shared, ranges)
    question = check_question(given.networks, minimized, exchange, limits or {}, rates, given.objective.weights, idle)
    if question.asks_price:
        chips = with_prices(chips, left_out)
    engine = engine_name(chosen.engine, given, chosen.threads)
    times = float(level_of(chosen.level).times)
    asked = Asked(given.networks, question.weights, question.metric, tile_rule, kept, engine, times)
    judge = _Judge(question, asked, chosen)
    with helped(chosen):
        search = Search(question, asked, chips, Classes(asked, chips), judge)
        samples = 0
        if method == "ga":
            samples = evolve(search, chosen)
        else:
            search.run()
        found = answer_of(search, product, left_out, chosen.seed, kinds_of_plans(shared, kept), method, samples)
        if sensitivity and not search.is_stopped:
            try:
                found = replace(found, shifts=shifts(search))
            except KeyboardInterrupt:
                raise Interrupted(found) from None
    if search.is_stopped:
        raise Interrupted(found)
    return found


class _Judge:
    """Answers a pair of a machine and a memory in full."""

    def __init__(self, question: ChipQuestion, asked: Asked, effort: Effort) -> None:
        self.question, self.asked, self.effort = question, asked, replace(effort, progress=None)
        self._found: dict[Accelerator, tuple[Question, Result]] = {}

    def __call__(self, accelerator: Accelerator, plans: tuple[Partition, ...] | None) -> Answer | str | None:
        """Return the best plans found on an accelerator; or the limit that none keeps; None where that is unknown."""
        question = self.question
        machine = question.judging(accelerator)
        problem = self._on(machine)
        effort = replace(self.effort, initial=(plans,) if plans else ())
        within = question_of(problem, effort, Settings())
        result, _ = answered(within, "auto", effort, None)
        if not result.plans:
            return "memory" if result.status == "infeasible" else None
        least, evaluations = result.lower_bound or 0.0, self._evaluated(accelerator, result.plans)
        broken = question.broken(accelerator, evaluations)
        if broken == "power":
            return broken if result.status == "optimal" else None
        if broken:
            return self._limited(machine, accelerator, least)
        self._found[accelerator] = within, result
        return self._answer(accelerator, evaluations, least, result.placed)

    def settled(self, accelerator: Accelerator, answer: Answer) -> Answer:
        """Return an answer, or plans that cost as little there and take less energy."""
        if accelerator not in self._found:
            return answer
        question, found = self._found[accelerator]
        result = settled(question, found, 0.0, self.effort.check_addresses, lambda: found)
        evaluations = self._evaluated(accelerator, result.plans)
        if self.question.broken(accelerator, evaluations):
            return answer
        return self._answer(accelerator, evaluations, answer.least, result.placed)

    def promising(self, chip: Chip, memories: Sequence[Sizes]) -> tuple[Sizes, tuple[Partition, ...]] | None:
        """Return one of these memories of a machine, with plans, that a search finds; None where it finds none.

        A mm2 is worth there what it is from the smallest candidate to the largest.
        """
        question = self.question
        machine = question.judging(chip.machine)
        buffers = {name: tuple(sorted(set(sizes))) for name, sizes in zip(chip.buffers, zip(*memories))}
        problem = self.asked.problem(machine, buffers)
        ends = [problem.accelerator_of([at] * len(problem.buffers)) for at in (0, -1)]
        paid, size = (
            of(ends[1]) - of(ends[0])
            for of in (question.paid, lambda each: float(problem.objective.buffer_bytes(each)))
        )
        alpha = min(MOST_ALPHA, question.scale(ends[0]) * size / paid) if paid > 0 else MOST_ALPHA
        problem = replace(problem, objective=replace(problem.objective, alpha=alpha))
        effort = replace(self.effort, samples=max(1, self.effort.samples // FEWER), ranges=False)
        result, _ = answered(question_of(problem, effort, Settings()), "ga", effort, None, certifies=False)
        sizes = tuple(getattr(result.accelerator, name) for name in chip.buffers)
        return (sizes, result.plans) if result.plans and sizes in memories else None

    def priced(self, accelerator: Accelerator, plans: Sequence[Partition]) -> Answer | None:
        """Return plans as they are on a chip; None where they break a limit."""
        evaluations = self._evaluated(accelerator, plans)
        if self.question.broken(accelerator, evaluations):
            return None
        return self._answer(accelerator, evaluations, 0.0, None)

    def improved(self, accelerator: Accelerator, plans: tuple[Partition, ...], samples: int) -> Answer | None:
        """Return the best that a search from plans finds on a chip, without a proof; None where all break a limit."""
        known = self.priced(accelerator, plans)
        problem = self._on(self.question.judging(accelerator))
        effort = replace(self.effort, samples=samples, initial=(plans,))
        result, _ = answered(question_of(problem, effort, Settings()), "ga", effort, None, certifies=False)
        found = self.priced(accelerator, result.plans) if result.plans else None
        if found is None or (known is not None and known.beats(found)):
            return known
        return found._replace(placed=result.placed)

    def _on(self, accelerator: Accelerator) -> Problem:
        problem = self.asked.problem(
            accelerator.machine, {name: (size,) for name, size in _buffers(accelerator).items()}
        )
        return in_memory(problem, [0] * len(problem.buffers))

    def _evaluated(self, accelerator: Accelerator, plans: Sequence[Partition]) -> tuple[Evaluation, ...]:
        """Return plans on the machine as it leaks, which may choose other tiles; at rates the least without that."""
        found = []
        for network, plan in zip(self.question.networks, plans):
            metrics = METRIC_NAMES if self.question.rates is not None and not plan.keep else (plan.metric,)
            every = [
                evaluate(network, replace(plan, metric=metric), accelerator, self.asked.tile_rule) for metric in metrics
            ]
            found.append(min((each for each in every if each.fits), key=self.question.value))
        return tuple(found)

    def _answer(
        self, accelerator: Accelerator, evaluations: tuple[Evaluation, ...], least: float, placed: bool | None
    ) -> Answer:
        cost = self.question.cost(accelerator, evaluations)
        return Answer(cost, tuple(each.plan for each in evaluations), evaluations, least, placed)

    def _limited(self, machine: Accelerator, accelerator: Accelerator, least: float) -> Answer | str | None:
        """Return the best plans within the limits, which the best of all break; or as above."""
        question, asked = self.question, self.asked
        apart, together = self._limits(accelerator)
        is_apart = any(apart) and not together
        if is_apart:
            parts = [self._least([i], most, machine) for i, most in enumerate(apart)]
        else:
            if question.rates is not None:
                together["latency-sum"] = accelerator.technology.clock_ghz * 1e9 * accelerator.batch
            parts = [self._least(range(len(question.networks)), together, machine)]
        plans, bound = list[Partition](), 0.0
        for i, part in enumerate(parts):
            if part is None or isinstance(part, str):
                return part
            plans, bound = plans + list(part.plans), bound + (asked.weights[i] if is_apart else 1.0) * part.bound
        evaluations = self._evaluated(accelerator, plans)
        if question.broken(accelerator, evaluations):
            return None
        return self._answer(accelerator, evaluations, max(least, bound), None)

    def _limits(self, accelerator: Accelerator) -> tuple[list[dict[str, float]], dict[str, float]]:
        """Return the limits of each network by itself, and those of all together."""
        question = self.question
        apart: list[dict[str, float]] = [{} for _ in question.networks]
        together: dict[str, float] = {}
        for each in question.of_plans:
            most, name = each.at(accelerator), of_a_sum(each.name)
            of = range(len(apart)) if each.network is None else [each.network]
            if each.network is None and question.rates is None and len(apart) > 1:
                together[name] = most
                continue
            for i in of:
                apart[i][name] = min(most, apart[i].get(name, math.inf))
        return apart, together

    def _least(self, which: Sequence[int], most: Mapping[str, float], machine: Accelerator) -> _Least | str | None:
        """Return the least of the metric of some networks within limits; or which of them none keeps; or as above."""
        networks, sizes = [self.question.networks[i] for i in which], _buffers(machine)
        found = minimize(
            networks, self.asked.metric, most or {"capacity": float(machine.buffer_bytes)}, machine=machine.machine,
            space=space_of({name: Range(size, size, size) for name, size in sizes.items()}),
            weights=[self.asked.weights[i] for i in which] if len(networks) > 1 else None,
            tile_rule=self.asked.tile_rule, keep=self.asked.keep,
            effort=replace(self.effort, samples=min(self.effort.samples, SAMPLES)),
        )  # fmt: skip
        if found.best is None or found.value is None:
            return next(iter(most)) if found.status == "infeasible" else None
        return _Least(found.best.plans, found.lower_bound or 0.0)


class _Least(NamedTuple):
    """Plans with the least of a metric within limits, and a value that no plan within them undercuts."""

    plans: tuple[Partition, ...]
    bound: float


def _buffers(accelerator: Accelerator) -> dict[str, int]:
    names = ("shared_buffer",) if accelerator.is_shared else ("global_buffer", "weight_buffer")
    return {name: getattr(accelerator, name) for name in names}
