"""map_layer: one layer onto a machine, by any method; every answer is the judge's."""

from __future__ import annotations

import math

from cocco.mapping.program import Solver
from cocco.mapping.result import MappingResult
from cocco.mapping.rules import Rules
from cocco.mapping.solving import DEFAULT_LIMIT, SolverLimits, map_cosa
from simulator.mapping import SIMBA, Architecture, Core, LayerMapping, LayerShape, closed_form

METHODS = ("closed", "cosa", "random", "climb")
CLOSED_LEVELS = ("lanes", "PE array")


def map_layer(
    shape: LayerShape,
    arch: Architecture = SIMBA,
    method: str = "cosa",
    *,
    rules: Rules | None = None,
    solver: Solver = "highs",
    limit: float = DEFAULT_LIMIT,
    samples: int | None = None,
    seed: int = 0,
    axes: str | None = None,
) -> MappingResult:
    """Return how to run one layer on the machine.

    method: "closed" (best of the ways to unroll two axes; axes such as "KC" leaves one), "cosa" (the mixed-integer
    program; extra `solvers`; limit in units of deterministic time), "random" (best of `samples` valid mappings, 5),
    "climb" (hill climbing, `samples` tries, 2000). No solution is an answer: its status says so. Raises ValueError
    for an unknown method, and for what the method cannot map.
    """
    if method == "closed":
        return _closed(shape, arch, axes)
    if method == "cosa":
        return map_cosa(shape, arch, rules or Rules(), SolverLimits(solver, limit))
    from cocco.mapping.random_search import BEST_OF, hill_climb, random_search

    if method == "random":
        return random_search(shape, arch, samples or BEST_OF, seed)
    if method == "climb":
        return hill_climb(shape, arch, samples or 2_000, seed)
    raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")


def _closed(shape: LayerShape, arch: Architecture, axes: str | None) -> MappingResult:
    core = Core.of(arch, axes)
    chosen, cost = closed_form(shape, core)
    lanes = {"K": core.light} if shape.is_depthwise else {"C": core.inputs, "K": core.outputs}
    array: dict[str, int] = {}
    for axis in chosen:
        array[axis] = array.get(axis, 1) * core.side
    extents = shape.bounds | ({"K": shape.k} if shape.is_depthwise else {})
    loops = [(d, math.ceil(n / (lanes.get(d, 1) * array.get(d, 1)))) for d, n in extents.items()]
    mapping = LayerMapping.of([(lanes, []), (array, [(d, n) for d, n in loops if n > 1])])
    return MappingResult(
        mapping, cost, "optimal", arch, evaluations=1 if axes else 10, valid=1 if axes else 10,
        level_names=CLOSED_LEVELS,
    )  # fmt: skip
