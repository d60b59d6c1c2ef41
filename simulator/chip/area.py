"""The area of a chip by what takes it."""

from __future__ import annotations

from typing import NamedTuple

from simulator.chip.logic import Logic


class Area(NamedTuple):
    """The area of a chip by what takes it, mm2.

    Examples
    --------
    Two cores of 1,024 MACs and 1 mm2 of buffers each, two channels of LPDDR5:

    >>> from simulator.chip.logic import NVDLA
    >>> found = area_of(NVDLA, cores=2, pes=16, macs=1024, buffers_mm2=1.0, channels=2, kind="lpddr5")
    >>> {name: round(each, 3) for name, each in found._asdict().items()}
    {'cores': 0.432, 'pes': 0.0, 'macs': 1.987, 'buffers': 2.0, 'ports': 0.1, 'phy': 2.04}
    >>> round(found.total, 3)
    6.559
    """

    cores: float
    pes: float
    macs: float
    buffers: float
    ports: float
    phy: float

    @property
    def total(self) -> float:
        """Sum of the parts, mm2."""
        return self.cores + self.pes + self.macs + self.buffers + self.ports + self.phy


def area_of(logic: Logic, cores: int, pes: int, macs: int, buffers_mm2: float, channels: int, kind: str | None) -> Area:
    """Return the area of a chip; pes, macs, buffers_mm2: of one core; kind: of DRAM, 0 mm2 where nobody says.

    A core has a port to the crossbar from two cores on.
    """
    return Area(
        cores * logic.core_mm2,
        cores * pes * logic.pe_mm2,
        cores * macs * logic.mac_mm2,
        cores * buffers_mm2,
        (cores if cores > 1 else 0) * logic.port_mm2,
        channels * (logic.phy_of(kind) or 0.0),
    )
