"""Units in which people read numbers: from the numbers of the model (bytes, pJ, ns, ...) to text, and back."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit, such as mJ.

    Examples
    --------
    >>> MILLIJOULE = Unit("mJ", 1e9, 1e8)
    >>> MILLIJOULE.text(3.95e9), MILLIJOULE.number(41.7e5)
    ('3.950 mJ', '0.0042')
    """

    name: str
    size: float  #: in the unit of the model
    least: float  #: from which number of the model on it is chosen
    decimals: int | None = 3  #: None: as many as four significant digits have

    def number(self, value: float) -> str:
        """Return a number of the model in this unit, without its name."""
        return rounded(value / self.size, self.decimals)

    def text(self, value: float) -> str:
        """Return a number of the model in this unit."""
        return f"{self.number(value)} {self.name}"


class Quantity(tuple[Unit, ...]):
    """The units of one kind of number, from the smallest.

    Examples
    --------
    >>> ENERGY.text(3.95e9), ENERGY.text(41.7e6), ENERGY.text(0)
    ('3.950 mJ', '41.700 uJ', '0.0 pJ')
    >>> TIME.unit(2.5e3, 1.2e6).name  # of a column of a table, so that its rows compare
    'ms'
    """

    def unit(self, *values: float) -> Unit:
        """Return the unit for the largest of these numbers, of either sign."""
        most = max(map(abs, values), default=0.0)
        return next((each for each in reversed(self) if most >= each.least), self[0])

    def text(self, value: float) -> str:
        """Return a number of the model in the unit in which it reads best."""
        return self.unit(value).text(value)

    def column(self, values: Sequence[float | None]) -> tuple[str, list[str]]:
        """Return the unit of a column of a table, and its cells without it; a number that is not known is '-'."""
        unit = self.unit(*(value for value in values if value is not None))
        return unit.name, ["-" if value is None else unit.number(value) for value in values]

    def texts(self, values: Sequence[float | None]) -> list[str]:
        """Return the cells of a column with its unit."""
        name, cells = self.column(values)
        return [cell if cell == "-" else f"{cell} {name}" for cell in cells]

    @property
    def sizes(self) -> dict[str, float]:
        """How much of the model's unit each unit is."""
        return {unit.name: unit.size for unit in self}


KB, MB, GB = 2.0**10, 2.0**20, 2.0**30
TRAFFIC = Quantity((Unit("B", 1, 0, 0), Unit("KB", KB, KB, 1), Unit("MB", MB, MB, 2), Unit("GB", GB, 10 * GB, 2)))
SIZE = Quantity((*TRAFFIC[:2], TRAFFIC[2]._replace(least=10 * MB), TRAFFIC[3]))  #: what is held: compared in KB
ENERGY = Quantity((
    Unit("pJ", 1, 0, 1), Unit("nJ", 1e3, 1e3), Unit("uJ", 1e6, 1e6), Unit("mJ", 1e9, 1e8), Unit("J", 1e12, 1e13),
))  # fmt: skip
#: in ns, which are cycles at 1 GHz
TIME = Quantity((Unit("ns", 1, 0, 1), Unit("us", 1e3, 1e3), Unit("ms", 1e6, 1e5), Unit("s", 1e9, 1e10)))
CYCLES = Quantity((Unit("cycles", 1, 0, 0), Unit("million cycles", 1e6, 1e6)))
PER_CYCLE = Quantity((Unit("bytes per cycle", 1, 0),))
AREA, RATE = (Quantity((Unit(name, 1, 0, 2),)) for name in ("mm2", "GB/s"))
POWER = Quantity((Unit("mW", 1, 0, None),))


def rounded(value: float, decimals: int | None) -> str:
    """Return a number with so many decimals, or with two significant digits where these leave fewer.

    Examples
    --------
    >>> rounded(1234.5678, 3), rounded(0.012, 3), rounded(0.00123, 3), rounded(512, 0), rounded(0, 1)
    ('1,234.568', '0.012', '0.0012', '512', '0.0')
    """
    if decimals is None:
        return f"{value:,.4g}"
    if decimals and 0 < abs(value) < 10.0 ** (1 - decimals):
        decimals = 1 - floor(log10(abs(value)))
    return f"{value:,.{decimals}f}"
