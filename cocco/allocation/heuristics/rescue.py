"""What `auto` asks where the search gave a part of time up: the fullest steps, ejection, then CP-SAT, if installed.

All limits are counted and follow from that of the search: the answer depends on what is installed, never on the load.
"""

from __future__ import annotations

import importlib.util

from cocco.allocation.answer import Outcome
from cocco.allocation.exact.solvers import cp
from cocco.allocation.heuristics.ejection import eject
from cocco.allocation.heuristics.fullest import fullest_first
from cocco.allocation.heuristics.least import least_height
from cocco.allocation.problem import AllocationProblem

LONG = 2_000  #: buffers; our choice: of more, the fullest steps are tried before the search, not after it
LOOKS_PER_NODE = 100  #: our choice: as many looks take about as long as ten nodes of a long list
SOLVER_SHARE = 200  #: nodes of the search for one of CP-SAT's; our choice: what it solves of these, it solves soon


class Rescue:
    """The methods after the search: ejection with a limit for all parts of time together, CP-SAT with one for each.

    asks_solver: False for many small questions, where starting CP-SAT would take most of the time.
    """

    def __init__(self, nodes: int, engine: str, asks_solver: bool = True) -> None:
        self.nodes, self.looks, self.engine = nodes, LOOKS_PER_NODE * nodes, engine
        self.solver_nodes = nodes // SOLVER_SHARE if asks_solver else 0

    def solve(self, part: AllocationProblem, capacity: int) -> Outcome:
        """Return how they end; `nodes` are the moves and the branches."""
        first = fullest_first(part, capacity, self.nodes, self.engine) if len(part.size) <= LONG else Outcome("gave_up")
        if first.status != "gave_up":
            return first
        tried, looks = eject(part, capacity, self.looks, self.engine)
        self.looks -= looks
        spent = (first.nodes or 0) + (tried.nodes or 0)
        if tried.address is not None or not self.solver_nodes or not has_solver():
            return tried._replace(nodes=spent)
        found = cp(part, capacity, False, self.solver_nodes)
        return found._replace(nodes=spent + (found.nodes or 0))


def has_solver() -> bool:
    """Return whether CP-SAT is installed (extra `solvers`)."""
    return importlib.util.find_spec("ortools") is not None


def lower_height(problem: AllocationProblem, capacity: int, best: Outcome, nodes: int, engine: str) -> Outcome:
    """Return a lower allocation than the best that the search found, if ejection finds one.

    Between what was refuted and the best height; the limit counts nodes of LOOKS_PER_NODE looks each.
    """
    refuted = max(best.refuted, problem.bound - 1)
    if best.status in ("infeasible", "stopped"):
        return best

    # Tries to fit everything below height `at` within `limit` nodes; heights already refuted are answered at once.
    def decide(at: int, limit: int) -> Outcome:
        if at <= refuted:
            return Outcome("infeasible", None, 0, refuted)
        found, looks = eject(problem, at, LOOKS_PER_NODE * limit, engine)
        return found._replace(nodes=-(-looks // LOOKS_PER_NODE))

    found = least_height(problem, capacity, best if best.address is not None else None, nodes, decide)
    total = (best.nodes or 0) + (found.nodes or 0)
    return found._replace(nodes=total, refuted=max(refuted, found.refuted))
