"""Front: what a search for the whole front found, how it ended, and everything it saw on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cocco.bounds.any_schedule import any_schedule_json
from cocco.effort.shown import Shown
from cocco.effort.status import Status
from cocco.exploration.answers.lacking import Edge, Moved, lacking_json, searched_json
from cocco.problem.criteria import CRITERIA
from cocco.problem.dominance import front_of
from cocco.problem.exchange import cheapest
from cocco.problem.space import Space
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.partition.partition import Partition

if TYPE_CHECKING:
    import pandas


T = TypeVar("T")


def only(each: Sequence[T], what: str) -> T:
    """Return the one of the only network; ValueError, which says what to use, if there are several."""
    if len(each) != 1:
        raise ValueError(f"a result of {len(each)} networks has no single {what}; use {what}s")
    return each[0]


@dataclass(frozen=True, repr=False)
class FrontPoint(Shown):
    """A memory with a partition of each network, priced by the simulator; values in the order of the objectives."""

    values: tuple[float, ...]
    accelerator: Accelerator
    plans: tuple[Partition, ...]
    evaluations: tuple[Evaluation, ...]
    moved: tuple[Moved, ...] | None = None  #: what was changed for addresses; None where nothing is kept on chip
    placed: bool | None = None  #: whether every region has an address; None where that was not checked

    @property
    def plan(self) -> Partition:
        """The partition of the only network; ValueError if there are several."""
        return only(self.plans, "plan")

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation of the only network; ValueError if there are several."""
        return only(self.evaluations, "evaluation")

    def facts(self) -> dict[str, object]:
        """Return the buffers, the number of subgraphs and the values."""
        shown = ", ".join(f"{value:.6g}" for value in self.values)
        return {**buffer_bytes(self.accelerator), "subgraphs": sum(map(len, self.plans)), "values": f"({shown})"}

    def to_json(self, objectives: Sequence[str]) -> dict[str, Any]:
        """Return the buffers, the objectives with their units, and the partition (of several networks, by name).

        Where tensors stay on chip, also "keep", in the same form, and what was changed for their addresses.
        """
        content: dict[str, Any] = dict(buffer_bytes(self.accelerator))
        content |= by_column(objectives, self.values) | self.addresses_json()
        partitions = {plan.network_name: [list(names) for names in plan.names] for plan in self.plans}
        kept = {each.network: [tensor.to_json() for tensor in each.keep] for each in self.evaluations if each.keep}
        if len(partitions) == 1:
            keep = {"keep": next(iter(kept.values()))} if kept else {}
            return content | {"partition": next(iter(partitions.values()))} | keep
        return content | {"partitions": partitions} | ({"keep": kept} if kept else {})

    def addresses_json(self) -> dict[str, Any]:
        """Return "moved" and "placed" where addresses were sought, as in the answer of explore."""
        if self.moved is None:
            return {}
        return {"moved": [each.to_json() for each in self.moved], "placed": self.placed}


@dataclass(frozen=True, eq=False, repr=False)
class Front(Shown):
    """The points that nothing else found beats, ascending by the first objective.

    Attributes
    ----------
    status
        "optimal" (every point proved, none is missing), "feasible" (samples are spent), "gave_up" (exact could not
        solve every memory), "infeasible" (proved: no plan runs in any of the memories), "stopped" (by the user; the
        front so far).
    found
        The points, each with its memory, its partitions and what the simulator says of them.
    points
        Per sample, in order, its generation, the bytes of the buffers, number of subgraphs and objectives; columns have
        units.

    Examples
    --------
    >>> import cocco, workloads
    >>> space = cocco.SharedBuffer(256 * 2**10, 768 * 2**10, 256 * 2**10)
    >>> front = cocco.pareto(workloads.load("vgg16"), space=space, samples=200)
    >>> front
    Front(networks='vgg16', status='optimal', method='nsga2', objectives='capacity, energy', points=3, samples=200)
    >>> front.front[["capacity_bytes", "subgraphs"]].values.tolist()
    [[262144, 17], [524288, 15], [786432, 14]]
    """

    method: str
    objectives: tuple[str, ...]
    networks: tuple[str, ...]
    weights: tuple[float, ...]
    seed: int
    samples: int  #: genomes priced, and other work counted as such
    status: Status
    found: tuple[FrontPoint, ...]
    engine: str
    points: pandas.DataFrame
    lacking: tuple[Evaluation, ...] = ()  #: where no point was found, what does not fit layer by layer, in the largest
    space: tuple[str, ...] = ()  #: the kinds of plans among which there are no better points
    searched: Space | None = None  #: the ranges of the memories
    edges: tuple[Edge, ...] = ()  #: ends of these ranges at which points lie, where more is possible beyond
    bank: tuple[str, ...] = ()  #: as in Result

    @property
    def front(self) -> pandas.DataFrame:
        """The bytes of the buffers, the number of subgraphs and the objectives of each point of the front."""
        import pandas

        rows = [
            buffer_bytes(point.accelerator)
            | {"subgraphs": sum(len(each.subgraphs) for each in point.evaluations)}
            | by_column(self.objectives, point.values)
            for point in self.found
        ]
        return pandas.DataFrame(rows)

    def cheapest(self, exchange: str) -> FrontPoint:
        """Return the point that costs least if buffer is worth so much, such as "500pJ/B" or "2mJ/mm2".

        Raises ValueError, with one line, if the text is invalid or the objectives do not allow the exchange.
        """
        return self.found[self._cheapest(exchange)]

    def _cheapest(self, exchange: str) -> int:
        if not self.found:
            raise ValueError(f"the front has no point ({self.status}), so none of them is the cheapest")
        points, machines = zip(*((point.values, point.accelerator) for point in self.found))
        return cheapest(exchange, self.objectives, points, machines)

    def to_frame(self) -> pandas.DataFrame:
        """Return `front`: a row per point."""
        return self.front

    def facts(self) -> dict[str, object]:
        """Return the networks, the objectives, and how many points were found in how many samples."""
        return {
            "networks": ", ".join(self.networks),
            "status": self.status,
            "method": self.method,
            "objectives": ", ".join(self.objectives),
            "points": len(self.found),
            "samples": self.samples,
        }

    def to_json(self, exchange: str | None = None) -> dict[str, Any]:
        """Return the plain data that `cocco pareto --json` prints; exchange: adds the point that `cheapest` returns."""
        priced = (
            {} if exchange is None or not self.found else {"exchange": exchange, "cheapest": self._cheapest(exchange)}
        )
        return priced | {
            "networks": list(self.networks),
            "weights": list(self.weights),
            "method": self.method,
            "objectives": list(self.objectives),
            "seed": self.seed,
            "samples": self.samples,
            "status": self.status,
            "space": list(self.space),
            **searched_json(self.searched, self.edges),
            **lacking_json(self.lacking),
            **({"bank": list(self.bank)} if self.bank else {}),
            "front": [point.to_json(self.objectives) for point in self.found],
        }


def of_networks(
    evaluations: Sequence[Evaluation], plans: Sequence[Partition], weights: Sequence[float], answer: dict[str, Any]
) -> dict[str, Any]:
    """Return an answer with its plans: one network's beside it, several by "networks", each with its weight."""
    found = [
        evaluation.to_json() | {"partition": [list(names) for names in plan.names]} | any_schedule_json(evaluation)
        for evaluation, plan in zip(evaluations, plans)
    ]
    return joined_json(found, weights, answer)


def joined_json(found: Sequence[dict[str, Any]], weights: Sequence[float], answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with what is found of its networks, as `of_networks`."""
    if len(found) == 1:
        return found[0] | answer
    return answer | {"networks": [each | {"weight": weight} for each, weight in zip(found, weights)]}


def buffer_bytes(accelerator: Accelerator) -> dict[str, int]:
    """Return the bytes of each buffer of one core, by its column."""
    names = ("shared_buffer",) if accelerator.is_shared else ("global_buffer", "weight_buffer")
    return {f"{name}_bytes": getattr(accelerator, name) for name in names}


def by_column(objectives: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    """Return values by the columns of their objectives; a capacity is whole bytes."""
    return {
        CRITERIA[name].column: int(value) if name == "capacity" else value for name, value in zip(objectives, values)
    }


def best_points(points: Iterable[FrontPoint]) -> tuple[FrontPoint, ...]:
    """Return the points that no other beats, ascending; of equal points the first."""
    listed = list(points)
    if not listed:
        return ()
    rows = np.array([point.values for point in listed])
    return tuple(listed[i] for i in front_of(rows).tolist())


def with_points(samples: pandas.DataFrame, objectives: Sequence[str], points: Sequence[FrontPoint]) -> pandas.DataFrame:
    """Return the table of samples with a row added for each of these points, in their own generation."""
    import pandas

    if not points:
        return samples
    last, generation = (int(samples[name].max()) if len(samples) else -1 for name in ("sample", "generation"))
    rows = [
        {"sample": last + number, "generation": generation + 1}
        | buffer_bytes(point.accelerator)
        | {"subgraphs": sum(map(len, point.plans))}
        | by_column(objectives, point.values)
        for number, point in enumerate(points, 1)
    ]
    if not len(samples):
        return pandas.DataFrame(rows)[list(samples.columns)]
    return pandas.concat([samples, pandas.DataFrame(rows)[list(samples.columns)]], ignore_index=True)
