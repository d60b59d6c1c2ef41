"""Which chip to build: machines and memories explored together with the partitions of networks (our extension)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from cocco.bounds.floors.least import gap
from cocco.bounds.kinds import kept_or_not, kinds_of_plans
from cocco.candidates.rounding import SAME
from cocco.chips.answer import ChipsAnswer, answer_of
from cocco.chips.axes import Axes, Value
from cocco.chips.classes import Asked, Classes, without_leakage
from cocco.chips.question import ChipQuestion, check_question
from cocco.chips.search import Answer, Search
from cocco.effort.effort import Effort, FrontFields, effort_of
from cocco.effort.levels import LevelName, level_of
from cocco.effort.settings import Settings
from cocco.effort.status import Interrupted
from cocco.exploration.explore import answered
from cocco.exploration.limits import minimize
from cocco.exploration.question.question import question_of
from cocco.exploration.workers.jobs import helped
from cocco.problem.names import Keep
from cocco.problem.problem import over_space
from cocco.problem.space import SharedBuffer, Space, space_of
from cocco.problem.space import Range
from cocco.search.kernel.choice import engine_name
from simulator.accelerator import Accelerator, Machine, machine_of
from simulator.keywords import check_keywords
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from workloads.network.network import Network


def explore_chips(
    networks: Network | Sequence[Network],
    axes: Mapping[str, Sequence[Value]],
    *,
    minimized: str = "energy",
    exchange: str | None = None,
    limits: Mapping[str, float] | None = None,
    rates: Mapping[str, float] | None = None,
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
    ('optimal', 'pe 4x4', 768)
    """
    check_keywords(explore_chips, fields, FrontFields.__optional_keys__)
    chosen, shared = effort_of(effort, fields), machine_of(machine, fields)
    kept = kept_or_not(keep, shared)
    product = Axes(axes)
    given = over_space(networks, space or SharedBuffer(), machine=shared, weights=weights, tile_rule=tile_rule, keep=kept)
    assert given.space is not None
    chips, left_out = product.chips(shared, space or SharedBuffer())
    question = check_question(
        given.networks, minimized, exchange, limits or {}, rates, given.objective.weights
    )
    engine = engine_name(chosen.engine, given, chosen.threads)
    times = float(level_of(chosen.level).times)
    asked = Asked(given.networks, question.weights, question.metric, tile_rule, kept, engine, times)
    judge = _Judge(question, asked, chosen)
    with helped(chosen):
        search = Search(question, asked, chips, Classes(asked, chips), judge)
        search.run()
    found = answer_of(search, product, left_out, chosen.seed, kinds_of_plans(shared, kept), given.space)
    if search.is_stopped:
        raise Interrupted(found)
    return found


class _Judge:
    """Answers a pair of a machine and a memory in full."""

    def __init__(self, question: ChipQuestion, asked: Asked, effort: Effort) -> None:
        self.question, self.asked, self.effort = question, asked, replace(effort, progress=None)

    def __call__(self, accelerator: Accelerator, plans: tuple[Partition, ...] | None) -> Answer | str | None:
        """Return the best plans found on an accelerator; or the limit that none keeps; None where that is unknown."""
        question, asked = self.question, self.asked
        machine = accelerator if question.rates is None else without_leakage(accelerator)
        sizes = {name: (size,) for name, size in _buffers(machine).items()}
        problem = asked.problem(machine.machine, sizes)
        problem = replace(
            problem, accelerator=machine, buffers={}, objective=replace(problem.objective, alpha=None)
        )
        effort = replace(self.effort, initial=(plans,) if plans else ())
        result, _ = answered(question_of(problem, effort, Settings()), "auto", effort, 0.0)
        if not result.plans:
            return "memory" if result.status == "infeasible" else None
        least = result.lower_bound or 0.0
        evaluations = self._on(accelerator, result.plans)
        broken = question.broken(accelerator, evaluations)
        if broken == "power":
            return broken if result.status == "optimal" else None
        if broken:
            return self._limited(machine, accelerator, least)
        return Answer(self._cost(accelerator, result.cost), result.plans, evaluations, least, result.placed)

    def _on(self, accelerator: Accelerator, plans: Sequence[Partition]) -> tuple[Any, ...]:
        problem = self.asked.problem(accelerator.machine, {name: (size,) for name, size in _buffers(accelerator).items()})
        return problem.evaluations(plans, accelerator)

    def _cost(self, accelerator: Accelerator, value: float) -> float:
        return self.question.fixed(accelerator) + self.question.scale(accelerator) * value

    def _limited(self, machine: Accelerator, accelerator: Accelerator, least: float) -> Answer | str | None:
        """Return the best plans within the limits, which the best of all break; or as above."""
        question, asked = self.question, self.asked
        bounds: list[dict[str, float]] = [{} for _ in question.networks]
        together: dict[str, float] = {}
        for each in question.of_plans:
            most = each.at(accelerator)
            if each.network is not None:
                bounds[each.network][each.name] = min(most, bounds[each.network].get(each.name, math.inf))
            elif question.rates is not None or len(question.networks) == 1:
                for one in bounds:
                    one[each.name] = min(most, one.get(each.name, math.inf))
            else:
                together[each.name] = most
        is_apart = any(bounds) and not together
        metric = "latency" if asked.metric == "latency-sum" else asked.metric
        if is_apart:
            parts = [self._least([i], [1.0], metric, most, machine) for i, most in enumerate(bounds)]
        else:
            if question.rates is not None:
                together["latency"] = accelerator.technology.clock_ghz * 1e9 * accelerator.batch
            parts = [self._least(range(len(question.networks)), asked.weights, metric, together, machine)]
        for each in parts:
            if not isinstance(each, tuple):
                return each
        plans: list[Partition] = []
        value = least_of = 0.0
        for i, (found, each, bound) in enumerate(parts):
            weight = asked.weights[i] if is_apart else 1.0
            plans, value, least_of = plans + list(found), value + weight * each, least_of + weight * bound
        evaluations = self._on(accelerator, plans)
        broken = question.broken(accelerator, evaluations)
        if broken:
            return None
        return Answer(self._cost(accelerator, value), tuple(plans), evaluations, max(least, least_of), None)

    def _least(
        self, which: Sequence[int], weights: Sequence[float], metric: str, most: Mapping[str, float], machine: Accelerator
    ) -> Any:
        """Return plans of some networks with the least of a metric within limits, their value, and a bound; or why not."""
        networks = [self.question.networks[i] for i in which]
        if not most:
            most = {"capacity": float(machine.buffer_bytes)}
        space = space_of({name: Range(size, size, size) for name, size in _buffers(machine).items()})
        found = minimize(
            networks, metric, most, space=space, machine=machine.machine, weights=list(weights),
            tile_rule=self.asked.tile_rule, keep=self.asked.keep, effort=replace(self.effort, samples=min(self.effort.samples, 2000)),
        )
        if found.best is None or found.value is None:
            return next(iter(most)) if found.status == "infeasible" else None
        return found.best.plans, found.value, found.lower_bound or 0.0


def _buffers(accelerator: Accelerator) -> dict[str, int]:
    names = ("shared_buffer",) if accelerator.is_shared else ("global_buffer", "weight_buffer")
    return {name: getattr(accelerator, name) for name in names}
