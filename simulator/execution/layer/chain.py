"""A chain of layers in the loops of its plan: counted with real shapes, and run with values, smaller if it is large."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator.execution.count.array import array_cycles, works_of
from simulator.execution.count.checks import compare
from simulator.execution.count.count import Count, extra_units
from simulator.execution.count.layer_facts import elements, operations, size_bytes
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.chained.count import count_chain
from simulator.execution.layer.chained.links import Links, links_of
from simulator.execution.layer.chained.problem import ChainProblem
from simulator.execution.layer.chained.run import run_chain
from simulator.execution.layer.chained.small import SmallChain, shrink_chain
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.following import Following, following_of
from simulator.execution.layer.common.plan import CHAINED, LayerPlan
from simulator.execution.layer.scaled import lies_of_small, with_followers
from simulator.execution.layer.value.epilogue import Epilogue
from simulator.technology import Technology
from workloads.network.network import Network

WORK = 4_000_000  #: MACs of all that is made, up to which a chain runs as it is; our choice, some 0.1 s
FULL_WORK = 2_000_000_000  #: the same where as much as possible is requested
STEPS, FULL_STEPS = 600, 50_000  #: of its loops, as many of which take about as long


def count_of_chain(
    network: Network, layers: Sequence[int], plan: LayerPlan, batch: int, technology: Technology, lies: Lies
) -> Count:
    """Return what the loops of a chain take and move, with the real shapes; raises Miss if they are not its loops."""
    last, word = layers[-1], technology.channel_alignment
    links, following = _checked(network, layers, plan, word, lies)
    chip = _chip(last, lies, word)
    made = count_chain(network, links, chip, plan, batch, links.x in lies.on_chip, following)
    made |= {v: batch * elements(network.layers[v]) for v in layers if v not in made}
    cycles = 0
    for v, count in made.items():
        once = batch * sum(array_cycles(work, technology) for work in works_of(network, v))
        cycles += -(-once * count // (batch * elements(network.layers[v])))
    return _count(network, chip, made, batch, lies)._replace(compute_cycles=cycles)


def run_chain_scaled(
    network: Network,
    layers: Sequence[int],
    plan: LayerPlan,
    batch: int = 1,
    word: int = 8,
    full: bool = False,
    lies: Lies = NOTHING_STAYS,
) -> bool:
    """Run a chain with values in memories of exactly the bytes counted, and compare both counts.

    Returns whether it was scaled down; raises Miss if it does not run, or not as counted.
    """
    links, following = _checked(network, layers, plan, word, lies)
    if not _is_much(SmallChain(network, links, plan, batch), full):
        run_counted_chain(network, links, plan, batch, word, lies, following)
        return False
    found, chain = shrink_chain(network, links, plan, batch, word), sorted(links.layers)
    small = with_followers(network, layers, found.network, len(chain))
    here = lies_of_small(network, layers, small, lies)
    after = None if following is None else following_of(small, range(len(layers)), here, len(chain))
    run_counted_chain(small, links_of(small, range(len(chain))), found.plan, found.batch, word, here, after)
    return True


def run_counted_chain(
    network: Network,
    links: Links,
    plan: LayerPlan,
    batch: int,
    word: int,
    lies: Lies,
    following: Following | None = None,
) -> None:
    """Count a chain, and run it in rooms of the bytes counted; raises Miss if a number or a value differs."""
    last = links.last if following is None else following.last
    is_there, counting = links.x in lies.on_chip, _chip(last, lies, word)
    made = count_chain(network, links, counting, plan, batch, is_there, following)
    counted = _count(network, counting, made, batch, lies)
    problem = ChainProblem(network, links, batch, 0)
    chip = _chip(last, lies, word, counted.activation_bytes or 0, counted.weight_bytes or 0)
    direct = problem.direct()
    output = np.full(direct.shape, np.nan)
    epilogue = None if following is None else Epilogue(following, {links.x: problem.x.astype(np.int64)}, batch, 0)
    ran = _count(network, chip, run_chain(problem, chip, plan, output, is_there, epilogue), batch, lies)
    if epilogue is not None:
        epilogue.check(direct.astype(np.int64))
    elif (output != direct).any():
        raise Miss(f"tensor {network.layers[links.last].name!r}: differs from running the layers one by one")
    for check in compare(counted._asdict(), ran._asdict(), {}):
        if check.status == "different":
            raise Miss(f"{check.name}: {check.claimed} are counted, {check.counted} run")


def _checked(
    network: Network, layers: Sequence[int], plan: LayerPlan, word: int, lies: Lies
) -> tuple[Links, Following | None]:
    """Return who is who, and what follows; raises Miss if these are not the loops of a chain."""
    links, following = longest_chain(network, layers), None
    if len(links.layers) < len(layers):
        following = following_of(network, layers, lies, len(links.layers))
        if lies.on_chip & following.inner:
            raise Miss("a map between the layers that follow a chain is on chip whole, where only pieces of it exist")
    if lies.on_chip & (set(links.layers) - {links.last}):
        raise Miss("a map between the layers of a chain is on chip whole, where only pieces of it exist")
    if plan.order not in CHAINED or plan.mode not in (("ring", "whole") if plan.order == "MT" else ("ring",)):
        raise Miss(f"order {plan.order!r} with mode {plan.mode!r} does not run a chain")
    if plan.at_once != 1 or plan.tile[0] < 1 or plan.tile[1] < network.layers[links.last].width:
        raise Miss("a chain runs one sample at a time, in tiles as wide as the map")
    inputs, middle = network.tensors[links.x].channels, network.layers[links.openers[0]].channels
    outputs = network.layers[links.closer].channels
    within = {"chunk": middle, "slice": outputs, "apart": plan.chunk, "inner": plan.slice}
    if plan.order == "TS" or plan.kept:
        within["kept"] = {"TM": middle, "TW": middle, "TS": inputs, "MT": 0}[plan.order]
    for name, most in within.items():
        size = getattr(plan, name)
        if not 0 < size <= most or (size < most and size % word):
            raise Miss(f"{name} is {size} of {most} channels: neither whole words of {word} nor all")
    if plan.order in ("TW", "MT") and plan.slice < outputs:
        raise Miss("all outputs are made from rows that stay")
    if plan.order == "TW" and (plan.chunk < middle or plan.kept not in (0, middle)):
        raise Miss("TW makes all middle channels, and keeps all weights or none")
    if plan.order == "TM" and plan.kept < middle and plan.kept % plan.chunk:
        raise Miss(f"weights of {plan.kept} middle channels stay, which are no whole chunks of {plan.chunk}")
    return links, following


def longest_chain(network: Network, layers: Sequence[int]) -> Links:
    """Return the longest chain that these layers begin with; raises Miss if there is none."""
    for count in range(len(layers), 2, -1):
        try:
            return links_of(network, layers[:count])
        except Miss:
            pass
    return links_of(network, layers[:2])


def _chip(last: int, lies: Lies, word: int, activations: float = np.inf, weights: float = np.inf) -> Chip:
    is_written = lies.written is None or last in lies.written
    return Chip(activations, weights, word, has_results=last not in lies.on_chip, is_written=is_written)


def _count(network: Network, chip: Chip, made: dict[int, int], batch: int, lies: Lies) -> Count:
    """Return what a chip counted, with all that these layers compute."""
    inputs = {u for v in made for u in network.operands[v]} - made.keys()
    for u in inputs & lies.on_chip - lies.there:  # kept from here on
        chip.load_input(batch * size_bytes(network, u))
    work = {v: operations(network, v, count) for v, count in made.items()}
    return chip.total(sum(work.values()), sum(extra_units(network, v, count) for v, count in work.items()))


def _is_much(chain: SmallChain, full: bool) -> bool:
    """Return whether running a chain takes much arithmetic, or many steps."""
    network, links, plan, batch = chain
    layers = network.layers
    tiles = -(-layers[links.closer].height // plan.tile[0])
    slices = -(-layers[links.closer].channels // plan.slice)
    work = batch * sum(operations(network, v, elements(layers[v])) for v in links.layers)
    steps = batch * tiles * slices * -(-layers[links.openers[0]].channels // min(plan.chunk, plan.apart))
    steps *= -(-layers[links.openers[0]].in_channels // plan.kept) if plan.order == "TS" else 1
    return slices * work > (FULL_WORK if full else WORK) or steps > (FULL_STEPS if full else STEPS)
