"""Finds partitions: what a candidate costs (kernel, pricing), the genetic algorithm (genetic), others (baselines)."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocco.search.genetic.toolbox import toolbox

__all__ = ["toolbox"]


def __getattr__(name: str) -> Any:
    if name == "toolbox":  # only on demand: it needs deap
        from cocco.search.genetic.toolbox import toolbox

        return toolbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
