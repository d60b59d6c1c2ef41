"""From bytes, operations and cycles to energy, latency and bandwidth (model.md, sections 4 and 5; Cocco, Sec. 5.1.2).

Totals are integers; each float comes from one formula at the end, so the order of summation cannot matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

from simulator.accelerator import Accelerator
from simulator.model.kept import NOTHING, Reserved
from simulator.model.price import Price, Shortage
from simulator.model.pricing import SubgraphModel


class EnergyBreakdown(NamedTuple):
    """Energy by where it is spent, pJ."""

    dram: float
    global_buffer: float
    weight_buffer: float
    compute: float
    crossbar: float
    leakage: float | None = None  #: of the buffers of all cores; None where no table says
    dram_background: float | None = None  #: None where there is none
    logic_leakage: float | None = None  #: of all cores; with the next, None where the hardware says nothing of logic
    idle: float | None = None  #: of MACs that have nothing to do while their core computes

    @property
    def total(self) -> float:
        """Sum of the parts, pJ."""
        moved = self.dram + self.global_buffer + self.weight_buffer + self.compute + self.crossbar
        standing = moved + (self.leakage or 0.0) + (self.dram_background or 0.0)
        return standing + (self.logic_leakage or 0.0) + (self.idle or 0.0)

    def parts(self) -> dict[str, float]:
        """Return the parts by name, leaving out those that the hardware does not have."""
        return {name: value for name, value in self._asdict().items() if value is not None}


ENERGY_BY_TIME = ("leakage", "dram_background", "logic_leakage", "idle")  #: the parts that some hardware does not have


class Totals(NamedTuple):
    """Integer sums over subgraphs; `slots` is time in cycles times DRAM bytes per cycle."""

    ema_bytes: int
    global_buffer_bytes: int
    weight_buffer_bytes: int
    crossbar_bytes: int
    operations: int
    slots: int
    global_written_bytes: int = 0  #: of global_buffer_bytes, what is written and not read
    weight_written_bytes: int = 0
    operation_extra: int = 0  #: what operations take beyond INT8, in units (technology.operation_units)
    idle: int = 0  #: cycles of MACs that have nothing to do; counted where that costs energy (Accelerator.idle_macs)


def total(prices: Iterable[Price], accelerator: Accelerator) -> Totals:
    """Return the sums over these subgraphs.

    latency(S) = max(cycles, EMA / bandwidth, crossing / crossbar), in slots (Sec. 5.1.2; the crossbar is ours).
    """
    rows = [
        (
            price.ema_bytes,
            price.global_buffer_bytes,
            price.weight_buffer_bytes,
            price.crossbar_bytes,
            price.operations,
            price.slots(accelerator.cores, accelerator.technology),
            price.global_written_bytes,
            price.weight_written_bytes,
            price.operation_extra,
            price.idle(accelerator.idle_macs),
        )
        for price in prices
    ]
    return Totals(*map(sum, zip(*rows))) if rows else Totals(0, 0, 0, 0, 0, 0)


def energy_breakdown(totals: Totals, accelerator: Accelerator) -> EnergyBreakdown:
    """Return the energy of these totals, pJ (model.md, section 5)."""
    technology = accelerator.technology
    of_activations, of_weights, of_dram, of_logic = accelerator.static_pj_per_slot
    return EnergyBreakdown(
        dram=technology.dram_pj_per_byte * totals.ema_bytes,
        global_buffer=accelerator.activation_sram.energy_pj(totals.global_buffer_bytes, totals.global_written_bytes),
        weight_buffer=accelerator.weight_sram.energy_pj(totals.weight_buffer_bytes, totals.weight_written_bytes),
        compute=technology.compute_pj(totals.operations, totals.operation_extra),
        crossbar=technology.on_chip.crossbar * totals.crossbar_bytes,
        leakage=(of_activations + of_weights) * totals.slots if accelerator.has_tables else None,
        dram_background=of_dram * totals.slots if technology.dram_background_mw else None,
        logic_leakage=None if technology.logic is None else of_logic * totals.slots,
        idle=None if technology.logic is None else technology.on_chip.idle * totals.idle,
    )


def latency_cycles(totals: Totals, accelerator: Accelerator) -> float:
    """Return the latency in cycles: the longest of computing, DRAM and crossbar, summed over the subgraphs."""
    return totals.slots / accelerator.dram_bytes_per_cycle


def bandwidths(prices: Sequence[Price]) -> list[float]:
    """Return the DRAM bandwidth, bytes per cycle, that each subgraph needs so that computing never waits.

    While it computes, its inputs, its outputs and the weights of the next cross (Cocco, Fig. 3), if there is room.
    """
    following = [price.ema_weight_bytes for price in prices[1:]] + [0]
    return [
        (price.ema_input_bytes + price.ema_output_bytes + weights) / price.compute_cycles
        for price, weights in zip(prices, following)
    ]


def added(values: Iterable[float]) -> float:
    """Return the sum of floats from left to right, the same on every Python (from 3.12 on `sum` corrects rounding)."""
    return reduce(add, values, 0)


def price_subgraphs(
    models: Sequence[SubgraphModel], accelerator: Accelerator, reserved: Sequence[Reserved] = ()
) -> list[Price | Shortage]:
    """Return the price of each subgraph in execution order; reserved: what kept tensors take while each runs."""
    activations, weights = accelerator.activation_capacity, accelerator.weight_capacity
    beside = reserved or [NOTHING] * len(models)
    return [model.price(activations, weights, each) for model, each in zip(models, beside)]


Metric = Callable[[Totals, Accelerator], float]
METRICS: dict[str, Metric] = {
    "ema": lambda totals, accelerator: float(totals.ema_bytes),
    "energy": lambda totals, accelerator: energy_breakdown(totals, accelerator).total,
    "latency-sum": latency_cycles,
}  #: Formula 1 by name: bytes, pJ, cycles
