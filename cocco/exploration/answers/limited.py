"""Limited: the least of one criterion under limits of others, and how the search for it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocco.candidates.rounding import SAME
from cocco.effort.shown import Shown
from cocco.effort.status import Status
from cocco.exploration.answers.front import FrontPoint, buffer_bytes, by_column, of_networks
from cocco.exploration.answers.lacking import Edge, finite, lacking_json, searched_json
from cocco.exploration.answers.second import Second
from cocco.problem.criteria import CRITERIA
from cocco.problem.space import Space
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.partition.partition import Partition

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class Limited(Shown):
    """The answer of `minimize`: the least of one criterion under limits.

    Attributes
    ----------
    status
        "optimal" (proved), "feasible" (samples are spent; a better one may exist), "infeasible" (proved: nothing keeps
        the limits), "gave_up" (nothing found does), "stopped" (by the user; the best so far, if any).
    best
        None if nothing found keeps the limits. Then `nearest` exceeds them by the smallest factor: that of the worst
        limit counts. It is None as well if nothing runs in any of the memories.
    excess
        By which factor `nearest` exceeds the worst limit, at most 1 where it keeps all.
    least_excess
        A factor that no plan undercuts in any of the memories; below 1 where it does not matter.
    lower_bound
        Of the criterion, for everything that keeps the limits; None where it is proved that nothing does.
    """

    minimize: str
    limits: dict[str, float]
    networks: tuple[str, ...]
    weights: tuple[float, ...]
    seed: int
    samples: int  #: genomes priced, and other work counted as such
    status: Status
    objectives: tuple[str, ...]  #: what the values of the points are
    best: FrontPoint | None
    nearest: FrontPoint | None
    lower_bound: float | None
    engine: str
    points: pandas.DataFrame  #: as in Front
    lacking: tuple[Evaluation, ...] = ()  #: as in Front
    space: tuple[str, ...] = ()  #: as in Front
    searched: Space | None = None  #: as in Front
    edges: tuple[Edge, ...] = ()  #: as in Front
    bank: tuple[str, ...] = ()  #: as in Result
    second: Second | None = None  #: what decided among plans with this value; None where energy is the criterion
    excess: float | None = None
    least_excess: float = 0.0
    floors: tuple[tuple[float, ...], ...] = ()  #: values of the objectives that no plan at a capacity undercuts

    @property
    def is_nearest(self) -> bool:
        """Whether no plan is proved to come nearer to the limits than `nearest`."""
        return self.excess is not None and self.excess <= self.least_excess * (1 + SAME)

    @property
    def plan(self) -> Partition:
        """The partition of the only network, as of a Result; ValueError where there is none, or several."""
        return self._answer("plan").plan

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation of the only network, as of a Result; ValueError where there is none, or several."""
        return self._answer("evaluation").evaluation

    @property
    def accelerator(self) -> Accelerator:
        """The hardware that keeps the limits; ValueError where there is none."""
        return self._answer("accelerator").accelerator

    def _answer(self, what: str) -> FrontPoint:
        if self.best is None:
            raise ValueError(f"there is no {what}: nothing that was found keeps the limits ({self.status})")
        return self.best

    @property
    def value(self) -> float | None:
        """What was minimized, of the best point."""
        return None if self.best is None else dict(zip(self.objectives, self.best.values))[self.minimize]

    def facts(self) -> dict[str, object]:
        """Return the networks, the question, and the answer with its proof status."""
        return {
            "networks": ", ".join(self.networks),
            "status": self.status,
            "minimize": self.minimize,
            "limits": ", ".join(f"{name} <= {bound:g}" for name, bound in self.limits.items()),
            "value": self.value,
            "lower_bound": self.lower_bound,
            **({} if self.best is None else buffer_bytes(self.best.accelerator)),
            "samples": self.samples,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco explore --minimize --json` prints."""
        content: dict[str, Any] = {
            "minimize": self.minimize,
            "limits": {CRITERIA[name].column: bound for name, bound in self.limits.items()},
            "weights": list(self.weights),
            "seed": self.seed,
            "samples": self.samples,
            "status": self.status,
            "lower_bound": self.lower_bound,
            "space": list(self.space),
            **searched_json(self.searched, self.edges),
            **({"bank": list(self.bank)} if self.bank else {}),
        }
        if self.floors:
            rows = [by_column(self.objectives, values) for values in self.floors]
            content["floors"] = [{name: finite(value) for name, value in row.items()} for row in rows]
        if self.second is not None:
            content["second"] = self.second.to_json()
        if self.best is None:
            nearest = None if self.nearest is None else self.nearest.to_json(self.objectives)
            far = {"excess": self.excess, "least_excess": self.least_excess}
            return content | {"networks": list(self.networks), "nearest": nearest} | far | lacking_json(self.lacking)
        content |= by_column(self.objectives, self.best.values) | self.best.addresses_json()
        content |= buffer_bytes(self.best.accelerator)
        return of_networks(self.best.evaluations, self.best.plans, self.weights, content)
