"""Which candidates can be built: sizes in a table that has only rows, and buffers that cycle within one clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cocco.problem.space import Range, Space, space_of
from simulator.memory.sram import Sram
from simulator.sizes import MAX_CAPACITY
from simulator.technology import Technology


def buildable(buffers: Mapping[str, Sequence[int]], technology: Technology) -> dict[str, tuple[int, ...]]:
    """Return the candidates of each buffer, bytes, without those that miss the clock.

    If a buffer's table has rows only, its rows from the smallest candidate to the largest replace the candidates.
    Raises ValueError, with one line, if a candidate lies outside its table, or none is left.

    Examples
    --------
    >>> from simulator.memory.reading import find_table
    >>> slow = Sram(find_table("cacti7_22nm_lstp"))
    >>> sizes = [2**17 * i for i in range(1, 9)]
    >>> buildable({"shared_buffer": sizes}, Technology(activation_sram=slow, weight_sram=slow))
    {'shared_buffer': (131072, 262144)}
    """
    return {name: _of_buffer(name, tuple(sizes), technology) for name, sizes in buffers.items()}


def within_tables(space: Space, technology: Technology) -> Space:
    """Return a space; a range that extends, and that its buffer's table does not cover, is that of the table."""
    return space_of({name: _within_table(name, each, technology) for name, each in space.ranges.items()})


def _within_table(name: str, asked: Range, technology: Technology) -> Range:
    first, last = ends_of_table(name, technology)
    if not asked.extends or (first <= asked.low and asked.high <= last):
        return asked
    return Range(last, last, 1, least=first if first < last else None, extends=True)


def ends_of_table(name: str, technology: Technology) -> tuple[int, int]:
    """Return the least and the largest capacity that a buffer may have."""
    sram = _sram(name, technology)
    return (1, MAX_CAPACITY) if sram is None else (sram.capacities[0], sram.capacities[-1])


def missed(buffers: Mapping[str, Sequence[int]], technology: Technology) -> dict[str, dict[int, float]]:
    """Return, by buffer, the candidates that miss the clock, with their cycle times in ns."""
    found: dict[str, dict[int, float]] = {}
    for name, sizes in buffers.items():
        sram = _sram(name, technology)
        if sram is None:
            continue
        cycles = {size: sram.misses(size, technology.clock_ghz) for size in _built(sizes, sram)}
        found[name] = {size: cycle for size, cycle in cycles.items() if cycle is not None}
    return {name: sizes for name, sizes in found.items() if sizes}


def _of_buffer(name: str, sizes: tuple[int, ...], technology: Technology) -> tuple[int, ...]:
    sram = _sram(name, technology)
    if sram is None:
        return sizes
    built = _built(sizes, sram)
    if not built:
        raise ValueError(f"{sram.table} has no row for {name} from {sizes[0]} to {sizes[-1]} bytes (sizes: rows)")
    kept = tuple(size for size in built if sram.misses(size, technology.clock_ghz) is None)
    if not kept:
        clock, fastest = 1 / technology.clock_ghz, min(sram.at(size).cycle_ns or 0.0 for size in built)
        raise ValueError(
            f"no {name} from {built[0]} to {built[-1]} bytes of {sram.table} cycles in a clock of {clock:g} ns: "
            f"the fastest takes {fastest:g} ns; slow the clock, or say pipelined: true"
        )
    return kept


def _built(sizes: Sequence[int], sram: Sram) -> tuple[int, ...]:
    if sram.sizes == "rows":
        return tuple(size for size in sram.capacities if sizes[0] <= size <= sizes[-1])
    return tuple(sizes)


def _sram(name: str, technology: Technology) -> Sram | None:
    return technology.weight_sram if name == "weight_buffer" else technology.activation_sram
