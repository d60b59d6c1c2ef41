"""What `cocco.schedule` answers: a schedule that was executed, what it moves, and what is proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cocco.effort.status import Status
from simulator.schedule.replay import Replay
from simulator.schedule.schedule import Schedule


@dataclass(frozen=True)
class ScheduleResult:
    """The schedule of a network in one scratchpad.

    status: "optimal" (proved: no schedule of the requested order, or of any order where it is free, moves less),
    "feasible", "infeasible" (proved: an operator does not fit), "gave_up". The numbers of `replay` were counted by the
    simulator. peak_bytes is the least peak of live bytes without spilling; where it is not proved, an upper bound.
    """

    network: str
    operators: int
    tensors: int
    scratchpad_bytes: int
    parameters: bool
    concat: str
    input_has_host_copy: bool
    alignment: int
    method: str
    order_from: str
    status: Status
    schedule: Schedule | None
    replay: Replay | None
    compulsory_bytes: int
    lower_bound_bytes: int | None  #: no schedule (of this order, where one is given) moves less
    minimum_bytes: int
    half_bytes: int
    peak_bytes: int
    peak_proved: bool
    packing: str
    cuts: int
    windows: int
    windows_proved: int
    deterministic: bool
    largest: str  #: the operator that needs the most bytes: minimum_bytes

    @property
    def offchip_bytes(self) -> int | None:
        """Bytes spilled and retrieved; None without a schedule."""
        return None if self.replay is None else self.replay.offchip_bytes

    @property
    def gap(self) -> float | None:
        """(offchip_bytes - lower_bound_bytes) / offchip_bytes, 0 where nothing moves; None without a schedule."""
        moved = self.offchip_bytes
        if moved is None or self.lower_bound_bytes is None:
            return None
        return (moved - self.lower_bound_bytes) / moved if moved else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco schedule --json` prints."""
        done = self.replay
        content: dict[str, Any] = {
            "network": self.network,
            "operators": self.operators,
            "tensors": self.tensors,
            "scratchpad_bytes": self.scratchpad_bytes,
            "parameters": self.parameters,
            "granularity": {
                "concat": self.concat,
                "input_has_host_copy": self.input_has_host_copy,
                "alignment": self.alignment,
            },
            "method": self.method,
            "order_from": self.order_from,
            "status": self.status,
            "offchip_bytes": self.offchip_bytes,
            "spilled_bytes": done.spilled_bytes if done else None,
            "retrieved_bytes": done.retrieved_bytes if done else None,
            "compulsory_bytes": self.compulsory_bytes,
            "lower_bound_bytes": self.lower_bound_bytes,
            "gap": self.gap,
            "budgets": {
                "minimum_bytes": self.minimum_bytes,
                "half_bytes": self.half_bytes,
                "peak_bytes": self.peak_bytes,
                "peak_proved": self.peak_proved,
            },
            "peak_live_bytes": done.peak_live_bytes if done else None,
            "height_bytes": done.height_bytes if done else None,
            "packing": self.packing,
            "cuts": self.cuts,
            "windows": self.windows,
            "windows_proved": self.windows_proved,
            "deterministic": self.deterministic,
            "order": list(self.schedule.order) if self.schedule else None,
            "segments": [each._asdict() for each in self.schedule.segments] if self.schedule else None,
            "verified": None if done is None else not done.violations,
        }
        if self.status == "infeasible":
            content["infeasible"] = [
                {
                    "layers": [self.largest],
                    "reason": "its operands, its result and its parameters do not fit together",
                    "needed_bytes": self.minimum_bytes,
                    "available_bytes": self.scratchpad_bytes,
                }
            ]
        return content
