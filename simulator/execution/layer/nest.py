"""The loops of one layer, or of several layers that run in one loop nest: recognized from the network alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simulator.execution.count.count import Count, extra_units
from simulator.execution.count.layer_facts import elements, operations
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.chain import count_of_chain, longest_chain, run_chain_scaled
from simulator.execution.layer.common.following import following_of, place_of_layer
from simulator.execution.layer.common.plan import CHAINED, LayerPlan
from simulator.execution.layer.count import count_layer
from simulator.execution.layer.heads.counted import count_heads
from simulator.execution.layer.heads.scaled import run_heads_scaled
from simulator.execution.layer.scaled import run_scaled
from simulator.technology import Technology
from workloads.network.network import Network
from workloads.network.rewriting.attentions import attentions_of, by_itself, why_not


class AsOne(NamedTuple):
    """A subgraph as a layer with its loops, in a network in which it is one."""

    network: Network
    v: int
    lies: Lies
    passing: tuple[int, ...] = ()  #: layers that are no part of that one: element by element, where the element lies
    after: tuple[int, ...] = ()  #: layers that follow that one in its loops


def as_one(network: Network, layers: Sequence[int], lies: Lies = NOTHING_STAYS) -> AsOne:
    """Return a subgraph as one layer; raises Miss if it is none, or a tensor between its layers is kept."""
    if len(layers) == 1:
        return AsOne(network, layers[0], lies)
    found = [each for each in attentions_of(network) if each.layers == tuple(layers) and not why_not(network, each)]
    if not found:
        if lies.on_chip & following_of(network, layers, lies).inner:
            raise Miss("a tensor of a nest is on chip whole, where only pieces of it exist")
        return AsOne(network, layers[0], lies, after=tuple(layers[1:]))
    (parts,) = found
    if lies.on_chip & set(parts.inner):
        raise Miss("a tensor of a nest is on chip whole, where only pieces of it exist")
    one, ids = by_itself(network, parts)
    places = {u: i for i, u in enumerate(ids)}
    on_chip, there, kept = (
        frozenset(places[u] for u in each if u in places) for each in (lies.on_chip, lies.there, lies.kept)
    )
    written = None if lies.written is None else frozenset({0} if parts.context in lies.written else ())
    return AsOne(one, 0, Lies(on_chip, there, written, kept), parts.before)


def place_in(network: Network, layers: Sequence[int], plan: LayerPlan, lies: Lies) -> tuple[int, int] | None:
    """Return an operand and the results that lie in its place, both kept, when these loops have run; None: none do."""
    if len(layers) == 1:
        return place_of_layer(network, layers[0], lies)
    if plan.order in CHAINED:
        count = len(longest_chain(network, layers).layers)
        return following_of(network, layers, lies, count).place if count < len(layers) else None
    if plan.order in ("HP", "TB"):
        return None
    return following_of(network, layers, lies).place


def count_loops(
    network: Network,
    layers: Sequence[int],
    plan: LayerPlan,
    batch: int,
    technology: Technology,
    lies: Lies = NOTHING_STAYS,
) -> Count:
    """Return what the loops of a layer, or of a nest, take and move (`count_layer`); cycles only of a chain."""
    if plan.order in CHAINED:
        return count_of_chain(network, layers, plan, batch, technology, lies)
    word = technology.channel_alignment
    if plan.order == "HP":
        return count_heads(network, layers, plan, batch, word, lies)
    one = as_one(network, layers, lies)
    count = count_layer(one.network, one.v, plan, batch, word, one.lies, one.after)
    work = {v: batch * operations(network, v, elements(network.layers[v])) for v in one.passing}
    more = sum(extra_units(network, v, each) for v, each in work.items())
    return count._replace(
        operations=(count.operations or 0) + sum(work.values()), operation_extra=(count.operation_extra or 0) + more
    )


def run_loops_scaled(
    network: Network,
    layers: Sequence[int],
    plan: LayerPlan,
    batch: int,
    word: int,
    full: bool = False,
    lies: Lies = NOTHING_STAYS,
) -> bool:
    """Run the loops of a layer, or of a nest, with values (`run_scaled`); returns whether it was scaled down."""
    if plan.order == "HP":
        return run_heads_scaled(network, layers, plan, batch, word, full, lies)
    if plan.order in CHAINED:
        return run_chain_scaled(network, layers, plan, batch, word, full, lies)
    one = as_one(network, layers, lies)
    return run_scaled(one.network, one.v, plan, batch, word, full, one.lies, one.after)
