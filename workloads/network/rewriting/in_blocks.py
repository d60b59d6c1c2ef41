"""Attentions made of layers, found and made one layer each: scores, what scales them, softmax, context.

What is one layer computes the same, with as many MACs, and runs in blocks of keys and values (attention.py). An
attention that such a layer does not describe stays as it is, and a note says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os.path import commonprefix
from typing import Literal

from workloads.network.layers.layer import Note
from workloads.network.layers.shapes import MAX_NAME
from workloads.network.network import Network, check_network
from workloads.network.rewriting.attentions import Parts, as_one_layer, attentions_of, why_not

Attention = Literal["layers", "blocks"]  #: as layers that it is made of, or as one that runs in blocks
MADE, LEFT = "in blocks", "in layers"  #: how a note says what became of an attention
SUFFIX = "_blocks"  #: of the name of a network, whose plans are not those of the network it was made of


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
    reasons = {parts: why_not(network, parts) for parts in attentions_of(network)}
    taken = [parts for parts, reason in reasons.items() if not reason]
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


def _joined(network: Network, found: Sequence[Parts]) -> Network:
    """Return the network with each attention in place of its context."""
    gone = {v for parts in found for v in parts.inner}
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
            layer = as_one_layer(network, contexts[v])
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
