"""Random mappings: each prime factor draws a slot, the loops of the ordered level an order. Thousands at a time.

A weak baseline, as in the paper's random scheduler: what a machine does with the first mappings that fit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cocco.mapping.rules import factors_of
from simulator.mapping import Architecture, LayerMapping, LayerShape
from simulator.mapping.shapes import LOOPS

Slots = np.ndarray[Any, np.dtype[np.int64]]


class Draw(NamedTuple):
    """One mapping: the slot of each factor, and where each would stand among the loops of the ordered level."""

    slots: Slots
    order: Slots


class Sampler:
    """The factors of a shape, the slots each may take, and a quick exact test of whether a draw fits."""

    def __init__(self, shape: LayerShape, arch: Architecture) -> None:
        self.shape, self.arch = shape, arch
        self.factors = [
            (d, prime)
            for d, extent in self.shape.bounds.items()
            for prime, often in factors_of(extent).items()
            for _ in range(often)
        ]
        #: slot 2 i + 1 is temporal at level i, 2 i spatial
        self.legal = [
            [
                slot
                for slot in range(2 * len(arch.levels))
                if slot % 2 or (prime <= arch.levels[slot // 2].fanout and slot // 2 < len(arch.levels) - 1)
            ]
            for _, prime in self.factors
        ]

    def draw(self, rng: np.random.Generator, count: int) -> tuple[Slots, Slots]:
        """Return slots and order of so many draws, a row each; most do not fit."""
        size = (count, len(self.factors))
        slots = np.zeros(size, dtype=np.int64)
        for column, legal in enumerate(self.legal):
            slots[:, column] = np.array(legal)[rng.integers(len(legal), size=count)]
        return slots, np.argsort(rng.random(size), axis=1)

    def draw_of(self, mapping: LayerMapping) -> Draw:
        """Return the draw that this mapping is, loops of a dimension at one level taken together.

        Raises ValueError where its loops are not those of the shape.
        """
        left = [{"lanes": dict(each.spatial), "loops": _merged(each.temporal)} for each in mapping.levels]
        ordered = [d for d, _ in mapping.levels[len(self.arch.levels) - 2].temporal]
        slots, order = [], []
        for d, prime in self.factors:
            slot = next((s for s in range(2 * len(left)) if _holds(left, s, d, prime)), None)
            if slot is None:
                raise ValueError(f"the mapping has no place for a factor {prime} of {d}")
            left[slot // 2]["loops" if slot % 2 else "lanes"][d] //= prime
            slots.append(slot)
            order.append(ordered.index(d) if d in ordered else len(ordered))
        return Draw(np.array(slots, dtype=np.int64), np.argsort(np.argsort(order, kind="stable"), kind="stable"))

    def fits(self, slots: Slots) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return of each row whether lanes and exact footprints fit."""
        count = len(slots)
        good = np.ones(count, dtype=bool)
        extents = {d: np.ones(count) for d in LOOPS}
        for i, level in enumerate(self.arch.levels[:-1]):
            lanes = np.ones(count)
            for column, (d, prime) in enumerate(self.factors):
                is_lane = slots[:, column] == 2 * i
                lanes[is_lane] *= prime
                extents[d][is_lane | (slots[:, column] == 2 * i + 1)] *= prime
            good &= lanes <= level.fanout
            for tensor in level.stores:
                # the same formula for arrays as for numbers
                words = self.shape.footprint(tensor, extents)  # type: ignore[arg-type]
                good &= np.asarray(words <= level.room(tensor))
        return good

    def mapping(self, draw: Draw) -> LayerMapping:
        """Return the loop nest: factors of a dimension at a level are one loop, at its innermost place."""
        ordered = len(self.arch.levels) - 2
        lanes: list[dict[str, int]] = [{} for _ in self.arch.levels]
        loops: list[dict[str, int]] = [{} for _ in self.arch.levels]
        places: dict[str, int] = {}
        for (d, prime), slot, place in zip(self.factors, draw.slots.tolist(), draw.order.tolist()):
            level, is_loop = divmod(slot, 2)
            at = (loops if is_loop else lanes)[level]
            at[d] = at.get(d, 1) * prime
            if is_loop and level == ordered:
                places[d] = min(place, places.get(d, place))
        levels = []
        for i, (spatial, temporal) in enumerate(zip(lanes, loops)):
            key = places.__getitem__ if i == ordered else LOOPS.index
            levels.append((spatial, [(d, temporal[d]) for d in sorted(temporal, key=key)]))
        return LayerMapping.of(levels)


def _merged(loops: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for d, factor in loops:
        found[d] = found.get(d, 1) * factor
    return found


def _holds(left: list[dict[str, dict[str, int]]], slot: int, d: str, prime: int) -> bool:
    return left[slot // 2]["loops" if slot % 2 else "lanes"].get(d, 1) % prime == 0
