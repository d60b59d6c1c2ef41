"""Hardware in words: its memories and where their numbers come from, and what else differs from the default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cocco.output.text.layout.numbers import capacity, table, the_buffers
from simulator.chip.clock import NOMINAL_VOLTS
from simulator.mapping.mappers import Enumerate
from simulator.memory.dram import DRAM_KINDS
from simulator.technology import CLOCK_GHZ, Technology
from simulator.units import AREA, POWER

if TYPE_CHECKING:
    from simulator.accelerator import Accelerator
    from simulator.memory.sram import Sram
    from simulator.memory.table import SramRow, SramTable

CHIP_PARTS = ("cores", "PEs", "MACs", "buffers", "ports", "DRAM interfaces")  #: of simulator.chip.area.Area
UNSAID = "a node that nobody says"
SRAM_NODE = "12nm"  #: of the formula of a buffer's area
HEADS = ("read pJ/B", "write pJ/B", "leakage mW", "area mm2", "cycle ns")


def buffers(accelerator: Accelerator) -> str:
    """Return what the memory of one core is, such as 'a shared buffer of 1344 KB'."""
    if accelerator.is_shared:
        return f"a shared buffer of {capacity(accelerator.activation_capacity)}"
    return (
        f"a global buffer of {capacity(accelerator.activation_capacity)} and "
        f"a weight buffer of {capacity(accelerator.weight_capacity)}"
    )


def machine(accelerator: Accelerator) -> str:
    """Return the rest of the hardware, such as ', batch 8'; empty for one core, one sample and the default mapper."""
    cores = f", {accelerator.cores} cores with that each" if accelerator.cores > 1 else ""
    batch = f", batch {accelerator.batch}" if accelerator.batch > 1 else ""
    mapper = accelerator.mapper
    if mapper == Enumerate():
        return cores + batch
    return f"{cores}{batch}, mapper {'tiled' if isinstance(mapper, Enumerate) else mapper.name}"


def table_text(found: SramTable) -> str:
    """Return a table with units and source."""
    rows = [(capacity(int(row.capacity_bytes)), *_numbers(row)) for row in found.rows]
    return f"{found.name}: {found.source or 'its source is not said'}\n\n{table(('capacity', *HEADS), rows)}"


def tables_text(tables: Sequence[SramTable]) -> str:
    """Return tables by name, with their range and source."""
    lines = ["SRAM tables (sram: NAME in a hardware file)"]
    for each in tables:
        first, last = (capacity(size) for size in (each.capacities[0], each.capacities[-1]))
        lines += [f"  {each.name}: {first} to {last}, {len(each.rows)} rows", f"    {each.source}"]
    return "\n".join(lines)


def kinds_text() -> str:
    """Return the kinds of DRAM with their sources."""
    rows = [
        (name, f"{kind.pj_per_bit:g}", f"{kind.gigabytes_per_second:g}", kind.burst_bytes)
        for name, kind in DRAM_KINDS.items()
    ]
    sources = "\n".join(f"  {name}: {kind.source}" for name, kind in DRAM_KINDS.items())
    numbers = table(("kind", "pJ/bit", "GB/s channel", "burst B"), rows)
    return f"DRAM (dram: KIND in a hardware file)\n{numbers}\n{sources}"


def buffers_text(accelerator: Accelerator) -> str:
    """Return what each buffer costs, with the sum of all cores, and which miss the clock."""
    rows = [
        (name.replace("_", " "), capacity(int(row.capacity_bytes)), *_numbers(row))
        for name, row in accelerator.memories.items()
    ]
    cores = accelerator.cores
    lines = [
        table(("buffer" if cores == 1 else "buffer of one core", "capacity", *HEADS), rows),
        f"{the_buffers(cores)}: {accelerator.area_mm2:.4g} mm2, {accelerator.leakage_mw:.4g} mW of leakage",
        *missed_lines(accelerator),
        *(line.strip() for line in chip_lines(accelerator)),
    ]
    return "\n".join(lines)


def chip_lines(accelerator: Accelerator) -> list[str]:
    """Return area, leakage, price, ports and voltage of the chip; nothing where the hardware says nothing of them."""
    technology = accelerator.technology
    logic = technology.logic
    if logic is None:
        return _speed_lines(accelerator)
    area, money, kind = accelerator.chip_area, accelerator.chip_money, accelerator.technology.dram_kind
    parts = {name: mm2 for name, mm2 in zip(CHIP_PARTS, area) if mm2}
    shown = ", ".join(f"{name} {mm2:,.2f}" for name, mm2 in parts.items())
    unknown = "" if logic.phy_of(kind) is not None else "; DRAM interfaces are not counted, their kind is not known"
    dram = f"; DRAM ${money.dram:,.2f}" if money.dram is not None else "; the price of its DRAM is not known"
    lines = [
        f"  chip area               {AREA.text(area.total)}: {shown}{unknown}",
        f"  chip price              ${money.chip:,.2f} for die and package{dram}",
        f"  logic leakage           {POWER.text(accelerator.logic_mw)}",
        *_speed_lines(accelerator),
    ]
    buffers = {(each.table.name, each.made_in) for each in _srams(accelerator)} or {("the formula", SRAM_NODE)}
    if accelerator.has_tables or logic.node:
        if {node for _, node in buffers} != {logic.node} or not logic.node:
            by = ", ".join(f"{name} at {node or UNSAID}" for name, node in sorted(buffers))
            lines.append(f"  areas are mixed         logic at {logic.node or UNSAID}, buffers by {by}")
    return lines


def _speed_lines(accelerator: Accelerator) -> list[str]:
    """Return how wide ports are, and what the clock makes of energies; nothing where both are those of the paper."""
    technology = accelerator.technology
    width = technology.port_bytes_per_cycle
    ports = [f"  ports of buffers        {width:,} B in a cycle, read or written, of each buffer"] if width else []
    return [*ports, *_energy_lines(technology)]


def _energy_lines(technology: Technology) -> list[str]:
    if technology.volts is not None:
        scale = f"{technology.energy_scale:.4g} times those at {NOMINAL_VOLTS:g} V"
        return [f"  energies                of logic and SRAM at {technology.volts:g} V: {scale}"]
    if technology.clock_ghz == CLOCK_GHZ or technology.logic is None:
        return []
    return [f"  energies                do not know the clock: they are those at {CLOCK_GHZ:g} GHz"]


def _srams(accelerator: Accelerator) -> list[Sram]:
    found = (accelerator.technology.activation_sram, accelerator.technology.weight_sram)
    return [each for each in found if each is not None]


def missed_lines(accelerator: Accelerator) -> list[str]:
    """Return a line for each buffer that does not cycle in one clock."""
    clock = 1 / accelerator.technology.clock_ghz
    return [
        f"the {name.replace('_', ' ')} misses the clock: it cycles in {cycle:.4g} ns, the clock takes {clock:.4g} ns"
        for name, cycle in accelerator.missed_clock.items()
    ]


def _numbers(row: SramRow) -> tuple[str, ...]:
    numbers = (row.read_pj_per_byte, row.write_pj_per_byte, row.leakage_mw, row.area_mm2, row.cycle_ns)
    return tuple("-" if number is None else f"{number:.4g}" for number in numbers)
