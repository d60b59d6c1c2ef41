"""One layer of a language model, whose parts are values: what mixes positions, and what each position computes.

Bias, activation functions, rotary embeddings, norms of single heads, soft caps, sinks and the choice of experts are
hidden in the pipeline, as bias is in the paper. A window bounds how many rows of the cache are read. Attention is
computed in full, or by its causal mask and its window, where that is requested. A router's weights are one number for a
token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from workloads.errors import NetworkError
from workloads.network.layers.mask import Mask
from workloads.network.layers.types import Experts

Builder = Any  #: workloads.Builder, of which all this is one method: its file imports this one


@dataclass(frozen=True)
class SelfAttention:
    """Attention over the rows of a cache and the new ones; heads of queries may share those of keys (grouped queries).

    Examples
    --------
    >>> from workloads import SelfAttention
    >>> SelfAttention(heads=32, key_heads=8, head_width=128).cache_widths
    {'k': 1024, 'v': 1024}
    """

    heads: int
    key_heads: int  #: of keys and of values; they divide the heads
    head_width: int
    window: int = 0  #: positions that a token looks back at, itself the first one; 0: all

    @property
    def cache_widths(self) -> dict[str, int]:
        """Channels of a row of each cache."""
        return dict.fromkeys("kv", self.key_heads * self.head_width)


@dataclass(frozen=True)
class LatentAttention:
    """Attention whose keys and values are made of one latent row for all heads (DeepSeek-V2, 2024, Sec. 2.1).

    A prompt makes keys and values of its rows. With a cache, queries and contexts go through the same matrices
    instead, head by head, and every head reads the latent rows as they are.

    Examples
    --------
    >>> from workloads import LatentAttention
    >>> LatentAttention(128, head_width=128, rotated_width=64, value_width=128, rank=512).cache_widths
    {'latent': 512, 'rotated': 64}
    """

    heads: int
    head_width: int  #: of queries and keys without rotation
    rotated_width: int  #: of queries that are rotated, and of one rotated key for all heads
    value_width: int
    rank: int  #: channels of the latent row
    query_rank: int = 0  #: channels that queries are made of; 0: of the layer's input

    @property
    def cache_widths(self) -> dict[str, int]:
        """Channels of a row of each cache."""
        return {"latent": self.rank, "rotated": self.rotated_width}


@dataclass(frozen=True)
class StateSpace:
    """A selective state space (Mamba 2: Dao and Gu, 2024): a state for each head in place of a cache.

    A token reads and writes the state whole. The rows of a prompt are computed in chunks, by products: those of
    a chunk with each other, and with the state before it (Sec. 6).

    Examples
    --------
    >>> from workloads import StateSpace
    >>> StateSpace(heads=128, head_width=64, groups=8, state=128).width
    8192
    """

    heads: int
    head_width: int
    groups: int  #: of heads that share B and C
    state: int  #: numbers of the state for each channel
    kernel: int = 4  #: positions of the convolution
    chunk: int = 256  #: positions of a chunk

    @property
    def width(self) -> int:
        """Channels of all heads."""
        return self.heads * self.head_width


@dataclass(frozen=True)
class FeedForward:
    """Two matrices for each position, or three with a gate; of several experts where there are some.

    Examples
    --------
    >>> from workloads import Experts, FeedForward
    >>> FeedForward(2048, experts=Experts(256, 8), shared=2048)
    FeedForward(width=2048, gated=True, experts=Experts(count=256, active=8, used=None), shared=2048)
    """

    width: int  #: between the matrices, of one expert
    gated: bool = True
    experts: Experts | None = None
    shared: int = 0  #: width of what computes every token beside the chosen experts; 0: nothing does


Mixer = SelfAttention | LatentAttention | StateSpace
Pasts = Sequence[int]  #: rows of the cache of each sequence
Sources = dict[str, list[str]]  #: of each part the rows attended to: caches, and below them new ones
#: name, rows made, what they attend to, how much of it is before them (None: they see it all) -> their contexts
Attend = Callable[[str, dict[str, str], Sources, int | None], str]


def add_decoder_layer(
    b: Builder, name: str, x: str, mixer: Mixer, feed_forward: FeedForward | None, pasts: Pasts, norms_after: bool,
    masks: bool, prefix: int,
) -> str:  # fmt: skip
    """Add the layer; see `Builder.decoder_layer`."""
    y = _MIXERS[type(mixer)](b, mixer, name, b.layernorm(f"{name}_norm1", x), pasts, masks, prefix)
    x = b.add(f"{name}_add1", [b.layernorm(f"{name}_norm1b", y) if norms_after else y, x])
    if feed_forward is None:
        return x
    y = b.layernorm(f"{name}_norm2", x)
    parts = [_feed_forward(b, feed_forward, name, y)]
    if feed_forward.shared:
        parts.append(_feed_forward(b, FeedForward(feed_forward.shared, feed_forward.gated), f"{name}_shared", y))
    if norms_after:
        parts = [b.layernorm(f"{name}_norm2b", b.add(f"{name}_sum", parts) if len(parts) > 1 else parts[0])]
    return b.add(f"{name}_add2", [*parts, x])


def _rows(b: Builder, name: str, part: str, made: str, past: int) -> list[str]:
    """Return a cache, if there is a past, and the rows below it that this step makes."""
    return [*([b.input(f"{name}_{part}_cache", past, 1, _width(b, made), kind="cache")] if past else []), made]


def _mask(queries: int, before: int | None, window: int, masks: bool) -> Mask | None:
    """Return which keys so many new rows see, after those before; none where each sees all, as if before were None."""
    if not masks or queries == 1 or before is None:
        return None
    return Mask(behind=window - 1 if 0 < window < queries + before else None)


def _of_each(
    b: Builder, name: str, made: dict[str, str], parts: Iterable[str], pasts: Pasts, prefix: int, attend: Attend
) -> str:
    """Return what each sequence's own rows attend to, one below the other, as one layer.

    To a prefix that they share the rows of all attend at once, and both results are scaled by the sums of their
    softmax and added up (Hydragen: Juravsky et al., 2024, Sec. 3).
    """
    if len(pasts) == 1:
        rows = {part: _rows(b, name, part, made[part], pasts[0]) for part in parts}
        return attend(name, made, rows, pasts[0])
    new, found = b.shape(made["q"])[0] // len(pasts), []
    for i, past in enumerate(pasts):
        outside = (-i * new, 0, -(len(pasts) - 1 - i) * new, 0)
        own = {part: b.slice(f"{name}_{part}_s{i + 1}", rows, padding=outside) for part, rows in made.items()}
        at = f"{name}_s{i + 1}"
        rows = {part: _rows(b, at, part, own[part], past - prefix) for part in parts}
        found.append(attend(at, own, rows, past - prefix))
    joined: str = b.rearrange(f"{name}_joined", found, len(pasts) * new, 1, _width(b, found[0]))
    if not prefix:
        return joined
    shared = {
        part: [b.input(f"{name}_{part}_prefix", prefix, 1, _width(b, made[part]), kind="cache")] for part in parts
    }
    return b.add(f"{name}_merged", [attend(f"{name}_prefix", made, shared, None), joined])


def _self_attention(b: Builder, mixer: SelfAttention, name: str, y: str, pasts: Pasts, masks: bool, prefix: int) -> str:
    heads, own = mixer.heads, mixer.key_heads
    made = {"q": b.fc(f"{name}_q", y, heads * mixer.head_width)}
    made |= {part: b.fc(f"{name}_{part}", y, width, appended=True) for part, width in mixer.cache_widths.items()}

    def attend(at: str, rows: dict[str, str], of: Sources, before: int | None) -> str:
        mask = _mask(b.shape(rows["q"])[0], before, mixer.window, masks)
        scores = b.matmul(f"{at}_scores", rows["q"], of["k"], heads, transpose=True, operand_heads=own, mask=mask)
        weights = b.softmax(f"{at}_softmax", scores, mask, heads)
        return b.matmul(f"{at}_context", weights, of["v"], heads, operand_heads=own, mask=mask)

    if 0 < mixer.window <= max(pasts):  # rows of a prefix lie behind the windows of long sequences: each has its own
        pasts, prefix = [min(past, mixer.window - 1) for past in pasts], 0
    return b.fc(f"{name}_out", _of_each(b, name, made, "kv", pasts, prefix, attend), _width(b, y))


def _latent_attention(
    b: Builder, mixer: LatentAttention, name: str, y: str, pasts: Pasts, masks: bool, prefix: int
) -> str:
    heads, has_past = mixer.heads, any(pasts)
    low = b.layernorm(f"{name}_q_norm", b.fc(f"{name}_q_low", y, mixer.query_rank)) if mixer.query_rank else y
    made = {
        part: b.fc(f"{name}_{part}", low, heads * width)
        for part, width in (("q", mixer.head_width), ("q_rotated", mixer.rotated_width))
    }
    made |= {part: b.fc(f"{name}_{part}", y, width, appended=True) for part, width in mixer.cache_widths.items()}
    if has_past:
        made["q"] = b.conv(f"{name}_q_up", made["q"], heads * mixer.rank, groups=heads)

    def attend(at: str, rows: dict[str, str], of: Sources, before: int | None) -> str:
        latent, turned = of.values()
        keys, values, own = latent, latent, 1
        if not has_past:
            keys = [b.fc(f"{at}_k", latent, heads * mixer.head_width)]
            values, own = [b.fc(f"{at}_v", latent, heads * mixer.value_width)], heads
        mask = _mask(b.shape(rows["q"])[0], before, 0, masks)
        near = b.matmul(f"{at}_scores1", rows["q"], keys, heads, transpose=True, operand_heads=own, mask=mask)
        far = b.matmul(f"{at}_scores2", rows["q_rotated"], turned, heads, transpose=True, operand_heads=1, mask=mask)
        weights = b.softmax(f"{at}_softmax", b.add(f"{at}_scores", [near, far]), mask, heads)
        return b.matmul(f"{at}_context", weights, values, heads, operand_heads=own, mask=mask)

    context = _of_each(b, name, made, mixer.cache_widths, pasts, prefix, attend)
    if has_past:
        context = b.conv(f"{name}_v", context, heads * mixer.value_width, groups=heads)
    return b.fc(f"{name}_out", context, _width(b, y))


def _state_space(b: Builder, mixer: StateSpace, name: str, y: str, pasts: Pasts, masks: bool, prefix: int) -> str:
    """One token: state + x B, then C state. Chunks: (C B) x, C state, and the states that the next ones begin with."""
    if len(pasts) > 1:
        raise NetworkError(
            f"layer {name!r} has {len(pasts)} sequences in a state space; its state has no length: batch"
        )
    past = pasts[0]
    length, width, groups = b.shape(y)[0], mixer.width, mixer.groups
    count = -(-length // mixer.chunk)
    if length % count or (past and count > 1):
        rule = f"it must be at most the chunk of {mixer.chunk} positions" + ("" if past else ", or a multiple of it")
        raise NetworkError(f"layer {name!r} has {length} new tokens in a state space; {rule}")
    gate, step = b.fc(f"{name}_z", y, width), b.fc(f"{name}_step", y, mixer.heads)
    parts = {
        part: _convolved(b, mixer, f"{name}_{part}", y, channels, past)
        for part, channels in (("x", width), ("b", groups * mixer.state), ("c", groups * mixer.state))
    }
    parts["x"] = b.mul(f"{name}_scaled", [parts["x"], b.slice(f"{name}_weight", step, 1)])
    rows, groups = length // count, groups * count
    if count > 1:  # rows of all chunks side by side
        for part, source in parts.items():
            parts[part] = b.rearrange(f"{name}_{part}_chunks", source, rows, 1, count * _width(b, source))
    turned = b.rearrange(f"{name}_b_turned", parts["b"], mixer.state, 1, groups * rows)
    states = [b.matmul(f"{name}_states", turned, parts["x"], groups)]
    if past:
        states.append(b.input(f"{name}_state_before", mixer.state, 1, width, kind="cache"))
    after = b.add(f"{name}_passed", states) if past or count > 1 else states[0]
    last = b.slice(f"{name}_last", after, width) if count > 1 else after
    b.append_to_cache(last)
    if length == 1:
        found = b.matmul(f"{name}_read", parts["c"], after, groups)
    else:
        scores = b.matmul(f"{name}_scores", parts["c"], parts["b"], groups, transpose=True)
        sums = [b.matmul(f"{name}_mixed", scores, parts["x"], groups)]
        before = states[-1] if past else after
        sums += [b.matmul(f"{name}_read", parts["c"], before, groups)] if past or count > 1 else []
        found = b.add(f"{name}_sum", sums) if len(sums) > 1 else sums[0]
    if count > 1:
        found = b.rearrange(f"{name}_rows", found, length, 1, width)
    return b.fc(f"{name}_out", b.layernorm(f"{name}_norm", b.mul(f"{name}_gated", [found, gate])), _width(b, y))


def _convolved(b: Builder, mixer: StateSpace, name: str, y: str, channels: int, past: int) -> str:
    """Return a product's rows after a convolution over positions, those before the step among them."""
    made, before, new = b.fc(f"{name}_made", y, channels), mixer.kernel - 1, b.shape(y)[0]
    if before:
        b.append_to_cache(b.slice(f"{name}_kept", made, padding=(before - new, 0, 0, 0)) if new > before else made)
    if not past or not before:
        return b.conv(name, made, channels, (mixer.kernel, 1), padding=(before, 0, 0, 0), groups=channels)
    rows = [b.input(f"{name}_cache", before, 1, channels, kind="cache"), made]
    joined = b.rearrange(f"{name}_joined", rows, before + new, 1, channels)
    return b.conv(name, joined, channels, (mixer.kernel, 1), groups=channels)


def _feed_forward(b: Builder, part: FeedForward, name: str, y: str) -> str:
    experts = part.experts
    features = part.width * (experts.active if experts else 1)
    up = b.fc(f"{name}_up", y, features, experts=experts)
    if part.gated:
        parts = [b.fc(f"{name}_gate", y, features, experts=experts), up]
        if experts:
            chosen = b.softmax(f"{name}_choice", b.fc(f"{name}_router", y, experts.count))
            parts.append(b.slice(f"{name}_weight", chosen, 1))
        up = b.mul(f"{name}_mul", parts)
    return b.fc(f"{name}_down", up, _width(b, y), experts=experts)


def _width(b: Builder, y: str) -> int:
    channels: int = b.shape(y)[2]
    return channels


_MIXERS: dict[type, Callable[..., str]] = {
    SelfAttention: _self_attention, LatentAttention: _latent_attention, StateSpace: _state_space,
}  # fmt: skip
