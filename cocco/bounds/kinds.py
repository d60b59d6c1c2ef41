"""The space of plans that a search is about: the kinds of plans that an answer is the least among, by name."""

from __future__ import annotations

from cocco.problem.names import Keep
from simulator.accelerator import Accelerator, Machine
from simulator.model.nests.recognize import KINDS

HELD = "held subgraphs"
SINGLE = "single layers in loop orders"
APART = "groups of channels apart"
KEPT = "kept tensors"
CONNECTED = {
    "paper": "connected by edges",
    "all": "connected by edges, common inputs and concatenations",
}


def kept_or_not(keep: Keep | None, machine: Machine | Accelerator, method: str = "auto") -> Keep:
    """Return whether tensors may stay on chip where it is not said: not among the plans of the paper, nor its method.

    Raises ValueError where they are to stay with the plans of the paper.
    """
    if machine.plans == "paper" and keep == "auto":
        raise ValueError("keep must be 'none' with plans 'paper', in which nothing stays on chip, got 'auto'")
    return keep or ("none" if "paper" in (machine.plans, method) else "auto")


def kinds_of_plans(machine: Machine | Accelerator, keep: Keep) -> tuple[str, ...]:
    """Return the names of the kinds of plans that a search may choose.

    Examples
    --------
    >>> kinds_of_plans(Machine(plans="paper"), "none")
    ('held subgraphs', 'single layers in loop orders', 'connected by edges')
    """
    nests = tuple(KINDS) if _has_nests(machine) else ()
    machine = machine.machine if isinstance(machine, Accelerator) else machine
    apart = (APART,) if machine.has_groups else ()
    kept = (KEPT,) if keep == "auto" else ()
    return (HELD, SINGLE, *nests, *apart, *kept, CONNECTED[machine.connection])


def kinds_not_tried(machine: Machine | Accelerator) -> str:
    """Return which kinds this machine leaves out, though all may be used, and why; empty if none."""
    if machine.plans == "paper" or _has_nests(machine):
        return ""
    if machine.cores > 1:
        return f"{', '.join((*KINDS, APART))}: for one core"
    return f"{', '.join(KINDS)}: for the mapper 'enumerate'"


def _has_nests(machine: Machine | Accelerator) -> bool:
    return machine.plans == "all" and machine.cores == 1 and machine.mapper.is_flat
