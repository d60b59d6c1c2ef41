"""The counting run: what a subgraph holds, moves and computes, with the real shapes and all channels and samples.

No arithmetic. A plan says which layers run together, in which tiles and loop order. Everything else is derived from the
layers' windows (part.py, pace.py), run on intervals in regions of exactly the bytes that this takes (scheme.py,
walk.py), and counted. It is independent of the code that prices: none of that is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from simulator.accelerator import Accelerator
from simulator.execution.count.array import part_cycles
from simulator.execution.count.layer_facts import (
    has_weights,
    loaded_by,
    number,
    operations,
    position_bytes,
    row_bytes,
    size_bytes,
    state_bytes,
    tensor_of,
    weight_bytes,
)
from simulator.execution.count.miss import Miss, Span
from simulator.execution.count.part import COLUMNS, ROWS, Part, Reading
from simulator.execution.count.scheme import Scheme, derive_scheme
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.count.walk import Walk
from simulator.technology import units_of_numbers
from workloads.network.layers.layer import Layer
from workloads.network.layers.types import Number
from workloads.network.network import Network


class Plan(NamedTuple):
    """What the counting run takes from a price: its choices, and nothing that follows from them."""

    layers: tuple[int, ...]
    tile: tuple[int, int]  #: of the outputs, rows x columns
    at_once: int = 1  #: samples that advance together
    loops: tuple[Any, ...] | None = None  #: of a single layer: the fields of simulator.execution.layer.LayerPlan
    lies: Lies = NOTHING_STAYS  #: which tensors are on chip, whole
    cores: str = ""  #: how cores share it: of simulator.execution.cores.SCHEMES; one core needs none
    channel_groups: int = 1  #: of channels, one after the other


class Count(NamedTuple):
    """What one subgraph takes and moves for the whole batch; None for what was not executed."""

    activation_bytes: int | None = None  #: on chip, of one core
    weight_bytes: int | None = None  #: on chip, of one core
    ema_weight_bytes: int | None = None
    ema_input_bytes: int | None = None
    ema_output_bytes: int | None = None
    global_buffer_bytes: int | None = None  #: read and written
    weight_buffer_bytes: int | None = None  #: read and written
    crossbar_bytes: int | None = None
    operations: int | None = None
    kept_bytes: int | None = None  #: on chip, of one core: all that is kept whole meanwhile
    global_written_bytes: int | None = None  #: of global_buffer_bytes, what is written and not read
    weight_written_bytes: int | None = None  #: of weight_buffer_bytes
    operation_extra: int | None = 0  #: units of energy that operations take beyond INT8
    compute_cycles: int | None = None  #: of the core that takes longest, layer by layer
    at_once: int | None = None  #: samples of one core that are on chip together, at most


@dataclass(frozen=True)
class Setting:
    """Where a part runs. Rooms are bytes of one core; both are the same bytes where activations and weights share."""

    accelerator: Accelerator
    activation_room: int
    weight_room: int

    def scheme(self, part: Part, plan: Plan) -> Scheme:
        """Return the scheme of a part."""
        return derive_scheme(part, plan.tile, self.accelerator.technology.channel_alignment, plan.at_once)

    def left_for_weights(self, scheme: Scheme) -> int:
        """Return the bytes that a scheme leaves for weights; raises Miss where it has no room itself."""
        if scheme.activation_bytes > self.activation_room:
            raise Miss(f"activations take {scheme.activation_bytes} bytes, the buffer has {self.activation_room}")
        if self.accelerator.is_shared:
            return self.activation_room - scheme.activation_bytes
        return self.weight_room


@dataclass(frozen=True)
class Moves:
    """The bytes of one sample that one pass over the tiles moves. updates: by layer."""

    updates: dict[int, int]
    loads: int  #: from DRAM into the buffer
    stores: int  #: from the buffer to DRAM
    results: int  #: written to the buffer
    windows: int  #: read from the buffer through windows
    wholes: int  #: read from the buffer, operands that are needed whole
    copies: int  #: put into SIDE and taken out of it, as are the states of scans
    operations: int
    extra: int = 0  #: what operations take beyond INT8

    @property
    def buffered(self) -> int:
        """Bytes read from and written to the buffer."""
        return self.loads + self.stores + self.results + self.windows + self.wholes + self.copies

    @property
    def written(self) -> int:
        """Bytes written to the buffer."""
        return self.loads + self.results + self.copies // 2


def weights_of(part: Part) -> int:
    """Return the bytes of all weights of a part, those of several layers once."""
    return sum(weight_bytes(part.network, v) for v in loaded_by(part.network, part.layers))


def count_moves(scheme: Scheme, found: Walk) -> Moves:
    """Return what a walk moves, derived from the rows and columns of its updates."""
    part = scheme.part
    made = {u: _length(found.rows[u]) * _length(found.columns[u]) for u in part.tensors}
    updates = {v: len(found.rows[v]) * len(found.columns[v]) for v in part.layers}
    readings = [reading for v in part.layers for reading in part.operands[v]]
    sizes = {u: count * position_bytes(part.network, u) for u, count in made.items()}
    work = {v: operations(part.network, v, made[v] * part.network.layers[v].channels) for v in part.layers}
    return Moves(
        updates,
        loads=sum(sizes[u] for u in part.loaded),
        stores=sum(sizes[v] for v in part.outputs),
        results=sum(sizes[v] for v in part.layers),
        windows=sum(_window_bytes(part, found, each) for each in readings if each.local),
        wholes=sum(updates[v] * size_bytes(part.network, u) for u, v, _, whole in readings if whole),
        copies=2 * (_row_bytes(part, found.restored) + _carried_bytes(part, updates)),
        operations=sum(work.values()),
        extra=sum(extra_units(part.network, v, count) for v, count in work.items()),
    )


def extra_units(network: Network, v: int, operations: int) -> int:
    """Return what these operations of a layer take beyond INT8, by the types of an input and of its counterpart."""
    layer, numbers = network.layers[v], [number(network, u) for u in network.operands[v]]
    if layer.op == "attention":
        return _extra_of_attention(layer, number(network, v), numbers, operations)
    widest = sorted(numbers, key=lambda each: (each.bits, each.significand, each.kind))[-1]
    second = layer.bits.of_weights if has_weights(layer) else numbers[1] if layer.op == "matmul" else widest
    first = numbers[0] if layer.op == "matmul" else widest
    return operations * (units_of_numbers(first, second) - units_of_numbers(Number(), Number()))


def _extra_of_attention(layer: Layer, made: Number, numbers: list[Number], operations: int) -> int:
    """Return the same for these operations of an attention: for each score, its power, and its part of the outputs."""
    widths = layer.in_channels // layer.groups, 1, layer.channels // layer.groups
    pairs = (numbers[0], numbers[1]), (made, made), (made, numbers[-1])
    scores = operations // sum(widths)
    plain = units_of_numbers(Number(), Number())
    return sum(scores * width * (units_of_numbers(*pair) - plain) for width, pair in zip(widths, pairs))


def total(setting: Setting, part: Part, plan: Plan, activations: int, weights: int, moves: Moves) -> Count:
    """Return the count for the whole batch: round after round of samples at once, with weights that stay.

    activations, weights: bytes on chip; moves: of one sample. All of these, and part, are for one group of channels.
    """
    samples, often = setting.accelerator.batch, plan.channel_groups
    rounds, batch = -(-samples // plan.at_once) * often, samples * often
    used = rounds * sum(times * weight_bytes(part.network, v) for v, times in moves.updates.items())
    return Count(
        activation_bytes=activations,
        weight_bytes=weights,
        ema_weight_bytes=often * weights,
        ema_input_bytes=batch * moves.loads,
        ema_output_bytes=batch * moves.stores,
        global_buffer_bytes=batch * moves.buffered,
        weight_buffer_bytes=often * weights + used,
        crossbar_bytes=0,
        operations=batch * moves.operations,
        global_written_bytes=batch * moves.written,
        weight_written_bytes=often * weights,
        operation_extra=batch * moves.extra,
        compute_cycles=part_cycles(part, batch, setting.accelerator.technology),
    )


def kept_bytes(network: Network, lies: Lies, alignment: int, accelerator: Accelerator) -> int:
    """Return the bytes in one core of all tensors that are on chip whole, with words of channels dealt to all cores."""
    total = 0
    for tensor in (tensor_of(network, u) for u in lies.kept):
        words = -(-tensor.channels // alignment)
        total += tensor.height * tensor.width * row_bytes(-(-words // accelerator.cores) * alignment, tensor.bits)
    return total * accelerator.batch


def _length(spans: Iterable[Span]) -> int:
    return sum(stop - start for start, stop in spans)


def _row_bytes(part: Part, rows: dict[int, int]) -> int:
    return sum(count * part.extent[COLUMNS][u] * position_bytes(part.network, u) for u, count in rows.items())


def _carried_bytes(part: Part, updates: dict[int, int]) -> int:
    """Return the bytes of states that the next update takes up: all but the last leave one."""
    layers = {v: part.network.layers[v] for v in part.layers}
    return sum((updates[v] - 1) * state_bytes(layer, layer.channels) for v, layer in layers.items())


def _window_bytes(part: Part, found: Walk, reading: Reading) -> int:
    rows = _length(part.window(reading, ROWS, span) for span in found.rows[reading.layer])
    columns = _length(part.window(reading, COLUMNS, span) for span in found.columns[reading.layer])
    return rows * columns * position_bytes(part.network, reading.tensor)
