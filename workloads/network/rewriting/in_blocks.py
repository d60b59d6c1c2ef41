"""Attentions made of layers, found and made one layer each: scores, what scales them, softmax, context.

What is one layer computes the same, with as many MACs, and runs in blocks of keys and values (attention.py). An
attention that such a layer does not describe stays as it is, and a note says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os.path import commonprefix
from typing import Literal, NamedTuple

from workloads.network.layers.layer import Layer, Note
from workloads.network.layers.ops import JOIN_OPS, NORM_OPS, PRODUCT_OPS
from workloads.network.layers.shapes import MAX_EXTENT, MAX_NAME, matmul_forms
from workloads.network.network import Network, check_network

Attention = Literal["layers", "blocks"]  #: as layers that it is made of, or as one that runs in blocks
MADE, LEFT = "in blocks", "in layers"  #: how a note says what became of an attention
MOST_BETWEEN = (
    2  #: layers between a product and its softmax, at most, where they are taken for one attention; our choice
)
SUFFIX = "_blocks"  #: of the name of a network, whose plans are not those of the network it was made of


class AttentionParts(NamedTuple):
    """The layers of an attention, by id, in the order of the network."""

    scores: int
    before: tuple[int, ...]  #: between scores and softmax
    softmax: int
    after: tuple[int, ...]  #: between softmax and context
    context: int


def attention_in_blocks(network: Network) -> Network:
    """Return the network with each attention as one layer, which passes by keys and values in blocks.

    Scores, softmax and context become one layer where that describes them; what scales the scores, and reads nothing
    else, is part of it. MACs and weights stay as they are.

    Parameters
    ----------
    network : Network
        Which stays as it is: built in, from a file or from a module.

    Returns
    -------
    Network
        Its `notes` name the attentions that are one layer, and say of the others why they are not.

    Examples
    --------
    >>> import workloads
    >>> network = workloads.load("transformer")
    >>> blocks = workloads.attention_in_blocks(network)
    >>> blocks.layers[3]
    Layer(enc1_attention: attention of enc1_q, enc1_k, enc1_v, 512x1x512)
    >>> len(network.layers), len(blocks.layers), network.macs == blocks.macs
    (210, 174, True)
    """
    check_network(network)
    found = [parts for v in range(len(network.layers)) if (parts := _parts_around(network, v))]
    reasons = {parts: _why_not(network, parts) for parts in found}
    taken = [parts for parts in found if not reasons[parts]]
    joined = _joined(network, taken) if taken else network
    made = [layer.name for layer in joined.layers if layer.op == "attention"]
    notes = [note for note in network.notes if note.how not in (MADE, LEFT)]
    notes += [Note(name, "attention", MADE) for name in made]
    notes += [Note(network.layers[each.softmax].name, reason, LEFT) for each, reason in reasons.items() if reason]
    return replace(joined, notes=tuple(notes))


def attention_text(network: Network) -> str:
    """Return one line: how many attentions are in blocks, how many are not, and why.

    Examples
    --------
    >>> import workloads
    >>> attention_text(workloads.load("gpt2", attention="blocks"))
    '12 in blocks'
    >>> attention_text(workloads.load("vgg16", attention="blocks"))
    'none that could run in blocks'
    """
    made = sum(note.how == MADE for note in network.notes)
    left: dict[str, list[str]] = {}
    for note in network.notes:
        if note.how == LEFT:
            left.setdefault(note.op, []).append(note.node)
    if not made and not left:
        return "none that could run in blocks"
    said = [f"{made} in blocks"]
    for reason, names in left.items():
        said.append(f"{len(names)} in layers: {reason} ({names[0]}{', ...' * (len(names) > 1)})")
    return "; ".join(said)


def _parts_around(network: Network, softmax: int) -> AttentionParts | None:
    """Return the attention of a softmax: the nearest products above and below it; None where it is part of none."""
    if network.layers[softmax].op != "softmax":
        return None
    above = _nearest_product(network, softmax, network.producers)
    below = _nearest_product(network, softmax, network.consumers)
    if above is None or below is None:
        return None
    return AttentionParts(above[-1], tuple(reversed(above[:-1])), softmax, below[:-1], below[-1])


def _nearest_product(network: Network, start: int, ways: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Return the layers on the shortest way to a matmul, which is the last of them; norms and products end a way."""
    paths: dict[int, tuple[int, ...]] = {start: ()}
    for _ in range(MOST_BETWEEN + 1):
        longer = {v: (*path, v) for u, path in paths.items() for v in ways[u] if v < len(network.layers)}
        for v, path in longer.items():
            if network.layers[v].op == "matmul":
                return path
        paths = {v: path for v, path in longer.items() if network.layers[v].op not in NORM_OPS | PRODUCT_OPS}
    return None


def _why_not(network: Network, parts: AttentionParts) -> str:
    """Return why one layer does not describe an attention; nothing where it does."""
    scores, softmax, context = (network.layers[v] for v in (parts.scores, parts.softmax, parts.context))
    for v in parts.before:
        if network.layers[v].op not in JOIN_OPS:
            return f"a {network.layers[v].op} between scores and softmax"
        if len(network.layers[v].inputs) > 1:
            return "another map joins the scores"
    if parts.after:
        return f"a {network.layers[parts.after[0]].op} between softmax and context"
    inner = (parts.scores, *parts.before, parts.softmax)
    if any(len(network.consumers[v]) > 1 or network.layers[v].appended for v in inner):
        return "something else reads the scores"
    if context.inputs[0] != softmax.name or softmax.name in context.inputs[1:]:
        return "the softmax is the second operand of its product"
    if (scores.groups, scores.second_heads) != (context.groups, context.second_heads):
        return "scores and context have different heads"
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


def _joined(network: Network, found: Sequence[AttentionParts]) -> Network:
    """Return the network with each attention in place of its context."""
    gone = {v for parts in found for v in (parts.scores, *parts.before, parts.softmax)}
    contexts = {parts.context: parts for parts in found}
    taken = {each.name for each in network.tensors} | {each.name for each in network.concats}
    renamed: dict[str, str] = {}
    for v, parts in contexts.items():
        name = _name(*(network.layers[u].name for u in (parts.scores, parts.softmax, v)))
        if name not in taken:
            renamed[network.layers[v].name] = name
            taken.add(name)
    layers, before = [], [0]
    for v, layer in enumerate(network.layers):
        if v in contexts:
            layer = _attention(network.layers[contexts[v].scores], layer)
        if v not in gone:
            inputs = tuple(renamed.get(name, name) for name in layer.inputs)
            layers.append(replace(layer, name=renamed.get(layer.name, layer.name), inputs=inputs))
        before.append(len(layers))
    concats = tuple(
        replace(each, inputs=tuple(renamed.get(name, name) for name in each.inputs), position=before[each.position])
        for each in network.concats
    )
    name = network.name[: MAX_NAME - len(SUFFIX)] + SUFFIX
    return replace(network, name=name, layers=tuple(layers), concats=concats)


def _name(scores: str, softmax: str, context: str) -> str:
    """Return the name of an attention: l1_attention of l1_scores, l1_softmax, l1_context; else that of its context."""
    common = commonprefix([scores, softmax, context])
    return f"{common}attention"[-MAX_NAME:] if common.endswith(("_", ".", "/", "-")) else context


def _attention(scores: Layer, context: Layer) -> Layer:
    """Return one layer that computes what a product, a softmax and a product do."""
    inputs = (*scores.inputs, *context.inputs[1:])
    return Layer(
        context.name, "attention", inputs, context.height, context.width, context.channels, scores.in_channels,
        groups=scores.groups, whole=tuple(range(1, len(inputs))), operand_heads=scores.operand_heads,
        appended=context.appended, bits=context.bits, keys=scores.channels // scores.groups,
    )  # fmt: skip
