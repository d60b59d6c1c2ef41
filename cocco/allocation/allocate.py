"""The entry point: checks the buffers, runs a method, and lets the simulator judge its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cocco.allocation.answer import AllocationResult, Outcome
from cocco.allocation.exact.complete import NODES, complete
from cocco.allocation.exact.solvers import cp, ilp
from cocco.allocation.explain import fixed_conflict, irreducible
from cocco.allocation.heuristics.fullest import fullest_first
from cocco.allocation.heuristics.greedy import PORTFOLIO, greedy
from cocco.allocation.heuristics.least import height_of, least_height
from cocco.allocation.heuristics.rescue import LONG, Rescue, lower_height
from cocco.allocation.problem import KERNEL, AllocationProblem, make_problem
from cocco.effort.status import Interrupted
from simulator.allocation.buffers import Allocation, Buffer, check_buffers
from simulator.allocation.judge import check_allocation
from simulator.sizes import MAX_CAPACITY

HIGHEST_LIMIT = 10**15  #: our choice: above any number that could be meant
MOST_MINIMIZED = (
    20_000  #: buffers; our choice: of more, `auto` minimizes without the search, a node of which can take seconds
)
MAX_EXPLAINED = 2_000  #: buffers; our choice: a proof by search is not explained for more


def allocate(
    buffers: Sequence[Buffer],
    capacity: int,
    method: str = "auto",
    minimize: bool = False,
    nodes: int | None = None,
    engine: str | None = None,
    explain: bool = True,
) -> AllocationResult:
    """Return an address for every buffer in a memory of this capacity, or why there is none.

    Parameters
    ----------
    buffers : sequence of simulator.allocation.Buffer
        Sizes, alignments and offsets in bytes; lives in steps.
    capacity : int
        Bytes of the memory.
    method : str
        "auto" (the greedy portfolio, then "search", then the fullest steps first, repair by ejection and "cp" if it is
        installed and nothing is to minimize; of more than 2,000 buffers the fullest steps come before the search; with
        `minimize` and more than 20,000 buffers the portfolio only), "greedy", "search" (complete, in canonical order),
        "ilp" or "cp" (exact encodings, extra `solvers`).
    minimize : bool
        Look for the least height within the capacity rather than for any solution.
    nodes : int, optional
        The limit of the method, counted, never a time: 200,000 frames by default. With "auto" it is that of the search;
        the limits of what comes after it grow with it.
    engine : str, optional
        "fast" or "reference"; by default the compiled one where it is built. Both give the same answers.
    explain : bool
        Where the answer is "infeasible", name buffers that cannot be placed together.

    Returns
    -------
    AllocationResult
        The addresses, checked by `simulator.allocation.check_allocation`, and what was proved.

    Raises
    ------
    ValueError
        One line, for malformed buffers and arguments, and if the solver of a method is missing.
    Interrupted
        After Ctrl-C, with the best so far, if any, as its `result`.

    References
    ----------
    TelaMalloc (Maas et al., ASPLOS 2023); docs/allocation.md.

    Examples
    --------
    Two buffers are live in step 1, so that 4 + 2 bytes are needed:

    >>> from simulator.allocation.buffers import Buffer
    >>> found = allocate([Buffer("a", 0, 2, 4), Buffer("b", 1, 3, 2)], capacity=8, minimize=True)
    >>> found.status, found.height_bytes
    ('optimal', 6)
    """
    buffers = tuple(buffers)
    _check_arguments(buffers, capacity, method, nodes)
    engine = KERNEL.choice(engine)
    problem = make_problem(buffers)
    limit = NODES if nodes is None else nodes
    conflict = fixed_conflict(buffers, capacity)
    if conflict or problem.bound * problem.granule > capacity:
        refuted = problem.bound - 1 if problem.bound * problem.granule > capacity else capacity // problem.granule
        outcome = Outcome("infeasible", refuted=refuted, nodes=0)
    else:
        try:
            outcome = METHODS[method](problem, capacity // problem.granule, minimize, limit, engine)
        except KeyboardInterrupt:
            outcome = Outcome("stopped")
    is_sure: bool | None = True if conflict else None
    if outcome.status == "infeasible" and not conflict and explain and _is_explainable(problem, capacity):
        conflict, is_sure = irreducible(buffers, capacity, limit, engine)
    result = _result(problem, capacity, method, outcome, conflict, is_sure)
    if outcome.status == "stopped":
        raise Interrupted(result)
    return result


def _check_arguments(buffers: tuple[Buffer, ...], capacity: int, method: str, nodes: int | None) -> None:
    for buffer in buffers:
        if not isinstance(buffer, Buffer):
            raise ValueError(f"buffers must hold simulator.allocation.Buffer only, got {buffer!r}")
    check_buffers(buffers)
    if isinstance(capacity, bool) or not isinstance(capacity, int) or not 0 <= capacity <= MAX_CAPACITY:
        raise ValueError(f"capacity must be an integer from 0 to {MAX_CAPACITY} bytes, got {capacity!r}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if nodes is not None and (isinstance(nodes, bool) or not isinstance(nodes, int) or not 1 <= nodes <= HIGHEST_LIMIT):
        raise ValueError(f"nodes must be an integer from 1 to {HIGHEST_LIMIT}, got {nodes!r}")


def _is_explainable(problem: AllocationProblem, capacity: int) -> bool:
    return problem.bound * problem.granule > capacity or len(problem.size) <= MAX_EXPLAINED


def _result(
    problem: AllocationProblem,
    capacity: int,
    method: str,
    outcome: Outcome,
    conflict: tuple[str, ...] | None,
    is_sure: bool | None,
) -> AllocationResult:
    granule, status = problem.granule, outcome.status
    allocation = height = None
    refuted = max(outcome.refuted, problem.bound - 1)
    if outcome.address is not None:
        addresses = {each.id: at * granule for each, at in zip(problem.buffers, outcome.address.tolist())}
        allocation = Allocation(addresses)
        broken = check_allocation(problem.buffers, allocation, capacity)
        assert not broken, broken[0].message
        height = height_of(problem, outcome.address)
        if status == "feasible" and height - 1 <= refuted:
            status = "optimal"
    return AllocationResult(
        method=method,
        status=status,
        buffers=len(problem.buffers),
        capacity_bytes=capacity,
        granule_bytes=granule,
        lower_bound_bytes=problem.bound * granule,
        allocation=allocation,
        height_bytes=None if height is None else height * granule,
        proved_infeasible_bytes=None if refuted < 0 else refuted * granule,
        nodes=outcome.nodes,
        solved_by=outcome.solved_by,
        conflict=conflict,
        conflict_is_irreducible=is_sure,
    )


def _portfolio(problem: AllocationProblem, capacity: int, minimize: bool, _: int = 0, __: str = "") -> Outcome:
    """Return the first answer that fits, or with `minimize` the lowest; "gave_up" if none fits."""
    best = Outcome("gave_up")
    least = capacity + 1
    for order, rule in PORTFOLIO:
        address = greedy(problem, order, rule)
        height = height_of(problem, address)
        if height < least:
            best, least = Outcome("feasible", address, solved_by=f"greedy {order}/{rule}"), height
        if best.address is not None and (not minimize or least == problem.bound):
            break
    return best


def _auto(problem: AllocationProblem, capacity: int, minimize: bool, nodes: int, engine: str) -> Outcome:
    first = _portfolio(problem, capacity, minimize)
    is_large = len(problem.size) > MOST_MINIMIZED
    if first.address is not None and (not minimize or is_large or height_of(problem, first.address) == problem.bound):
        return first._replace(nodes=0)
    if len(problem.size) > LONG:
        found = fullest_first(problem, problem.bound if minimize else capacity, nodes, engine)
        if found.address is not None or (found.status == "infeasible" and not minimize):
            return found
    if not minimize:
        return complete(problem, capacity, nodes, engine, rescue=Rescue(nodes, engine).solve)
    return lower_height(problem, capacity, _search(problem, capacity, True, nodes, engine, first), nodes, engine)


def _search(
    problem: AllocationProblem, capacity: int, minimize: bool, nodes: int, engine: str, first: Outcome | None = None
) -> Outcome:
    # Searches for an allocation of at most height `at` within `limit` nodes.
    def decide(at: int, limit: int) -> Outcome:
        return complete(problem, at, limit, engine, race_from=at if minimize else 0)

    return least_height(problem, capacity, first, nodes, decide) if minimize else decide(capacity, nodes)


METHODS: dict[str, Callable[..., Outcome]] = {
    "auto": _auto,
    "greedy": _portfolio,
    "search": _search,
    "ilp": lambda *asked: ilp(*asked[:-1]),  # they have an engine of their own
    "cp": lambda *asked: cp(*asked[:-1]),
}
