"""A chain and its loops scaled down: up to three steps of each loop, on smaller maps, with fewer channels.

Steps of a loop with the same length are equivalent, as for a single layer (scaled.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from simulator.execution.count.miss import Miss
from simulator.execution.layer.chained.links import Links, lines_of_chain, links_of
from simulator.execution.layer.common.plan import LayerPlan
from simulator.execution.layer.smaller import Cut, Small, shrink_cut
from workloads.network.network import Network

STEPS = 3  #: of a loop


class SmallChain(NamedTuple):
    """A chain, its loops, and samples."""

    network: Network
    links: Links
    plan: LayerPlan
    batch: int


def shrink_chain(network: Network, links: Links, plan: LayerPlan, batch: int, word: int) -> SmallChain:
    """Return a smaller chain with the same loops; its maps are as they were if smaller ones have rows that none meets.

    Examples
    --------
    >>> from workloads import Builder
    >>> b = Builder("block")
    >>> x = b.input("x", 56, 56, 64)
    >>> _ = b.conv("project", b.depthwise("dw", b.conv("expand", x, 384)), 64)
    >>> network = b.build()
    >>> found = shrink_chain(network, links_of(network, range(3)), LayerPlan("MT", "ring", (8, 56), 8, 8, 64, 64), 1, 8)
    >>> found.network.layers
    (Layer(expand: conv of x, 15x15x24), Layer(dw: conv 3x3 of expand, 15x15x24), Layer(project: conv of dw, 15x15x8))
    """
    channels, plan = _channels(network, links, plan, word)
    closer = network.layers[links.closer]
    reach = sum(network.layers[v].kernel[0] for v in (links.openers[0], links.middle, links.closer) if v is not None)
    (rows,), tile, _ = shrink_cut([closer.height], plan.tile[0], Small(max(2, reach)), STEPS)
    for outputs, tall in (((rows, min(closer.width, rows)), tile), ((closer.height, closer.width), plan.tile[0])):
        found = _build(network, links, channels, outputs)
        if found is not None:
            small = links_of(found, range(len(found.layers)))
            return SmallChain(found, small, plan._replace(tile=(tall, outputs[1])), min(batch, STEPS))
    raise Miss("a chain whose windows leave rows out")


def _channels(network: Network, links: Links, plan: LayerPlan, word: int) -> tuple[tuple[int, int, int], LayerPlan]:
    """Return channels of x, in the middle and of the output, and the loops over them."""
    small, closer = Small(max(2, word), word), network.layers[links.closer]
    inputs, middle = network.tensors[links.x].channels, network.layers[links.openers[0]].channels
    is_part = plan.order == "TM" and 0 < plan.kept < middle
    chunks = _cut([plan.kept, middle - plan.kept] if is_part else [middle], plan.chunk, plan.apart, small)
    slices = _cut([closer.channels], plan.slice, plan.inner, small)
    of_x = shrink_cut([inputs], plan.kept, small, STEPS) if plan.order == "TS" else Cut([small.of(inputs)], 0, 0)
    made, (outputs,), (inputs_,) = sum(chunks.lengths), slices.lengths, of_x.lengths
    kept = of_x.step if plan.order == "TS" else chunks.lengths[0] if is_part else made * (plan.kept > 0)
    if links.residual is not None and inputs_ != outputs:
        if plan.order != "TS":
            inputs_ = outputs
        else:  # both are cut, each in its way
            inputs_, outputs, kept, slices = inputs, closer.channels, plan.kept, Cut([], plan.slice, plan.inner)
    loops = plan._replace(chunk=chunks.step, apart=chunks.inner, slice=slices.step, inner=slices.inner, kept=kept)
    return (inputs_, made, outputs), loops


def _cut(lengths: list[int], step: int, piece: int, small: Small) -> Cut:
    """Return lengths cut into steps, and those into pieces."""
    found = shrink_cut(lengths, step, small, STEPS, piece)
    return found._replace(inner=found.step if piece >= step else found.inner)


def _build(network: Network, links: Links, channels: tuple[int, int, int], outputs: tuple[int, int]) -> Network | None:
    """Return a network of the chain with maps to match this output; None if some rows are never met."""
    inputs, middle, made = channels
    layers, sizes = network.layers, {links.closer: outputs}
    if links.residual is not None:
        sizes[links.residual] = outputs
    read = _smaller_input(network, links.closer, outputs)
    if links.middle is not None:
        sizes[links.middle] = read
        read = _smaller_input(network, links.middle, read)
    sizes |= dict.fromkeys([*links.openers, *links.opened], read)
    of_x = _smaller_input(network, links.openers[0], sizes[links.openers[0]])
    if min(*of_x, *(extent for size in sizes.values() for extent in size)) < 1:
        return None
    x = replace(network.tensors[links.x], height=of_x[0], width=of_x[1], channels=inputs)
    found = []
    for v in links.layers:
        layer = replace(layers[v], height=sizes[v][0], width=sizes[v][1], channels=middle)
        if v in links.openers:
            layer = replace(layer, in_channels=inputs)
        elif v in (links.closer, links.residual):
            layer = replace(layer, channels=made, in_channels=middle if v == links.closer else made)
        else:
            groups = middle if layers[v].groups > 1 else 1
            layer = replace(layer, in_channels=middle, groups=groups)
        found.append(layer)
    small = Network("chain", (x,), tuple(found))
    try:
        lines_of_chain(small, links_of(small, range(len(found))))
    except Miss:
        return None
    return small


def _smaller_input(network: Network, v: int, outputs: tuple[int, int]) -> tuple[int, int]:
    """Return the map that a layer reads if it makes this smaller one."""
    layer, source = network.layers[v], network.tensors[network.operands[v][0]]
    rows, columns = (
        extent - (before - after) * stride
        for extent, before, after, stride in zip(
            (source.height, source.width), (layer.height, layer.width), outputs, layer.stride
        )
    )
    return rows, columns
