"""What each subgraph of a priced partition holds on chip: weights, MAIN and SIDE (Cocco, Sec. 3.2, Fig. 7)."""

from __future__ import annotations

from typing import NamedTuple

from simulator.evaluate import Evaluation, check_evaluation
from workloads.network.network import Network


class Occupancy(NamedTuple):
    """Bytes that one subgraph holds in one core; main_bytes + side_bytes are its activations, without what is kept."""

    weight_bytes: int
    main_bytes: int
    side_bytes: int
    kept_bytes: int = 0  #: of tensors that stay on chip, whole


def occupancies(network: Network, evaluation: Evaluation) -> tuple[Occupancy, ...]:
    """Return what each subgraph of the evaluation holds, in execution order; MAIN and SIDE are its activation_bytes.

    A layer that reads an operand or single elements again and again holds no SIDE of it.
    Raises ValueError for the evaluation of another network.
    """
    check_evaluation(network, evaluation)
    found = []
    for cost in evaluation.subgraphs:
        side = sum(region.side_bytes for region in cost.regions.values())
        found.append(Occupancy(cost.weight_bytes, cost.activation_bytes - side, side, cost.kept_bytes or 0))
    return tuple(found)
