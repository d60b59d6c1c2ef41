"""What an answer says beside its plans: ends of ranges, what was changed for addresses, what is lacking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from cocco.problem.problem import Problem
from cocco.problem.space import Space, round_sizes
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.partition.partition import Partition
from simulator.views.least_capacity import least_capacity


def layer_by_layer(problem: Problem) -> tuple[Evaluation, ...]:
    """Return the evaluation of each network, layer by layer, in the largest memory: it says what does not fit."""
    machine = problem.accelerator_of(problem.memories[-1])
    return problem.evaluations([Partition.layerwise(each, problem.metric) for each in problem.networks], machine)


def least_memory(evaluations: Sequence[Evaluation]) -> Accelerator:
    """Return the hardware of these evaluations with the least memory in which the plans of all of them run."""
    machine, found = evaluations[0].accelerator, []
    for each in evaluations:
        assert each.source is not None, "evaluate() made it"
        found.append(least_capacity(*each.source, machine=machine.machine, tile_rule=each.tile_rule))
    names = ("shared_buffer",) if machine.is_shared else ("global_buffer", "weight_buffer")
    return replace(machine, **{name: max(getattr(each, name) for each in found) for name in names})


def lacking_json(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Return what does not fit of each network and the least memory that would suffice, as plain data; may be empty."""
    if not evaluations:
        return {}
    least = least_memory(evaluations)
    names = ("shared_buffer",) if least.is_shared else ("global_buffer", "weight_buffer")
    return {
        "infeasible": [{"network": each.network} | one.to_json() for each in evaluations for one in each.infeasible],
        "least": {f"{name}_bytes": getattr(least, name) for name in names},
    }


def finite(value: float | None) -> float | None:
    """Return a number for JSON: null if it is infinite."""
    return None if value is None or math.isinf(value) else value


class Edge(NamedTuple):
    """An end of a range at which an answer, or a size that costs at most 1 % more, lies, with sizes beyond."""

    buffer: str  #: its name in Accelerator
    end: Literal["low", "high"]
    size_bytes: int
    beyond_bytes: int  #: the farthest size beyond that may cost as little

    @property
    def ask(self) -> str:
        """The range of what lies beyond, as the command line takes it.

        Examples
        --------
        >>> Edge("shared_buffer", "low", 128 * 1024, 48 * 1024).ask
        '48KB:128KB:4KB'
        """
        low, high = sorted((self.size_bytes, self.beyond_bytes))
        sizes = [*round_sizes(low, high), high, 2 * high][:2]
        return ":".join(
            f"{size // 1024}KB" if size % 1024 == 0 else f"{size}" for size in (low, high, sizes[1] - sizes[0])
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return self._asdict()


def searched_json(space: Space | None, edges: tuple[Edge, ...]) -> dict[str, Any]:
    """Return what an answer says of the ranges that were searched, and of their ends at which it lies."""
    if space is None:
        return {}
    ranges = {name: each.to_json() for name, each in space.ranges.items()}
    return {"searched": ranges, "edges": [each.to_json() for each in edges]}


@dataclass(frozen=True)
class Moved:
    """One change that was made so that every region has an address."""

    network: str
    what: Literal["replanned", "reordered", "dropped", "shortened", "cut", "split", "resized"]
    tensor: str | None  #: that was kept; None where a subgraph was moved or split
    layer: str | None  #: the first of that subgraph
    text: str  #: a sentence

    def to_json(self) -> dict[str, Any]:
        """Return the plain data of an element of "moved"."""
        return {"network": self.network, "what": self.what, "tensor": self.tensor, "layer": self.layer,
                "text": self.text}  # fmt: skip
