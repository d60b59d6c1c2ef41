"""Kinds of DRAM: energy per bit, bandwidth of a channel and burst, each with source and date.

Published energies of one kind differ by a factor of two and more, by what is counted (device, interface, controller)
and how rows are hit: read them with such an error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from workloads.errors import shown

MAX_CHANNELS = 2**12  #: our choice: far above what is built


class Dram(NamedTuple):
    """One channel of a kind of DRAM.

    Examples
    --------
    >>> DRAM_KINDS["gddr6"].pj_per_byte, DRAM_KINDS["gddr6"].bytes_per_cycle(clock_ghz=1.0)
    (60.0, 28)
    """

    pj_per_bit: float
    gigabytes_per_second: float  #: of a channel at its peak, 10^9 bytes
    burst_bytes: int  #: moved together at least; not priced
    source: str

    @property
    def pj_per_byte(self) -> float:
        """Energy of a byte, pJ."""
        return self.pj_per_bit * 8

    def bytes_per_cycle(self, clock_ghz: float) -> int:
        """Return the whole bytes that a channel moves in a cycle of the accelerator; at least 1."""
        return max(1, int(self.gigabytes_per_second / clock_ghz))


DRAM_KINDS = {
    "lpddr4x": Dram(
        8.0, 8.5, 32, "LPDDR4 of the CACTI plug-in of Accelergy (2019), without the lower I/O voltage of 4X; "
        "4266 MT/s x 16 bit, burst 16 (JESD209-4, 2017)",
    ),
    "lpddr5": Dram(
        6.4, 12.8, 32, "our estimate: 20 % below lpddr4x, as Micron announced LPDDR5 (February 2020); "
        "6400 MT/s x 16 bit, burst 16 (JESD209-5, 2019)",
    ),
    "ddr4": Dram(
        20.3, 25.6, 64, "our estimate: 1300 pJ per 64 bit; "
        "3200 MT/s x 64 bit, burst 8 (JESD79-4, 2012)",
    ),
    "ddr5": Dram(
        17.1, 19.2, 64, "our estimate: ddr4 times (1.1 V / 1.2 V)^2; 4800 MT/s x 32 bit, burst 16 (JESD79-5, 2020)",
    ),
    "gddr6": Dram(
        7.5, 28.0, 32, "device power, Micron's comparison of GDDR6, GDDR6X and HBM2E (micron.com); "
        "14 Gb/s x 16 bit, burst 16 (JESD250, 2017)",
    ),
    "hbm2e": Dram(
        6.0, 51.2, 32, "device power, Micron's comparison of GDDR6, GDDR6X and HBM2E (micron.com); "
        "3.2 Gb/s x 128 bit, burst 4 of 64 bit (JESD235C, 2020)",
    ),
    "hbm3": Dram(
        5.0, 51.2, 32, "our estimate: hbm2e times (1.1 V / 1.2 V)^2; "
        "6.4 Gb/s x 64 bit, burst 8 of 32 bit (JESD238, 2022)",
    ),
}  # fmt: skip  #: by name; an estimate says so


def dram_kind(name: object) -> Dram:
    """Return the kind of this name; raises ValueError, one line, where there is none."""
    if not isinstance(name, str) or name not in DRAM_KINDS:
        raise ValueError(f"dram must be one of {', '.join(DRAM_KINDS)}, got {shown(name)}")
    return DRAM_KINDS[name]


def fields_of(kind: str, clock_ghz: float) -> dict[str, Any]:
    """Return the fields of a Technology whose cores have a channel of a kind each."""
    found = dram_kind(kind)
    rate = found.bytes_per_cycle(clock_ghz)
    return {"dram_kind": kind, "dram_pj_per_byte": found.pj_per_byte, "dram_bytes_per_cycle": rate}
