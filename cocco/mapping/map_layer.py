"""map_layer: one layer onto a machine, by any method; every answer is the judge's."""

from __future__ import annotations

import math
from dataclasses import replace

from cocco.mapping.cosa.program import Solver
from cocco.mapping.cosa.solving import DEFAULT_LIMIT, SolverLimits, map_cosa
from cocco.mapping.result import MappingResult
from cocco.mapping.rules import Rules
from simulator.mapping import SIMBA, Architecture, Core, LayerMapping, LayerShape, closed_form

METHODS = ("closed", "cosa", "polished", "random", "climb")
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

    Parameters
    ----------
    shape : LayerShape
        Extents R, S, P, Q, C, K, N of the seven loops, in elements.
    arch : Architecture
        The machine, from lanes to DRAM.
    method : str
        "closed" (best of the ways to unroll two axes), "cosa" (the mixed-integer program, extra `solvers`; optimal by
        its log objective, whatever the cycles are), "polished" (hill climbing by cycles from CoSA's mapping), "random"
        (best of some valid mappings), "climb" (hill climbing).
    rules : Rules, optional
        How "cosa" counts footprints and traffic.
    solver : str
        "highs" or "cp", of "cosa".
    limit : float
        Deterministic time of the solver, about seconds.
    samples : int, optional
        Valid mappings of "random", 5 by default; tries of "climb" and "polished", 2000 by default.
    seed : int
        Of "random", "climb" and "polished".
    axes : str, optional
        Leaves "closed" one way to unroll, such as "KC".

    Returns
    -------
    MappingResult
        The loop nest with the judge's cost. No solution is an answer: its status says so.

    Raises
    ------
    ValueError
        For an unknown method, and for what the method cannot map.

    References
    ----------
    CoSA (Huang et al., ISCA 2021); docs/mapping.md.

    Examples
    --------
    A layer of 14 x 14 x 64 outputs from 64 channels takes 802,816 operations, of which SIMBA does 1024 in a cycle:

    >>> found = map_layer(LayerShape(1, 1, 14, 14, 64, 64), method="closed")
    >>> found.cost.compute_cycles
    784
    """
    if method == "closed":
        return _closed(shape, arch, axes)
    if method == "cosa":
        return map_cosa(shape, arch, rules or Rules(), SolverLimits(solver, limit))
    if method == "polished":
        return _polished(map_cosa(shape, arch, rules or Rules(), SolverLimits(solver, limit)), shape, samples, seed)
    from cocco.mapping.sampling.random_search import BEST_OF, hill_climb, random_search

    if method == "random":
        return random_search(shape, arch, samples or BEST_OF, seed)
    if method == "climb":
        return hill_climb(shape, arch, samples or 2_000, seed)
    raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")


def _polished(found: MappingResult, shape: LayerShape, samples: int | None, seed: int) -> MappingResult:
    """Return the better of CoSA's mapping and what climbs from it, by cycles, then energy.

    It has no objective any more; it is optimal where its cycles are the roofline's.
    """
    from cocco.mapping.sampling.polish import polish

    if found.mapping is None or found.cost is None:
        return found
    climbed = polish(shape, found.architecture, found.mapping, samples or 2_000, seed)
    best = min((each for each in (found, climbed) if each.cost is not None), key=_by_cycles)
    assert best.cost is not None
    at_bound = best.cost.cycles <= best.cost.bound_cycles * (1 + 1e-9)
    return replace(
        found, mapping=best.mapping, cost=best.cost, status="optimal" if at_bound else "feasible", objective=None,
        objective_parts=None, bound=None, evaluations=found.evaluations + climbed.evaluations,
        valid=found.valid + climbed.valid, curve=climbed.curve,
    )  # fmt: skip


def _by_cycles(found: MappingResult) -> tuple[float, float]:
    assert found.cost is not None
    return found.cost.cycles, found.cost.energy_pj


def _closed(shape: LayerShape, arch: Architecture, axes: str | None) -> MappingResult:
    core = Core.of(arch, axes)
    chosen, cost = closed_form(shape, core)
    lanes = {"K": core.light} if shape.is_depthwise else {"C": core.inputs, "K": core.outputs}
    array: dict[str, int] = {}
    for axis in chosen:
        array[axis] = array.get(axis, 1) * core.side
    extents = shape.bounds | {"K": shape.k, "G": 1}  # the channels of several groups fill the lanes
    loops = [(d, math.ceil(n / (lanes.get(d, 1) * array.get(d, 1)))) for d, n in extents.items()]
    mapping = LayerMapping.of([(lanes, []), (array, [(d, n) for d, n in loops if n > 1])])
    return MappingResult(
        mapping, cost, "optimal", arch, evaluations=1 if axes else 10, valid=1 if axes else 10,
        level_names=CLOSED_LEVELS,
    )  # fmt: skip
