"""What mapping one layer answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simulator.mapping import Architecture, LayerCost, LayerMapping

Status = Literal["optimal", "feasible", "infeasible", "gave_up"]
Curve = tuple[tuple[int, int, float], ...]  #: evaluations so far, valid ones so far, fewest cycles


@dataclass(frozen=True)
class MappingResult:
    """A mapping, its cost by the judge, and how it was found.

    status: "optimal" is of the log objective, not of the cycles; of "polished", that the cycles are the roofline's.
    objective and its parts: None where the method has none. bound: no mapping has a lower objective. evaluations: of
    the judge (random: draws, valid or not); rounds: how often the program was solved; effort: nodes of the solver.
    curve: of the random methods, where it fell.
    """

    mapping: LayerMapping | None
    cost: LayerCost | None
    status: Status
    architecture: Architecture
    objective: float | None = None
    objective_parts: Mapping[str, float] | None = None
    bound: float | None = None
    evaluations: int = 0
    valid: int = 0
    rounds: int = 0
    effort: int = 0
    curve: Curve = field(default=(), repr=False)
    level_names: tuple[str, ...] = ()  #: of the mapping, where they are not those of the architecture

    @property
    def proof(self) -> str:
        """What the status is a proof of: "objective" (CoSA's log objective), "cycles", or "" where it is none."""
        if self.status != "optimal" or self.cost is None:
            return ""
        at_bound = self.cost.cycles <= self.cost.bound_cycles * (1 + 1e-9)
        return "cycles" if at_bound else "objective" if self.objective is not None else ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the levels of the mapping."""
        return self.level_names or self.architecture.names

    def to_json(self) -> dict[str, Any]:
        """Return the plain data of one layer of `cocco map --json`, without name and shape."""
        empty: dict[str, Any] = dict.fromkeys(
            ("cycles", "compute_cycles", "bound_cycles", "utilization", "energy_pj", "accesses")
        )
        found = {
            "status": self.status,
            "objective": self.objective,
            "objective_parts": None if self.objective_parts is None else dict(self.objective_parts),
            "objective_bound": self.bound,
            **(empty if self.cost is None else self.cost.to_json()),
            "mapping": None if self.mapping is None else self.mapping.to_json(self.names),
            "evaluations": self.evaluations,
            "valid": self.valid,
        }
        return found
