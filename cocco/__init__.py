"""What to choose: the on-chip memory to build, and how to run networks on it (Cocco, ASPLOS 2024).

Names are imported when they are first asked for (PEP 562), so `import cocco` takes no time.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from cocco import search as search
    from cocco.allocation.allocate import allocate
    from cocco.candidates.operators import Operator
    from cocco.chips.answer import ChipsAnswer
    from cocco.chips.explore import explore_chips
    from cocco.effort.effort import Effort
    from cocco.effort.settings import Settings
    from cocco.effort.stages import Stage
    from cocco.effort.status import Interrupted
    from cocco.exploration.answers.front import Front
    from cocco.exploration.answers.limited import Limited
    from cocco.exploration.answers.ranges import Candidate, Ranges
    from cocco.exploration.answers.result import Result
    from cocco.exploration.compromise import Compromise, compromise
    from cocco.exploration.cores import CoresAxis, explore_cores
    from cocco.exploration.explore import explore, partition
    from cocco.exploration.limits import minimize
    from cocco.exploration.pareto import pareto
    from cocco.plans.compare import Comparison, compare
    from cocco.plans.explain import Explanation, explain
    from cocco.plans.files import load_partition
    from cocco.plans.keeping import KeptChoice, keep_on_chip
    from cocco.problem.space import Range, SeparateBuffers, SharedBuffer
    from cocco.scheduling.schedule import schedule
    from simulator.views.chrome_trace import chrome_trace

    __version__: str

__all__ = [
    "Candidate",
    "ChipsAnswer",
    "Comparison",
    "Compromise",
    "CoresAxis",
    "Effort",
    "Explanation",
    "Front",
    "Interrupted",
    "KeptChoice",
    "Limited",
    "Operator",
    "Range",
    "Ranges",
    "Result",
    "SeparateBuffers",
    "Settings",
    "SharedBuffer",
    "Stage",
    "allocate",
    "chrome_trace",
    "compare",
    "compromise",
    "explain",
    "explore",
    "explore_chips",
    "explore_cores",
    "keep_on_chip",
    "load_partition",
    "minimize",
    "pareto",
    "partition",
    "schedule",
]

_HOMES = {  # the modules that the names above live in
    "cocco.allocation.allocate": ("allocate",),
    "cocco.chips.answer": ("ChipsAnswer",),
    "cocco.chips.explore": ("explore_chips",),
    "cocco.exploration.compromise": ("Compromise", "compromise"),
    "cocco.exploration.cores": ("CoresAxis", "explore_cores"),
    "cocco.exploration.explore": ("explore", "partition"),
    "cocco.exploration.answers.front": ("Front",),
    "cocco.exploration.answers.limited": ("Limited",),
    "cocco.exploration.limits": ("minimize",),
    "cocco.exploration.pareto": ("pareto",),
    "cocco.exploration.answers.ranges": ("Candidate", "Ranges"),
    "cocco.exploration.answers.result": ("Result",),
    "cocco.plans.compare": ("Comparison", "compare"),
    "cocco.plans.explain": ("Explanation", "explain"),
    "cocco.plans.files": ("load_partition",),
    "cocco.plans.keeping": ("KeptChoice", "keep_on_chip"),
    "cocco.effort.effort": ("Effort",),
    "cocco.candidates.operators": ("Operator",),
    "cocco.effort.settings": ("Settings",),
    "cocco.problem.space": ("Range", "SeparateBuffers", "SharedBuffer"),
    "cocco.effort.stages": ("Stage",),
    "cocco.effort.status": ("Interrupted",),
    "cocco.scheduling.schedule": ("schedule",),
    "simulator.views.chrome_trace": ("chrome_trace",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}
_ROOMS = ("allocation", "bounds", "exploration", "mapping", "output", "plans", "problem", "scheduling", "search")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
    elif name in _ROOMS:
        value = import_module(f"cocco.{name}")
    elif name == "__version__":
        value = _version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS, "__version__"})


def _version() -> str:
    """Return the version that is installed; "not installed" where this runs from a folder of sources."""
    from importlib import metadata

    try:
        return metadata.version("cocco")
    except metadata.PackageNotFoundError:
        return "not installed"
