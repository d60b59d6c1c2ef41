"""Executes a subgraph on several cores: n memories in lock-step, channels dealt or columns in mirrored sweeps.

See docs/model.md, section 7. It shares no code with simulator/model, which has the same numbers in closed form.
"""

from simulator.execution.cores.count import SCHEMES, count_cores, derive_team
from simulator.execution.cores.run import run_team

__all__ = ["SCHEMES", "count_cores", "derive_team", "run_team"]
