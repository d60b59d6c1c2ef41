"""CoSA's mixed-integer program, aggregated: how many of each prime factor of a loop bound go to which level.

CoSA (ISCA 2021, Sec. III and IV), its rules as in the published code; docs/mapping.md writes every formula out. Where
the original has a binary for each factor and slot, here a whole number counts equal factors: exact, and far smaller.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product
from typing import NamedTuple

from cocco.mapping.cosa.program import CONSTANT, Linear, Program, total
from cocco.mapping.rules import Rules, factors_of
from simulator.mapping import TENSORS, Architecture, LayerShape
from simulator.mapping.shapes import LOOPS

SPATIAL, TEMPORAL = 0, 1
WALKS: Mapping[str, str] = {
    "W": "RSCKG",
    "I": "PQCNG",
    "O": "PQKNG",
}  #: the paper's A, and G; R, S touch I by the halo
#: of the published code: data per transfer by level, traffic of lanes, of loops at DRAM, utilisation
TRANSFER_BASE, TRANSFER_SLOPE, TRANSFER, LANES = 0.80, 0.04, 0.99, 0.99
SECOND_WEIGHTS = 1.01  #: weights at DRAM, and weight buffers behind the first
SHARES = 8  #: eighths of the outermost buffer that `split` may give to I; our choice


class Factor(NamedTuple):
    """A prime factor of a loop bound; equal ones of a dimension are told apart in the literal form only."""

    prime: int
    copy: int = 0

    @property
    def bits(self) -> float:
        """log2 of the prime."""
        return math.log2(self.prime)


Slot = tuple[str, Factor, int, int]  #: dimension, factor, level, SPATIAL or TEMPORAL


class Formulation(NamedTuple):
    """A program, what its variables mean, and the three objectives."""

    program: Program
    counts: dict[Slot, int]  #: -> variable
    ranks: list[dict[tuple[str, Factor], int]]  #: rank, innermost first -> (dimension, factor) -> variable
    shares: list[int]  #: SHARES - 1 variables, or none
    parts: dict[str, Linear]  #: compute, utilization, traffic


def formulate(
    shape: LayerShape,
    arch: Architecture,
    rules: Rules,
    tight: Mapping[tuple[int, str], float] | None = None,
    literal: bool = False,
) -> Formulation:
    """Return the program of a shape; tight: (level, tensor) -> bits taken off its capacity.

    literal: a binary for each factor and slot, products of binaries and no cuts, as the original states it.
    """
    if literal and rules.aim == "balance":
        raise ValueError("the literal form has no aim 'balance'")
    build = _Builder(shape, arch, rules, literal)
    build.place_all_factors()
    if not build.counts:
        build.program.whole(0)  # all extents are 1: solvers want a variable
    build.limit_lanes()
    build.limit_capacities(tight or {})
    parts = {"compute": build.compute(), "utilization": build.utilization(), "traffic": build.traffic()}
    build.program.objective = build.balance(parts) if rules.aim == "balance" else build.weighted(parts)
    return Formulation(build.program, build.counts, build.ranks, build.shares, parts)


class _Builder:
    """The program while it grows."""

    def __init__(self, shape: LayerShape, arch: Architecture, rules: Rules, literal: bool) -> None:
        self.shape, self.arch, self.rules, self.literal = shape, arch, rules, literal
        self.is_exact = rules.aim == "balance"  #: traffic is not only minimized, so nothing may count too much
        self.program = Program()
        self.factors = {d: _factors(extent, literal) for d, extent in shape.bounds.items()}
        self.ordered, self.dram = len(arch.levels) - 2, len(arch.levels) - 1
        self.counts: dict[Slot, int] = {}
        self.ranks: list[dict[tuple[str, Factor], int]] = []
        self.shares: list[int] = []
        self.inside: dict[tuple[str, int], int] = {}
        self.needs: dict[tuple[int, str], Linear] = {}

    def pairs(self, dimensions: Iterable[str] = LOOPS) -> list[tuple[str, Factor, int]]:
        """Return (dimension, factor, multiplicity)."""
        return [(d, f, n) for d in dimensions for f, n in self.factors[d].items()]

    def place_all_factors(self) -> None:
        """Every factor has one slot."""
        for d, f, often in self.pairs():
            row: Linear = {}
            for i, k in product(range(self.dram + 1), (SPATIAL, TEMPORAL)):
                if self._may(d, f, i, k):
                    self.counts[d, f, i, k] = variable = self.program.whole(often)
                    row[variable] = 1
            self.program.same(row, often)

    def _may(self, d: str, f: Factor, i: int, k: int) -> bool:
        if self.rules.halo == "published" and d in "RS":
            return (i, k) == (self.dram, TEMPORAL)
        if k == SPATIAL:
            return i != self.dram and f.prime <= self.arch.levels[i].fanout
        return self.rules.ranks or i != self.ordered

    def bits(self, levels: Iterable[int], kinds: Iterable[int], dimensions: Iterable[str] = LOOPS) -> Linear:
        """Return the sum of log2 f over the factors of these dimensions in these slots."""
        kinds = tuple(kinds)
        slots = ((d, f, i, k) for i in levels for k in kinds for d, f, _ in self.pairs(dimensions))
        return {self.counts[slot]: slot[1].bits for slot in slots if slot in self.counts}

    def number(self, d: str, level: int, f: Factor | None = None) -> Linear:
        """Return how many factors of a dimension (only f, if given) are at a level or further inside."""
        return {
            variable: 1.0
            for (dimension, factor, i, _), variable in self.counts.items()
            if dimension == d and i <= level and f in (None, factor)
        }

    def limit_lanes(self) -> None:
        for i, level in enumerate(self.arch.levels[:-1]):
            self.program.at_most(self.bits([i], [SPATIAL]), math.log2(level.fanout))

    def limit_capacities(self, tight: Mapping[tuple[int, str], float]) -> None:
        """What a level holds of a tensor fits into its share, in bits."""
        for i, level in enumerate(self.arch.levels[:-1]):
            for tensor in level.stores:
                self.needs[i, tensor] = need = self._need(i, tensor)
                self.program.at_most(need, total((1, self._room(i, tensor)), (-tight.get((i, tensor), 0.0), ONE)))

    def _room(self, i: int, tensor: str) -> Linear:
        level = self.arch.levels[i]
        if not (self.rules.split and i == self.ordered and set(level.stores) == {"I", "O"}):
            return {CONSTANT: math.log2(level.room(tensor))}
        if not self.shares:
            self.shares = [self.program.whole(1) for _ in range(SHARES - 1)]
            self.program.same(dict.fromkeys(self.shares, 1.0), 1)
        assert level.entries is not None
        eighths = range(1, SHARES) if tensor == "I" else range(SHARES - 1, 0, -1)
        return {share: math.log2(level.entries * eighth / SHARES) for share, eighth in zip(self.shares, eighths)}

    def _need(self, i: int, tensor: str) -> Linear:
        if tensor != "I":
            return self.bits(range(i + 1), (SPATIAL, TEMPORAL), WALKS[tensor])
        need = self.bits(range(i + 1), (SPATIAL, TEMPORAL), "CNG")
        for axis, (extent, window) in enumerate((("P", "R"), ("Q", "S"))):
            if self.rules.halo == "exact":
                span = self._exact_span(i, extent, window, axis)
            else:
                span = self._span(i, extent, window, self.shape.stride[axis])
            need = total((1, need), (1, span))
        return need

    def _span(self, i: int, extent: str, window: str, stride: int) -> Linear:
        """Return the bits along one axis of an input tile: the proxy of the published code, its halo corrected."""
        found = self.bits(range(i + 1), (SPATIAL, TEMPORAL), extent)
        if stride > 1:
            if self.rules.stride_rule == "per_factor":
                found = total((1, found), (math.log2(stride), self.number(extent, i)))
            else:
                found = total((1, found), (math.log2(stride), self._has(extent, i)))
        if self.rules.halo == "published":
            return found
        has = self._has(extent, self.arch.stored("I")[0])  # the same for the outer buffer, as published
        for f, often in self.factors[window].items():
            both = self._both(self.number(window, i, f), has, often)
            found = total((1, found), (f.bits, self.number(window, i, f)), (1 - f.bits, both))
        return found

    def _has(self, d: str, level: int) -> Linear:
        """Return 1 where some factor of a dimension is at a level or inside, else 0."""
        if not self.factors[d]:
            return {}
        if (d, level) not in self.inside:
            self.inside[d, level] = variable = self.program.whole(1)
            number = self.number(d, level)
            self.program.at_most({variable: 1}, number)
            self.program.at_most(number, {variable: sum(self.factors[d].values())})
        return {self.inside[d, level]: 1.0}

    def _both(self, number: Linear, has: Linear, most: int) -> Linear:
        """Return number * has."""
        if not number or not has:
            return {}
        product_ = {self.program.whole(most): 1.0}
        self.program.at_most(product_, number)
        self.program.at_most(product_, total((most, has)))
        self.program.at_most(total((1, number), (most, has), (-most, ONE)), product_)
        return product_

    def _exact_span(self, i: int, extent: str, window: str, axis: int) -> Linear:
        """Return log2((P' - 1) stride + reach(R')) of the factors P', R' inside: one binary for each pair of them."""
        tiles = [_parts(self.factors[d]) for d in (extent, window)]
        chosen: Linear = {}
        found: Linear = {}
        rows: dict[tuple[str, Factor], Linear] = {}
        for outs, taps in product(*tiles):
            variable = self.program.whole(1)
            chosen[variable] = 1
            span = (outs[0] - 1) * self.shape.stride[axis] + (taps[0] - 1) * self.shape.dilation[axis] + 1
            found[variable] = math.log2(span)
            for d, (_, counts) in ((extent, outs), (window, taps)):
                for f, count in counts.items():
                    rows.setdefault((d, f), {})[variable] = count
        self.program.same(chosen, 1)
        for (d, f), row in rows.items():
            self.program.same(row, self.number(d, i, f))
        return found

    def weighted(self, parts: Mapping[str, Linear]) -> Linear:
        """Return the weighted sum of the three objectives."""
        weights = self.rules.weights
        return total(
            (weights.compute, parts["compute"]),
            (-weights.utilization, parts["utilization"]),
            (weights.traffic, parts["traffic"]),
        )

    def balance(self, parts: Mapping[str, Linear]) -> Linear:
        """Return |traffic - compute|, both weighted, as a variable that is no less."""
        compute, _, traffic = self.rules.weights
        if not traffic:
            return total((compute, parts["compute"]))
        apart = total((1, parts["traffic"]), (-compute / traffic, parts["compute"]))
        high = self.program.high
        distance = self.program.real(1 + math.fsum(abs(c) * high[v] for v, c in apart.items() if v != CONSTANT))
        self.program.at_most(apart, {distance: 1.0})
        self.program.at_most(total((-1, apart)), {distance: 1.0})
        return {distance: traffic}

    def compute(self) -> Linear:
        """Bits of all temporal factors: the cycles."""
        return self.bits(range(self.dram + 1), [TEMPORAL])

    def utilization(self) -> Linear:
        """Bits held in the buffers below the outermost."""
        parts = []
        for (i, tensor), need in self.needs.items():
            if i < self.ordered:
                is_second = tensor == "W" and i != self.arch.stored("W")[0]
                parts.append((SECOND_WEIGHTS if is_second else 1.0, need))
        return total(*parts)

    def traffic(self) -> Linear:
        """Data per transfer, lanes, iterations of the ordered loops and of those at DRAM, over the three tensors."""
        parts: list[tuple[float, Linear]] = []
        for tensor in TENSORS:
            for i in range(self.ordered):
                held = self.bits([i], (SPATIAL, TEMPORAL), WALKS[tensor])
                parts.append((TRANSFER * (TRANSFER_BASE + TRANSFER_SLOPE * i), held))
            lanes = WALKS[tensor] if self.rules.multicast else LOOPS
            parts.append((LANES, self.bits([self.ordered], [SPATIAL], lanes)))
            outside = SECOND_WEIGHTS if tensor == "W" else 1.0
            parts.append((outside, self.bits([self.dram], [TEMPORAL])))
        if self.rules.ranks:
            parts += [(1.0, self._iterations())]
        return total(*parts)

    def _iterations(self) -> Linear:
        """Return the bits of the ordered loops that make a tensor move: those from its first relevant one outward."""
        pairs = [(d, f) for d, f, _ in self.pairs() if (d, f, self.ordered, TEMPORAL) in self.counts]
        program = self.program
        count = sum(often for d, f, often in self.pairs() if (d, f) in pairs)
        self.ranks = [{pair: program.whole(1) for pair in pairs} for _ in range(count)]
        for pair in pairs:
            placed = {rank[pair]: 1.0 for rank in self.ranks}
            program.same(placed, {self.counts[(*pair, self.ordered, TEMPORAL)]: 1.0})
        for z, rank in enumerate(self.ranks):
            program.at_most(dict.fromkeys(rank.values(), 1.0), 1)
            if z and not self.literal:
                inner = dict.fromkeys(self.ranks[z - 1].values(), 1.0)
                program.at_most(dict.fromkeys(rank.values(), 1.0), inner)  # cut: packed to the inside
        return total(*((1.0, self._moving(WALKS[tensor])) for tensor in TENSORS))

    def _moving(self, walks: str) -> Linear:
        program, before = self.program, -1
        found: Linear = {}
        for rank in self.ranks:
            relevant = {variable: 1.0 for (d, _), variable in rank.items() if d in walks}
            moves = program.whole(1)
            program.at_most(relevant, {moves: 1})
            if before >= 0:
                program.at_most({before: 1}, {moves: 1})
            if not self.literal and (before < 0 or self.is_exact):
                program.at_most({moves: 1}, total((1, relevant), (1, {before: 1.0} if before >= 0 else {})))
            found |= self._products(rank, moves) if self.literal else {self._time(rank, moves, walks): 1.0}
            before = moves
        return found

    def _time(self, rank: dict[tuple[str, Factor], int], moves: int, walks: str) -> int:
        """Return a variable no less than the bits on this rank where it moves the tensor, 0 elsewhere."""
        program = self.program
        most = max((f.bits for _, f in rank), default=0.0)
        bits = {variable: f.bits for (_, f), variable in rank.items()}
        time = program.real(most)
        program.at_most(total((1, bits), (most, {moves: 1}), (-most, ONE)), {time: 1})
        program.at_most({variable: f.bits for (d, f), variable in rank.items() if d in walks}, {time: 1})  # cut
        if self.is_exact:
            program.at_most({time: 1}, bits)
            program.at_most({time: 1}, {moves: most})
        return time

    def _products(self, rank: dict[tuple[str, Factor], int], moves: int) -> Linear:
        """Return the bits on this rank times `moves`, a binary for each product."""
        found: Linear = {}
        for (_, f), variable in rank.items():
            both = self.program.whole(1)
            self.program.at_most({variable: 1, moves: 1, CONSTANT: -1}, {both: 1})
            found[both] = f.bits
        return found


ONE: Linear = {CONSTANT: 1.0}


def _factors(extent: int, literal: bool) -> dict[Factor, int]:
    found = factors_of(extent)
    if literal:
        return {Factor(prime, copy): 1 for prime, often in found.items() for copy in range(often)}
    return {Factor(prime): often for prime, often in found.items()}


def _parts(factors: Mapping[Factor, int]) -> list[tuple[int, dict[Factor, int]]]:
    """Return every divisor, with its prime factors."""
    choices = [range(often + 1) for often in factors.values()]
    found = []
    for counts in product(*choices):
        found.append((math.prod(f.prime**n for f, n in zip(factors, counts)), dict(zip(factors, counts))))
    return found
