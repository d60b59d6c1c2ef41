"""What each subgraph of a priced partition holds on chip (Cocco, Sec. 3.2, Fig. 7), and rows for spans of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simulator.evaluation import Evaluation, check_evaluation
from workloads.network.network import Network


def rows_of(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the row of each (start, stop), the lowest that is free: where one ends, another may start.

    Examples
    --------
    >>> rows_of([(0, 4), (1, 2), (2, 6), (4, 5)])
    [0, 1, 1, 0]
    """
    found = [0] * len(spans)
    ends: list[int] = []  # per row
    for i in sorted(range(len(spans)), key=lambda i: (spans[i], i)):
        start, stop = spans[i]
        row = next((row for row, end in enumerate(ends) if end <= start), len(ends))
        if row == len(ends):
            ends.append(stop)
        ends[row] = stop
        found[i] = row
    return found


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
