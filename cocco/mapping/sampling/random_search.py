"""Baselines without a model: the best of a few random mappings, a random search to a budget, hill climbing."""

from __future__ import annotations

import math

import numpy as np

from cocco.mapping.result import MappingResult
from cocco.mapping.sampling.sampling import Draw, Sampler
from simulator.mapping import Architecture, LayerCost, LayerMapping, LayerShape, evaluate

BEST_OF = 5  #: valid mappings (CoSA, Sec. V: five random valid schedules)
MAX_DRAWS = 2_000_000  #: our choice: about one in a hundred fits
BATCH = 2_048
PATIENCE = 200  #: moves in vain before hill climbing starts anew; our choice


class _Best:
    """The best mapping so far, and when the cycles fell."""

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler
        self.key = (math.inf, math.inf)
        self.found: tuple[LayerMapping, LayerCost] | None = None
        self.draws = self.valid = 0
        self.curve: list[tuple[int, int, float]] = []

    def judge(self, draw: Draw, shape: LayerShape) -> tuple[float, float]:
        """Return (cycles, energy) of a draw that fits; keep it if it is the best."""
        mapping = self.sampler.mapping(draw)
        cost = evaluate(mapping, shape, self.sampler.arch)
        assert cost.valid, cost.violations
        key = (cost.cycles, cost.energy_pj)
        self.valid += 1
        if key < self.key:
            if key[0] < self.key[0]:
                self.curve.append((self.draws, self.valid, key[0]))
            self.key, self.found = key, (mapping, cost)
        return key

    def result(self) -> MappingResult:
        mapping, cost = self.found or (None, None)
        return MappingResult(
            mapping, cost, "feasible" if self.found else "gave_up", self.sampler.arch,
            evaluations=self.draws, valid=self.valid, curve=tuple(self.curve),
        )  # fmt: skip


def random_search(
    shape: LayerShape,
    arch: Architecture,
    valid: int = BEST_OF,
    seed: int = 0,
    target_cycles: float = 0.0,
    max_draws: int = MAX_DRAWS,
) -> MappingResult:
    """Return the best of so many valid random mappings, by cycles, then energy; stop early at the target.

    evaluations: all draws. status: "gave_up" where none of max_draws fits.
    """
    sampler, rng = Sampler(shape, arch), np.random.default_rng(seed)
    best = _Best(sampler)
    batch = 256
    while best.draws < max_draws:
        count = min(batch, max_draws - best.draws)
        slots, order = sampler.draw(rng, count)
        start = best.draws
        for row in np.flatnonzero(sampler.fits(slots)).tolist():
            best.draws = start + row + 1
            best.judge(Draw(slots[row], order[row]), shape)
            if best.valid >= valid or best.key[0] <= target_cycles:
                return best.result()
        best.draws = start + count
        batch = BATCH
    return best.result()


def hill_climb(
    shape: LayerShape, arch: Architecture, evaluations: int = 2_000, seed: int = 0, max_draws: int = MAX_DRAWS
) -> MappingResult:
    """Return the best of so many tries: one factor to another slot, or two loops exchanged, kept if no worse.

    Starts at a random valid mapping, anew after PATIENCE tries in vain. evaluations of the answer: draws and tries.
    """
    sampler, rng = Sampler(shape, arch), np.random.default_rng(seed)
    best, tries = _Best(sampler), 0
    here: Draw | None = None
    key, failed = (math.inf, math.inf), 0
    while tries < evaluations:
        if here is None:
            here = _valid_draw(best, rng, max_draws)
            if here is None:
                break
            key, failed = best.judge(here, shape), 0
        tries += 1
        best.draws += 1
        moved = _move(sampler, here, rng)
        if not sampler.fits(moved.slots[None, :])[0]:
            failed += 1
        else:
            found = best.judge(moved, shape)
            failed = 0 if found < key else failed + 1
            if found <= key:
                here, key = moved, found
        if failed >= PATIENCE:
            here = None
    return best.result()


def _valid_draw(best: _Best, rng: np.random.Generator, max_draws: int) -> Draw | None:
    while best.draws < max_draws:
        slots, order = best.sampler.draw(rng, 256)
        good = np.flatnonzero(best.sampler.fits(slots))
        if len(good):
            best.draws += int(good[0]) + 1
            return Draw(slots[good[0]], order[good[0]])
        best.draws += 256
    return None


def _move(sampler: Sampler, draw: Draw, rng: np.random.Generator) -> Draw:
    slots, order = draw.slots.copy(), draw.order.copy()
    if not len(slots):
        return draw
    if rng.random() < 0.8:
        column = int(rng.integers(len(slots)))
        slots[column] = sampler.legal[column][int(rng.integers(len(sampler.legal[column])))]
    else:
        i, j = rng.integers(len(order), size=2).tolist()
        order[i], order[j] = order[j], order[i]
    return Draw(slots, order)
