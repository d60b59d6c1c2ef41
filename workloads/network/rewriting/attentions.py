"""Attentions made of layers: which layers are one, whether one layer describes it, and that layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import JOIN_OPS, NORM_OPS, PRODUCT_OPS
from workloads.network.layers.shapes import MAX_EXTENT, matmul_forms
from workloads.network.network import Network

FAR = 2  #: layers between a product and its softmax, at most, where they are taken for one attention; our choice


class Parts(NamedTuple):
    """The layers of an attention, by id, in the order of the network."""

    scores: int
    before: tuple[int, ...]  #: between scores and softmax
    softmax: int
    after: tuple[int, ...]  #: between softmax and context
    context: int

    @property
    def inner(self) -> tuple[int, ...]:
        """The layers whose results nothing else reads: all but the context."""
        return self.scores, *self.before, self.softmax

    @property
    def layers(self) -> tuple[int, ...]:
        """All of them, ascending."""
        return tuple(sorted((*self.inner, *self.after, self.context)))


def attentions_of(network: Network) -> Iterator[Parts]:
    """Yield the attentions of a network: each softmax with the nearest products above and below it."""
    for v in range(len(network.layers)):
        parts = _parts_around(network, v)
        if parts is not None:
            yield parts


def as_one_layer(network: Network, parts: Parts) -> Layer:
    """Return one layer that computes what a product, a softmax and a product do."""
    scores, context = network.layers[parts.scores], network.layers[parts.context]
    inputs = (*scores.inputs, *context.inputs[1:])
    return Layer(
        context.name, "attention", inputs, context.height, context.width, context.channels, scores.in_channels,
        groups=scores.groups, whole=tuple(range(1, len(inputs))), operand_heads=scores.operand_heads,
        appended=context.appended, bits=context.bits, keys=scores.channels // scores.groups, mask=context.mask,
    )  # fmt: skip


def by_itself(network: Network, parts: Parts) -> tuple[Network, tuple[int, ...]]:
    """Return a network of this attention as one layer, and the ids that its tensors have in the network.

    Examples
    --------
    >>> import workloads
    >>> network = workloads.load("transformer")
    >>> by_itself(network, next(attentions_of(network)))
    (Network(enc1_context, 1 layers, 268,435,456 MACs, 0 B of weights), (5, 0, 1, 2))
    """
    operands = network.operands[parts.scores] + network.operands[parts.context][1:]
    ids = tuple(dict.fromkeys(operands))
    layer = as_one_layer(network, parts)
    return Network(layer.name, tuple(network.tensors[u] for u in ids), (layer,)), (parts.context, *ids)


def _parts_around(network: Network, softmax: int) -> Parts | None:
    """Return the attention of a softmax: the nearest products above and below it; None where it is part of none."""
    if network.layers[softmax].op != "softmax":
        return None
    above = _nearest_product(network, softmax, network.producers)
    below = _nearest_product(network, softmax, network.consumers)
    if above is None or below is None:
        return None
    return Parts(above[-1], tuple(reversed(above[:-1])), softmax, below[:-1], below[-1])


def _nearest_product(network: Network, start: int, ways: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Return the layers on the shortest way to a matmul, which is the last of them; norms and products end a way."""
    paths: dict[int, tuple[int, ...]] = {start: ()}
    for _ in range(FAR + 1):
        longer = {v: (*path, v) for u, path in paths.items() for v in ways[u] if v < len(network.layers)}
        for v, path in longer.items():
            if network.layers[v].op == "matmul":
                return path
        paths = {v: path for v, path in longer.items() if network.layers[v].op not in NORM_OPS | PRODUCT_OPS}
    return None


def why_not(network: Network, parts: Parts) -> str:
    """Return why one layer does not describe an attention; nothing where it does."""
    scores, softmax, context = (network.layers[v] for v in (parts.scores, parts.softmax, parts.context))
    for v in parts.before:
        if network.layers[v].op not in JOIN_OPS:
            return f"a {network.layers[v].op} between scores and softmax"
        if len(network.layers[v].inputs) > 1:
            return "another map joins the scores"
    if parts.after:
        return f"a {network.layers[parts.after[0]].op} between softmax and context"
    if any(len(network.consumers[v]) > 1 or network.layers[v].appended for v in parts.inner):
        return "something else reads the scores"
    if context.inputs[0] != softmax.name or softmax.name in context.inputs[1:]:
        return "the softmax is the second operand of its product"
    if (scores.groups, scores.second_heads) != (context.groups, context.second_heads):
        return "scores and context have different heads"
    if not scores.mask == softmax.mask == context.mask:
        return "scores, softmax and context have different masks"
    if scores.blocks > 1:
        return "positions are in blocks"
    if True not in _forms(network, parts.scores):
        return "the keys lie transposed"
    if False not in _forms(network, parts.context):
        return "the values lie transposed"
    if len(scores.inputs) != len(context.inputs):
        return "keys or values alone have a cache"
    if not scores.bits == softmax.bits == context.bits:
        return "its layers have different types"
    if max(scores.in_channels, context.channels) > MAX_EXTENT:
        return f"it is wider than {MAX_EXTENT:,} channels"
    return ""


def _forms(network: Network, v: int) -> set[bool]:
    """Return how the second operand of a product may lie: transposed (True), or not."""
    layer = network.layers[v]
    shapes = [(each.height, each.width, each.channels) for each in (network.tensors[u] for u in network.operands[v])]
    forms = matmul_forms(shapes, layer.groups, layer.operand_heads)
    return {form for form, channels in forms.items() if channels == layer.channels}
