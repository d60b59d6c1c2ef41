"""What a mapping costs: validity, words between levels, cycles, energy (docs/mapping.md, section 3; our rules).

In the style of Timeloop: a tensor is filled anew whenever the innermost loop that changes it moves on; loops inside
that one are reuse. What a window shares with its neighbour is read again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator.mapping.architecture import Architecture
from simulator.mapping.nest import LayerMapping
from simulator.mapping.shapes import LOOPS, RELEVANT, TENSORS, LayerShape
from simulator.technology import MAC_PJ, Technology
from simulator.units import ENERGY

Accesses = dict[str, dict[str, tuple[int, int]]]


@dataclass(frozen=True)
class LayerCost:
    """What a layer costs. Where it is not valid, cycles and energy are infinite and there are no accesses.

    Examples
    --------
    >>> from simulator.mapping import LayerShape, closed_form
    >>> _, cost = closed_form(LayerShape(r=3, s=3, p=14, q=14, c=256, k=256))
    >>> cost.accesses["DRAM"]["W"]
    (589824, 0)
    """

    cycles: float  #: no less than what DRAM takes
    compute_cycles: int  #: the product of the temporal factors
    utilization: float  #: MACs over lanes times compute cycles
    bound_cycles: float  #: the roofline
    accesses: Accesses  #: level -> tensor -> (words read, words written), all instances
    energy_pj: float
    valid: bool = True  #: if not, `violations` says why
    violations: tuple[str, ...] = ()
    excess: Mapping[tuple[int, str], float] | None = None  #: (level, tensor) -> words needed over words there

    def __repr__(self) -> str:
        costs = f"{self.cycles:,.0f} cycles, {self.utilization:.1%} of the lanes, {ENERGY.text(self.energy_pj)}"
        return f"LayerCost({costs})" if self.valid else f"LayerCost(not valid: {self.violations[0]})"

    def to_json(self) -> dict[str, Any]:
        """Return the plain data of `cocco map --json`."""
        return {
            "cycles": self.cycles,
            "compute_cycles": self.compute_cycles,
            "bound_cycles": self.bound_cycles,
            "utilization": self.utilization,
            "energy_pj": self.energy_pj,
            "accesses": {
                level: {tensor: list(words) for tensor, words in each.items()}
                for level, each in self.accesses.items()
            },
        }  # fmt: skip


def bound_cycles(shape: LayerShape, lanes: int, read_rate: float, write_rate: float) -> float:
    """Return the roofline: no mapping computes or moves the layer in fewer cycles.

    Parameters
    ----------
    shape : LayerShape
    lanes : int
        MACs that work at once.
    read_rate, write_rate : float
        Words per cycle of DRAM.

    Returns
    -------
    float
        Cycles.

    Examples
    --------
    >>> from simulator.mapping import LayerShape, bound_cycles
    >>> bound_cycles(LayerShape(r=3, s=3, p=14, q=14, c=256, k=256), lanes=1024, read_rate=10, write_rate=10)
    112896.0
    """
    moved = (shape.weight_words + shape.touched_words) / read_rate
    return max(shape.macs / lanes, moved, shape.output_words / write_rate)


def evaluate(
    mapping: LayerMapping, shape: LayerShape, arch: Architecture, technology: Technology | None = None
) -> LayerCost:
    """Return what the mapping costs; one that does not fit is an answer with its violations, not an error.

    Where a mapping has no loop over the groups of a shape, they run one after another (docs/mapping.md, section 3).

    Parameters
    ----------
    mapping : LayerMapping
        The answer to judge, whoever made it.
    shape : LayerShape
    arch : Architecture
        With as many levels as the mapping.
    technology : Technology, optional
        Energies; those of the paper unless given.

    Returns
    -------
    LayerCost
        Cycles, words moved, pJ.

    Raises
    ------
    ValueError
        The mapping has another number of levels, or names a dimension that there is not.

    Examples
    --------
    >>> from simulator.mapping import Architecture, LayerMapping, LayerShape, Level, evaluate
    >>> small = Architecture((
    ...     Level("buffer", 4096, 1, {"W": 0.5, "I": 0.25, "O": 0.25}, fanout=4),
    ...     Level("DRAM", None, 1, {"W": 1, "I": 1, "O": 1}),
    ... ), macs=4)
    >>> mapping = LayerMapping.of([({"K": 4}, [("C", 8), ("P", 6)]), ({}, [("Q", 6)])])
    >>> evaluate(mapping, LayerShape(r=1, s=1, p=6, q=6, c=8, k=4), small)
    LayerCost(288 cycles, 100.0% of the lanes, 48.247 nJ)
    >>> evaluate(mapping, LayerShape(r=1, s=1, p=6, q=6, c=8, k=5), small).violations
    ('the factors of K come to 4, its bound is 5',)
    """
    technology = technology or Technology()
    _check(mapping, arch)
    nest = _Nest(mapping.with_groups(shape.groups), shape)
    bound = bound_cycles(shape, arch.macs, arch.dram_read_words_per_cycle, arch.dram_write_words_per_cycle)
    violations, excess = _violations(nest, shape, arch)
    if violations:
        return LayerCost(math.inf, 0, 0.0, bound, {}, math.inf, False, tuple(violations), excess)
    words = [{tensor: [0, 0] for tensor in level.stores} for level in arch.levels]
    for tensor in TENSORS:
        _count(tensor, nest, arch, words)
    accesses = {
        level.name: {tensor: (read, written) for tensor, (read, written) in each.items()}
        for level, each in zip(arch.levels, words)
    }
    compute = math.prod(nest.steps)
    dram = accesses[arch.levels[-1].name].values()
    reading = sum(read for read, _ in dram) / arch.dram_read_words_per_cycle
    writing = sum(written for _, written in dram) / arch.dram_write_words_per_cycle
    energy = shape.macs * MAC_PJ + math.fsum(
        level.word_pj(technology) * sum(map(sum, accesses[level.name].values())) for level in arch.levels
    )
    return LayerCost(
        max(compute, reading, writing), compute, shape.macs / (arch.macs * compute), bound, accesses, energy
    )


class _Nest:
    """The factors of a mapping, summed up once. Level 0 is the innermost."""

    def __init__(self, mapping: LayerMapping, shape: LayerShape) -> None:
        self.temporal = [each.temporal for each in mapping.levels]
        self.spatial = [each.spatial for each in mapping.levels]
        self.steps = [math.prod(factor for _, factor in loops) for loops in self.temporal]
        self.lanes = [math.prod(each.values()) for each in self.spatial]
        extents = dict.fromkeys(LOOPS, 1)
        self.words: list[dict[str, int]] = []
        for loops, lanes in zip(self.temporal, self.spatial):
            for dimension, factor in (*loops, *lanes.items()):
                extents[dimension] *= factor
            self.words.append({tensor: shape.footprint(tensor, extents) for tensor in TENSORS})
        self.extents = extents

    def fills(self, tensor: str, inner: int) -> int:
        """Return how often one instance of a level is filled with another tile of a tensor; -1 is a MAC."""
        loops = [loop for each in self.temporal[inner + 1 :] for loop in each]
        if inner >= 0:  # a MAC takes its operands every cycle
            first = next((i for i, (d, f) in enumerate(loops) if f > 1 and d in RELEVANT[tensor]), len(loops))
            loops = loops[first:]
        return math.prod(factor for _, factor in loops)

    def spread(self, tensor: str | None, inner: int, outer: int) -> int:
        """Return the lanes between two levels, only those that walk through the tensor if it is given."""
        return math.prod(
            factor
            for each in self.spatial[inner + 1 : outer + 1]
            for d, factor in each.items()
            if tensor is None or d in RELEVANT[tensor]
        )

    def distinct(self, outer: int) -> int:
        """Return the words of O that one instance of a level ever sees."""
        loops = [loop for each in self.temporal for loop in each]
        found = math.prod(factor for d, factor in loops if d in RELEVANT["O"])
        return found * self.spread("O", -1, outer)


def _count(tensor: str, nest: _Nest, arch: Architecture, words: list[dict[str, list[int]]]) -> None:
    """Add the words that pass between neighbouring levels that hold the tensor, from the MACs outward."""
    inner = -1
    for outer in arch.stored(tensor):
        above = nest.spread(None, outer, len(arch.levels) - 1)  # instances of the outer level
        each = nest.fills(tensor, inner) * (nest.words[inner][tensor] if inner >= 0 else 1)
        asked = each * nest.spread(tensor, inner, outer) * above
        received = each * nest.spread(None, inner, outer) * above
        if tensor != "O":
            words[outer][tensor][0] += asked
            if inner >= 0:
                words[inner][tensor][1] += received
        else:
            again = asked - nest.distinct(outer) * above
            words[outer][tensor][0] += again
            words[outer][tensor][1] += asked
            if inner >= 0:
                words[inner][tensor][0] += received
                words[inner][tensor][1] += again
        inner = outer


def _violations(nest: _Nest, shape: LayerShape, arch: Architecture) -> tuple[list[str], dict[tuple[int, str], float]]:
    found, excess = [], {}
    for dimension, bound in shape.bounds.items():
        if nest.extents[dimension] != bound:
            found.append(f"the factors of {dimension} come to {nest.extents[dimension]}, its bound is {bound}")
    for i, level in enumerate(arch.levels):
        if nest.lanes[i] > level.fanout:
            found.append(f"{level.name}: {nest.lanes[i]} lanes are used, there are {level.fanout}")
        for tensor in level.stores:
            need, room = nest.words[i][tensor], level.room(tensor)
            if need > room:
                found.append(f"{level.name}: {tensor} takes {need} words, has {room:g}")
                excess[i, tensor] = need / room
    return found, excess


def _check(mapping: LayerMapping, arch: Architecture) -> None:
    if len(mapping.levels) != len(arch.levels):
        raise ValueError(
            f"a mapping for {arch.name} has {len(arch.levels)} levels ({', '.join(arch.names)}), got "
            f"{len(mapping.levels)}"
        )
    for name, each in zip(arch.names, mapping.levels):
        for dimension, factor in (*each.temporal, *each.spatial.items()):
            if dimension not in LOOPS:
                raise ValueError(f"{name}: a loop over {dimension!r}; dimensions are {', '.join(LOOPS)}")
            if isinstance(factor, bool) or not isinstance(factor, int) or factor < 1:
                raise ValueError(f"{name}: the factor of {dimension} must be an integer of at least 1, got {factor!r}")
