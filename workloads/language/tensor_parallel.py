"""The share of a language model that one of several chips computes: tensor parallel by heads and columns.

Queries, keys, values and what a feed-forward part makes are dealt out by columns, so that each chip has whole heads;
the matrices back to the model's width by rows, so that each chip has a partial sum of every number, which all chips add
up, once after the mixer and once after the feed-forward part (Megatron-LM: Shoeybi et al., 2019, Sec. 3). Norms,
routers and the latent rows of DeepSeek's attention are computed on every chip. All shares have the same shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workloads.errors import NetworkError
from workloads.language.decoder import Decoder, DecoderLayer
from workloads.network.decoding import FeedForward, LatentAttention, Mixer, SelfAttention, StateSpace
from workloads.network.layers.layer import Note


def share_of(model: Decoder, chips: int) -> Decoder:
    """Return what each of so many chips computes of every layer, and of the columns of the head.

    Heads of keys, and the groups of a state space, that are fewer than the chips lie on several of them. Columns of the
    head that the chips do not divide are rounded up, as in Megatron-LM. A state space is normed by groups, so that
    nothing else crosses (Mamba 2: Dao and Gu, 2024, Sec. 8.1).

    Raises
    ------
    NetworkError
        One line: heads or columns that so many chips do not divide.

    Examples
    --------
    >>> from workloads.zoo.language import DECODERS
    >>> share = share_of(DECODERS["llama3_8b"].decoder, 4)
    >>> share.layers[0].mixer, share.layers[0].feed_forward.width, share.vocabulary
    (SelfAttention(heads=8, key_heads=2, head_width=128, window=0), 3584, 32064)
    """
    layers = tuple(
        layer._replace(
            mixer=_SHARES[type(layer.mixer)](layer.mixer, chips), feed_forward=_feed_forward(layer.feed_forward, chips)
        )
        for layer in model.layers
    )
    return replace(model, layers=layers, vocabulary=-(-model.vocabulary // chips))


def summed(layers: tuple[DecoderLayer, ...], chips: int) -> list[Note]:
    """Return notes of how many chips there are, and of the layers that read what they add up.

    That is the norm behind a part where there is one, and else its sum with the layer's input, which is no partial sum.
    """
    found = [Note("tokens", str(chips), "chips")]
    for i, layer in enumerate(layers, 1):
        reader = "norm{}b" if layer.norms_after else "add{}"
        parts = (1,) if layer.feed_forward is None else (1, 2)
        found += [Note(f"l{i}_{reader.format(part)}", "partial sums", "all-reduce") for part in parts]
    return found


def _dealt(what: str, number: int, chips: int) -> int:
    if number % chips:
        raise NetworkError(f"has {number} {what}, which {chips} chips do not divide")
    return number // chips


def _repeated(what: str, number: int, chips: int) -> int:
    """Return how many of a chip: its share, or one that several chips have."""
    return 1 if chips % number == 0 else _dealt(what, number, chips)


def _self_attention(mixer: SelfAttention, chips: int) -> SelfAttention:
    heads, key_heads = _dealt("heads", mixer.heads, chips), _repeated("heads of keys", mixer.key_heads, chips)
    return replace(mixer, heads=heads, key_heads=key_heads)


def _latent_attention(mixer: LatentAttention, chips: int) -> LatentAttention:
    return replace(mixer, heads=_dealt("heads", mixer.heads, chips))


def _state_space(mixer: StateSpace, chips: int) -> StateSpace:
    heads, groups = _dealt("heads", mixer.heads, chips), _repeated("groups of heads", mixer.groups, chips)
    return replace(mixer, heads=heads, groups=groups)


def _feed_forward(part: FeedForward | None, chips: int) -> FeedForward | None:
    if part is None:
        return None
    width, shared = (_dealt("columns of a feed-forward part", each, chips) for each in (part.width, part.shared))
    return replace(part, width=width, shared=shared)


_SHARES: dict[type[Mixer], Callable[[Any, int], Mixer]] = {
    SelfAttention: _self_attention, LatentAttention: _latent_attention, StateSpace: _state_space,
}  # fmt: skip
