"""What is to be least for a layer, and the room that it has: what a loop order is chosen by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from simulator.memory.table import SramRow
from simulator.metrics import Metric
from simulator.model.orders import LoopPlan
from simulator.technology import Technology

ANY_NUMBER = 1 << 40  #: how often what takes nothing fits


class Room(NamedTuple):
    """Bytes of one core for activations and weights; weights None where they share the first."""

    activation: int
    weights: int | None

    def without(self, activation: int, weights: int) -> Room:
        """Return what is left beside these bytes, below 0 where they do not fit."""
        if self.weights is None:
            return Room(self.activation - activation - weights, None)
        return Room(self.activation - activation, self.weights - weights)

    def most(self, activation: int, weights: int) -> int:
        """Return how often so many bytes of activations (perhaps none) and so many of weights fit."""
        if not activation and not weights:
            return ANY_NUMBER if self.activation >= 0 and (self.weights is None or self.weights >= 0) else 0
        if self.weights is None:
            return max(0, self.activation // (activation + weights))
        if self.activation < 0 or self.weights < 0:
            return 0
        limits = [have // each for have, each in ((self.activation, activation), (self.weights, weights)) if each]
        return min(limits)

    def holds(self, activation: int, weights: int) -> bool:
        """Return whether that fits."""
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
    """What is to be least, and pJ per byte: DRAM, activation buffer, weight buffer, crossbar; pJ per slot of leakage.

    Latency is that of a whole layer, its computing, DRAM or crossbar: of one core the least is where EMA is least.
    A byte that is written takes as much as one that is read, where nothing else is said.
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
        """Return the goal of a layer whose computing takes so many slots."""
        return self._replace(slots=slots) if self.static or self.metric == "latency" else self

    def slots_of(self, moving: Moving) -> int:
        """Return the slots that these bytes and computing take at least."""
        return max(self.slots, moving.ema_bytes, -(-moving.crossbar_bytes * self.widths[0] // self.widths[1]))

    def pj(self, moving: Moving, slots: int) -> float:
        """Return what these bytes and so many slots take, pJ."""
        buffered, written = moving.global_buffer_bytes, moving.global_written_bytes
        activation = _buffer_pj(self.activation, self.activation_write, buffered, written)
        weights = _buffer_pj(self.weights, self.weights_write, moving.weight_buffer_bytes, moving.weight_written_bytes)
        moved = self.dram * moving.ema_bytes + activation + weights + self.static * slots
        return moved + self.crossbar * moving.crossbar_bytes + self.operation * moving.rescalings

    def key(self, plan: LoopPlan) -> tuple[float, ...]:
        """Return what to compare: the metric, then EMA, energy, the larger tile, fewer bytes held."""
        ema, slots = plan.ema_bytes, self.slots_of(plan)
        energy = self.pj(plan, slots)
        first = {"ema": (ema, energy), "energy": (energy, ema), "latency": (slots, ema, energy)}[self.metric]
        return (*first, -plan.tile[0] * plan.tile[1], plan.activation_bytes + plan.weight_bytes)


def goal_of(
    metric: Metric, technology: Technology, activation: SramRow, weights: SramRow, static: Sequence[float]
) -> Goal:
    """Return what is to be least in such buffers, without the cycles of a layer; static: pJ per slot by part."""
    of_activations, of_weights, background = static
    return Goal(
        metric, technology.dram_pj_per_byte, activation.read_pj_per_byte, weights.read_pj_per_byte,
        activation.write_pj_per_byte, weights.write_pj_per_byte, of_activations + of_weights + background,
        crossbar=technology.crossbar_pj_per_byte,
        widths=(technology.dram_bytes_per_cycle, technology.crossbar_bytes_per_cycle),
        operation=technology.operation_pj,
    )  # fmt: skip


def _buffer_pj(read: float, write: float | None, moved: int, written: int) -> float:
    """Return the energy of a buffer, as simulator.memory.table.SramRow.energy_pj."""
    if write is None or write == read:
        return read * moved
    return read * (moved - written) + write * written
