"""Notes on hardware that nobody builds, as a slip of a unit gives it, and on what a file leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.hardware_files import ALL_DRAM
from simulator.technology import Technology, light_channels

USUAL = {
    "clock_ghz": (0.01, 10.0, "GHz"),
    "dram_pj_per_byte": (1.0, 1000.0, "pJ per byte"),
    "operation_pj": (0.001, 100.0, "pJ"),
    "sram_mm2_per_mb": (0.01, 100.0, "mm2 per MiB"),
}  #: by field from the least to the most that is built, roughly, with the unit; our choice
GIGABYTES = (0.1, 10_000.0)  #: of DRAM per second and core, as above
MOST_PES = 2**16  #: of a core, as above
LIGHT_SHARE = 2  #: times less than the paper's share of output channels is worth a note


def implausible(technology: Technology) -> Iterator[str]:
    """Yield a line for each number that no hardware has, one of them perhaps in another unit.

    Examples
    --------
    >>> list(implausible(Technology(clock_ghz=800)))
    ['clock_ghz 800 is not from 0.01 to 10 GHz, as hardware has it; priced as it is']
    """
    for name, (least, most, unit) in USUAL.items():
        value = getattr(technology, name)
        if not least <= value <= most:
            yield f"{name} {value:g} is not from {least:g} to {most:g} {unit}, as hardware has it; priced as it is"
    rate, least = technology.dram_bytes_per_cycle * technology.clock_ghz, GIGABYTES[0]
    if (
        technology.dram_channels is None
        and USUAL["clock_ghz"][0] <= technology.clock_ghz <= USUAL["clock_ghz"][1]
        and not least <= rate <= GIGABYTES[1]
    ):
        yield f"DRAM of {rate:g} GB/s for each core is not from {least:g} to {GIGABYTES[1]:g}, as hardware has it"
    pes = technology.pe_rows * technology.pe_columns
    if pes > MOST_PES:
        yield f"{pes:,} PEs in a core are more than {MOST_PES:,}, as hardware has them; priced as they are"
    light, usual = technology.pe_light_channels, light_channels(technology.pe_outputs)
    if light * LIGHT_SHARE < usual:
        yield (
            f"pe_light_channels {light} keeps {light} of {technology.pe_outputs} output channels of a PE busy in "
            f"depth-wise layers; {usual} would be as in the paper's array, {usual / light:g} times as fast"
        )


def derived(said: Mapping[str, Any], technology: Technology | None) -> Iterator[str]:
    """Yield a line for each number that a file leaves open, or that the model rounds up."""
    if technology is None:
        return
    if "pe_outputs" in said and "pe_light_channels" not in said:
        yield (
            f"pe_light_channels is not said: {technology.pe_light_channels}, half of pe_outputs "
            f"{technology.pe_outputs}, as in the paper's array"
        )
    rate, found = said.get(ALL_DRAM), technology.dram_bytes_per_cycle
    if rate is not None and found == 1 and rate < technology.clock_ghz:
        yield (
            f"{ALL_DRAM} {rate:g} is less than a byte per cycle and core, the least of the model: priced with "
            f"{technology.clock_ghz:g} GB/s for each core"
        )
