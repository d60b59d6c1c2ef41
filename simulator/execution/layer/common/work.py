"""How much work the values of one layer are, counted from shapes and loops alone: no clock is asked."""

from __future__ import annotations

from simulator.execution.count.layer_facts import elements, is_depthwise, operations, size_bytes, taps
from simulator.execution.layer.common.plan import DENSE, LayerPlan
from workloads.network.layers.ops import ELEMENTWISE_OPS
from workloads.network.network import Network

CALL = 6  #: units of an operation on arrays; of ours a unit is about a microsecond
STEP = 60  #: of a step of all loops: what it needs is found, read and written
PIECE = 40  #: of a piece of an element-wise operand that is brought in, read and given up
PRODUCTS = 500  #: of elements in a unit
ELEMENTS = 40  #: drawn, and moved a few times, in a unit


def estimate_work(network: Network, v: int, plan: LayerPlan, batch: int, word: int) -> int:
    """Return about how much work it is to run the loops of a layer with values, and to compute it directly.

    Units are our choice: they follow the operations on arrays, which cost more than their elements do.
    """
    layer, ids = network.layers[v], network.operands[v]
    rows, columns = (-(-extent // size) for extent, size in zip((layer.height, layer.width), plan.tile))
    tiles, met = rows * columns, layer.height * layer.width * taps(network, v)
    size = sum(size_bytes(network, u) for u in set(ids))
    moved = batch * (size + size_bytes(network, v)) // ELEMENTS
    if plan.order == "copy":
        return moved + batch * size * (CALL + size_bytes(network, v) // (2 * PRODUCTS))
    if layer.op == "attention":
        heads, blocks = batch * layer.groups, -(-layer.keys // plan.slice)
        products = batch * operations(network, v, elements(layer)) // PRODUCTS
        return moved + heads * tiles * (STEP * blocks + met // 8) + products
    if layer.op == "scan":
        steps = layer.height * -(-layer.channels // plan.apart)
        return moved + 2 * batch * (steps * STEP + operations(network, v, elements(layer)) // ELEMENTS)
    if layer.op in ELEMENTWISE_OPS:
        steps = tiles * -(-layer.channels // plan.apart)
        return moved + batch * steps * (STEP + PIECE * len(ids)) + batch * size_bytes(network, v) * len(ids) // ELEMENTS
    sweep = (rows * layer.height + tiles * layer.width) // 8 + tiles * (layer.height + layer.width) // 8
    if is_depthwise(layer):
        apart, rounds = (word, batch) if plan.order == "RS" else (plan.apart, -(-batch // plan.at_once))
        steps = rounds * sum(-(-network.tensors[u].channels // apart) for u in set(ids))
        tiles = met if plan.order == "RS" else tiles
        often = max(map(ids.count, ids))
        products = 2 * batch * met * layer.in_channels // PRODUCTS
        return moved + CALL * met * (1 + steps * often) + products + steps * (sweep + STEP * tiles)
    outputs, inputs = layer.channels // layer.groups, layer.in_channels // layer.groups
    samples, parts = (1, layer.groups * batch) if layer.op == "matmul" else (batch, layer.groups)
    steps = parts * -(-samples // plan.at_once) * -(-outputs // plan.chunk)
    if plan.order in ("TKC", "BC"):
        steps *= -(-inputs // plan.slice) if plan.order == "TKC" else _slices_of_words(network, v, plan, word)
    if plan.order == "BC":
        steps *= -(-min(plan.chunk, outputs) // plan.inner)
    direct = layer.in_channels * layer.channels  # zeros between groups are multiplied, too
    products = batch * met * (direct + outputs * inputs * layer.groups) // PRODUCTS
    loops = CALL * met * (1 + steps) + steps * (sweep + tiles * (STEP + samples * size // layer.groups // PRODUCTS))
    assert plan.order in DENSE, plan
    return moved + direct * layer.kernel[0] * layer.kernel[1] // ELEMENTS + products + loops


def _slices_of_words(network: Network, v: int, plan: LayerPlan, word: int) -> int:
    """Return about how many slices a group has whose operands are rounded up to words."""
    words = sum(-(-network.tensors[u].channels // word) for u in network.operands[v])
    return -(-words // network.layers[v].groups // max(1, plan.slice // word))
