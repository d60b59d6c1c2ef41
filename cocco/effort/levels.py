"""Levels: words for how thorough a search is: its samples, and the factor for the counted budgets of its proofs."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, NamedTuple, get_args

LevelName = Literal["quick", "normal", "thorough"]


class Level(NamedTuple):
    """What a word stands for; our choices."""

    samples: int  #: genomes to price
    times: Fraction  #: what the steps of proofs, and other counted work that is no sample, are multiplied by

    def of(self, count: int) -> int:
        """Return a budget at this level; count: the budget at the normal level."""
        return max(1, int(count * self.times))


LEVELS: dict[LevelName, Level] = {
    "quick": Level(10_000, Fraction(1, 8)),
    "normal": Level(50_000, Fraction(1)),
    "thorough": Level(200_000, Fraction(8)),
}
"""By name. Thorough has the samples with which docs/search-and-proof.md finds the best known."""


def level_of(name: object) -> Level:
    """Return a level by its name; raises ValueError if there is no such level.

    Examples
    --------
    >>> level_of("quick").of(4_000_000)
    500000
    """
    if name not in get_args(LevelName):
        raise ValueError(f"effort must be one of {', '.join(LEVELS)}, got {name!r}")
    return LEVELS[name]  # type: ignore[index]
