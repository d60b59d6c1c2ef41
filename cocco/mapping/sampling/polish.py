"""Hill climbing by the judge's cycles from a mapping that is there, and from nothing on chip (our choice).

CoSA's program minimizes logarithms of proxies; a mapping that is optimal by them can be far from the roofline. Moves:
one factor to another slot, two factors exchange theirs, two loops exchange places. After PATIENCE tries in vain the
best is kicked: a few moves are made whatever they cost.
"""

from __future__ import annotations

import numpy as np

from cocco.mapping.result import MappingResult
from cocco.mapping.sampling.random_search import _Best
from cocco.mapping.sampling.sampling import Draw, Sampler
from simulator.mapping import Architecture, LayerMapping, LayerShape

ROUND = 250  #: tries of one climb; our choice
PATIENCE = 100  #: tries in vain before a kick; our choice
KICKS = 3  #: moves of a kick; our choice


def polish(
    shape: LayerShape, arch: Architecture, start: LayerMapping, evaluations: int = 2_000, seed: int = 0
) -> MappingResult:
    """Return the mapping of fewest cycles, then energy, of so many tries, ROUND from `start`, ROUND from all at DRAM.

    More tries go on where fewer ended, so that they find nothing worse; they end at the roofline.
    """
    sampler = Sampler(shape, arch)
    best = _Best(sampler)
    if not sampler.factors:
        best.judge(sampler.draw_of(start), shape)
        return best.result()
    dram = 2 * len(arch.levels) - 1
    outside = Draw(np.full(len(sampler.factors), dram, dtype=np.int64), np.arange(len(sampler.factors)))
    for number in range(0, evaluations, ROUND):
        rng = np.random.default_rng((seed, number))
        place = outside if number // ROUND % 2 else sampler.draw_of(start)
        _climb(best, shape, rng, place, min(ROUND, evaluations - number))
        if best.found is not None and best.key[0] <= best.found[1].bound_cycles:
            break
    return best.result()


def _climb(best: _Best, shape: LayerShape, rng: np.random.Generator, start: Draw, tries: int) -> None:
    sampler = best.sampler
    here, failed = start, 0
    key = top_key = best.judge(start, shape)
    top = start
    for _ in range(tries):
        best.draws += 1
        kicked = failed >= PATIENCE
        tried = top if kicked else here
        for _ in range(KICKS if kicked else 1):
            tried = _fitting(sampler, _moved(sampler, tried, rng), tried)
        if tried is here:
            failed += 1
            continue
        found = best.judge(tried, shape)
        failed = 0 if kicked or found < key else failed + 1
        if kicked or found <= key:
            here, key = tried, found
        if key < top_key:
            top, top_key = here, key


def _fitting(sampler: Sampler, moved: Draw, before: Draw) -> Draw:
    return moved if sampler.fits(moved.slots[None, :])[0] else before


def _moved(sampler: Sampler, draw: Draw, rng: np.random.Generator) -> Draw:
    slots, order = draw.slots.copy(), draw.order.copy()
    kind = rng.random()
    if kind < 0.5:
        column = int(rng.integers(len(slots)))
        slots[column] = sampler.legal[column][int(rng.integers(len(sampler.legal[column])))]
    elif kind < 0.8:
        i, j = rng.integers(len(slots), size=2).tolist()
        if slots[j] in sampler.legal[i] and slots[i] in sampler.legal[j]:
            slots[i], slots[j] = slots[j], slots[i]
    else:
        i, j = rng.integers(len(order), size=2).tolist()
        order[i], order[j] = order[j], order[i]
    return Draw(slots, order)
