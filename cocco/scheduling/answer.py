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
        made = self.schedule

        def own(names: str) -> dict[str, Any]:
            return {name: getattr(self, name) for name in names.split()}

        def done(names: str) -> dict[str, Any]:
            return {name: None if self.replay is None else getattr(self.replay, name) for name in names.split()}

        content: dict[str, Any] = {
            **own("network operators tensors scratchpad_bytes parameters"),
            "granularity": own("concat input_has_host_copy alignment"),
            **own("method order_from status offchip_bytes"),
            **done("spilled_bytes retrieved_bytes"),
            **own("compulsory_bytes lower_bound_bytes gap"),
            "budgets": own("minimum_bytes half_bytes peak_bytes peak_proved"),
            **done("peak_live_bytes height_bytes"),
            **own("packing cuts windows windows_proved deterministic"),
            "order": list(made.order) if made else None,
            "segments": [each._asdict() for each in made.segments] if made else None,
            "verified": None if self.replay is None else not self.replay.violations,
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
