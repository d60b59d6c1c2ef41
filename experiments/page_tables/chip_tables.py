"""How well the area of logic fits published chips, in Markdown: every design, the bad ones too, for docs/chips.md.

`python -m experiments.chip_tables` prints the tables; a test keeps the page equal to them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from experiments.page_tables.tables import markdown
from simulator.chip.logic import BARE_MAC_MM2, FIT_MM2, TO_12_NM
from simulator.technology import OPERATION_UNITS, operation_units, units_of_numbers
from workloads.network.layers.types import Number

#: MACs, KB, mm2 at 16 nm: estimates at 1 GHz of NVDLA, doc/primer.rst of github.com/nvdla/doc (31f5740)
NVDLA_SIZES = (
    (2048, 512, 3.3), (1024, 256, 1.8), (512, 256, 1.4), (256, 256, 1.0), (128, 256, 0.84), (64, 128, 0.55),
    (32, 128, 0.51),
)  # fmt: skip
#: of an area at 16 nm, by node; 12 nm is our choice, the others are Stillmaker and Baas (2017) and NVDLA's own 28 nm
SCALE = {7: 0.31, 12: TO_12_NM, 16: 1.0, 22: 1.23, 28: 1 / 0.6, 65: 1 / 0.13}
INT8, INT16, BF16 = (
    operation_units(8, 8),
    operation_units(16, 16),
    units_of_numbers(Number(16, "bf16"), Number(16, "bf16")),
)


class Design(NamedTuple):
    """A published chip, or part of one, that was not used in the fit."""

    name: str
    node: int  #: nm
    macs: int
    kilobytes: float
    units: int  #: of an operation (simulator.technology)
    mm2: float
    source: str  #: with a star where it was not read again
    is_array: bool = False  #: without what feeds it


HELD_OUT = (
    Design("Simba's core", 16, 1024, 752, INT8, 3.11, "4.01 TOPS at 1.29 TOPS/mm2, VLSI 2019*"),
    Design(
        "TPU v1: MXU, buffers, activation", 28, 65536, 28 * 1024, INT8, 215, "24 + 29 + 6 + 6* % of 331* mm2, ISCA 2017"
    ),
    Design("Eyeriss", 65, 168, 192, INT16, 12.3, "eyeriss.mit.edu/benchmarking.html"),
    Design("Gemmini 16 x 16 without CPU", 22, 256, 320, INT8, 0.86, "DAC 2021*"),
    Design("DianNao", 65, 256, 44, INT16, 3.02, "ASPLOS 2014*"),
    Design("array of TPU v1", 28, 65536, 0, INT8, 79, "24 % of 331* mm2, ISCA 2017", True),
    Design("array of TPUv4i", 7, 65536, 0, BF16, 100, "bf16*", True),
    Design(
        "array of RecPipe, not laid out", 12, 1024, 0, INT16, 0.507, "github.com/harvard-acc/RecPipe (2daff5b)", True
    ),
)


def model_mm2(design: Design, is_split: bool) -> float:
    """Return the area by the fit; is_split: only a bare MAC grows with the bits, else all that grows with the MACs.

    Of an array alone all that grows with the MACs, or only its bare MACs.
    """
    core, mac, of_mib = FIT_MM2
    bare = BARE_MAC_MM2 / TO_12_NM if is_split else mac
    fed = 0.0 if design.is_array else mac - bare
    each = fed + bare * design.units / OPERATION_UNITS
    own = 0.0 if design.is_array else core
    return SCALE[design.node] * (own + design.macs * each + design.kilobytes / 1024 * of_mib)


def held_out() -> str:
    """Return the area of designs that were not fitted, by both ways to count bits, with every error."""
    rows = []
    for each in HELD_OUT:
        found = [model_mm2(each, is_split) for is_split in (False, True)]
        errors = [f"{100 * (mm2 / each.mm2 - 1):+.0f} %" for mm2 in found]
        first, second = zip((f"{mm2:.3g}" for mm2 in found), errors)
        rows.append([each.name, f"{each.node} nm, {each.macs:,} MACs", f"{each.mm2:g}", *first, *second, each.source])
    return markdown(["design", "", "mm2", "first model", "error", "split slope", "error", "published in"], rows)


def fitted() -> str:
    """Return the sizes of NVDLA that were fitted, with the error of the fit and of a fit without each of them."""
    rows = []
    for i, (macs, kilobytes, mm2) in enumerate(NVDLA_SIZES):
        errors = []
        for core, mac, of_mib in (FIT_MM2, fit(NVDLA_SIZES[:i] + NVDLA_SIZES[i + 1 :])):
            errors.append(f"{100 * ((core + mac * macs + of_mib * kilobytes / 1024) / mm2 - 1):+.0f} %")
        rows.append([f"{macs:,}", f"{kilobytes}", f"{mm2:g}", *errors])
    return markdown(["MACs", "KB", "mm2", "error", "left out"], rows)


def fit(sizes: tuple[tuple[int, int, float], ...]) -> tuple[float, float, float]:
    """Return mm2 of a core, of each MAC and of a MiB: the least sum of squares of relative errors."""
    mm2 = np.array([size[2] for size in sizes])
    terms = np.array([(1.0, macs, kilobytes / 1024) for macs, kilobytes, _ in sizes])
    core, mac, of_mib = np.linalg.lstsq(terms / mm2[:, None], np.ones(len(mm2)))[0]
    return float(core), float(mac), float(of_mib)


TABLES: tuple[Callable[[], str], ...] = (fitted, held_out)


if __name__ == "__main__":
    sys.stdout.write("\n\n".join(table() for table in TABLES) + "\n")
