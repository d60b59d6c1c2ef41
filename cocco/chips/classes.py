"""Bounds that many machines share: the least energy, without what depends on time, of all machines alike in bytes.

The bytes that a plan moves depend on cores, batch, words and tiles, and their energy on the prices of DRAM, SRAM,
crossbar and operations. Array, bandwidth, clock, leakage and area are in neither. So the least energy of a class of
machines without leakage, E*, holds for all of them: on a machine every plan takes E*, and what leaks and idles in the
time that it takes at least (docs/chips.md). Off-chip traffic depends on less still. Of a latency nothing is shared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from cocco.chips.axes import Chip
from cocco.effort.budgets import PROOF_STEPS, SETUP, SETUP_LAYER
from cocco.effort.planned import Memory
from cocco.effort.work_units import once, precompute
from cocco.exploration.memories.solved import Memories, solve
from cocco.problem.floor import floor_of
from cocco.problem.names import EngineName, Keep, Metric
from cocco.problem.objective import Objective
from cocco.problem.problem import Problem
from simulator.accelerator import PE_ARRAY, Accelerator, Machine
from simulator.memory.sram import Sram
from simulator.model.cost import Totals, energy_breakdown
from simulator.model.layer.goal import idle_cycles
from simulator.model.pricing import PricingRules
from simulator.model.subgraph.subgraph import Geometry
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.technology import Technology
from workloads.network.network import Network

PAPER = Technology()
TIMED = (
    "dram_bytes_per_cycle", "clock_ghz", "crossbar_bytes_per_cycle", "dram_kind", "dram_background_mw",
    "dram_channels", "channel_gb_per_s", "logic", "sram_bytes_per_cycle",
)  # fmt: skip  #: fields of the technology that no byte and no energy of a byte depends on
PRICES = (
    "dram_pj_per_byte", "sram_base_pj_per_byte", "sram_root_pj_per_byte", "operation_pj", "crossbar_pj_per_byte",
    "sram_mm2_per_mb", "activation_sram", "weight_sram", "clock",
)  # fmt: skip  #: those that no byte depends on
M = TypeVar("M", Machine, Accelerator)
Sizes = tuple[int, ...]  #: of each buffer, bytes
EACH = 16  #: of the steps that a memory may take one in so many is tried first; our choice


class Solved(NamedTuple):
    """The least of a class in a memory. value: none has less; plans: of those that have it, None where unknown."""

    value: float
    plans: tuple[Partition, ...] | None
    is_full: bool  #: whether more steps would not help


class Floor(NamedTuple):
    """What no plan of a class undercuts: the metric, and off-chip bytes by network."""

    value: float
    ema_bytes: tuple[int, ...]


class Asked(NamedTuple):
    """What all machines are asked: networks, how much each counts, the metric of their plans."""

    networks: tuple[Network, ...]
    weights: tuple[float, ...]
    metric: Metric
    tile_rule: TileRule
    keep: Keep
    engine: EngineName
    times: float  #: budgets, over those of a normal search

    def problem(self, machine: Machine, buffers: Mapping[str, tuple[int, ...]]) -> Problem:
        """Return the problem of a machine and these candidates; its cost is bytes plus the metric."""
        first = machine.with_buffers(**{name: sizes[0] for name, sizes in buffers.items()})
        objective = Objective(self.metric, 1.0, self.weights)
        return Problem(self.networks, first, dict(buffers), objective, self.tile_rule, keep=self.keep)

    def steps(self) -> int:
        """Return the steps that the exact search may take in one memory."""
        return int(PROOF_STEPS[self.keep][0] * self.times)


class Classes:
    """The classes of some chips, each with all candidates of any of its machines."""

    def __init__(self, asked: Asked, chips: Sequence[Chip]) -> None:
        self.asked = asked
        self.steps = 0  #: of all exact searches
        self.buffers: dict[Machine, dict[str, tuple[int, ...]]] = {}
        for chip in chips:
            known = self.buffers.setdefault(self.of(chip.machine), {})
            for name, sizes in chip.buffers.items():
                known[name] = tuple(sorted({*known.get(name, ()), *sizes}))
        self.solved: dict[tuple[Machine, Sizes], Solved] = {}
        self._tables: dict[Machine, Memories] = {}
        self._rules: dict[Machine, tuple[PricingRules, ...]] = {}
        self._floors: dict[tuple[Machine, Sizes], Floor] = {}

    def of(self, machine: Machine) -> Machine:
        """Return the machine that stands for the class of this one."""
        return machine if self.asked.metric == "latency-sum" else stripped(machine, self.asked.metric)

    def table(self, machine: Machine) -> Memories:
        """Return the memories of a class, with all candidates."""
        found = self._tables.get(machine)
        if found is None:
            found = Memories(self.asked.problem(machine, self.buffers[machine]), self.asked.engine)
            self._tables[machine] = found
        return found

    def floor(self, machine: Machine, sizes: Sizes) -> Floor:
        """Return what no plan of a class undercuts before any search."""
        key = machine, sizes
        if key not in self._floors:
            table = self.table(machine)
            memory = memory_of(table.problem, sizes)
            totals, accelerator = table.stairs.totals(memory), table.problem.accelerator_of(memory)
            value = table.problem.objective.value(totals, floor_of(accelerator))
            self._floors[key] = Floor(value, tuple(each.ema_bytes for each in totals))
        return self._floors[key]

    def solve(self, machine: Machine, sizes: Sizes) -> Solved:
        """Return the least of a class in a memory: first with few steps, when asked again with all."""
        before = self.solved.get((machine, sizes))
        if before is not None and before.is_full:
            return before
        table, asked = self.table(machine), self._asked(machine, sizes)
        found = once(solve, *asked)
        self.steps += max(found.steps, SETUP + SETUP_LAYER * table.problem.size)
        if found.best is not None:
            after = Solved(found.best.value, found.best.plans, True)
        elif found.is_decided:
            after = Solved(math.inf, None, True)
        else:
            size = table.problem.objective.buffer_bytes(table.problem.accelerator_of(asked[1]))
            least = max(self.floor(machine, sizes).value, found.bound - size, before.value if before else 0.0)
            after = Solved(least, None, before is not None or found.is_wide)
        self.solved[machine, sizes] = after
        return after

    def ahead(self, likely: Iterable[tuple[Machine, Sizes]]) -> None:
        """Let workers find the least of classes in memories that are likely to be asked for next."""
        precompute(solve, (self._asked(*each) for each in likely))

    def _asked(self, machine: Machine, sizes: Sizes) -> tuple[Problem, Memory, EngineName, int, float, bool]:
        """Return what a class in a memory is solved by: with all steps only where it was tried before."""
        table, most = self.table(machine), self.asked.steps()
        most = most if (machine, sizes) in self.solved else max(1, most // EACH)
        return table.problem, memory_of(table.problem, sizes), table.engine, most, math.inf, True

    def cycles(self, machine: Machine) -> list[tuple[int, int]]:
        """Return, by network, cycles that no plan undercuts on a machine, and idle cycles of its MACs in them."""
        technology = machine.technology
        macs = machine.cores * technology.macs if technology.of_logic.idle_pj_per_mac else 0
        found = []
        for each in self.rules(machine):
            operations, cycles = each.batch * sum(each.geometry.operations), sum(each.cycles)
            found.append((cycles, idle_cycles(macs, cycles, operations)))
        return found

    def rules(self, machine: Machine) -> tuple[PricingRules, ...]:
        """Return the rules by which layers run on a machine, whatever its memory and its prices."""
        key = timed(machine)
        if key not in self._rules:
            chip = key.with_buffers(shared_buffer=1)
            self._rules[key] = tuple(
                PricingRules(Geometry(each, key.technology), chip, self.asked.tile_rule) for each in self.asked.networks
            )
        return self._rules[key]


def memory_of(problem: Problem, sizes: Sizes) -> Memory:
    """Return the memory of these sizes."""
    return tuple(each.index(size) for each, size in zip(problem.candidates, sizes))


def stripped(machine: Machine, metric: Metric) -> Machine:
    """Return the machine of a class: nothing leaks and idles, and what no byte depends on is the paper's."""
    technology = machine.technology
    names = {*TIMED, *PE_ARRAY, *(PRICES if metric == "ema" else ())}
    changed = {name: getattr(PAPER, name) for name in names}
    if metric == "energy":
        if technology.volts is not None:  # the energy of a byte follows it
            changed["clock"] = ((PAPER.clock_ghz, technology.volts),)
        for name in ("activation_sram", "weight_sram"):
            sram = getattr(technology, name)
            changed[name] = None if sram is None else _leaking(sram, 0.0)
    return replace(machine, technology=replace(technology, **changed))


def timed(machine: Machine) -> Machine:
    """Return a machine with the paper's prices and bandwidth: the cycles of a layer depend on the rest only."""
    changed = {name: getattr(PAPER, name) for name in (*TIMED, *PRICES)}
    return replace(machine, technology=replace(machine.technology, **changed))


def leaking(machine: M, share: float) -> M:
    """Return a machine, or an accelerator, of which this share of all that leaks is left."""
    technology = machine.technology
    changed: dict[str, Any] = {"dram_background_mw": share * technology.dram_background_mw}
    if technology.logic is not None:
        leakage = share * technology.logic.leakage_uw_per_mac
        changed["logic"] = replace(technology.logic, leakage_uw_per_mac=leakage)
    for name in ("activation_sram", "weight_sram"):
        sram = getattr(technology, name)
        changed[name] = None if sram is None else _leaking(sram, share)
    return replace(machine, technology=replace(technology, **changed))


@lru_cache(maxsize=64)
def _leaking(sram: Sram, share: float) -> Sram:
    rows = tuple(row._replace(leakage_mw=share * row.leakage_mw, area_mm2=0.0) for row in sram.table.rows)
    return replace(sram, table=replace(sram.table, rows=rows), pipelined=True)


def standing(accelerator: Accelerator, slots: int, idle: int) -> float:
    """Return the energy of all that leaks, and of idle MACs, in so many slots, pJ."""
    return energy_breakdown(Totals(0, 0, 0, 0, 0, slots, idle=idle), accelerator).total
