"""What a price claims for each subgraph and for the partition, by the names of the numbers that are checked."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.accelerator import Accelerator
from simulator.execution.count.checks import ADDED, HELD, Number
from simulator.execution.count.count import Count, Plan
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer import LayerPlan
from simulator.model.cost import energy_breakdown, latency_cycles, total
from simulator.model.price import Price


def plan_of(layers: Sequence[int], price: Price, lies: Lies = NOTHING_STAYS) -> Plan:
    """Return the choices of a price; lies: where the tensors of its step lie."""
    loops = None if price.loops is None else tuple(price.loops[: len(LayerPlan._fields)])
    return Plan(tuple(layers), price.tile, price.at_once, loops, lies, price.scheme, price.channel_groups)


def subgraph_claims(price: Price, accelerator: Accelerator) -> dict[str, Number]:
    """Return every number that is printed for one subgraph."""
    held: dict[str, Number] = {name: getattr(price, name) for name in HELD if name != "kept_bytes"}
    return held | _summed([price], accelerator)


def total_claims(prices: Sequence[Price], accelerator: Accelerator) -> dict[str, Number]:
    """Return every number that is printed for the whole partition."""
    return _summed(prices, accelerator)


def _summed(prices: Sequence[Price], accelerator: Accelerator) -> dict[str, Number]:
    totals = total(prices, accelerator)
    breakdown = energy_breakdown(totals, accelerator)
    return {
        **{name: sum(getattr(price, name) for price in prices) for name in ADDED},
        "ema_bytes": totals.ema_bytes,
        **{f"energy_{name}_pj": value for name, value in breakdown.parts().items()},
        "energy_pj": breakdown.total,
        "latency_cycles": latency_cycles(totals, accelerator),
    }


def count_of(price: Price) -> Count:
    """Return what a price claims, in the form of a count."""
    return Count(*(getattr(price, name) for name in Count._fields))
