"""SRAM tables from CACTI 7 (Balasubramonian et al., TACO 2017), which must be installed: run for each capacity.

Our choice, as the tables that ship: a scratch memory, not a cache; data array only, 512-bit port, 8 banks, 300 K, one
read/write port, least energy-delay-squared product within 20 % of the least delay.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from simulator.memory.table import SramRow, SramTable

Cells = Literal["hp", "lop", "lstp"]
CELL_TYPES = get_args(Cells)
CELL_WORDS = {"hp": "high performance", "lop": "low operating power", "lstp": "low standby power"}
PROCESS_NODES = {"22nm": 0.022, "32nm": 0.032, "45nm": 0.045, "65nm": 0.065, "90nm": 0.09}  #: that CACTI 7 knows, um
BUS_BYTES = 64
BANKS = 8
SECONDS = 120  #: in which CACTI must answer for one capacity; it needs about one
INSTALL = (
    "CACTI is not installed: put its program `cacti` on the PATH, or name it with --cacti "
    "(build it from github.com/HewlettPackard/cacti: make)"
)

CONFIG = """\
-size (bytes) {size}
-Array Power Gating - "false"
-WL Power Gating - "false"
-CL Power Gating - "false"
-Bitline floating - "false"
-Interconnect Power Gating - "false"
-Power Gating Performance Loss 0.01
-block size (bytes) {bus_bytes}
-associativity 1
-read-write port 1
-exclusive read port 0
-exclusive write port 0
-single ended read ports 0
-UCA bank count {banks}
-technology (u) {node}
-page size (bits) 8192
-burst length 8
-internal prefetch width 8
-Data array cell type - "itrs-{cells}"
-Data array peripheral type - "itrs-{cells}"
-Tag array cell type - "itrs-{cells}"
-Tag array peripheral type - "itrs-{cells}"
-output/input bus width {bus_bits}
-operating temperature (K) 300
-cache type "ram"
-tag size (b) "default"
-access mode (normal, sequential, fast) - "normal"
-design objective (weight delay, dynamic power, leakage power, cycle time, area) 0:0:0:0:100
-deviate (delay, dynamic power, leakage power, cycle time, area) 20:100000:100000:100000:100000
-NUCAdesign objective (weight delay, dynamic power, leakage power, cycle time, area) 100:100:0:0:100
-NUCAdeviate (delay, dynamic power, leakage power, cycle time, area) 10:10000:10000:10000:10000
-Optimize ED or ED^2 (ED, ED^2, NONE): "ED^2"
-Cache model (NUCA, UCA)  - "UCA"
-NUCA bank count 0
-Wire signaling (fullswing, lowswing, default) - "Global_30"
-Wire inside mat - "semi-global"
-Wire outside mat - "semi-global"
-Interconnect projection - "conservative"
-Core count 8
-Cache level (L2/L3) - "L3"
-Add ECC - "false"
-Print level (DETAILED, CONCISE) - "CONCISE"
-Print input parameters - "true"
-Force cache config - "false"
-Ndwl 1
-Ndbl 1
-Nspd 0
-Ndcm 1
-Ndsam1 0
-Ndsam2 0
-dram_type "DDR3"
-io state "WRITE"
-addr_timing 1.0
-mem_density 4 Gb
-bus_freq 800 MHz
-duty_cycle 1.0
-activity_dq 1.0
-activity_ca 0.5
-num_dq 72
-num_dqs 18
-num_ca 25
-num_clk  2
-num_mem_dq 2
-mem_data_width 8
-rtt_value 10000
-ron_value 34
-tflight_value
-num_bobs 1
-capacity 80
-num_channels_per_bob 1
-first metric "Cost"
-second metric "Bandwidth"
-third metric "Energy"
-DIMM model "ALL"
-mirror_in_bob "F"
"""  #: from -dram_type on it says nothing of SRAM, and CACTI stops without

FIELDS = {
    "read": r"Total dynamic read energy per access \(nJ\): *([0-9.e+-]+)",
    "write": r"Total dynamic write energy per access \(nJ\): *([0-9.e+-]+)",
    "leakage": r"Total leakage power of a bank \(mW\): *([0-9.e+-]+)",
    "gate_leakage": r"Total gate leakage power of a bank \(mW\): *([0-9.e+-]+)",
    "cycle": r"Cycle time \(ns\): *([0-9.e+-]+)",
    "height": r"Cache height x width \(mm\): *([0-9.e+-]+) x ",
    "width": r"Cache height x width \(mm\): *[0-9.e+-]+ x ([0-9.e+-]+)",
}  #: what CACTI prints


def find_cacti(program: str | None = None) -> Path:
    """Return where CACTI is; raises ValueError, one line that says how to get it, where it is not."""
    found = shutil.which(program or "cacti")
    if found is None:
        raise ValueError(INSTALL if program is None else f"{program!r} is no program that can be run; {INSTALL}")
    return Path(found).resolve()


def table_from_cacti(sizes: Sequence[int], node: str, cells: Cells, program: Path) -> SramTable:
    """Return the table of these capacities, bytes; raises ValueError, one line, where CACTI has no answer."""
    rows = tuple(row_from_cacti(size, node, cells, program) for size in sorted(set(sizes)))
    source = (
        f"CACTI 7 (HP Labs; BSD-like licence), run by cocco sram: one SRAM buffer by capacity, {node}, "
        f"{8 * BUS_BYTES}-bit port, {BANKS} banks, 300 K, one read/write port, data array only. Cells and periphery: "
        f"{CELL_WORDS[cells]} (itrs-{cells})."
    )
    return SramTable(f"cacti7_{node}_{cells}", rows, source)


def row_from_cacti(size: int, node: str, cells: Cells, program: Path) -> SramRow:
    """Return what CACTI says of a memory of so many bytes."""
    text = CONFIG.format(
        size=size, node=PROCESS_NODES[node], cells=cells, banks=BANKS, bus_bytes=BUS_BYTES, bus_bits=8 * BUS_BYTES
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "memory.cfg")
        path.write_text(text, encoding="utf-8")
        try:  # in its own folder, where it finds its technology files
            ran = subprocess.run(
                [program, "-infile", path], cwd=program.parent, capture_output=True, text=True, timeout=SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ValueError(f"CACTI has no answer for {size} bytes: {error}") from None
    return row_of(size, ran.stdout)


def row_of(size: int, text: str) -> SramRow:
    """Return the row of what CACTI printed; raises ValueError, one line, where a number is missing."""
    found = {}
    for name, pattern in FIELDS.items():
        match = re.search(pattern, text)
        if match is None:
            raise ValueError(f"CACTI has no answer for {size} bytes: it prints no {name}")
        found[name] = float(match[1])
    return SramRow(
        size,
        round(found["read"] * 1e3 / BUS_BYTES, 4),
        round(found["write"] * 1e3 / BUS_BYTES, 4),
        round((found["leakage"] + found["gate_leakage"]) * BANKS, 4),
        round(found["height"] * found["width"], 4),
        round(found["cycle"], 4),
    )
