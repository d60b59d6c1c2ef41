"""Every printed number compared with the one that was counted: equal, within the room given, or different."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Literal

from simulator.accelerator import Accelerator
from simulator.chip.clock import CONSTANT, LINEAR, NOMINAL_VOLTS, SQUARED
from simulator.execution.count.count import Count
from simulator.memory.table import SramRow
from simulator.technology import MOST_CYCLES, OPERATION_UNITS, Technology

Status = Literal["equal", "within", "different", "not executed"]
Number = float | None
MEMORY = "_memory_bytes"  #: the names of what a memory holds at most end like that
HELD = ("activation_bytes", "weight_bytes", "kept_bytes", "at_once")
EXTRA = "operation_extra"  #: a number that is 0 where all operations are of INT8
WRITTEN = ("global_written_bytes", "weight_written_bytes")  #: numbers that price nothing but a table's energy
ADDED = tuple(name for name in Count._fields if name not in HELD)  #: over subgraphs


@dataclass(frozen=True)
class Check:
    """One number. subgraph: its position in execution order, None for the whole partition. Units are in the name.

    status: "within" for bytes on chip if the count is at most what a memory has, or what a loop order gives its regions
    (judge.ROOMY); "not executed" if nothing was counted.
    """

    name: str
    claimed: Number
    counted: Number
    status: Status
    subgraph: int | None = None

    @property
    def error(self) -> float:
        """The relative error of the claimed number to the counted one; 0 for memories and for what was not counted."""
        if self.claimed is None or not self.counted or self.name.endswith(MEMORY):
            return 0.0
        return self.claimed / self.counted - 1

    def to_json(self) -> dict[str, Number | str]:
        """Return the check as plain data, without the name."""
        return {"claimed": self.claimed, "counted": self.counted, "status": self.status}


def slots_of(count: Count, accelerator: Accelerator) -> int | None:
    """Return the time of a subgraph, the longest of computing, DRAM and crossbar; None if one was not executed.

    In slots: in each slot the DRAM of all cores moves one byte.
    """
    ema = _ema(count)
    if ema is None or count.compute_cycles is None or count.crossbar_bytes is None:
        return None
    per_cycle = bytes_per_cycle(accelerator)
    crossing = count.crossbar_bytes * per_cycle / (accelerator.cores * accelerator.technology.crossbar_bytes_per_cycle)
    return max(ceil(count.compute_cycles * per_cycle), ema, ceil(crossing))


def bytes_per_cycle(accelerator: Accelerator) -> Fraction:
    """Return what the DRAM of all cores moves in a cycle: the channels that they share, or the port of each."""
    said = accelerator.technology
    if said.dram_channels is None:
        return Fraction(accelerator.cores * said.dram_bytes_per_cycle)
    exact = Fraction(str(said.channel_gb_per_s)) * said.dram_channels / Fraction(str(said.clock_ghz))
    return exact.limit_denominator(MOST_CYCLES)


def number_of(ratio: Fraction) -> float:
    """Return a ratio as a number, an integer where it is whole."""
    return ratio.numerator if ratio.denominator == 1 else ratio.numerator / ratio.denominator


def through_ports(count: Count, accelerator: Accelerator) -> Count:
    """Return a count whose computing takes at least as long as all bytes need that a buffer reads and writes."""
    said, cores = accelerator.technology, accelerator.cores
    width = said.sram_bytes_per_cycle
    if width is None and said.logic is not None:
        width = ceil(said.pe_rows * said.pe_columns * said.pe_inputs * said.pe_outputs * said.logic.sram_bytes_per_mac)
    moved = [count.global_buffer_bytes, count.weight_buffer_bytes]
    if not width or count.compute_cycles is None or None in moved:
        return count
    sizes = [each for each in moved if each is not None]
    most = sum(sizes) if accelerator.is_shared else max(sizes)
    return count._replace(compute_cycles=max(count.compute_cycles, ceil(Fraction(most, width * cores))))


def idle_of(count: Count, accelerator: Accelerator) -> int | None:
    """Return the cycles in which MACs of all cores do nothing while a subgraph computes; None if it was not executed.

    While a core waits for DRAM or the crossbar its MACs are gated.
    """
    if count.compute_cycles is None or count.operations is None:
        return None
    array = accelerator.technology
    macs = accelerator.cores * array.pe_rows * array.pe_columns * array.pe_inputs * array.pe_outputs
    return max(0, macs * count.compute_cycles - count.operations)


def _ema(count: Count) -> int | None:
    parts = (count.ema_weight_bytes, count.ema_input_bytes, count.ema_output_bytes)
    return None if None in parts else sum(part for part in parts if part is not None)


def numbers(count: Count, accelerator: Accelerator, slots: int | None, idle: int | None) -> dict[str, Number]:
    """Return every number that a count gives, by name: bytes, operations, off-chip traffic, latency, energy by terms.

    slots: the time that was counted, of one subgraph or of all; idle: cycles of MACs, likewise.
    """
    ema, technology, scale = _ema(count), accelerator.technology, _scale(accelerator.technology)
    terms: dict[str, Number] = {
        "dram": _times(technology.dram_pj_per_byte, ema),
        "global_buffer": _moved(accelerator.activation_sram, count.global_buffer_bytes, count.global_written_bytes),
        "weight_buffer": _moved(accelerator.weight_sram, count.weight_buffer_bytes, count.weight_written_bytes),
        "compute": _computed(scale * technology.operation_pj, count),
        "crossbar": _times(scale * technology.crossbar_pj_per_byte, count.crossbar_bytes),
        **_by_time(accelerator, slots),
    }
    if technology.logic is not None:
        terms["idle"] = _times(scale * technology.logic.idle_pj_per_mac, idle)
    energy: Number = 0.0
    for term in terms.values():  # left to right: from Python 3.12 on `sum` corrects rounding
        energy = None if energy is None or term is None else energy + term
    named = {f"energy_{name}_pj": term for name, term in terms.items()}
    latency = None if slots is None else slots / number_of(bytes_per_cycle(accelerator))
    return {**count._asdict(), "ema_bytes": ema, **named, "energy_pj": energy, "latency_cycles": latency}


def _by_time(accelerator: Accelerator, slots: int | None) -> dict[str, Number]:
    """Return the energy of constant power, where the hardware states it: buffers and MACs of all cores, DRAM.

    A milliwatt is a picojoule per nanosecond.
    """
    technology, cores = accelerator.technology, accelerator.cores
    per_ns = number_of(bytes_per_cycle(accelerator)) * technology.clock_ghz  # slots
    found: dict[str, Number] = {}
    if technology.activation_sram is not None or technology.weight_sram is not None:
        power = cores * accelerator.activation_sram.leakage_mw / per_ns
        if not accelerator.is_shared:
            power += cores * accelerator.weight_sram.leakage_mw / per_ns
        found["leakage"] = _times(power, slots)
    if technology.dram_background_mw:
        found["dram_background"] = _times(technology.dram_background_mw / per_ns, slots)
    if technology.logic is not None:
        macs = technology.pe_rows * technology.pe_columns * technology.pe_inputs * technology.pe_outputs
        milliwatts = cores * (macs * technology.logic.leakage_uw_per_mac * 1e-3)
        found["logic_leakage"] = _times(milliwatts / per_ns, slots)
    return found


def _scale(technology: Technology) -> float:
    """Return the energy of logic at the voltage of its clock, over what the technology says."""
    for clock, volts in technology.clock:
        if clock == technology.clock_ghz:
            now, said = (SQUARED * each * each + LINEAR * each + CONSTANT for each in (volts, NOMINAL_VOLTS))
            return now / said
    return 1.0


def _computed(operation_pj: float, count: Count) -> Number:
    """Return the energy of operations: those of INT8, and what wider numbers take beyond it."""
    if count.operations is None:
        return None
    energy = operation_pj * count.operations
    extra = count.operation_extra or 0
    return energy + operation_pj / OPERATION_UNITS * extra if extra else energy


def _times(each: float, amount: int | None) -> Number:
    return None if amount is None else each * amount


def _moved(memory: SramRow, moved: int | None, written: int | None) -> Number:
    """Return the energy of the bytes that a buffer moves: `written` of them are written, the others are read."""
    if moved is None or written is None:
        return None
    if memory.read_pj_per_byte == memory.write_pj_per_byte:
        return memory.read_pj_per_byte * moved
    return memory.read_pj_per_byte * (moved - written) + memory.write_pj_per_byte * written


def compare(
    claimed: dict[str, Number], counted: dict[str, Number], accepted: dict[str, Number], subgraph: int | None = None
) -> Iterator[Check]:
    """Yield a check for every claimed number; accepted: what a price may say instead of what is counted."""
    for name, claim in claimed.items():
        found = counted.get(name)
        status: Status = "different"
        if found is None:
            status = "not executed"
        elif claim == found:
            status = "equal"
        elif claim == accepted.get(name):
            status = "within"
        yield Check(name, claim, found, status, subgraph)


def add(counts: Sequence[Count]) -> Count:
    """Return the sums over subgraphs, None if one was not executed; what each holds on chip is not summed."""
    sums: dict[str, int | None] = {}
    for name in ADDED:
        values = [getattr(count, name) for count in counts]
        sums[name] = None if None in values else sum(values)
    return Count(**sums)


def check_memory(memory: str, capacity: int, used: Sequence[int | None]) -> Check:
    """Return the check that what was counted in a memory, subgraph by subgraph, is within its bytes."""
    if None in used:
        return Check(memory + MEMORY, capacity, None, "not executed")
    most = max(each for each in used if each is not None)
    return Check(memory + MEMORY, capacity, most, "within" if most <= capacity else "different")
