"""A price says what a subgraph takes and moves for given capacities; a shortage says why it cannot run in them."""

from __future__ import annotations

from typing import NamedTuple

from simulator.model.layer.goal import idle_cycles
from simulator.model.layer.orders import LoopPlan
from simulator.model.schemes.moved import CoreScheme
from simulator.model.subgraph.tiles import TileShape
from simulator.technology import Technology

OF_LOOPS = (  #: what a layer lacks, and a nest
    "no loop order of this layer fits its weights", "no loop order of this layer fits",
    "no loop order of these layers fits their weights", "no loop order of these layers fits",
)  # fmt: skip
OF_WEIGHTS = ("weights exceed the weight buffer", *OF_LOOPS[::2])  #: alone


class Price(NamedTuple):
    """What a feasible subgraph takes and moves, for the whole batch; capacities are bytes of one core."""

    tile: TileShape
    at_once: int  #: samples of one core whose regions are on chip together
    activation_bytes: int
    weight_bytes: int
    loops: LoopPlan | None  #: how a single layer runs on one core
    is_streamed: bool  #: whether weights or inputs come more than once
    ema_weight_bytes: int
    ema_input_bytes: int
    ema_output_bytes: int
    global_buffer_bytes: int  #: read from and written to the global buffer
    weight_buffer_bytes: int
    crossbar_bytes: int
    operations: int  #: MACs and the operations of pools and element-wise layers; rescalings among them
    compute_cycles: int  #: of the array, or of the ports of buffers, whichever takes longer
    global_written_bytes: int = 0  #: of global_buffer_bytes, what is written and not read
    weight_written_bytes: int = 0  #: of weight_buffer_bytes
    kept_bytes: int = 0  #: of one core, of all tensors that are kept whole meanwhile; not in activation_bytes
    scheme: CoreScheme = ""  #: how several cores share it
    operation_extra: int = 0  #: what its operations take beyond INT8 (technology.operation_units)
    rescalings: int = 0  #: of operations, those that not every plan has: sums scaled anew, rows made again
    again_extra: int = 0  #: of operation_extra, that of what is computed more than once
    channel_groups: int = 1  #: that run one after the other; activation_bytes and weight_bytes are those of one

    @property
    def ema_bytes(self) -> int:
        """External memory access of the subgraph."""
        return self.ema_weight_bytes + self.ema_input_bytes + self.ema_output_bytes

    def slots(self, cores: int, technology: Technology) -> int:
        """Return the longest of computing, DRAM and crossbar, in the time that DRAM takes for a byte (Rate)."""
        slots, passing = technology.crossing(cores)
        crossing = -(-self.crossbar_bytes * slots // passing)
        return max(technology.rate(cores).slots(self.compute_cycles), self.ema_bytes, crossing)

    def idle(self, macs: int) -> int:
        """Return the cycles in which MACs do nothing while the cores compute; macs: those of all cores."""
        return idle_cycles(macs, self.compute_cycles, self.operations)


class Shortage(NamedTuple):
    """Why a subgraph cannot run: an answer, not an error. Bytes of one core; None where it breaks a rule."""

    reason: str
    needed_bytes: int | None = None
    available_bytes: int | None = None
