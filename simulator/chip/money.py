"""What a chip costs in dollars: die, package and DRAM, as Chiplet Actuary and GEMINI have it (src/cost.cpp)."""

from __future__ import annotations

import math
from typing import NamedTuple

WAFER_USD = 5992.0  #: 12 nm, 300 mm
WAFER_MM = 300.0
EDGE_MM = 5.0  #: of a wafer without dies
SCRIBE_MM = 0.2  #: between dies
DEFECTS_PER_CM2 = 0.08
CLUSTERING = 10  #: of the negative binomial distribution of defects
PACKAGE_USD_PER_MM2 = 0.005
PACKAGE_AREA = 4.0  #: times that of the die
BUMPS_USD_PER_MM2 = 0.005
BONDING_YIELD = 0.99
DRAM_USD_PER_GB_PER_S = {"gddr6": 3.5 / 56, "hbm2e": 320 / 819}  #: by kind; of others the user says


def dram_usd(kind: str | None, said: float | None = None) -> float | None:
    """Return the dollars of DRAM for each GB/s: as said, or of its kind; None where nobody says."""
    return DRAM_USD_PER_GB_PER_S.get(kind or "") if said is None else said


class Money(NamedTuple):
    """What a chip costs by what is bought, dollars before bonding; DRAM None where nobody says."""

    die: float
    package: float
    dram: float | None

    @property
    def total(self) -> float | None:
        """What all costs, with the chips that bonding loses; None where DRAM is not known."""
        return None if self.dram is None else self.chip + self.dram

    @property
    def chip(self) -> float:
        """What die and package cost, with those that bonding loses."""
        return (self.die + self.package) / BONDING_YIELD


def die_usd(area_mm2: float) -> float:
    """Return the price of a good die, dollars: wafer / dies on it / yield; infinite for one larger than a wafer.

    Examples
    --------
    >>> [round(die_usd(area), 2) for area in (5, 20, 100, 300)]
    [0.55, 2.11, 11.35, 42.58]
    """
    side = math.sqrt(area_mm2) + SCRIBE_MM
    across = WAFER_MM - 2 * EDGE_MM
    dies = math.pi * across**2 / (4 * side**2) - math.pi * across / (math.sqrt(2) * side)
    good = (1 + DEFECTS_PER_CM2 * area_mm2 / 100 / CLUSTERING) ** -CLUSTERING
    return WAFER_USD / dies / good if dies >= 1 else math.inf


def money_of(area_mm2: float, gb_per_s: float, kind: str | None, said: float | None = None) -> Money:
    """Return what a chip of this area with DRAM of this bandwidth costs; said: dollars of DRAM for each GB/s.

    Examples
    --------
    >>> round(money_of(100.0, 51.2, "hbm2e").total, 2), money_of(100.0, 12.8, "lpddr5").total
    (33.99, None)
    """
    package = (PACKAGE_AREA * PACKAGE_USD_PER_MM2 + BUMPS_USD_PER_MM2) * area_mm2
    each = dram_usd(kind, said)
    return Money(die_usd(area_mm2), package, None if each is None else each * gb_per_s)
