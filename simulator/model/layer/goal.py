"""What to minimize for a layer, the memory that it has, and the best loop order so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from simulator.integers import ceil_div
from simulator.memory.table import SramRow
from simulator.metrics import Metric
from simulator.model.layer.axes import Grid, Mode
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.layer.on_cores import added, shared, together
from simulator.model.layer.orders import LoopPlan, LoopTotals, Moved, totals_of
from simulator.technology import NO_PORTS, OPERATION_UNITS, Ports, Technology

SHARED = None  #: room for weights where they share the memory of the activations
SAME = None  #: pJ to write a byte where it takes as much as to read one
ENERGY: Metric = "energy"
LATENCY: Metric = "latency-sum"
ANY_NUMBER = 1 << 40  #: how often what takes nothing fits


class Room(NamedTuple):
    """Bytes of one core for activations and weights; weights SHARED where they share the first."""

    activation: int
    weights: int | None


def without(room: Room, activation: int, weights: int) -> Room:
    """Return the room left after these bytes, below 0 where they do not fit."""
    if room.weights == SHARED:
        return Room(room.activation - activation - weights, SHARED)
    return Room(room.activation - activation, room.weights - weights)


def most(room: Room, activation: int, weights: int) -> int:
    """Return how many times these bytes of activations (perhaps 0) and of weights fit."""
    if not activation and not weights:
        return ANY_NUMBER if room.activation >= 0 and (room.weights == SHARED or room.weights >= 0) else 0
    if room.weights == SHARED:
        return room.activation // (activation + weights) if room.activation > 0 else 0
    if room.activation < 0 or room.weights < 0:
        return 0
    if not weights:
        return room.activation // activation
    if not activation:
        return room.weights // weights
    return min(room.activation // activation, room.weights // weights)


def holds(room: Room, activation: int, weights: int) -> bool:
    """Return whether these bytes fit."""
    if room.weights == SHARED:
        return activation + weights <= room.activation
    return activation <= room.activation and weights <= room.weights


class Moving(Protocol):
    """Bytes that are moved, by a loop order or in a price."""

    @property
    def ema_weight_bytes(self) -> int: ...
    @property
    def ema_input_bytes(self) -> int: ...
    @property
    def ema_output_bytes(self) -> int: ...
    @property
    def global_buffer_bytes(self) -> int: ...
    @property
    def global_written_bytes(self) -> int: ...
    @property
    def weight_buffer_bytes(self) -> int: ...
    @property
    def weight_written_bytes(self) -> int: ...
    @property
    def crossbar_bytes(self) -> int: ...
    @property
    def rescalings(self) -> int: ...
    @property
    def again_extra(self) -> int: ...


class Goal(NamedTuple):
    """What to minimize, and pJ per byte: DRAM, activation buffer, weight buffer, crossbar; pJ per slot of leakage.

    Latency is that of a whole layer, by computing, DRAM or crossbar.
    Unless stated otherwise, writing a byte takes as much energy as reading one.
    """

    metric: Metric
    dram: float
    activation: float
    weights: float
    activation_write: float | None = SAME
    weights_write: float | None = SAME
    static: float = 0.0  #: per slot (cost.Totals)
    cycles: int = 0  #: that the array takes; only looked at where time or what leaks counts
    crossbar: float = 0.0
    widths: tuple[int, int] = (1, 1)  #: slots, and the bytes that cross between cores in them; of one core, rate.bytes
    operation: float = 0.0  #: pJ of an operation that not every order of a layer has
    idle: float = 0.0  #: pJ of a MAC that has nothing to do in a cycle of computing
    macs: int = 0  #: of all cores, if that is anything
    operations: int = 0  #: in every order of a layer
    rate: tuple[int, int] = (1, 1)  #: DRAM bytes of all cores in so many cycles (simulator.technology.Rate)
    ports: Ports = NO_PORTS  #: of all cores, bytes in a cycle

    def of_cycles(self, cycles: int, operations: int) -> Goal:
        """Return the goal for a layer for which the array takes these cycles."""
        if not (self.static or self.macs or self.metric == LATENCY):
            return self
        return self._replace(cycles=cycles, operations=operations)


def ema_of(moving: Moving) -> int:
    """Return the external memory access, bytes."""
    return moving.ema_weight_bytes + moving.ema_input_bytes + moving.ema_output_bytes


def computing_cycles(cycles: int, activations: int, weights: int, ports: Ports) -> int:
    """Return how long computing takes: as the array does, and as these bytes of each buffer take through its port."""
    if not ports[0]:
        return cycles
    if not ports[1]:
        return max(cycles, ceil_div(activations + weights, ports[0]))
    return max(cycles, ceil_div(activations, ports[0]), ceil_div(weights, ports[1]))


def least_cycles(goal: Goal, moving: LoopTotals) -> int:
    """Return the least cycles of computing that moves these bytes."""
    cycles = goal.cycles + moving.again_cycles
    return computing_cycles(cycles, moving.global_buffer_bytes, moving.weight_buffer_bytes, goal.ports)


def least_slots(goal: Goal, moving: LoopTotals) -> int:
    """Return the least slots that moving these bytes and computing take."""
    computing = least_cycles(goal, moving) * goal.rate[0]
    if goal.rate[1] > 1:
        computing = ceil_div(computing, goal.rate[1])
    return max(computing, ema_of(moving), ceil_div(moving.crossbar_bytes * goal.widths[0], goal.widths[1]))


def idle_cycles(macs: int, cycles: int, operations: int) -> int:
    """Return how many cycles of so many MACs do no operation in these cycles."""
    return max(0, macs * cycles - operations)


def least_idle(goal: Goal, moving: LoopTotals) -> int:
    """Return the cycles of MACs that have nothing to do in an order of a layer; 0 where they cost nothing."""
    if not goal.macs:
        return 0
    return idle_cycles(goal.macs, least_cycles(goal, moving), goal.operations + moving.rescalings)


def energy_of(goal: Goal, moving: Moving, slots: int, idle: int) -> float:
    """Return the energy of these bytes, slots and idle cycles of MACs, pJ."""
    energy = (
        goal.dram * ema_of(moving)
        + buffer_energy(goal.activation, goal.activation_write, moving.global_buffer_bytes, moving.global_written_bytes)
        + buffer_energy(goal.weights, goal.weights_write, moving.weight_buffer_bytes, moving.weight_written_bytes)
        + goal.static * slots
    )
    energy += goal.crossbar * moving.crossbar_bytes + goal.operation * moving.rescalings
    return energy + goal.operation / OPERATION_UNITS * moving.again_extra + goal.idle * idle


def buffer_energy(read: float, write: float | None, moved: int, written: int) -> float:
    """Return the energy of a buffer, as simulator.memory.table.SramRow.energy_pj does."""
    if write == SAME or write == read:
        return read * moved
    return read * (moved - written) + write * written


class Best:
    """The cheapest plan so far."""

    def __init__(self) -> None:
        self.found = 0
        self.slots = self.ema = self.area = 0
        self.energy = 0.0
        self.plan: LoopPlan


class Place:
    """A tile of some samples of a layer, and the memory available to it; which tile and how many changes."""

    def __init__(self, layer: LoopLayer, room: Room, goal: Goal, best: Best, grids: Sequence[Grid]) -> None:
        self.layer, self.room, self.goal, self.best = layer, room, goal, best
        self.grids, self.grid_count = grids, len(grids)
        self.grid, self.at_once = grids[0], 1


def offer(at: Place, mode: Mode, plan: LoopPlan) -> None:
    """Keep a plan, as all cores run it, if it is cheaper than all before it."""
    goal, best = at.goal, at.best
    if at.layer.team.cores > 1:
        plan = together(at.layer, at.grid, mode, plan)
    slots, ema, area = least_slots(goal, plan.totals), ema_of(plan.totals), plan.tile[0] * plan.tile[1]
    energy = energy_of(goal, plan.totals, slots, least_idle(goal, plan.totals))
    after = compare(goal, best, slots, ema, energy, area)
    if after == 0 and plan.activation_bytes + plan.weight_bytes < best.plan.activation_bytes + best.plan.weight_bytes:
        after = -1
    if after < 0:
        best.found, best.slots, best.ema, best.energy, best.area = 1, slots, ema, energy, area
        best.plan = plan


def compare(goal: Goal, best: Best, slots: int, ema: int, energy: float, area: int) -> int:
    """Return 1 for what comes after the best so far, 0 for its equal, -1 before: metric, EMA, energy, larger tile."""
    if not best.found:
        return -1
    if goal.metric == ENERGY and energy != best.energy:
        return 1 if energy > best.energy else -1
    if goal.metric == LATENCY and slots != best.slots:
        return 1 if slots > best.slots else -1
    if ema != best.ema:
        return 1 if ema > best.ema else -1
    if energy != best.energy:
        return 1 if energy > best.energy else -1
    if area != best.area:
        return 1 if area < best.area else -1
    return 0


def may_win(at: Place, weight_reads: int, input_reads: int, traffic: int, weight_traffic: int) -> bool:
    """Return whether plans of this tile that move at least so much may come before the best so far.

    Of several cores those with as much as the first are counted, and everything is taken as read: each of these terms
    grows with what is moved. Where writing takes less, or so little more that rounding might decide, all plans may.
    """
    goal, best, layer = at.goal, at.best, at.layer
    read, write = goal.activation, goal.activation_write
    if not best.found or (write != SAME and write != read and write < 1.000001 * read):
        return True
    totals = totals_of(layer, Moved(weight_reads, input_reads, traffic, weight_traffic, 0, 0))
    if layer.team.cores > 1:
        totals = shared(layer, totals, added(totals, totals, layer.team.alike - 1))
    slots = least_slots(goal, totals)
    energy = energy_of(goal, totals, slots, least_idle(goal, totals))
    return compare(goal, best, slots, ema_of(totals), energy, at.grid.area) <= 0


def goal_of(
    metric: Metric,
    technology: Technology,
    activation: SramRow,
    weights: SramRow,
    static: Sequence[float],
    cores: int,
    macs: int,
    ports: Ports,
) -> Goal:
    """Return what to minimize with these buffers, without the cycles of a layer; static: pJ per slot by part.

    macs: of all cores that take energy while they are idle.
    """
    of_activations, of_weights, background, logic = static
    return Goal(
        metric, technology.dram_pj_per_byte, activation.read_pj_per_byte, weights.read_pj_per_byte,
        activation.write_pj_per_byte, weights.write_pj_per_byte, of_activations + of_weights + background + logic,
        crossbar=technology.on_chip.crossbar,
        widths=technology.crossing(cores),
        operation=technology.on_chip.operation,
        idle=technology.on_chip.idle,
        macs=macs,
        rate=technology.rate(cores),
        ports=ports,
    )  # fmt: skip
