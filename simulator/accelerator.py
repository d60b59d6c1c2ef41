"""The machine: buffers, cores, batch. One core has a 4 x 4 array of PEs (Cocco, Fig. 8 and 10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, TypedDict

from simulator.chip.area import Area, area_of
from simulator.chip.money import Money, money_of
from simulator.connected import CONNECTED, Connected
from simulator.keywords import with_fields
from simulator.mapping.mappers import Enumerate, Mapper
from simulator.memory.table import SramRow
from simulator.sizes import MAX_CAPACITY
from simulator.technology import MAX_REGIONS, Ports, Rate, Technology
from workloads.display import changes
from workloads.errors import check_count

MAX_COUNT = 2**16  #: cores and samples; our choice, as that of `MAX_CAPACITY`
PE_ARRAY = ("pe_rows", "pe_columns", "pe_inputs", "pe_outputs", "pe_light_channels")  #: of the technology
PAPER = Technology()
Plans = Literal["all", "paper"]  #: every kind of plan; or held subgraphs in one piece, and single layers
PLANS: tuple[Plans, ...] = ("all", "paper")


class MachineFields(TypedDict, total=False):
    """The fields of a Machine as keywords; None for technology or mapper is their default."""

    cores: int
    batch: int
    max_regions: int | None
    technology: Technology | None
    mapper: Mapper | None
    groups_apart: bool | None
    connected: Connected
    plans: Plans


@dataclass(frozen=True)
class Machine:
    """An accelerator without its buffers: what stays the same while a search chooses the memory.

    Parameters
    ----------
    cores
        Cores that share one network.
    batch
        Samples computed together (docs/model.md, section 7).
    max_regions
        Entries of the buffer region manager; None for no limit (Cocco, Sec. 3.2: N = 64).
    technology
        Energy, bandwidth and area; every number has a source.
    mapper
        How a layer runs on the PE array (docs/mapping.md, section 7).
    groups_apart
        Whether subgraphs may run one group of channels (one head) at a time (simulator/model/subgraph/apart.py); by
        default where `plans` has all kinds, on one core.
    connected
        Which layers may share a subgraph: "all", or "paper": by edges among them only (simulator/connected.py).
    plans
        "all": also groups of channels apart, and several layers in one loop nest (simulator/model/nests). "paper":
        subgraphs that are held in one piece, and single layers.

    Raises
    ------
    ValueError
        One line with the field, the rule and the value.

    Examples
    --------
    >>> from simulator import Machine
    >>> Machine(cores=2).with_buffers(shared_buffer=2**20).buffer_bytes
    1048576
    """

    cores: int = 1
    batch: int = 1
    max_regions: int | None = MAX_REGIONS
    technology: Technology = field(default_factory=Technology)
    mapper: Mapper = field(default_factory=Enumerate)
    groups_apart: bool | None = None
    connected: Connected = "all"
    plans: Plans = "all"

    def __post_init__(self) -> None:
        check_count("cores", self.cores, MAX_COUNT)
        check_count("batch", self.batch, MAX_COUNT)
        if self.groups_apart is not None and type(self.groups_apart) is not bool:
            raise ValueError(f"groups_apart must be True or False, got {self.groups_apart!r}")
        if self.connected not in CONNECTED:
            raise ValueError(f"connected must be one of {', '.join(CONNECTED)}, got {self.connected!r}")
        if self.groups_apart and self.cores > 1:
            raise ValueError(f"groups_apart is for one core, got {self.cores} cores")
        if self.plans not in PLANS:
            raise ValueError(f"plans must be one of {', '.join(PLANS)}, got {self.plans!r}")
        if self.max_regions is not None:
            check_count("max_regions", self.max_regions, MAX_CAPACITY)
        if not isinstance(self.mapper, Mapper):
            raise ValueError(f"mapper must be a simulator.mapping.Mapper such as Enumerate(), got {self.mapper!r}")
        for name in PE_ARRAY:
            ours, papers = getattr(self.technology, name), getattr(PAPER, name)
            if ours != papers and not self.mapper.is_flat:
                raise ValueError(
                    f"mapper {self.mapper.name!r} knows the paper's PE array only, with {name} {papers}, got {ours}; "
                    "take the mapper 'enumerate'"
                )

    @property
    def connection(self) -> Connected:
        """What connects the layers of a subgraph: the paper's rule also where only the paper's plans are used."""
        return "paper" if self.plans == "paper" else self.connected

    @property
    def has_groups(self) -> bool:
        """Whether subgraphs may run one group of channels at a time."""
        return self.plans == "all" and self.cores == 1 if self.groups_apart is None else self.groups_apart

    def __repr__(self) -> str:
        return changes(self)

    def with_buffers(self, **buffers: int) -> Accelerator:
        """Return the accelerator with these buffers: global_buffer and weight_buffer, or shared_buffer, in bytes."""
        same: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        return Accelerator(**same | buffers)


def machine_of(machine: Machine | None, keywords: Mapping[str, object]) -> Machine:
    """Return the machine, or the default one, with the fields given as keywords replaced.

    Raises ValueError if it is not a Machine or a field breaks a rule.
    """
    if isinstance(machine, Accelerator):
        raise ValueError("machine must be a simulator.Machine, which has no buffers; got an Accelerator: pass .machine")
    if not isinstance(machine, Machine | None):
        raise ValueError(f"machine must be a simulator.Machine, got {machine!r}")
    unset = {name for name in ("technology", "mapper") if keywords.get(name) is None}
    return with_fields(machine or Machine(), {name: keywords[name] for name in keywords if name not in unset})


def static_pj_per_slot(
    technology: Technology, cores: int, activation: SramRow, weights: SramRow | None
) -> tuple[float, float, float, float]:
    """Return the power of all activation buffers, all weight buffers (0 if shared), DRAM's background, and all logic.

    In pJ per slot: a cycle divided by the bytes that all DRAM moves in it. A milliwatt is a picojoule per nanosecond.
    """
    slots_per_ns = technology.rate(cores).per_cycle * technology.clock_ghz
    return (
        cores * activation.leakage_mw / slots_per_ns,
        0.0 if weights is None else cores * weights.leakage_mw / slots_per_ns,
        technology.dram_background_mw / slots_per_ns,
        logic_mw(technology, cores) / slots_per_ns,
    )


def logic_mw(technology: Technology, cores: int) -> float:
    """Return the leakage of the logic of all cores, mW."""
    return cores * (technology.macs * technology.of_logic.leakage_uw_per_mac * 1e-3)


@dataclass(frozen=True)
class Accelerator:
    """The hardware: either `global_buffer` and `weight_buffer`, or one `shared_buffer` for both (Cocco, Fig. 8, 10).

    Raises
    ------
    ValueError
        One line that names the field, the rule and the value.

    Examples
    --------
    >>> from simulator import Accelerator, KiB, MiB
    >>> Accelerator(global_buffer=1 * MiB, weight_buffer=1152 * KiB)  # the paper's platform (Sec. 5.1.2)
    Accelerator(global_buffer=1048576, weight_buffer=1179648)
    >>> chip = Accelerator(shared_buffer=2 * MiB, cores=5, batch=2)
    >>> chip.samples_per_core, chip.bands, chip.buffer_bytes
    (1, 2, 2097152)
    """

    global_buffer: int | None = None  #: bytes of one core for activations
    weight_buffer: int | None = None  #: bytes of one core for weights
    shared_buffer: int | None = None  #: bytes of one core for both, in place of the two
    cores: int = 1  #: that share one network
    batch: int = 1  #: samples computed together (model.md, section 7)
    max_regions: int | None = MAX_REGIONS  #: entries of the buffer region manager, None for any number (Sec. 3.2)
    technology: Technology = field(default_factory=Technology)  #: energies, bandwidth, area, PE array
    mapper: Mapper = field(default_factory=Enumerate)  #: how a layer runs on the PE array (docs/mapping.md, section 7)
    groups_apart: bool | None = None  #: subgraphs may run one group of channels (one head) at a time; None: as `plans`
    connected: Connected = "all"  #: which layers may share a subgraph, or "paper": by edges among them only
    plans: Plans = "all"  #: which kinds of plans there are

    def __post_init__(self) -> None:
        separate = self.global_buffer is not None or self.weight_buffer is not None
        if separate == (self.shared_buffer is not None):
            raise ValueError(
                "an accelerator has either global_buffer and weight_buffer, or shared_buffer; got "
                f"global_buffer={self.global_buffer!r}, weight_buffer={self.weight_buffer!r}, "
                f"shared_buffer={self.shared_buffer!r}"
            )
        buffers = ("global_buffer", "weight_buffer") if separate else ("shared_buffer",)
        for name in buffers:
            check_count(name, getattr(self, name), MAX_CAPACITY, "bytes")
        _ = self.machine  # which checks the rest
        sram = (self.technology.activation_sram, self.technology.weight_sram)
        if not separate and sram[0] != sram[1]:
            raise ValueError(f"a shared buffer has one kind of SRAM, got {sram[0]!r} and {sram[1]!r} for weights")
        _ = self.memories  # raises outside a table

    @property
    def machine(self) -> Machine:
        """Everything but the buffers."""
        return Machine(**{each.name: getattr(self, each.name) for each in fields(Machine)})

    @property
    def connection(self) -> Connected:
        """What connects the layers of a subgraph."""
        return self.machine.connection

    def __repr__(self) -> str:
        return changes(self)

    def to_json(self) -> dict[str, Any]:
        """Return plain data, without the mapper if it is the default."""
        content = asdict(self) | {"technology": self.technology.to_json()}
        if self.mapper == Enumerate():
            del content["mapper"]
        if self.groups_apart is None:
            del content["groups_apart"]
        if self.connected == "all":
            del content["connected"]
        if self.plans == "all":
            del content["plans"]
        return content

    @property
    def is_shared(self) -> bool:
        """Whether activations and weights share one buffer."""
        return self.shared_buffer is not None

    @property
    def activation_capacity(self) -> int:
        """Bytes of one core that may hold activations."""
        capacity = self.shared_buffer if self.is_shared else self.global_buffer
        assert capacity is not None
        return capacity

    @property
    def weight_capacity(self) -> int:
        """Bytes of one core that may hold weights (the same bytes, if shared)."""
        capacity = self.shared_buffer if self.is_shared else self.weight_buffer
        assert capacity is not None
        return capacity

    @property
    def buffer_bytes(self) -> int:
        """BUF_SIZE of Formula 2: the buffers of one core."""
        return self.activation_capacity if self.is_shared else self.activation_capacity + self.weight_capacity

    @cached_property
    def memories(self) -> dict[str, SramRow]:
        """The cost of each buffer of one core, by field name."""
        technology = self.technology
        if self.is_shared:
            return {"shared_buffer": technology.sram("activation", self.activation_capacity)}
        return {
            "global_buffer": technology.sram("activation", self.activation_capacity),
            "weight_buffer": technology.sram("weight", self.weight_capacity),
        }

    @property
    def activation_sram(self) -> SramRow:
        """The cost of the buffer that holds activations."""
        return self.memories["shared_buffer" if self.is_shared else "global_buffer"]

    @property
    def weight_sram(self) -> SramRow:
        """The cost of the buffer that holds weights; the same buffer if shared."""
        return self.memories["shared_buffer" if self.is_shared else "weight_buffer"]

    @cached_property
    def has_tables(self) -> bool:
        """Whether a buffer's numbers come from a table, so that it leaks."""
        return self.technology.has_tables

    @cached_property
    def static_pj_per_slot(self) -> tuple[float, float, float, float]:
        """Power of all activation buffers, of all weight buffers (0 if shared), of DRAM's background, of all logic."""
        weights = None if self.is_shared else self.weight_sram
        return static_pj_per_slot(self.technology, self.cores, self.activation_sram, weights)

    @property
    def leakage_mw(self) -> float:
        """Leakage of the buffers of all cores, mW; 0 without a table."""
        total = 0.0
        for memory in self.memories.values():
            total += memory.leakage_mw
        return self.cores * total

    @property
    def area_mm2(self) -> float:
        """Area of the buffers of all cores, mm2."""
        return self.buffers_mm2 * self.cores

    @property
    def buffers_mm2(self) -> float:
        """Area of the buffers of one core, mm2."""
        if not self.has_tables:
            return self.technology.sram_area_mm2(self.buffer_bytes)
        total = 0.0
        for memory in self.memories.values():
            total += memory.area_mm2
        return total

    @property
    def channels(self) -> int:
        """Channels of DRAM, those of the chip or one of each core."""
        return self.technology.dram_channels or self.cores

    @property
    def ports(self) -> Ports:
        """Bytes in a cycle of all activation buffers, and of all weight buffers, 0 if shared; 0 and 0: any number."""
        width = self.cores * self.technology.port_bytes_per_cycle
        return width, 0 if self.is_shared else width

    @property
    def chip_area(self) -> Area:
        """Area of the whole chip by what takes it."""
        technology = self.technology
        pes = technology.pe_rows * technology.pe_columns
        machine = self.cores, pes, technology.macs, self.buffers_mm2, self.channels, technology.dram_kind
        return area_of(technology.of_logic, *machine)

    @property
    def logic_mw(self) -> float:
        """Leakage of the logic of all cores, mW."""
        return logic_mw(self.technology, self.cores)

    @property
    def chip_money(self) -> Money:
        """What the chip and its DRAM cost, dollars."""
        technology = self.technology
        gb_per_s = self.dram_bytes_per_cycle * technology.clock_ghz
        said = technology.of_logic.dram_usd_per_gb_per_s
        return money_of(self.chip_area.total, gb_per_s, technology.dram_kind, said)

    def chip_json(self) -> dict[str, Any]:
        """Return as plain data what the whole chip takes: mm2 by part, mW of its logic, dollars (None: not known)."""
        area, money = self.chip_area, self.chip_money
        dollars = {**money._asdict(), "total": money.total}
        return {
            "area_mm2": {**area._asdict(), "total": area.total}, "logic_leakage_mw": self.logic_mw, "usd": dollars,
            "channels": self.channels,
        }  # fmt: skip

    def memory_json(self) -> dict[str, Any]:
        """Return as plain data what the buffers of all cores cost together, and which of them miss the clock."""
        return {
            "cores": self.cores, "area_mm2": self.area_mm2, "leakage_mw": self.leakage_mw,
            "missed_clock_ns": self.missed_clock,
        }  # fmt: skip

    @property
    def missed_clock(self) -> dict[str, float]:
        """Cycle time in ns of each buffer that is slower than one clock cycle; empty if none is."""
        technology, found = self.technology, {}
        for name, memory in self.memories.items():
            sram = technology.weight_sram if name == "weight_buffer" else technology.activation_sram
            cycle = None if sram is None else sram.misses(int(memory.capacity_bytes), technology.clock_ghz)
            if cycle is not None:
                found[name] = cycle
        return found

    @property
    def samples_per_core(self) -> int:
        """b of model.md, section 7: samples that one core advances in lock-step."""
        return -(-self.batch // min(self.cores, self.batch))

    @property
    def bands(self) -> int:
        """Cores that share one sample by columns: floor(cores / min(cores, batch))."""
        return self.cores // min(self.cores, self.batch)

    @property
    def macs_per_cycle(self) -> int:
        """MACs of 8-bit numbers that the PE arrays of all cores can do in a cycle."""
        return self.cores * self.technology.macs

    @property
    def idle_macs(self) -> int:
        """MACs that take energy where they have nothing to do: all, or none where that costs nothing."""
        return self.macs_per_cycle if self.technology.of_logic.idle_pj_per_mac else 0

    def utilization(self, macs: int, cycles: float) -> float:
        """Return the share of the MACs possible in these cycles that is done; macs: of one sample of the batch.

        At most 1: the MACs of a transposed convolution are published with those whose results its padding cuts off.
        """
        return min(1.0, self.batch * macs / (self.macs_per_cycle * cycles))

    @property
    def rate(self) -> Rate:
        """How fast the DRAM of all cores is, in whole slots."""
        return self.technology.rate(self.cores)

    @property
    def dram_bytes_per_cycle(self) -> float:
        """DRAM bandwidth of all cores together, an integer where it is whole."""
        return self.rate.per_cycle
