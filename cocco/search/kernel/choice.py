"""Choose the engine: the compiled twin if it is built, else the readable one."""

from __future__ import annotations

from cocco.problem.engines import Compiled
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from simulator.mapping.mappers import Enumerate

MAX_THREADS = 256  #: our choice: more than any machine that one search is given
SAFE_BITS = 60  #: counts up to 2^60 leave 64-bit integers room for their sums
KERNEL = Compiled("cocco.search.kernel._kernel", "engine", 100, ("cocco.search.kernel._model",))


def has_kernel() -> bool:
    """Return whether the compiled engine is installed."""
    return KERNEL.is_built()


def engine_name(name: EngineName | None, problem: Problem, threads: int = 1) -> EngineName:
    """Return the engine to use (name None: the default); raises ValueError if it is unknown or not built."""
    name = KERNEL.choice(name)
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MAX_THREADS:
        raise ValueError(f"threads must be an integer from 1 to {MAX_THREADS}, got {threads!r}")
    return name if has_twin(problem) else "reference"


def has_twin(problem: Problem) -> bool:
    """Return whether the compiled engine, if built, can answer a problem."""
    machine = problem.accelerator
    if machine.cores > 1 and not isinstance(machine.mapper, Enumerate):  # cycles of bands by the closed form only
        return False
    return machine.mapper.is_flat and not needs_big_integers(problem)  # the kernel has cycles by layer only


def needs_big_integers(problem: Problem) -> bool:
    """Return whether bytes, operations or slots (cycles times bytes per cycle) could outgrow 64-bit integers.

    Only networks and machines far beyond real ones do. The answer is the same in any memory, so it is computed once.
    """
    most: int = problem.remembered.get(most_counted, 0)
    if not most:
        most = problem.remembered[most_counted] = most_counted(problem)
    return most >= 2**SAFE_BITS


def most_counted(problem: Problem) -> int:
    """Return an upper bound of any sum of bytes, operations or slots of a problem."""
    machine, most = problem.accelerator, 0
    of_cycle = max(machine.rate.bytes, machine.idle_macs)
    of_port = -(-of_cycle // machine.ports[0]) if machine.ports[0] else 1  # slots, or cycles of MACs, of a byte
    crossing = machine.technology.crossing(machine.cores)[0] if machine.cores > 1 else 1  # its slots
    for rules in problem.rules:
        geometry = rules.geometry
        area = max(h * w for h, w in zip(*geometry.extent))
        reach = max(a * b for a, b in zip(*geometry.reach))
        moved = sum(geometry.size_bytes) * (area + 8 * reach) + sum(geometry.weight_bytes) * area
        cycles = sum([rules.crew.cycles(layer, rules.batch) for layer in geometry.network.layers])
        computed = sum(geometry.operations) + sum(geometry.operation_extra)
        most += 8 * rules.batch * rules.cores * (moved * max(crossing, of_port) + computed) + cycles * of_cycle
    return most
