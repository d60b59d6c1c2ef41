"""Area, leakage and idle energy of all that is no buffer: each number with its unit and source, or "our choice"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from simulator.memory.table import check_amount
from workloads.display import changes
from workloads.errors import shown

WORDS = {
    "core_mm2": "mm2 of a core, without MACs and buffers; a fit to NVDLA (doc/primer.rst of github.com/nvdla/doc)",
    "mac_mm2": "mm2 of all that grows with the MACs, of each 8-bit MAC; the same fit",
    "mac_bits_mm2": "mm2 of mac_mm2 that grows with the bits; GEMINI's bare MAC",
    "pe_mm2": "mm2 of a PE beside its MACs",
    "port_mm2": "mm2 of the crossbar port of a core, from two cores on; our choice",
    "phy_mm2": "mm2 of the interface of a DRAM channel, null for that of the kind of DRAM",
    "leakage_uw_per_mac": "uW of each MAC with what belongs to it (synthesis report of github.com/harvard-acc/RecPipe)",
    "sram_bytes_per_mac": "bytes per cycle of the port of a buffer for each MAC of its core, 0 for any; our choice",
    "idle_pj_per_mac": "pJ of a MAC in a cycle in which its core computes and it does nothing; our choice",
    "dram_usd_per_gb_per_s": "$ of DRAM for each GB/s, null for that of its kind (docs/chips.md)",
}  #: by field: unit, meaning, source
BY_KIND = ("phy_mm2", "dram_usd_per_gb_per_s")  #: None: as the kind of DRAM has it
FIT_MM2 = (0.240, 0.001080, 1.925)  #: at 16 nm of a core, of each MAC, of a MiB: least relative error over NVDLA_SIZES
BARE_MAC_MM2 = 0.000140  #: 57.9 um2 x 2.2 of layout x 1.05 x 1.05 at 12 nm, 8 bits (GEMINI, src/main.cpp)
TO_12_NM = 0.9  #: of an area at 16 nm; our choice (Stillmaker and Baas 2017: 0.73; NVDLA's own 28 to 16 nm: 0.6)
PHY_MM2 = {"gddr6": 3.27, "hbm2e": 1.04, "lpddr4x": 0.68, "lpddr5": 1.02}  #: of a channel, by kind
PHY_SOURCES = {
    "gddr6": "5.94 x 1.1 mm for 56 GB/s (GEMINI, src/main.cpp), halved for 16 bits",
    "hbm2e": "with its controller at 7 nm, hbm_phy_ctrl_area_per_channel of a public cost model",
    "lpddr4x": "our estimate: 0.08 mm2 per GB/s",
    "lpddr5": "our estimate: 0.08 mm2 per GB/s",
}


@dataclass(frozen=True)
class Logic:
    """What MACs, cores and interfaces cost; WORDS has the unit and source of each field. All 0: they cost nothing.

    Raises
    ------
    ValueError
        One line that names the field, the rule and the value.

    Examples
    --------
    >>> from simulator.chip.logic import NVDLA, Logic
    >>> NVDLA.mac_mm2, NVDLA.leakage_uw_per_mac
    (0.00097, 5.0)
    >>> Logic(core_mm2=0.3)
    Logic(core_mm2=0.3)
    """

    core_mm2: float = 0.0
    mac_mm2: float = 0.0
    mac_bits_mm2: float = 0.0
    pe_mm2: float = 0.0
    port_mm2: float = 0.0
    phy_mm2: float | None = 0.0
    leakage_uw_per_mac: float = 0.0
    sram_bytes_per_mac: float = 0.0
    idle_pj_per_mac: float = 0.0
    dram_usd_per_gb_per_s: float | None = None
    node: str = ""  #: of the numbers, such as "12nm"; said beside a buffer's own

    def __post_init__(self) -> None:
        for name in WORDS:
            if getattr(self, name) is not None or name not in BY_KIND:
                check_amount(f"logic.{name}", getattr(self, name))
        if self.mac_bits_mm2 > self.mac_mm2:
            raise ValueError(f"logic.mac_bits_mm2 must be at most mac_mm2 {self.mac_mm2}, got {self.mac_bits_mm2}")
        if not isinstance(self.node, str):
            raise ValueError(f"logic.node must be a text such as 12nm, got {shown(self.node)}")

    def __repr__(self) -> str:
        return changes(self)

    def to_json(self) -> dict[str, Any]:
        """Return plain data, which are keywords for the same."""
        return asdict(self)

    def phy_of(self, kind: str | None) -> float | None:
        """Return the area of the interface of one channel of a kind of DRAM, mm2; None where nobody says."""
        return PHY_MM2.get(kind or "") if self.phy_mm2 is None else self.phy_mm2


NVDLA = Logic(
    core_mm2=0.216, mac_mm2=0.00097, mac_bits_mm2=BARE_MAC_MM2,  # FIT_MM2 times TO_12_NM
    port_mm2=0.05,  # our choice: 256 bits
    phy_mm2=None,
    leakage_uw_per_mac=5.0,  # 1.83 mW in 0.507 mm2 (RecPipe, 12 nm, 0.7 V, 25 C), 3.5 uW on mac_mm2; warmer
    sram_bytes_per_mac=0.125,  # our choice: 16 B for 128 MACs
    idle_pj_per_mac=0.05,  # our choice: a third of what clock and registers take if nothing is gated (RecPipe's report)
    node="12nm",
)  # fmt: skip
NO_LOGIC = Logic()  #: costs nothing
PRESETS = {"nvdla": NVDLA}
KEYS = ("preset", *(each.name for each in fields(Logic)))


def logic_said(content: object) -> Logic:
    """Return the logic of a hardware file: a preset, or a mapping of numbers, which replace those of its preset.

    Raises ValueError, one line.

    Examples
    --------
    >>> logic_said({"preset": "nvdla", "core_mm2": 0.3}).core_mm2, logic_said({"core_mm2": 0.3}).mac_mm2
    (0.3, 0.0)
    >>> logic_said("tpu")
    Traceback (most recent call last):
    ValueError: logic must be one of nvdla, or a mapping with preset, core_mm2, mac_mm2, mac_bits_mm2, pe_mm2, \
port_mm2, phy_mm2, leakage_uw_per_mac, sram_bytes_per_mac, idle_pj_per_mac, dram_usd_per_gb_per_s, node, got 'tpu'
    """
    if isinstance(content, str):
        content = {"preset": content}
    found = content if isinstance(content, Mapping) else {}
    given = found.get("preset")
    if not found or (given is not None and (not isinstance(given, str) or given not in PRESETS)):
        got = content if given is None else given
        rule = f"one of {', '.join(PRESETS)}, or a mapping with {', '.join(KEYS)}"
        raise ValueError(f"logic must be {rule}, got {shown(got)}")
    for key in found:
        if key not in KEYS:
            raise ValueError(f"unknown key {shown(key)}; logic has {', '.join(KEYS)}")
    numbers = {name: value for name, value in found.items() if name != "preset"}
    return replace(NO_LOGIC if given is None else PRESETS[given], **numbers)
