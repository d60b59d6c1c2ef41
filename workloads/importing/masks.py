"""Masks that an imported graph makes of positions: which value of `Mask` they are, and the layers that have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from workloads.errors import NetworkError
from workloads.network.layers.layer import Note
from workloads.network.layers.mask import Mask
from workloads.network.network import Network
from workloads.network.rewriting.attentions import attentions_of, why_not

MASKS = ("model", "none")  #: how a reader takes attentions: by masks that are made of positions, or all in full
FAR_BELOW = -1e4  #: what is added to a score that is hidden is this or less; our choice: e to it is 0 in any type


def hidden_by(added: np.ndarray) -> np.ndarray:
    """Return where numbers that are added to scores hide them."""
    return np.isneginf(added) | (added <= FAR_BELOW)


def mask_of(seen: np.ndarray) -> Mask | None:
    """Return the mask that leaves exactly these keys of each query; None where none does, or all are seen.

    seen: [..., queries, keys], alike in all that stands before.

    Examples
    --------
    >>> mask_of(np.tril(np.ones((6, 6), dtype=bool)) & ~np.tril(np.ones((6, 6), dtype=bool), -3))
    Mask(behind=2, ahead=0, chunk=0, together=1)
    """
    if seen.ndim < 2 or 0 in seen.shape or seen.all():
        return None
    *_, queries, keys = seen.shape
    every = seen.reshape(-1, queries, keys)
    if keys < queries or (every != every[0]).any():
        return None
    rows, places = every[0], np.arange(keys - queries, keys)
    if not rows[np.arange(queries), places].all():  # each sees its own position
        return None
    first, last = rows.argmax(axis=1), keys - 1 - rows[:, ::-1].argmax(axis=1)
    behind, ahead = int((places - first).max()), int((last - places).max())
    alone = places[(first == places) & (places > 0)]  # where chunks begin
    for chunk in (0, *map(int, alone[:1])):
        for before in (None, behind):
            for after in (0, None, ahead):
                mask = Mask(before, after, chunk)
                spans = [mask.seen(query, queries, keys) for query in range(queries)]
                is_same = all(each.start == a and each.stop == b + 1 for each, a, b in zip(spans, first, last))
                if is_same and (rows.sum(axis=1) == last - first + 1).all() and spans[0].start == 0:
                    return mask
    return None


def masked(network: Network, masks: Mapping[str, Mask]) -> Network:
    """Return the network with masks, given by the names of softmaxes, of the attentions that one layer describes.

    Notes say which attentions have one, and how many multiplications they leave out.
    """
    layers, notes = list(network.layers), list(network.notes)
    for parts in attentions_of(network):
        mask = masks.get(network.layers[parts.softmax].name)
        if mask is None or why_not(network, parts):
            continue
        keys = layers[parts.scores].channels // layers[parts.scores].groups
        changed = list(layers)
        for v in (parts.scores, parts.softmax, parts.context):
            changed[v] = replace(changed[v], mask=mask, keys=keys)
        try:
            replace(network, layers=tuple(changed))
        except NetworkError:  # of a map, or of keys that no query sees
            continue
        layers = changed
        notes.append(Note(layers[parts.softmax].name, str(mask), "masked"))
    found = replace(network, layers=tuple(layers))
    if found.macs < network.macs:
        notes.append(Note("MACs", f"{network.macs - found.macs:,} of scores that masks hide", "not counted"))
    return replace(found, notes=tuple(notes))
