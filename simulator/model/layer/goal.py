"""What to minimize for a layer, and the memory that it has: how a loop order is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from simulator.memory.table import SramRow
from simulator.metrics import Metric
from simulator.model.layer.orders import LoopPlan
from simulator.technology import Technology

ANY_NUMBER = 1 << 40  #: how often what takes nothing fits


class Room(NamedTuple):
    """Bytes of one core for activations and weights; weights None where they share the first."""

    activation: int
    weights: int | None

    def without(self, activation: int, weights: int) -> Room:
        """Return the room left after these bytes, below 0 where they do not fit."""
        if self.weights is None:
            return Room(self.activation - activation - weights, None)
        return Room(self.activation - activation, self.weights - weights)

    def most(self, activation: int, weights: int) -> int:
        """Return how many times these bytes of activations (perhaps 0) and of weights fit."""
        if not activation and not weights:
            return ANY_NUMBER if self.activation >= 0 and (self.weights is None or self.weights >= 0) else 0
        if self.weights is None:
            return max(0, self.activation // (activation + weights))
        if self.activation < 0 or self.weights < 0:
            return 0
        limits = [have // each for have, each in ((self.activation, activation), (self.weights, weights)) if each]
        return min(limits)

    def holds(self, activation: int, weights: int) -> bool:
        """Return whether these bytes fit."""
        if self.weights is None:
            return activation + weights <= self.activation
        return activation <= self.activation and weights <= self.weights


class Moving(Protocol):
    """What moves bytes: a loop order, or a price."""

    @property
    def ema_bytes(self) -> int: ...
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


class Goal(NamedTuple):
    """What to minimize, and pJ per byte: DRAM, activation buffer, weight buffer, crossbar; pJ per slot of leakage.

    Latency is that of a whole layer, by computing, DRAM or crossbar: on one core it is least where EMA is least.
    Unless stated otherwise, writing a byte takes as much energy as reading one.
    """

    metric: Metric
    dram: float
    activation: float
    weights: float
    activation_write: float | None = None
    weights_write: float | None = None
    static: float = 0.0  #: per slot (cost.Totals)
    slots: int = 0  #: that computing takes; only looked at where something leaks, or time is to be least
    crossbar: float = 0.0
    widths: tuple[int, int] = (1, 1)  #: bytes per cycle of a port to DRAM, and of one of the crossbar
    operation: float = 0.0  #: pJ of an operation that not every order of a layer has

    def of_cycles(self, slots: int) -> Goal:
        """Return the goal for a layer whose computing takes this many slots."""
        return self._replace(slots=slots) if self.static or self.metric == "latency" else self

    def slots_of(self, moving: Moving) -> int:
        """Return the least slots that moving these bytes and computing take."""
        return max(self.slots, moving.ema_bytes, -(-moving.crossbar_bytes * self.widths[0] // self.widths[1]))

    def pj(self, moving: Moving, slots: int) -> float:
        """Return the energy of these bytes and slots, pJ."""
        buffered, written = moving.global_buffer_bytes, moving.global_written_bytes
        activation = _buffer_pj(self.activation, self.activation_write, buffered, written)
        weights = _buffer_pj(self.weights, self.weights_write, moving.weight_buffer_bytes, moving.weight_written_bytes)
        moved = self.dram * moving.ema_bytes + activation + weights + self.static * slots
        return moved + self.crossbar * moving.crossbar_bytes + self.operation * moving.rescalings

    def key(self, plan: LoopPlan) -> tuple[float, ...]:
        """Return the sort key, smaller is better: the metric, then EMA, energy, the larger tile, fewer bytes held."""
        ema, slots = plan.ema_bytes, self.slots_of(plan)
        energy = self.pj(plan, slots)
        first = {"ema": (ema, energy), "energy": (energy, ema), "latency": (slots, ema, energy)}[self.metric]
        return (*first, -plan.tile[0] * plan.tile[1], plan.activation_bytes + plan.weight_bytes)


def goal_of(
    metric: Metric, technology: Technology, activation: SramRow, weights: SramRow, static: Sequence[float]
) -> Goal:
    """Return what to minimize with these buffers, without the cycles of a layer; static: pJ per slot by part."""
    of_activations, of_weights, background = static
    return Goal(
        metric, technology.dram_pj_per_byte, activation.read_pj_per_byte, weights.read_pj_per_byte,
        activation.write_pj_per_byte, weights.write_pj_per_byte, of_activations + of_weights + background,
        crossbar=technology.crossbar_pj_per_byte,
        widths=(technology.dram_bytes_per_cycle, technology.crossbar_bytes_per_cycle),
        operation=technology.operation_pj,
    )  # fmt: skip


def _buffer_pj(read: float, write: float | None, moved: int, written: int) -> float:
    """Return the energy of a buffer, as simulator.memory.table.SramRow.energy_pj does."""
    if write is None or write == read:
        return read * moved
    return read * (moved - written) + write * written
