"""The front over machines, memories and plans by NSGA-II: chips that no other found is better than in all criteria."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from cocco.bounds.kinds import kinds_of_plans
from cocco.candidates.genome import groups_of
from cocco.chips.axes import Axes, Chip, Value, with_prices
from cocco.chips.classes import Asked
from cocco.chips.genes import Machines
from cocco.chips.question import COLUMNS, METRICS, OF_CHIP, OF_PLANS, ChipQuestion
from cocco.effort.effort import Effort, FrontFields, effort_of
from cocco.effort.levels import LevelName
from cocco.effort.shown import Shown
from cocco.effort.status import Interrupted, Status
from cocco.exploration.answers.front import buffer_bytes
from cocco.exploration.pareto import FRONT_SETTINGS
from cocco.exploration.question.question import question_of
from cocco.exploration.searching.cloud import searched
from cocco.exploration.workers.jobs import helped
from cocco.problem.criteria import of_a_sum
from cocco.problem.plane import Plane
from cocco.problem.problem import Problem, over_space
from cocco.problem.space import SharedBuffer, Space
from cocco.search.genetic.engine import Engine
from cocco.search.genetic.nsga import Cloud
from simulator.accelerator import Accelerator, Machine, machine_of
from simulator.evaluation import Evaluation
from simulator.keywords import check_keywords
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from workloads.network.network import Network

if TYPE_CHECKING:
    import pandas

SETTINGS = replace(FRONT_SETTINGS, polish=0.75)
"""Our choice: with 0.25 and 0.5 one of three seeds misses a partition that 2 % of ResNet50's volume hangs on."""
UNITS = {
    "area": "area_mm2", "price": "usd", "capacity": "capacity_bytes", "leakage": "leakage_mw", "energy": "energy_pj",
    "ema": "ema_bytes", "latency": "latency_ns",
}  # fmt: skip  #: the column of each objective; energy and traffic are of a sample, latency of a batch


class ChipPoint(NamedTuple):
    """A chip with a plan of each network; values in the order of the objectives, as the simulator judges them."""

    values: tuple[float, ...]
    chip: Chip
    accelerator: Accelerator
    plans: tuple[Partition, ...]
    evaluations: tuple[Evaluation, ...]


@dataclass(frozen=True, eq=False, repr=False)
class ChipsFront(Shown):
    """Chips that nothing else found is better than, ascending by the first objective.

    status: "feasible", "gave_up" (no plan was found that runs) or "stopped".

    Examples
    --------
    >>> import cocco, workloads
    >>> front = cocco.pareto_chips(
    ...     workloads.load("vgg16"), {"pe": [(4, 4), (8, 8)]}, samples=500,
    ...     space=cocco.SharedBuffer(512 * 2**10, 1024 * 2**10, 512 * 2**10))
    >>> front.objectives, front.machines, front.status
    (('area', 'energy', 'latency'), 2, 'feasible')
    """

    networks: tuple[str, ...]
    objectives: tuple[str, ...]
    status: Status
    found: tuple[ChipPoint, ...]
    machines: int
    left_out: Mapping[str, int]  #: by rule how many machines of the product cannot be built
    samples: int
    seed: int
    kinds: tuple[str, ...]  #: the kinds of plans
    engine: str

    def facts(self) -> dict[str, object]:
        """Return the networks, the objectives, and how many points were found in how many samples."""
        return {
            "networks": ", ".join(self.networks), "status": self.status, "objectives": ", ".join(self.objectives),
            "machines": self.machines, "points": len(self.found), "samples": self.samples,
        }  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        """Return of each point its axes, the bytes of its buffers, its subgraphs and its objectives."""
        return [
            each.chip.texts | buffer_bytes(each.accelerator) | {"subgraphs": sum(map(len, each.plans))}
            | dict(zip((UNITS[name] for name in self.objectives), each.values))
            for each in self.found
        ]  # fmt: skip

    def to_frame(self) -> pandas.DataFrame:
        """Return one row per point."""
        import pandas

        return pandas.DataFrame(self.rows())

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco pareto --axis --json` prints."""
        plans = [
            {"partitions": {plan.network_name: [list(names) for names in plan.names] for plan in each.plans}}
            for each in self.found
        ]
        return {
            "networks": list(self.networks), "method": "nsga2", "objectives": list(self.objectives),
            "status": self.status, "seed": self.seed, "samples": self.samples, "space": list(self.kinds),
            "machines": self.machines, "left_out": dict(self.left_out),
            "front": [row | plan for row, plan in zip(self.rows(), plans)],
        }  # fmt: skip


class _ChipPlane(Plane):
    """The criteria of a question over machines."""

    def __init__(self, machines: Machines, names: Sequence[str]) -> None:
        super().__init__(machines.problem, list(map(of_a_sum, names)))
        self.of, question, self.sizes = machines, machines.question, len(machines.sizes)
        self.questions = [ChipQuestion(question.networks, question.weights, name) for name in names]

    def machine(self, capacities: Sequence[int]) -> Accelerator:
        return self.of.accelerator(capacities)

    def given(self, capacities: Sequence[int]) -> Problem:
        return self.of.given(capacities)

    def values(self, capacities: np.ndarray, metrics: dict[str, np.ndarray]) -> np.ndarray:
        columns = np.empty((len(capacities), len(self.names)))
        for row, positions in enumerate(capacities.tolist()):
            found = {metric: float(values[row]) for metric, values in metrics.items()}
            columns[row] = self._values(self.machine(positions), found)
        return columns

    def judged(self, evaluations: Sequence[Evaluation]) -> tuple[float, ...]:
        found = {}
        for name in OF_PLANS:
            value = 0.0
            for weight, each in zip(self.of.question.weights, evaluations):
                value += weight * getattr(each, COLUMNS[name])
            found[of_a_sum(name)] = value
        return self._values(evaluations[0].accelerator, found)

    def _values(self, accelerator: Accelerator, metrics: Mapping[str, float]) -> tuple[float, ...]:
        return tuple(
            each.fixed(accelerator) + each.scale(accelerator) * metrics.get(each.metric, 0.0) for each in self.questions
        )


def pareto_chips(
    networks: Network | Sequence[Network],
    axes: Mapping[str, Sequence[Value]],
    *,
    objectives: Sequence[str] = ("area", "energy", "latency"),
    space: Space | None = None,
    machine: Machine | None = None,
    weights: Sequence[float] | None = None,
    tile_rule: TileRule = "exact",
    effort: Effort | LevelName | None = None,
    **fields: Unpack[FrontFields],
) -> ChipsFront:
    """Return chips, with partitions, of which none found is better than another in all objectives.

    One run of NSGA-II over machines, memories and partitions (`cocco.chips.genes`), from greedy partitions, polished.
    Plans keep no tensors on chip between subgraphs. The same arguments give the same front, to the byte.

    Parameters
    ----------
    networks, axes, space, machine, weights, tile_rule, effort, **fields
        As in `explore_chips`.
    objectives
        Two or more of area (mm2 of the whole chip), price ($), capacity (bytes of all cores), leakage (mW of buffers),
        energy (pJ of a sample), ema (bytes of a sample) and latency (ns of a batch), one of the last three at least.

    Raises
    ------
    ValueError, TypeError, RuntimeError, Interrupted
        As in `explore_chips`; the `result` of Interrupted is the front so far.

    Examples
    --------
    >>> import cocco, workloads
    >>> front = cocco.pareto_chips(
    ...     workloads.load("vgg16"), {"pe": [(4, 4), (8, 8)]}, objectives=("area", "latency"), samples=500,
    ...     space=cocco.SharedBuffer(512 * 2**10, 1024 * 2**10, 512 * 2**10))
    >>> sorted({point.chip.name for point in front.found})
    ['pe 8x8']
    """
    check_keywords(pareto_chips, fields, FrontFields.__optional_keys__)
    names = _checked(objectives)
    chosen, shared = effort_of(effort, fields), machine_of(machine, fields)
    product, ranges = Axes(axes), space or SharedBuffer()
    given = over_space(networks, ranges, machine=shared, weights=weights, tile_rule=tile_rule)
    chips, left_out = product.chips(shared, ranges)
    if "price" in names:
        chips = with_prices(chips, left_out)
    of_plans = [name for name in names if name in OF_PLANS]
    question = ChipQuestion(given.networks, given.objective.weights, of_plans[0])
    first = question_of(given, chosen, SETTINGS)
    asked = Asked(question.networks, question.weights, question.metric, tile_rule, "none", first.engine, 1.0)
    metrics = [METRICS[name] for name in of_plans]
    engines: dict[str, Engine] = {each: Machines(question, asked, chips, first.settings, each) for each in metrics}
    machines = Machines(question, asked, chips, first.settings)
    plane = _ChipPlane(machines, names)
    with helped(chosen):
        cloud = Cloud(plane, engines, first.samples, first.progress)
        searched(replace(first, problem=machines.problem), cloud)
    front = _front(cloud, plane, chips, left_out, first.seed, kinds_of_plans(shared, "none"))
    if cloud.is_stopped:
        raise Interrupted(front)
    return front


def _front(
    cloud: Cloud, plane: _ChipPlane, chips: Sequence[Chip], left_out: Counter[str], seed: int, kinds: tuple[str, ...]
) -> ChipsFront:
    found = [_point(cloud, plane, chips, row) for row in range(len(cloud.values))]
    status: Status = "stopped" if cloud.is_stopped else "feasible" if found else "gave_up"
    networks = tuple(network.name for network in plane.of.question.networks)
    names = tuple(each.criterion for each in plane.questions)
    return ChipsFront(
        networks, names, status, tuple(found), len(chips), dict(left_out), cloud.samples, seed, kinds,
        cloud.breeder.name,
    )  # fmt: skip


def _point(cloud: Cloud, plane: _ChipPlane, chips: Sequence[Chip], row: int) -> ChipPoint:
    """Return a row of the front as the simulator prices it; raises RuntimeError if the search priced it otherwise."""
    capacities = cloud.capacities[row].tolist()
    plans = plane.problem.partitions(groups_of(cloud.labels[row].tolist()))
    evaluations = plane.problem.evaluations(plans, plane.machine(capacities))
    values = plane.judged(evaluations)
    if values != tuple(cloud.values[row].tolist()):
        raise RuntimeError(f"the search priced a point at {cloud.values[row].tolist()}, the simulator at {values}")
    chip = chips[capacities[len(plane.problem.buffers) - 1]]
    return ChipPoint(values, chip, evaluations[0].accelerator, tuple(each.plan for each in evaluations), evaluations)


def _checked(objectives: Sequence[str]) -> tuple[str, ...]:
    """Return the objectives; raises ValueError, one line, if they are no two or more different criteria."""
    known = (*OF_CHIP, *OF_PLANS)
    if isinstance(objectives, str) or not isinstance(objectives, Sequence):
        raise ValueError(f"objectives must be a sequence of names, got {objectives!r}")
    for name in objectives:
        if name not in known:
            raise ValueError(f"objectives of chips must be among {', '.join(known)}, got {name!r}")
        if list(objectives).count(name) > 1:
            raise ValueError(f"objectives must differ, got {name!r} twice")
    if len(objectives) < 2 or not any(name in OF_PLANS for name in objectives):
        raise ValueError(
            f"objectives must be two or more, one of them of {', '.join(OF_PLANS)}; got {', '.join(objectives)}"
        )
    return tuple(objectives)
