"""What a plan of one layer states: its choices, and nothing that follows from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from simulator.execution.count.layer_facts import has_weights, is_depthwise, sees
from simulator.execution.count.miss import Miss
from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import ELEMENTWISE_OPS, JOIN_OPS, NORM_OPS
from workloads.network.network import Network

Kind = Literal["dense", "transposed", "product"]
DENSE = ("TK", "KT", "WK", "KS", "TP", "KP", "TKC", "BC")
CHAINED = ("TM", "TW", "TS", "MT")  #: orders of several layers
MODES = ("ring", "rows", "side", "slide", "block")
BLOCKS = ("block", "block-row")


class LayerPlan(NamedTuple):
    """How one layer that does not fit runs (docs/model.md, section 3).

    Parameters
    ----------
    order : str
        The loops from the outermost: TK, KT, WK, KS, TP, KP, TKC, BC for layers that reduce over channels; CT, TC, RS
        for those that do not; TCC for softmax and norms; TB for an attention; copy; TM, TW, TS, MT for a chain.
    mode : str
        What stays of the input from tile to tile: ring, rows, side, slide, block, block-row, whole.
    tile : (int, int)
        Rows and columns of outputs.
    apart : int
        Channels that run together if they are independent; otherwise 1: groups and heads run one after the other. Of a
        chain: outputs of a piece of an opener.
    chunk, slice, inner : int
        Outputs of a part between two passes over its inputs; its inputs between two passes over the sums, or keys of a
        block; outputs of a chunk whose weights are held. Of a chain: middle channels of a chunk; outputs of a slice,
        and of a piece of the closer.
    at_once : int
        Samples that share the weights.
    kept : int
        Outputs whose weights stay over the tiles (TP), rows of the input that stay over the chunks (KP), channels of a
        tile that stay from the first pass to the second (TCC), middle channels whose weights stay (TM, TW), channels of
        a slice of x (TS).

    Examples
    --------
    >>> LayerPlan("KT", "ring", (4, 56), chunk=64).at_once
    1
    """

    order: str
    mode: str
    tile: tuple[int, int]
    apart: int = 1
    chunk: int = 1
    slice: int = 1
    inner: int = 1
    at_once: int = 1
    kept: int = 0


def check_plan(plan: LayerPlan, layer: Layer) -> None:
    """Raise Miss if the loops of a plan are not loops of this layer."""
    modes = {"copy": ("word",), "RS": ("row",), "WK": ("whole",), "KS": ("whole",), "KP": ("ring",), "BC": BLOCKS}
    if plan.order not in _orders(layer) or plan.mode not in modes.get(plan.order, MODES):
        raise Miss(f"order {plan.order!r} with mode {plan.mode!r} does not run layer {layer.name!r} ({layer.op})")
    if layer.frames:
        raise Miss(f"layer {layer.name!r} has windows over time, which are not executed")
    if min(*plan.tile, *plan[3:8]) < 1 or plan.kept < 0:
        raise Miss(f"a loop of no steps: {plan}")
    if plan.order in DENSE and plan.apart > 1:
        raise Miss(f"{plan.apart} groups at once: they run one after the other")
    if layer.op == "scan" and (plan.tile != (1, 1) or (plan.order == "TC" and plan.apart < layer.channels)):
        raise Miss(
            f"layer {layer.name!r} reads the state that the row before leaves: tiles of {plan.tile} and "
            f"{plan.apart} channels at once in the order {plan.order} do not wait"
        )
    if layer.op == "recurrent" and (plan.order not in ("TK", "TP") or plan.tile != (1, 1)):
        raise Miss(
            f"layer {layer.name!r} needs the row before each: {plan.order} with tiles of {plan.tile} does not wait"
        )
    if plan.order == "TP" and plan.kept > layer.channels // layer.groups:
        raise Miss(f"weights of {plan.kept} outputs stay, of {layer.channels // layer.groups}")
    if plan.mode == "block-row" and plan.inner < plan.chunk:
        raise Miss("weights of an inner chunk do not stay from row to row")
    if plan.mode in ("ring", "rows") and plan.tile[1] < layer.width:
        raise Miss(f"{plan.mode!r} needs tiles as wide as the map, {plan.tile[1]} of {layer.width} columns are given")


def _orders(layer: Layer) -> tuple[str, ...]:
    if layer.op == "attention":
        return ("TB",)
    if layer.op == "rearrange":
        return ("copy",)
    if layer.op in ELEMENTWISE_OPS or layer.op == "scan":
        return ("CT", "TC", "TCC") if layer.op in NORM_OPS else ("CT", "TC")
    if is_depthwise(layer):
        return ("CT",) if has_weights(layer) else ("CT", "RS")
    return DENSE


def is_mixed(layer: Layer) -> bool:
    """Return whether an element-wise layer needs all channels of a position."""
    return layer.op in ELEMENTWISE_OPS - JOIN_OPS


def kind_of(network: Network, v: int) -> Kind:
    """Return what is stationary: weights, or the rows or columns of a product's second operand."""
    layer = network.layers[v]
    if layer.op != "matmul":
        return "dense"
    second = network.tensors[network.operands[v][1]]
    has_rows = second.channels == layer.in_channels
    return "transposed" if has_rows and second.height * second.width * layer.groups == layer.channels else "product"


def cuts(extent: int, size: int) -> list[range]:
    """Return the steps of a loop; the last takes what is left.

    Examples
    --------
    >>> cuts(5, 2)
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    return [range(first, min(first + size, extent)) for first in range(0, extent, size)]


def key_blocks(layer: Layer, plan: LayerPlan) -> dict[range, list[range]]:
    """Return, for each tile of rows of an attention, the blocks of the keys that some row of it sees.

    Examples
    --------
    >>> from workloads import Builder, Mask
    >>> b = Builder("one")
    >>> _ = b.attention("mix", *(b.input(each, 5, 1, 8) for each in "qkv"), mask=Mask(behind=2))
    >>> key_blocks(b.build().layers[0], LayerPlan("TB", "ring", (3, 1), slice=2))
    {range(0, 3): [range(0, 2), range(2, 3)], range(3, 5): [range(1, 3), range(3, 5)]}
    """
    rows, found = sees(layer), {}
    for tile in cuts(layer.height, plan.tile[0]):
        seen = {key for row in tile for key in (rows[row].start, rows[row].stop)}
        found[tile] = [
            range(min(seen) + block.start, min(seen) + block.stop) for block in cuts(max(seen) - min(seen), plan.slice)
        ]
    return found


def channel_steps(channels: int, plan: LayerPlan) -> tuple[int, list[range]]:
    """Return how many channels stay between two passes, and the steps of a pass: channels that stay, then the others.

    Examples
    --------
    >>> channel_steps(20, LayerPlan("TCC", "ring", (1, 1), apart=8, kept=8))
    (8, [range(0, 8), range(8, 16), range(16, 20)])
    """
    kept = min(plan.kept, channels)
    passing = [range(kept + each.start, kept + each.stop) for each in cuts(channels - kept, plan.apart)]
    return kept, cuts(kept, plan.apart) + passing


def pieces(extent: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the lengths of the steps of a loop, each with its count.

    Examples
    --------
    >>> list(pieces(5, 2))
    [(2, 2), (1, 1)]
    """
    times, rest = divmod(extent, size)
    if times:
        yield size, times
    if rest:
        yield rest, 1
