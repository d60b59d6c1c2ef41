"""Check what user-defined operators return, and turn it into a valid partition."""

from __future__ import annotations

from typing import cast

import numpy as np

from cocco.candidates.genome import Genome, canonical
from cocco.problem.problem import Problem
from cocco.search.genetic.operators.repair import repair


def checked_genome(problem: Problem, genome: object) -> Genome:
    """Return a genome with a valid partition made from its labels; raises ValueError, with one line, if impossible."""
    try:
        names, positions = cast(Genome, genome)
        labels, capacities = [*names], tuple(positions)
    except (TypeError, ValueError):
        raise ValueError(f"a genome has labels and capacities, got {genome!r}") from None
    if len(labels) != problem.size:
        raise ValueError(f"a genome has one label per layer, {problem.size}, got {len(labels)}")
    for v, label in enumerate(labels):
        if isinstance(label, bool) or not isinstance(label, int | np.integer):
            raise ValueError(f"labels must be integers, got {label!r} for layer {v}")
    buffers = problem.buffers
    if len(capacities) != len(buffers):
        raise ValueError(f"a genome has one position per buffer that is chosen, {len(buffers)}, got {capacities!r}")
    for position, (name, sizes) in zip(capacities, buffers.items()):
        if not isinstance(position, int | np.integer) or not 0 <= position < len(sizes):
            raise ValueError(f"{name} must be a position from 0 to {len(sizes) - 1}, got {position!r}")
    valid = repair(problem, canonical([int(label) for label in labels]))
    return Genome(valid, tuple(int(position) for position in capacities))
