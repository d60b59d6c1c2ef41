"""How an answer ended, in the same words everywhere."""

from __future__ import annotations

from typing import Literal

Status = Literal["optimal", "feasible", "infeasible", "gave_up", "stopped"]
