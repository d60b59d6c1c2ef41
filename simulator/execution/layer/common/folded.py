"""A product as its loops run it: query heads that share a head of the second operand become rows of one product.

With g heads in operand 0 and h in the second operand, L x (g R) is g / h L rows of h heads: the same elements in
another order, those of a position side by side, which see the same keys. Blocks of positions become heads: with b of
them L x (g R) is L / b rows of b g heads. The second operand is one map: the rows of its inputs one below the other. So
are the keys of an attention, and its values.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from itertools import accumulate, pairwise

from simulator.execution.count.layer_facts import bits_of, heads_of_channels, second_heads, tensor_of
from workloads.network.layers.attention import keys_and_values
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.layers.ops import PRODUCT_OPS
from workloads.network.layers.types import INT8
from workloads.network.network import Network

Rows = tuple[tuple[int, int], ...]  #: of the second operand of a product: first and last + 1
FIRST = 1  #: operand 0 of a folded network


def folded(network: Network, v: int) -> tuple[Network, int]:
    """Return a network and the id of its layer that is this one as its loops run it.

    Examples
    --------
    >>> from workloads import Builder
    >>> b = Builder("one")
    >>> keys = [b.input("cache", 7, 1, 16), b.input("k", 1, 1, 16)]
    >>> _ = b.matmul("scores", b.input("q", 1, 1, 64), keys, 8, transpose=True, operand_heads=2)
    >>> network, v = folded(b.build(), 0)
    >>> network.layers[v], network.layers[v].groups
    (Layer(scores: matmul of rows, second, 4x1x16), 2)
    """
    layer, operands = network.layers[v], network.operands[v]
    is_attention = layer.op == "attention"
    if layer.op not in PRODUCT_OPS or (len(operands) == (3 if is_attention else 2) and not layer.operand_heads):
        return network, v
    parts = zip(("keys", "values"), keys_and_values(operands)) if is_attention else [("second", operands[1:])]
    first, heads, tensors = tensor_of(network, operands[0]), second_heads(layer), network.tensors
    blocks = blocks_of(layer)
    height, width = layer.height * max(1, layer.groups // heads), layer.width
    if blocks > 1:
        height, width = layer.height * layer.width // blocks, 1
    maps = [Tensor("rows", height, width, first.channels * heads // layer.groups, bits=first.bits)]
    for name, stacked in parts:
        positions = sum(tensors[u].height * tensors[u].width for u in stacked) // blocks
        maps.append(
            Tensor(name, positions, 1, tensors[stacked[0]].channels * blocks, bits=bits_of(network, stacked[0]))
        )
    one = replace(
        layer, inputs=tuple(each.name for each in maps), height=height, width=width,
        channels=layer.channels * heads // layer.groups, in_channels=layer.in_channels * heads // layer.groups,
        groups=heads, operand_heads=0, whole=tuple(range(1, len(maps))),
        mask=layer.mask and replace(layer.mask, together=layer.mask.together * (layer.groups // heads)),
    )  # fmt: skip
    return Network("folded", tuple(maps), (one,)), 0


def blocks_of(layer: Layer) -> int:
    """Return the blocks of positions of a product, each with heads of its own in both operands."""
    return second_heads(layer) // heads_of_channels(layer)


def on_chip_of(whole: Network, v: int, network: Network, on_chip: frozenset[int]) -> frozenset[int]:
    """Return which tensors of a folded network are on chip; for a second operand see its rows (rows_there)."""
    if network is whole:
        return on_chip
    return frozenset({FIRST} if whole.operands[v][0] in on_chip else ())


def plain(network: Network) -> Network:
    """Return the network for the run of values: one byte per number, and only the experts that take part."""
    if network.has_paper_types and not any(layer.experts for layer in network.layers):
        return network
    network = network.with_bits(INT8)
    return replace(network, layers=tuple(replace(layer, experts=None) for layer in network.layers))


def rows_there(network: Network, v: int, on_chip: Set[int]) -> Rows:
    """Return which rows of a product's second operand, or of keys with values below them, are on chip."""
    if network.layers[v].op not in PRODUCT_OPS:
        return ()
    operands, blocks = network.operands[v][1:], blocks_of(network.layers[v])
    ends = accumulate((network.tensors[u].height * network.tensors[u].width // blocks for u in operands), initial=0)
    return tuple(span for u, span in zip(operands, pairwise(ends)) if u in on_chip)


def rows_within(rows: Rows, span: range) -> int:
    """Return how many of these rows lie in a span.

    Examples
    --------
    >>> rows_within(((0, 4), (7, 8)), range(2, 8))
    3
    """
    return sum(max(0, min(last, span.stop) - max(first, span.start)) for first, last in rows)
