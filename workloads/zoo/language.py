"""Decoder-only language models, prefill and decode, from public configurations (widths, heads, layers are facts).

A step reads `length` new tokens (their embedding rows: a gather loads no table) after `past` earlier ones, whose keys
and values are model inputs, and appends a row of each to the cache for every new token. Prefill has no past unless
told, and its head reads the last position; decode has one new token unless told (more: speculation), and its head reads
all.

Attention is computed in full: a mask saves no work. Bias, activation functions, rotary embeddings, soft caps and the
choice of experts are hidden in the pipeline, as bias is in the paper. A router's weights are one number for a token.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from workloads.errors import NetworkError, shown
from workloads.network.builder import Builder
from workloads.network.layers.types import Experts
from workloads.network.network import Network

Phase = Literal["prefill", "decode"]
MAX_LENGTH = 2**20  #: of a sequence, past and new tokens; our choice: that of a map's rows
LENGTH, PAST = 512, 1024  #: of prefill, and before a decode step, unless told; our choice


@dataclass(frozen=True)
class Decoder:
    """Widths of a decoder-only model. source: the public configuration; published: its parameters there."""

    source: str
    published: int
    layers: int
    width: int
    heads: int
    key_heads: int
    feed_forward: int
    vocabulary: int
    head_width: int = 0  #: 0: width / heads
    gated: bool = True  #: three matrices of a feed-forward layer, not two
    tied: bool = False  #: the head is the embedding
    positions: int = 0  #: learned, in a table
    experts: tuple[int, int] = (0, 0)  #: how many, and for each token
    norms_after: bool = False  #: in addition to those before
    window: int = 0  #: positions that every other layer looks back at most, the first one among them; 0: all

    @property
    def not_loaded(self) -> int:
        """Parameters of tables that are gathered from, and belong to no layer."""
        return self.width * ((0 if self.tied else self.vocabulary) + self.positions)


#: the configuration is config.json of the repository named, parameters are those that its page counts
DECODERS = {
    "gpt2": Decoder(
        "openai-community/gpt2", 124_439_808, 12, 768, 12, 12, 3072, 50257, gated=False, tied=True, positions=1024
    ),
    "llama3_8b": Decoder("meta-llama/Meta-Llama-3-8B", 8_030_261_248, 32, 4096, 32, 8, 14336, 128256),
    "llama3_70b": Decoder("meta-llama/Meta-Llama-3-70B", 70_553_706_496, 80, 8192, 64, 8, 28672, 128256),
    "qwen2_5_7b": Decoder("Qwen/Qwen2.5-7B", 7_615_616_512, 28, 3584, 28, 4, 18944, 152064),
    "mistral_7b": Decoder("mistralai/Mistral-7B-v0.3", 7_248_023_552, 32, 4096, 32, 8, 14336, 32768),
    "mixtral_8x7b": Decoder(
        "mistralai/Mixtral-8x7B-v0.1", 46_702_792_704, 32, 4096, 32, 8, 14336, 32000, experts=(8, 2)
    ),
    "gemma2_9b": Decoder(
        "google/gemma-2-9b", 9_241_705_984, 42, 3584, 16, 8, 14336, 256000, head_width=256, tied=True,
        norms_after=True, window=4096,
    ),
}  # fmt: skip


def decoder(
    name: str,
    phase: Phase = "prefill",
    length: int | None = None,
    past: int | None = None,
    layers: int | None = None,
) -> Network:
    """Return a step of a model; with `layers` the first so many, without norm and head at the end."""
    return _build(name, phase, length, past, layers)


def mixture(
    name: str,
    phase: Phase = "prefill",
    length: int | None = None,
    past: int | None = None,
    layers: int | None = None,
    experts: int | None = None,
) -> Network:
    """Return a step of a model with experts; `experts`: how many of a layer are in use, as expected unless told."""
    return _build(name, phase, length, past, layers, experts)


gpt2 = partial(decoder, "gpt2")
llama3_8b = partial(decoder, "llama3_8b")
llama3_70b = partial(decoder, "llama3_70b")
qwen2_5_7b = partial(decoder, "qwen2_5_7b")
mistral_7b = partial(decoder, "mistral_7b")
mixtral_8x7b = partial(mixture, "mixtral_8x7b")
gemma2_9b = partial(decoder, "gemma2_9b")


def _build(
    name: str, phase: Phase, length: int | None, past: int | None, layers: int | None, experts: int | None = None
) -> Network:
    model = DECODERS[name]
    if phase not in get_args(Phase):
        raise NetworkError(f"network {name!r} has phase {shown(phase)}; it must be {' or '.join(get_args(Phase))}")
    is_decode = phase == "decode"
    new = option(name, "length", length, 1, MAX_LENGTH, 1 if is_decode else LENGTH)
    before = option(name, "past", past, 0, MAX_LENGTH, PAST if is_decode else 0)
    count = option(name, "layers", layers, 1, model.layers, model.layers)
    mixed = _experts(name, model, experts)
    said = [phase] * is_decode + [f"{what}{value}" for what, value in (("length", length), ("past", past)) if value]
    said += [f"layers{layers}"] * (layers is not None) + [f"experts{experts}"] * (experts is not None)
    b = Builder("_".join([name, *said]))
    x = b.input("tokens", new, 1, model.width)
    for i in range(1, count + 1):
        x = _feed_forward(b, model, f"l{i}", _attention(b, model, f"l{i}", x, before, i), mixed)
    if layers is None:
        x = b.layernorm("norm", x)
        if is_decode:
            b.fc("head", x, model.vocabulary)
        else:
            b.conv("head", x, model.vocabulary, padding=(1 - new, 0, 0, 0))  # reads the last position only
    return b.build()


def option(name: str, what: str, value: object, least: int, most: int, default: int) -> int:
    """Return the value of an option, or what it is by default; raises NetworkError where it is no such integer."""
    if value is None:
        return default
    if type(value) is not int or not least <= value <= most:
        raise NetworkError(f"network {name!r} has {what} {shown(value)}; it must be an integer from {least} to {most}")
    return value


def _experts(name: str, model: Decoder, used: int | None) -> Experts | None:
    count, active = model.experts
    if used is not None:
        option(name, "experts", used, active, count, count)
    return Experts(count, active, used) if count else None


def _attention(b: Builder, model: Decoder, name: str, x: str, past: int, layer: int) -> str:
    """Normalisation, grouped queries over the cache and the new rows, residual sum."""
    width = model.head_width or model.width // model.heads
    y, keys = b.layernorm(f"{name}_norm1", x), model.key_heads * width
    query = b.fc(f"{name}_q", y, model.heads * width)
    if model.window and layer % 2:
        past = min(past, model.window - 1)
    second = {}
    for part in "kv":
        rows = [b.input(f"{name}_{part}_cache", past, 1, keys, kind="cache")] if past else []
        second[part] = [*rows, b.fc(f"{name}_{part}", y, keys, appended=True)]
    heads, own = model.heads, model.key_heads
    scores = b.matmul(f"{name}_scores", query, second["k"], heads, transpose=True, operand_heads=own)
    weights = b.softmax(f"{name}_softmax", scores)
    context = b.matmul(f"{name}_context", weights, second["v"], heads, operand_heads=own)
    y = b.fc(f"{name}_out", context, model.width)
    return b.add(f"{name}_add1", [b.layernorm(f"{name}_norm1b", y) if model.norms_after else y, x])


def _feed_forward(b: Builder, model: Decoder, name: str, x: str, experts: Experts | None) -> str:
    """Normalisation, two or three matrices (of several experts), residual sum."""
    y = b.layernorm(f"{name}_norm2", x)
    features = model.feed_forward * (experts.active if experts else 1)
    up = b.fc(f"{name}_up", y, features, experts=experts)
    if model.gated:
        parts = [b.fc(f"{name}_gate", y, features, experts=experts), up]
        if experts:
            chosen = b.softmax(f"{name}_choice", b.fc(f"{name}_router", y, experts.count))
            parts.append(b.slice(f"{name}_weight", chosen, 1))
        up = b.mul(f"{name}_mul", parts)
    y = b.fc(f"{name}_down", up, model.width, experts=experts)
    return b.add(f"{name}_add2", [b.layernorm(f"{name}_norm2b", y) if model.norms_after else y, x])
