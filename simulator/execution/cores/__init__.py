"""Several cores at one subgraph, executed: n memories in lock-step, channels dealt or columns in mirrored sweeps.

docs/model.md, section 7. Nothing of it is shared with simulator/model, which states the same numbers in closed form.
"""

from simulator.execution.cores.count import SCHEMES, count_cores, derive_team
from simulator.execution.cores.run import run_team

__all__ = ["SCHEMES", "count_cores", "derive_team", "run_team"]
