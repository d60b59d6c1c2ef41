"""Result: what a search found, how it ended, and everything it saw on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from cocco.bounds.any_schedule import any_schedule_json
from cocco.effort.shown import Shown
from cocco.effort.status import Status
from cocco.exploration.answers.front import buffer_bytes, joined_json, of_networks, only
from cocco.exploration.answers.lacking import Edge, Moved, finite, lacking_json, searched_json
from cocco.exploration.answers.ranges import Ranges
from cocco.exploration.answers.second import Second
from cocco.problem.exchange import Exchange
from cocco.problem.names import Count, Keep, Metric, Minimized
from cocco.problem.objective import Objective
from cocco.problem.space import Space
from cocco.search.pricing.samples import Seen
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.partition.partition import Partition

if TYPE_CHECKING:
    import pandas

    from cocco.candidates.judge import Judged


@dataclass(frozen=True, eq=False, repr=False)
class Result(Shown):
    """The best partition of each network, and the memory for all of them.

    Attributes
    ----------
    status
        "optimal" (proved), "feasible" (an answer; the samples are spent), "infeasible" (proved: no plan runs in any of
        the memories), "stopped" (best so far, of Interrupted) or "gave_up" (exact outgrew its budget; the best of other
        methods, if any of them found a plan that runs).
    plans
        One per network; none if nothing found runs. Then cost is infinite (in JSON null), the accelerator has the
        largest memory in question, and the evaluations say which layers do not fit into it layer by layer.
    cost
        Formula 2 if alpha is given, else Formula 1; the weighted sum over the networks.
    gap
        (cost - lower_bound) / cost.
    history
        Per generation the samples so far, best_cost so far, min_cost, mean_cost and std_cost of the generation with its
        elite, and how many of its genomes are distinct.
    points
        Per sample, in order, its generation, capacities, number of subgraphs, value (Formula 1), cost and best_cost so
        far. With keep="auto" the search without kept tensors comes first, which prices its genomes without them, then
        the one with. If a proof found the answer, there is a row for each memory that it solved.

    Examples
    --------
    >>> import cocco, simulator, workloads
    >>> chip = simulator.Accelerator(shared_buffer=2**20)
    >>> found = cocco.partition(workloads.load("vgg16"), chip, method="greedy")
    >>> found.status, found.cost, len(found.plan)
    ('feasible', 19234117147.52, 14)
    >>> int(found.to_frame().ema_bytes.sum())
    140904104
    """

    method: str
    metric: Minimized
    seed: int
    samples: int  #: genomes priced; where a proof found the answer, the steps of its search
    status: Status
    cost: float
    alpha: float | None
    accelerator: Accelerator
    plans: tuple[Partition, ...]
    evaluations: tuple[Evaluation, ...]  #: by the simulator, of the plans on the accelerator
    weights: tuple[float, ...]
    lower_bound: float | None
    gap: float | None
    engine: str
    seen: Seen  #: what `history` and `points` are made of, when they are first read
    splits: int | None = None  #: subgraphs split because they had no addresses; None where that was not checked
    moved: tuple[Moved, ...] | None = None  #: all that was changed for addresses; None where nothing is kept on chip
    placed: bool | None = None  #: whether every region has an address; None where that was not checked
    keep: Keep = "none"  #: whether tensors could stay on chip
    exchange: Exchange | None = None  #: alpha in other words; None on given hardware
    ranges: Ranges | None = None  #: sizes that cost as little; None on given hardware or if not asked for
    bounded_by: str = ""  #: which lower bound of executed latency is the largest (docs/bounds.md)
    count: Count = "one"  #: whose buffers the cost counts: those of one core, or of all
    second: Second | None = None  #: what decided among plans that cost as little; None where nothing had to
    space: tuple[
        str, ...
    ] = ()  #: the kinds of plans of which none costs less than the lower bound (cocco.bounds.kinds)
    searched: Space | None = None  #: the ranges of the memories; None on given hardware
    bank: tuple[str, ...] = ()  #: the entries of the bank whose plans the search also started from
    edges: tuple[Edge, ...] = ()  #: ends of these ranges at which the answer lies, where more was possible beyond

    @property
    def objective(self) -> Objective:
        """What was minimized."""
        return Objective(cast(Metric, self.metric), self.alpha, self.weights, self.count)

    def of(self, winner: Judged, cost: float, **more: Any) -> Result:
        """Return the answer replaced by other plans, priced by the simulator; more: other fields that change with them.

        The lower bound holds for them too; "optimal" stays, or is reached, where they cost no more than that.
        """
        from cocco.bounds.floors.least import gap  # here: it imports the model

        bound = self.lower_bound
        is_proven = bound is not None and cost <= bound
        status: Status = "optimal" if is_proven else "feasible" if self.status == "optimal" else self.status
        return replace(
            self, accelerator=winner.accelerator, plans=winner.plans, evaluations=winner.evaluations, cost=cost,
            gap=None if bound is None else gap(cost, bound), **{"status": status} | more,
        )  # fmt: skip

    @property
    def history(self) -> pandas.DataFrame:
        """A row for each generation."""
        return self.seen.history

    @property
    def points(self) -> pandas.DataFrame:
        """A row for each sample."""
        return self.seen.points

    @property
    def plan(self) -> Partition:
        """The partition of the only network; ValueError if there are several."""
        if len(self.evaluations) == 1 and not self.plans:
            raise ValueError(f"no plan was found that runs ({self.status}); evaluation.infeasible says what is missing")
        return only(self.plans, "plan")

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation of the only network; ValueError if there are several."""
        return only(self.evaluations, "evaluation")

    def facts(self) -> dict[str, object]:
        """Return the networks, the answer, and how good it is proved to be."""
        return {
            "networks": ", ".join(evaluation.network for evaluation in self.evaluations),
            "status": self.status,
            "method": self.method,
            **buffer_bytes(self.accelerator),
            "metric": self.metric,
            "cost": self.cost,
            "gap": self.gap,
            "subgraphs": sum(map(len, self.plans)),
            "samples": self.samples,
        }

    def to_frame(self) -> pandas.DataFrame:
        """Return one row per subgraph, network by network, each in execution order (`Evaluation.to_frame`)."""
        import pandas

        frames = [each.to_frame().assign(network=each.network) for each in self.evaluations]
        joined = pandas.concat(frames, ignore_index=True)
        return joined[["network", *joined.columns.drop("network")]]

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco partition --json` and `cocco explore --json` print.

        One network: the object of its evaluation with "partition" and the fields of the search. Several: "networks" has
        this object for each network, with its "weight", and the fields of the search stand next to "networks".
        """
        search: dict[str, Any] = {
            "method": self.method,
            "metric": self.metric,
            "seed": self.seed,
            "samples": self.samples,
            "status": self.status,
            "lower_bound": finite(self.lower_bound),
            "gap": self.gap,
            **({"bounded_by": self.bounded_by} if self.bounded_by else {}),
            "space": list(self.space),
            "cost": finite(self.cost),
            **searched_json(self.searched, self.edges),
        }
        if self.bank:
            search["bank"] = list(self.bank)
        if self.second is not None:
            search["second"] = self.second.to_json()
        if self.splits is not None:
            search["splits"] = self.splits
        if self.moved is not None:
            search["moved"] = [each.to_json() for each in self.moved]
            search["placed"] = self.placed
        if self.alpha is not None:
            search["alpha"] = self.alpha
            search |= {} if self.count == "one" else {"count": self.count}
            search["exchange"] = None if self.exchange is None else self.exchange.to_json()
            sizes = buffer_bytes(self.accelerator)
            search |= sizes if self.plans else dict.fromkeys(sizes)
        if self.ranges is not None:
            search["ranges"] = self.ranges.to_json()
        if self.plans:
            return of_networks(self.evaluations, self.plans, self.weights, search)
        lacking = [
            {"network": each.network, "accelerator": each.accelerator.to_json(), "partition": None}
            | any_schedule_json(each)
            for each in self.evaluations
        ]
        return joined_json(lacking, self.weights, search | lacking_json(self.evaluations))
