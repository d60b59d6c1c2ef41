"""The tables of the pages on what would change a recommendation, in Markdown, from experiments/reference/*.csv.

`python -m experiments.technology_tables` prints them; a test keeps docs/pareto.md and docs/memory.md equal to them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas

from experiments.beyond.sensitivity import CONSTANTS, FACTORS
from experiments.page_tables.tables import markdown, reference
from simulator.technology import KiB

Found = Mapping[Any, Any]  #: a row of a table
CELLS = ("hp", "lop", "lstp")  #: of the tables of CACTI, by the end of their names
KINDS = ("lpddr4x", "lpddr5", "ddr4", "hbm2e")
UNPROVED = " (not proven)"
NO_REGRET = 0.005  #: percent: less is not shown


def constants() -> str:
    """Return the sizes recommended where a constant is halved or doubled, and what ours costs more, for pareto.md."""
    table = reference("sensitivity")
    rows = []
    for network in dict.fromkeys(table["network"]):
        mine = table[table["network"] == network]
        found = {(row["constant"], row["factor"]): row for row in mine.to_dict("records")}
        cells = [_with_regret(found[name, factor]) for name in list(CONSTANTS)[:-1] for factor in FACTORS]
        last = dict.fromkeys(_with_regret(found[list(CONSTANTS)[-1], factor]) for factor in FACTORS)
        ours = _kilobytes(found["none", 1.0]["shared_buffer_bytes"])
        rows.append(
            [network, ours + ("" if (mine["status"] == "optimal").all() else UNPROVED), *cells, ", ".join(last)]
        )
    heads = [f"{name} {way}" for name in list(CONSTANTS)[:-1] for way in ("halved", "doubled")]
    return markdown(["recommended KB (regret of ours)", "ours", *heads, f"{list(CONSTANTS)[-1]} halved, doubled"], rows)


def _kilobytes(size: float) -> str:
    return "none" if math.isnan(size) else f"{size / KiB:.0f}"


def _with_regret(found: Found) -> str:
    regret = found["regret_percent"]
    return _kilobytes(found["shared_buffer_bytes"]) + (f" ({regret:.2f} %)" if regret >= NO_REGRET else "")


def recommended() -> str:
    """Return the sizes recommended with each table of SRAM and kind of DRAM, and those within 1 %, for memory.md."""
    first = _memories().query("changed == 'none'")
    columns = [*(("paper", "paper"), *((f"cacti7_22nm_{cell}", "paper") for cell in CELLS)),
               *(("paper", kind) for kind in KINDS)]  # fmt: skip
    rows = []
    for network in dict.fromkeys(first["network"]):
        found = first[first["network"] == network].set_index(["sram", "dram"])
        rows.append([network, *(_with_range(found.loc[each].to_dict()) for each in columns)])
    return markdown(["KB", "paper's", *CELLS, *("LPDDR4X", "LPDDR5", "DDR4", "HBM2E")], rows)


def _memories() -> pandas.DataFrame:
    return reference("sensitivity_memory")


def _with_range(found: Found) -> str:
    low, high = (_kilobytes(found[name]) for name in ("low_1", "high_1"))
    return _kilobytes(found["shared_buffer_bytes"]) + ("" if low == high else f" ({low}-{high})")


def areas() -> str:
    """Return area and leakage of the sizes recommended, and how many candidates miss the clock, for memory.md."""
    first = _memories().query("changed == 'none' and dram == 'paper'")
    names = list(dict.fromkeys(first["network"]))
    rows = [
        [name + (": mm2, mW" if name == names[0] else ""), *map(_area, _by_sram(first[first["network"] == name]))]
        for name in names
    ]
    missed = _by_sram(first[first["network"] == names[0]])
    most = int(_memories()["missed_clock"].max())
    rows.append([f"candidates that miss 1 GHz, of {most}", *(str(row["missed_clock"]) for row in missed)])
    return markdown(["of the recommended size", "paper's", *CELLS], rows)


def _by_sram(table: pandas.DataFrame) -> Sequence[Found]:
    found = {str(row["sram"]): row for row in table.to_dict("records")}
    return [found["paper"], *(found[f"cacti7_22nm_{cell}"] for cell in CELLS)]


def _area(found: Found) -> str:
    leakage = found["leakage_mw"]
    return f"{found['area_mm2']:.2f}, " + ("0" if not leakage else f"{leakage:.{1 if leakage >= 1 else 2}f}")


def errors() -> str:
    """Return the sizes recommended with errors of two on each number of a memory, for memory.md."""
    table = _memories()
    names = list(dict.fromkeys(table["network"]))
    asked = [("DRAM energy", "paper", "DRAM's energy (paper's constants)"),
             ("DRAM bandwidth", "paper", "DRAM's bandwidth")]  # fmt: skip
    for changed, words in (("SRAM energy", "SRAM's energy"), ("leakage", "leakage"), ("cycle time", "cycle time")):
        asked += [(changed, f"cacti7_22nm_{cell}", f"{words}, {cell}" if cell == CELLS[0] else cell) for cell in CELLS]
    found = table.set_index(["network", "changed", "sram", "factor"])["shared_buffer_bytes"].to_dict()
    rows = [
        [words, *(", ".join(_kilobytes(found[name, changed, sram, factor]) for factor in FACTORS) for name in names)]
        for changed, sram, words in asked
    ]
    return markdown(["an error of x 0.5, x 2 of", *names], rows)


PAGES: dict[str, tuple[Callable[[], str], ...]] = {
    "pareto.md": (constants,),
    "memory.md": (recommended, areas, errors),
}


if __name__ == "__main__":
    sys.stdout.write("\n\n".join(table() for tables in PAGES.values() for table in tables) + "\n")
