"""Compromise: what each network pays for sharing one memory with others, compared with its own best memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cocco.effort.shown import Shown
from cocco.effort.status import Interrupted
from cocco.exploration.answers.front import buffer_bytes
from cocco.exploration.answers.result import Result
from cocco.exploration.explore import explore
from cocco.problem.criteria import CRITERIA
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from workloads.network.network import Network


@dataclass(frozen=True, repr=False)
class Compromise(Shown):
    """One network alone and on the common memory. cost: Formula 2 of this network, with its weight.

    value: the metric (bytes, pJ, cycles), without the weight. The value may be lower on the common memory if that is
    larger; the cost never is.
    """

    network: str
    weight: float
    metric: str
    own: Accelerator  #: the best memory found for this network alone
    own_cost: float
    own_value: float
    common_cost: float
    common_value: float
    samples: int  #: that the search for it alone took

    @property
    def paid(self) -> float:
        """How much more the common memory costs."""
        return self.common_cost - self.own_cost

    def facts(self) -> dict[str, object]:
        """Return the network, its cost alone and on the common memory, and what it pays."""
        return {
            "network": self.network,
            "weight": self.weight,
            **buffer_bytes(self.own),
            "own_cost": self.own_cost,
            "common_cost": self.common_cost,
            "paid": self.paid,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco explore --compare --json` adds."""
        column = CRITERIA[self.metric].column
        return {
            "network": self.network,
            "weight": self.weight,
            "alone": buffer_bytes(self.own) | {"cost": self.own_cost, column: self.own_value},
            "common": {"cost": self.common_cost, column: self.common_value},
            "paid": self.paid,
            "paid_percent": 100 * self.paid / self.own_cost,
            "samples": self.samples,
        }


def compromise(result: Result, networks: Sequence[Network], **question: Any) -> tuple[Compromise, ...]:
    """Return what each network pays for the common memory of a result.

    `explore` runs again for each network alone, with its weight and as many samples. Where that search finds nothing
    better, the common memory counts as the network's own best.

    Parameters
    ----------
    result
        What `explore` returned.
    networks
        The networks that it was called with, in the same order.
    **question
        The other arguments that it was called with; `keep` and `weights` are those of the result.

    Raises
    ------
    ValueError
        If the networks are not those of the result, or the result is for given hardware.
    Interrupted
        After Ctrl-C; its `result` is the tuple of the networks compared so far.

    Examples
    --------
    >>> import cocco, workloads
    >>> networks = [workloads.load("vgg16"), workloads.load("resnet50")]
    >>> question = {"space": cocco.SharedBuffer(2**18, 2**20, 2**18), "method": "ga", "samples": 100}
    >>> paid = cocco.compromise(cocco.explore(networks, **question), networks, **question)
    >>> [(each.network, each.paid >= 0) for each in paid]
    [('vgg16', True), ('resnet50', True)]
    """
    names = [evaluation.network for evaluation in result.evaluations]
    if result.alpha is None or [network.name for network in networks] != names:
        raise ValueError(f"networks must be those of a result of explore, {', '.join(names)}; got others")
    found = list[Compromise]()
    for network, weight, plan, evaluation in zip(networks, result.weights, result.plans, result.evaluations):
        try:
            asked = question | {"weights": [weight], "initial": [plan], "keep": result.keep, "ranges": False}
            alone = explore(network, **asked)
        except KeyboardInterrupt:
            raise Interrupted(tuple(found)) from None
        common = _cost(result, weight, evaluation)
        own, value, cost = alone.accelerator, _value(alone, alone.evaluation), alone.cost
        if cost > common:
            own, value, cost = result.accelerator, _value(result, evaluation), common
        found.append(
            Compromise(
                network.name, weight, result.metric, own, cost, value, common, _value(result, evaluation), alone.samples
            )
        )
    return tuple(found)


def _cost(result: Result, weight: float, evaluation: Evaluation) -> float:
    """Return Formula 2 of one network on the common memory."""
    assert result.alpha is not None
    return result.objective.cost(0.0 + weight * _value(result, evaluation), result.accelerator)


def _value(result: Result, evaluation: Evaluation) -> float:
    return float(getattr(evaluation, CRITERIA[result.metric].column))
