"""Idealized hardware for lower bounds: the least energy that a byte and a nanosecond take in any buffer.

By the formula a byte takes least in the smallest buffer. In a table it may not: energies have steps, and a write may
take less than a read. A bound knows how many bytes move, but not always in which direction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.memory.sram import Sram
from simulator.memory.table import SramRow, SramTable
from simulator.sizes import MAX_CAPACITY


def floor_of(accelerator: Accelerator) -> Accelerator:
    """Return this hardware with reads and writes both as cheap as the cheaper of them; unchanged without tables."""
    if not accelerator.has_tables:
        return accelerator
    return _flat(accelerator, *_nominal(accelerator))


def floor_of_all(problem: Problem) -> Accelerator:
    """Return the hardware of the smallest candidates, whose bytes and leakage are the least of all candidates."""
    smallest = problem.accelerator_of([0] * len(problem.buffers))
    technology = smallest.technology
    if not technology.has_tables:
        return smallest
    of_activations, of_weights = _nominal(smallest)
    for name, sizes in problem.buffers.items():
        if name == "weight_buffer":
            of_weights = [technology.nominal_sram("weight", size) for size in sizes]
        else:
            of_activations = [technology.nominal_sram("activation", size) for size in sizes]
    return _flat(smallest, of_activations, of_activations if smallest.is_shared else of_weights)


def floor_between(problem: Problem, sizes: Sequence[int]) -> Accelerator:
    """Return hardware of the largest of these capacities of one buffer, whose bytes and leakage are the least of all.

    A step that runs in its cheapest way costs no more there than in any of them, since it has more room.
    """
    (name, candidates), *_ = problem.buffers.items()
    largest = problem.accelerator_of([candidates.index(max(sizes))])
    technology = largest.technology
    of_activations, of_weights = _nominal(largest)
    if name != "weight_buffer":
        of_activations = [technology.nominal_sram("activation", size) for size in sizes]
    if largest.is_shared:
        of_weights = of_activations
    elif name == "weight_buffer":
        of_weights = [technology.nominal_sram("weight", size) for size in sizes]
    return _flat(largest, of_activations, of_weights)


def _nominal(accelerator: Accelerator) -> tuple[list[SramRow], list[SramRow]]:
    """Return the cost of both buffers as their tables have it: the voltage of the clock then counts once."""
    sram = accelerator.technology.nominal_sram
    sizes = accelerator.activation_capacity, accelerator.weight_capacity
    return [sram("activation", sizes[0])], [sram("weight", sizes[1])]


def _flat(accelerator: Accelerator, of_activations: Iterable[SramRow], of_weights: Iterable[SramRow]) -> Accelerator:
    tables = {"activation_sram": _least(of_activations), "weight_sram": _least(of_weights)}
    return replace(accelerator, technology=replace(accelerator.technology, **tables))  # type: ignore[arg-type]


def _least(rows: Iterable[SramRow]) -> Sram:
    """Return SRAM that takes the least of these rows at any capacity."""
    found = list(rows)
    each = min(min(row.read_pj_per_byte, row.write_pj_per_byte) for row in found)
    leakage, area = min(row.leakage_mw for row in found), min(row.area_mm2 for row in found)
    flat = (SramRow(size, each, each, leakage, area) for size in (1, MAX_CAPACITY))
    return Sram(SramTable("least", tuple(flat)), pipelined=True)
