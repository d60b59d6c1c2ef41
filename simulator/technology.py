"""The numbers: every constant of the model with its unit and its source. The user can replace all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

from simulator.chip.clock import Clock, clocks_said, energy_scale
from simulator.chip.logic import NO_LOGIC, Logic
from simulator.memory.dram import MAX_CHANNELS, dram_kind
from simulator.memory.sram import Sram, sram_of
from simulator.memory.table import SramRow
from workloads.display import changes
from workloads.errors import check_count, shown
from workloads.network.layers.types import Number

KiB = 1024
MiB = 1024 * KiB

DRAM_PJ_PER_BYTE = 100.0  #: 12.5 pJ/bit (Cocco, Sec. 5.1.2)
DRAM_BYTES_PER_CYCLE = 16  #: per core; 16 GB/s at 1 GHz (Cocco, Sec. 5.1.2)
CLOCK_GHZ = 1.0  #: (Cocco, Sec. 5.1.2)
SRAM_BASE_PJ_PER_BYTE = 0.4  #: our choice, with the next: about 1.04 pJ/B read of a published 12 nm 2 MB buffer
SRAM_ROOT_PJ_PER_BYTE = 0.6  #: our choice: energy grows with the side length of the array, sqrt(capacity / 1 MiB)
OPERATION_PJ = 0.31  #: our choice: fitted to Cocco's Tables 1 and 2; stands for MAC, PE-local buffers and control
CROSSBAR_PJ_PER_BYTE = 3.2  #: our choice: one hop of the core-to-core crossbar (Cocco, Sec. 5.4.2 gives no number)
CROSSBAR_BYTES_PER_CYCLE = 32  #: our choice: a port of 256 bits to each core, twice what DRAM has
LINK_GB_PER_S = 64.0  #: of a chip to others, in each direction: PCI Express 5.0 with 16 lanes of 32 Gb/s
#: 5.5 pJ/bit, a 112 Gb/s SerDes where NVIDIA compares it with its NVLink-C2C of 1.3, not read at its source
LINK_PJ_PER_BYTE = 44.0
SRAM_MM2_PER_MB = 1.2  #: at 12 nm (Cocco, Fig. 2)
MAC_PJ = 0.06  #: our choice: 8-bit multiply and add, 0.23 pJ at 45 nm (Horowitz, ISSCC 2014), a quarter at 12 nm
REGISTER_PJ_PER_BYTE = 0.03  #: our choice: a latch; with MAC_PJ and PE-local buffers it comes near OPERATION_PJ
MAPPING_DRAM_WORDS_PER_CYCLE = 10.0  #: read, and as many written (configuration of CoSA's array)

PE_ROWS = PE_COLUMNS = 4  #: PE array of one core (Cocco, Sec. 5.1.2)
PE_INPUTS = PE_OUTPUTS = 8  #: 8 x 8 MACs in each PE (Cocco, Sec. 5.1.2)
PE_LIGHT_CHANNELS = 4  #: our choice: useful MACs of a PE in depth-wise work, calibrated on Cocco's latencies
SUM_BYTES = 4  #: a running sum of an INT8 reduction; our choice: as in accumulators

CHANNEL_ALIGNMENT = 8  #: NWHC8c layout (Cocco, Fig. 7)
BUFFER_WORD_BYTES = 8  #: regions start and end on words of the 64-bit wide buffer (Cocco, Sec. 3.2)
MAX_REGIONS = 64  #: entries of the buffer region manager (Cocco, Sec. 3.2)
TILES = (64, 32, 16, 8, 4, 2, 1)  #: our choice: output tiles tried, from the largest

#: bits of an operand of a MAC; a wider number takes as many of them as it has bits over this: half the rate at 16 bits,
#: as INT8, FP16, TF32 have 624, 312, 156 in NVIDIA's A100 (data sheet, 2020); a narrower one is no faster (our choice)
LANE_BITS = 8
OPERATION_UNITS = 64  #: of which an operation of 8 by 8 bits has so many; a power of two, so that INT8 is exact
#: a multiplication of 8 by 8 bits and an addition of 8, pJ times 100 at 45 nm (Horowitz, ISSCC 2014), as MAC_PJ has
#: them; of 32 bits they are 3.1 pJ and 0.1 pJ there: as much for each pair of bits, and for each bit
MULTIPLY_8, ADD_8 = 20, 3


class Rate(NamedTuple):
    """DRAM bytes of all cores in so many cycles. A slot is the time of a byte, so time is counted in whole slots.

    Examples
    --------
    >>> Rate(16).slots(10), Rate(64, 5).slots(10), Rate(64, 5).slots(11), Rate(64, 5).per_cycle
    (160, 128, 141, 12.8)
    """

    bytes: int
    cycles: int = 1

    def slots(self, cycles: int) -> int:
        """Return the slots that these cycles take, rounded up."""
        return -(-cycles * self.bytes // self.cycles)

    def least(self, cycles: int) -> int:
        """Return the slots that these cycles take, rounded down: of parts, no more than of all of them."""
        return cycles * self.bytes // self.cycles

    @property
    def per_cycle(self) -> float:
        """Bytes in a cycle, an integer where they are whole."""
        return self.bytes if self.cycles == 1 else self.bytes / self.cycles

    def crossing(self, ports: int, port: int) -> tuple[int, int]:
        """Return slots, and the bytes that so many crossbar ports of `port` bytes a cycle pass in them."""
        common = math.gcd(self.bytes, self.cycles * ports)
        return self.bytes // common, self.cycles * ports // common * port


Ports = tuple[int, int]  #: bytes in a cycle of the port of a buffer, and of that of weights; 0: any number, and shared
NO_PORTS: Ports = (0, 0)


class FloatEnergy(NamedTuple):
    """A multiplication and an addition of floating-point numbers, pJ times 100 at 45 nm (Horowitz, ISSCC 2014)."""

    significand: int
    multiply: int
    add: int


FLOAT_16, FLOAT_32 = FloatEnergy(11, 110, 40), FloatEnergy(24, 370, 90)

MAX_NUMBER = 1e15  #: of energies, bandwidth, clock and area; our choice: the cost of any network stays finite
MAX_WIDTH = 2**16  #: of PEs, words, tiles; our choice: far above any that is built, and products fit 64 bits
MAX_TILES = 32  #: our choice, as above
MIN_CLOCK_GHZ = 1e-6  #: our choice, as above: 1 kHz
MOST_CYCLES = 10_000  #: our choice: in as many DRAM moves whole bytes; exact for clocks of whole MHz up to 10 GHz

NUMBERS = (
    "dram_pj_per_byte", "clock_ghz", "sram_base_pj_per_byte", "sram_root_pj_per_byte", "operation_pj",
    "crossbar_pj_per_byte", "sram_mm2_per_mb", "dram_background_mw", "channel_gb_per_s", "link_gb_per_s",
    "link_pj_per_byte",
)  # fmt: skip  #: the fields that may be any number from 0
COUNTS = (
    "dram_bytes_per_cycle", "crossbar_bytes_per_cycle", "pe_rows", "pe_columns", "pe_inputs", "pe_outputs",
    "pe_light_channels", "channel_alignment", "buffer_word_bytes",
)  # fmt: skip  #: the fields that are whole numbers from 1


def operation_units(first: int, second: int) -> int:
    """Return the energy of an operation on integers of these widths, in units where INT8 takes 64, rounded up.

    A multiplication grows with the product of both, an addition with the wider one.

    Examples
    --------
    >>> operation_units(8, 8), operation_units(8, 4), operation_units(16, 16)
    (64, 37, 240)
    """
    taken = MULTIPLY_8 * first * second + 8 * ADD_8 * max(first, second)
    return -(-taken // (MULTIPLY_8 + ADD_8))


def units_of_numbers(first: Number, second: Number) -> int:
    """Return the energy of an operation on these number types, in units where INT8 takes 64, rounded up.

    For floating-point numbers, multiplication grows with the product of both significands and addition with the longer
    one, on top of a constant part (exponents, shifts, rounding): the lines through both formats of Horowitz (ISSCC
    2014). That is our choice for bf16 and fp8, which he does not list, and for an integer combined with a
    floating-point number: the integer's bits are its significand.

    Examples
    --------
    >>> fp16, bf16, fp8 = Number(16, "fp16"), Number(16, "bf16"), Number(8, "fp8")
    >>> units_of_numbers(fp16, fp16), units_of_numbers(bf16, bf16), units_of_numbers(fp8, fp8)
    (418, 295, 176)
    >>> units_of_numbers(bf16, Number(4)), units_of_numbers(Number(8), Number(8))
    (244, 64)
    """
    if first.kind == second.kind == "int":
        return operation_units(first.bits, second.bits)
    low, high = FLOAT_16, FLOAT_32
    area, length = first.significand * second.significand, max(first.significand, second.significand)
    squares = high.significand**2 - low.significand**2
    taken = Fraction(low.multiply) + Fraction(high.multiply - low.multiply, squares) * (area - low.significand**2)
    longer = high.significand - low.significand
    taken += low.add + Fraction(high.add - low.add, longer) * (length - low.significand)
    return math.ceil(taken * OPERATION_UNITS / (MULTIPLY_8 + ADD_8))


def light_channels(pe_outputs: int) -> int:
    """Return the channels that depth-wise work keeps busy in a PE of so many output channels, as in the paper's array.

    Examples
    --------
    >>> light_channels(8), light_channels(32)
    (4, 16)
    """
    return max(1, pe_outputs * PE_LIGHT_CHANNELS // PE_OUTPUTS)


BUFFERS = ("activation", "weight")  #: that a table may be for


class OnChip(NamedTuple):
    """What logic takes at the voltage of the clock, pJ: an operation, a byte that crosses, a MAC that is idle."""

    operation: float
    crossbar: float
    idle: float


#: fields left out where they are as by default
UNSAID = (
    "activation_sram",
    "weight_sram",
    "dram_kind",
    "dram_background_mw",
    "dram_channels",
    "channel_gb_per_s",
    "logic",
    "sram_bytes_per_cycle",
    "clock",
    "link_gb_per_s",
    "link_pj_per_byte",
)
Buffer = Literal["activation", "weight"]


@dataclass(frozen=True)
class Technology:
    """Energy, bandwidth, area and PE array of the accelerator.

    The defaults are the constants of simulator/technology.py, each with its source; names end in the unit.

    Raises
    ------
    ValueError
        One line that names the field, the rule and the value.

    Examples
    --------
    >>> from simulator import MiB, Technology
    >>> technology = Technology(dram_pj_per_byte=40.0)
    >>> technology
    Technology(dram_pj_per_byte=40.0)
    >>> technology.sram_pj_per_byte(1 * MiB), technology.sram_area_mm2(2 * MiB)
    (1.0, 2.4)
    """

    dram_pj_per_byte: float = DRAM_PJ_PER_BYTE
    dram_bytes_per_cycle: int = DRAM_BYTES_PER_CYCLE  #: of one core
    clock_ghz: float = CLOCK_GHZ
    sram_base_pj_per_byte: float = SRAM_BASE_PJ_PER_BYTE
    sram_root_pj_per_byte: float = SRAM_ROOT_PJ_PER_BYTE  #: times sqrt(capacity / 1 MiB)
    operation_pj: float = OPERATION_PJ
    crossbar_pj_per_byte: float = CROSSBAR_PJ_PER_BYTE
    crossbar_bytes_per_cycle: int = CROSSBAR_BYTES_PER_CYCLE  #: of the port of one core
    sram_mm2_per_mb: float = SRAM_MM2_PER_MB
    pe_rows: int = PE_ROWS
    pe_columns: int = PE_COLUMNS
    pe_inputs: int = PE_INPUTS
    pe_outputs: int = PE_OUTPUTS
    pe_light_channels: int = PE_LIGHT_CHANNELS
    channel_alignment: int = CHANNEL_ALIGNMENT
    buffer_word_bytes: int = BUFFER_WORD_BYTES
    tiles: tuple[int, ...] = TILES
    activation_sram: Sram | None = None  #: of the global or shared buffer; None: the formula above
    weight_sram: Sram | None = None  #: of the weight buffer, and of a shared buffer the same as activation_sram
    dram_kind: str | None = None  #: which preset the numbers of DRAM are those of (simulator.memory.dram)
    dram_background_mw: float = 0.0  #: of all DRAM, whatever crosses
    dram_channels: int | None = None  #: of the chip, shared by all cores; None: dram_bytes_per_cycle of each core
    channel_gb_per_s: float = 0.0  #: of one of them, 10^9 bytes
    logic: Logic | None = None  #: what cores, MACs and interfaces take; None: nothing is said of it
    sram_bytes_per_cycle: int | None = None  #: of the port of each buffer of a core; None: as many as `logic` says
    clock: tuple[Clock, ...] = ()  #: GHz, V: `clock_ghz` is one of them; without any, energy does not know the clock
    link_gb_per_s: float = LINK_GB_PER_S  #: of one of several chips, out and as much in, 10^9 bytes
    link_pj_per_byte: float = LINK_PJ_PER_BYTE  #: that leaves a chip and enters another

    def __post_init__(self) -> None:
        for name in NUMBERS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MAX_NUMBER:
                raise ValueError(
                    f"technology.{name} must be a finite number of at least 0 and at most {MAX_NUMBER:g}, got {value!r}"
                )
        for name in COUNTS:
            check_count(f"technology.{name}", getattr(self, name), MAX_WIDTH)
        if not self.clock_ghz >= MIN_CLOCK_GHZ:
            raise ValueError(f"technology.clock_ghz must be at least {MIN_CLOCK_GHZ:g}, got {self.clock_ghz!r}")
        if not self.link_gb_per_s > 0:
            raise ValueError(f"technology.link_gb_per_s must be above 0, got {self.link_gb_per_s!r}")
        tiles = tuple(self.tiles) if isinstance(self.tiles, Iterable) else ()
        if not 1 <= len(tiles) <= MAX_TILES:
            raise ValueError(f"technology.tiles must be a list of 1 to {MAX_TILES} sizes, got {self.tiles!r}")
        for tile in tiles:
            check_count("technology.tiles", tile, MAX_WIDTH)
        if any(after >= before for before, after in zip(tiles, tiles[1:])):
            raise ValueError(f"technology.tiles must fall from the largest, got {list(tiles)!r}")
        object.__setattr__(self, "tiles", tiles)
        for buffer in BUFFERS:
            sram = getattr(self, f"{buffer}_sram")
            if not isinstance(sram, Sram | None):
                raise ValueError(f"technology.{buffer}_sram must be a simulator.Sram or None, got {shown(sram)}")
        if self.dram_kind is not None:
            dram_kind(self.dram_kind)
        if self.dram_channels is not None:
            check_count("technology.dram_channels", self.dram_channels, MAX_CHANNELS)
        if (self.dram_channels is not None) != (self.channel_gb_per_s > 0):
            raise ValueError(
                "technology.dram_channels and channel_gb_per_s go together, with a number above 0; "
                f"got {self.dram_channels} and {self.channel_gb_per_s}"
            )
        if not self.rate(1).bytes:
            raise ValueError(
                f"technology.channel_gb_per_s must be at least a byte in {MOST_CYCLES} cycles of all channels"
            )
        if not isinstance(self.logic, Logic | None):
            raise ValueError(f"technology.logic must be a simulator.Logic or None, got {shown(self.logic)}")
        if self.sram_bytes_per_cycle is not None:
            check_count("technology.sram_bytes_per_cycle", self.sram_bytes_per_cycle, MAX_WIDTH)
        if self.clock:
            object.__setattr__(self, "clock", clocks_said(self.clock))
            if self.volts is None:
                known = ", ".join(f"{each:g}" for each, _ in self.clock)
                raise ValueError(f"technology.clock_ghz must be one of clock's, {known} GHz, got {self.clock_ghz!r}")
        if self.of_logic.idle_pj_per_mac > self.operation_pj:
            raise ValueError(
                f"logic.idle_pj_per_mac must be at most operation_pj {self.operation_pj!r}, as an idle MAC takes "
                f"no more than one that works; got {self.of_logic.idle_pj_per_mac!r}"
            )

    def __repr__(self) -> str:
        return changes(self)

    def rate(self, cores: int) -> Rate:
        """Return how fast DRAM is that so many cores share: its channels, or what each of them has."""
        if self.dram_channels is None:
            return Rate(self.dram_bytes_per_cycle * cores)
        return _shared_rate(self.dram_channels, self.channel_gb_per_s, self.clock_ghz)

    def crossing(self, cores: int) -> tuple[int, int]:
        """Return slots, and the bytes that pass the crossbar of so many cores in them."""
        return self.rate(cores).crossing(cores, self.crossbar_bytes_per_cycle)

    @property
    def of_logic(self) -> Logic:
        """The cost of the logic, perhaps nothing."""
        return self.logic or NO_LOGIC

    @property
    def volts(self) -> float | None:
        """The voltage of the clock; None where nobody says."""
        return dict(self.clock).get(self.clock_ghz)

    @cached_property
    def energy_scale(self) -> float:
        """Energy of logic and SRAM at the voltage of the clock, over what the other fields say."""
        return 1 if self.volts is None else energy_scale(self.volts)

    @cached_property
    def on_chip(self) -> OnChip:
        """The energy of logic."""
        said = self.operation_pj, self.crossbar_pj_per_byte, self.of_logic.idle_pj_per_mac
        return OnChip(*(self.energy_scale * each for each in said))

    @property
    def macs(self) -> int:
        """MACs of 8-bit numbers that the PE array of a core can do in a cycle."""
        return self.pe_rows * self.pe_columns * self.pe_inputs * self.pe_outputs

    @property
    def port_bytes_per_cycle(self) -> int:
        """Bytes that are read from or written to a buffer of a core in a cycle; 0 for any number."""
        return self.sram_bytes_per_cycle or math.ceil(self.macs * self.of_logic.sram_bytes_per_mac)

    @property
    def has_tables(self) -> bool:
        """Whether the numbers of any buffer come from a table."""
        return self.activation_sram is not None or self.weight_sram is not None

    def to_json(self) -> dict[str, Any]:
        """Return plain data, without the fields of UNSAID that are as by default."""
        content = {name: value for name, value in asdict(self).items() if name not in UNSAID}
        for name in UNSAID:
            value = getattr(self, name)
            if value != getattr(Technology, name):
                content[name] = value.to_json() if isinstance(value, Sram | Logic) else value
        return content

    @staticmethod
    def from_json(content: dict[str, Any]) -> Technology:
        """Return the Technology of plain data; raises ValueError, TypeError or KeyError if it is not one."""
        tables = {f"{buffer}_sram" for buffer in BUFFERS} & content.keys()
        logic = {"logic": Logic(**content["logic"])} if content.get("logic") else {}
        return Technology(**content | {name: sram_of(content[name]) for name in tables} | logic)

    def compute_pj(self, operations: int, extra_units: int = 0) -> float:
        """Return the energy, pJ, of this many INT8 operations plus extra units (operation_units)."""
        energy = self.on_chip.operation * operations
        return energy + self.on_chip.operation / OPERATION_UNITS * extra_units if extra_units else energy

    def sram(self, buffer: Buffer, capacity_bytes: int) -> SramRow:
        """Return the cost of a buffer of this capacity at the voltage of the clock; ValueError outside a table."""
        found, scale = self.nominal_sram(buffer, capacity_bytes), self.energy_scale
        read, write = scale * found.read_pj_per_byte, scale * found.write_pj_per_byte
        return found._replace(read_pj_per_byte=read, write_pj_per_byte=write)

    def nominal_sram(self, buffer: Buffer, capacity_bytes: int) -> SramRow:
        """Return the same at the voltage of its table, or of the formula."""
        found: Sram | None = getattr(self, f"{buffer}_sram")
        if found is not None:
            return found.at(capacity_bytes)
        each = self.sram_pj_per_byte(capacity_bytes)
        return SramRow(capacity_bytes, each, each, 0.0, self.sram_area_mm2(capacity_bytes))

    def sram_pj_per_byte(self, capacity_bytes: int) -> float:
        """Energy by the formula of one byte read from or written to a buffer of this capacity, pJ/B."""
        return self.sram_base_pj_per_byte + self.sram_root_pj_per_byte * math.sqrt(capacity_bytes / MiB)

    def sram_area_mm2(self, capacity_bytes: int) -> float:
        """Area by the formula of a buffer of this capacity, mm2."""
        return self.sram_mm2_per_mb * capacity_bytes / MiB


@lru_cache(maxsize=256)
def _shared_rate(channels: int, gb_per_s: float, clock_ghz: float) -> Rate:
    """Return the bytes of all channels in some cycles: decimals as they are written, at most MOST_CYCLES."""
    exact = channels * Fraction(str(gb_per_s)) / Fraction(str(clock_ghz))
    return Rate(*exact.limit_denominator(MOST_CYCLES).as_integer_ratio())
