"""Machines that a layer is mapped on: levels of memory with lanes between them, and a file for others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from simulator import technology as numbers
from simulator.mapping.shapes import TENSORS
from simulator.technology import KiB, MiB
from workloads.display import changes
from workloads.errors import check_count, shown
from workloads.files import read_mapping

MAX_ENTRIES = 2**50  #: our choice: above any memory
MAX_LEVELS = 16


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, (int, float)) and 0 <= value < math.inf


@dataclass(frozen=True)
class Level:
    """One level of memory.

    Raises
    ------
    ValueError
        One line that names the level, the field, the rule and the value.

    Examples
    --------
    >>> from simulator import Technology
    >>> from simulator.mapping import Level
    >>> level = Level("global buffer", entries=2**20, instances=1, stores={"I": 0.5, "O": 0.5}, fanout=16)
    >>> level.room("I"), level.word_pj(Technology())
    (524288.0, 1.0)
    """

    name: str
    entries: int | None  #: words of one instance, None for DRAM, which has no limit
    instances: int
    stores: Mapping[str, float] = field(hash=False)  #: the share of the entries that W, I and O may take
    fanout: int = 1  #: lanes, or instances of the next inner level used here, below one instance
    energy_pj: float | None = None  #: of one word read or written, None for that of an SRAM of this size

    def __post_init__(self) -> None:
        where = f"level {shown(self.name)}"
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"the name of a level must be a text, got {shown(self.name)}")
        if self.entries is not None:
            check_count(f"{where}: entries", self.entries, MAX_ENTRIES)
        check_count(f"{where}: instances", self.instances, MAX_ENTRIES)
        check_count(f"{where}: fanout", self.fanout, MAX_ENTRIES)
        if not isinstance(self.stores, Mapping) or not self.stores or not set(self.stores) <= set(TENSORS):
            raise ValueError(f"{where}: stores must name shares of W, I or O, got {shown(self.stores)}")
        for tensor, share in self.stores.items():
            if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
                raise ValueError(f"{where}: the share of {tensor} must be above 0 and at most 1, got {shown(share)}")
        if self.entries is not None and sum(self.stores.values()) > 1 + 1e-9:
            raise ValueError(f"{where}: the shares must come to at most 1, got {sum(self.stores.values()):g}")
        if self.energy_pj is not None and not _is_number(self.energy_pj):
            raise ValueError(f"{where}: energy_pj must be a finite number of at least 0, got {shown(self.energy_pj)}")

    def room(self, tensor: str) -> float:
        """Words of one instance that a tensor may take."""
        return math.inf if self.entries is None else self.entries * self.stores[tensor]

    def word_pj(self, technology: numbers.Technology) -> float:
        """Energy of one word (a byte) read or written."""
        if self.energy_pj is not None:
            return self.energy_pj
        return technology.dram_pj_per_byte if self.entries is None else technology.sram_pj_per_byte(self.entries)


@dataclass(frozen=True)
class Architecture:
    """A machine that a layer is mapped on. The level before DRAM is the one whose loops are ordered.

    Raises
    ------
    ValueError
        One line that names the level, the rule and the value.

    Examples
    --------
    >>> from simulator.mapping import SIMBA
    >>> SIMBA
    Architecture(simba: 6 levels, 1024 MACs)
    >>> SIMBA.names
    ('registers', 'accumulation buffer', 'weight buffer', 'input buffer', 'global buffer', 'DRAM')
    """

    levels: tuple[Level, ...]  #: innermost first; the last one is DRAM
    macs: int  #: the product of all fan-outs
    dram_read_words_per_cycle: float = numbers.MAPPING_DRAM_WORDS_PER_CYCLE
    dram_write_words_per_cycle: float = numbers.MAPPING_DRAM_WORDS_PER_CYCLE
    name: str = "custom"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"the name of an architecture must be a text, got {shown(self.name)}")
        if not 2 <= len(self.levels) <= MAX_LEVELS:
            raise ValueError(f"an architecture has 2 to {MAX_LEVELS} levels, got {len(self.levels)}")
        *inner, dram = self.levels
        for level in inner:
            if level.entries is None:
                raise ValueError(f"level {shown(level.name)} lacks its capacity: only the last level may have none")
        if dram.entries is not None or set(dram.stores) != set(TENSORS) or dram.fanout != 1:
            raise ValueError(f"the last level, {shown(dram.name)}, must store W, I and O, without entries or fan-out")
        for tensor in TENSORS:
            if not any(tensor in level.stores for level in inner):
                raise ValueError(f"no level on the chip stores {tensor}")
        if len({level.name for level in self.levels}) < len(self.levels):
            raise ValueError("two levels have the same name")
        check_count("macs", self.macs, MAX_ENTRIES)
        lanes = math.prod(level.fanout for level in self.levels)
        if lanes != self.macs:
            raise ValueError(f"macs must be the product of the fan-outs, {lanes}, got {self.macs}")
        for name in ("dram_read_words_per_cycle", "dram_write_words_per_cycle"):
            if not _is_number(getattr(self, name)) or not getattr(self, name):
                raise ValueError(f"{name} must be a finite number above 0, got {shown(getattr(self, name))}")

    def __repr__(self) -> str:
        return f"Architecture({self.name}: {len(self.levels)} levels, {self.macs} MACs)"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the levels, innermost first."""
        return tuple(level.name for level in self.levels)

    def stored(self, tensor: str) -> list[int]:
        """Return the levels that hold a tensor, innermost first."""
        return [i for i, level in enumerate(self.levels) if tensor in level.stores]


#: CoSA's Simba-like array: 16 PEs of 8 x 8 MACs. Sizes in words of one byte (spec of the published configuration).
SIMBA = Architecture(
    (
        Level("registers", 1, 1024, {"W": 1}, 1, numbers.REGISTER_PJ_PER_BYTE),
        Level("accumulation buffer", 64, 128, {"O": 1}, 8),
        Level("weight buffer", 16384, 128, {"W": 1}, 1),
        Level("input buffer", 4096, 16, {"I": 1}, 8),
        Level("global buffer", 65536, 1, {"I": 0.5, "O": 0.5}, 16),
        Level("DRAM", None, 1, {"W": 1, "I": 1, "O": 1}, 1),
    ),
    macs=1024,
    name="simba",
)


#: one core of Cocco: the PEs of SIMBA without weight buffers of their own, below the two buffers, which hold a tile
#: whole because the subgraph scheme has seen to it; so nothing is left for DRAM.
COCCO_CORE = Architecture(
    (
        *SIMBA.levels[:2],
        SIMBA.levels[3],
        Level("buffers", MAX_ENTRIES, 1, {"W": 0.25, "I": 0.5, "O": 0.25}, 16),
        SIMBA.levels[5],
    ),
    macs=1024,
    name="cocco-core",
)


@dataclass(frozen=True)
class Core:
    """What the closed form sees of a machine: a square of PEs, the lanes of one, what it keeps, the buffers.

    Examples
    --------
    >>> from simulator.mapping import SIMBA, Core
    >>> Core()
    Core()
    >>> Core.of(SIMBA, axes="KC").macs
    1024
    """

    side: int = numbers.PE_ROWS  #: PEs along each axis
    inputs: int = numbers.PE_INPUTS  #: lanes of a PE over C
    outputs: int = numbers.PE_OUTPUTS  #: lanes of a PE over K
    light: int = numbers.PE_LIGHT_CHANNELS  #: channels of depth-wise work that keep a PE busy
    input_entries: int = 4096  #: words of I that one PE keeps; of CoSA's array, as the next
    sums: int = 64  #: partial sums of each output lane
    global_buffer: int = 1 * MiB  #: bytes
    weight_buffer: int = 1152 * KiB  #: bytes
    dram_read_words_per_cycle: float = numbers.MAPPING_DRAM_WORDS_PER_CYCLE
    dram_write_words_per_cycle: float = numbers.MAPPING_DRAM_WORDS_PER_CYCLE
    axes: str | None = None  #: "KC" fixes what the two axes unroll, None leaves them free

    def __post_init__(self) -> None:
        if self.axes is not None and (len(self.axes) != 2 or not set(self.axes) <= set("KCPQ")):
            raise ValueError(f"the fixed axes must be two of K, C, P, Q, such as K,C; got {self.axes!r}")

    def __repr__(self) -> str:
        return changes(self)

    @property
    def macs(self) -> int:
        """MACs of the array."""
        return self.side**2 * self.inputs * self.outputs

    @classmethod
    def of(cls, arch: Architecture, axes: str | None = None) -> Core:
        """Return the core of an architecture whose outer fan-out is a square of PEs and that has two more of lanes.

        Raises ValueError for any other: the closed form does not know how to unroll it.
        """
        *lanes, pes = [level.fanout for level in arch.levels if level.fanout > 1] or [1]
        side = math.isqrt(pes)
        if side**2 != pes or len(lanes) != 2:
            raise ValueError(
                f"architecture {arch.name}: the closed form needs a square of PEs below two fan-outs of lanes, "
                f"got fan-outs {[level.fanout for level in arch.levels]}"
            )
        inputs, outer = arch.levels[arch.stored("I")[0]], arch.levels[-2]
        sums = arch.levels[arch.stored("O")[0]]
        assert inputs.entries is not None and outer.entries is not None and sums.entries is not None
        weights = arch.levels[arch.stored("W")[-2]]
        assert weights.entries is not None
        return cls(
            side, lanes[0], lanes[1], max(1, numbers.PE_LIGHT_CHANNELS * lanes[1] // numbers.PE_OUTPUTS),
            inputs.entries, sums.entries, outer.entries, weights.entries * weights.instances,
            arch.dram_read_words_per_cycle, arch.dram_write_words_per_cycle, axes,
        )  # fmt: skip


def read_architecture(path: str | PathLike[str]) -> Architecture:
    """Return the architecture in a file.

    Parameters
    ----------
    path : str or PathLike
        A YAML or JSON file with the fields of `Architecture` and `Level`.

    Returns
    -------
    Architecture

    Raises
    ------
    ValueError
        One line that names the file, the level and the rule.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from simulator.mapping import read_architecture
    >>> text = '''
    ... name: small
    ... macs: 16
    ... levels:
    ...   - {name: buffer, entries: 4096, stores: {W: 0.5, I: 0.25, O: 0.25}, fanout: 16}
    ...   - {name: DRAM, stores: {W: 1, I: 1, O: 1}}
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "small.yaml").write_text(text)
    ...     read_architecture(Path(folder, "small.yaml"))
    Architecture(small: 2 levels, 16 MACs)
    """
    content = read_mapping(path)
    try:
        return _architecture(content)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _architecture(content: Mapping[str, Any]) -> Architecture:
    _known("an architecture", content, ("name", "levels", "macs", *_RATES), ("levels", "macs"))
    rows = content["levels"]
    if not isinstance(rows, list):
        raise ValueError(f"levels must be a list, innermost first, got {shown(rows)}")
    levels = []
    for position, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ValueError(f"level {position} must be a mapping, got {shown(row)}")
        where = f"level {shown(row.get('name', position))}"
        if "entries" not in row and position < len(rows) - 1:
            raise ValueError(f"{where} lacks its capacity (entries): only the last level may have none")
        _known(where, row, ("name", "entries", "instances", "stores", "fanout", "energy_pj"), ("name", "stores"))
        levels.append(Level(**{"entries": None, "instances": 1, **row}))
    more = {name: content[name] for name in (*_RATES, "name") if name in content}
    return Architecture(tuple(levels), content["macs"], **more)


_RATES = ("dram_read_words_per_cycle", "dram_write_words_per_cycle")


def _known(where: str, content: Mapping[str, Any], known: tuple[str, ...], needed: tuple[str, ...]) -> None:
    for name in content:
        if name not in known:
            raise ValueError(f"{where} has the field {shown(name)}; known are {', '.join(known)}")
    for name in needed:
        if name not in content:
            raise ValueError(f"{where} lacks {name}")
