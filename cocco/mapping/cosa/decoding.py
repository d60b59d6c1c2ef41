"""From a solution of the program to the loop nest that it means."""

from __future__ import annotations

from cocco.mapping.cosa.cosa import SPATIAL, TEMPORAL, Formulation
from simulator.mapping import Architecture, LayerMapping
from simulator.mapping.shapes import LOOPS


def decode(formulation: Formulation, values: tuple[float, ...], arch: Architecture) -> LayerMapping:
    """Return the mapping of a solution: the factors of a dimension at a level become one loop.

    At the ordered level it stands at the innermost rank of its dimension; elsewhere in the order R S P Q C K N G.
    """
    factors: dict[tuple[int, int], dict[str, int]] = {}
    for (d, f, i, k), variable in formulation.counts.items():
        often = round(values[variable])
        if often:
            at = factors.setdefault((i, k), {})
            at[d] = at.get(d, 1) * f.prime**often
    order: dict[str, int] = {}
    for z, rank in enumerate(formulation.ranks):
        for (d, _), variable in rank.items():
            if round(values[variable]):
                order.setdefault(d, z)
    ordered = len(arch.levels) - 2
    levels = []
    for i in range(len(arch.levels)):
        loops = [(d, f) for d, f in factors.get((i, TEMPORAL), {}).items()]
        place = (lambda loop: order[loop[0]]) if i == ordered else (lambda loop: LOOPS.index(loop[0]))
        levels.append((factors.get((i, SPATIAL), {}), sorted(loops, key=place)))
    return LayerMapping.of(levels)
