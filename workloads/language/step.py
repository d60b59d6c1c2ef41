"""A step of a language model: `length` new tokens after `past` earlier ones, as a network.

The embedding rows of the new tokens are its input (a gather loads no table), the caches of earlier ones are model
inputs, and a row of each is appended for every new token. Prefill has no past unless told, and its head reads the last
position; decode has one new token unless told (more: speculation), and its head reads all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from workloads.errors import NetworkError, shown
from workloads.language.decoder import Decoder, DecoderLayer
from workloads.language.tensor_parallel import share_of, summed
from workloads.network.builder import Builder
from workloads.network.layers.layer import Layer, Note
from workloads.network.network import Network

Phase = Literal["prefill", "decode"]
Masks = Literal["none", "model"]  #: attention in full, or by the causal mask and the windows of the model
MAX_LENGTH = 2**20  #: of a sequence, past and new tokens; our choice: that of a map's rows
LENGTH, PAST = 512, 1024  #: of prefill, and before a decode step, unless told; our choice
MAX_CHIPS = 2**10  #: our choice, far above any
OPTIONS = ("phase", "length", "past", "layers", "masks", "chips", "stage", "prefix", "experts")


def step(
    name: str,
    model: Decoder,
    phase: Phase = "prefill",
    length: int | None = None,
    past: int | Sequence[int] | None = None,
    layers: int | None = None,
    chips: int | None = None,
    stage: int | None = None,
    prefix: int | None = None,
    experts: int | None = None,
    masks: Masks = "none",
) -> Network:
    """Return a step of a model.

    past: of several sequences, in decode: each has its own cache, and weights are loaded once for all; prefix: how many
    first rows they share. layers: the first so many alone, without norm and head at the end. chips: the share of one of
    so many (tensor_parallel.py); stage: of a pipeline of so many the chip with this stage, layers that follow each
    other. experts: how many of a layer are in use, as expected unless told. masks: whether a token's scores are those
    of the tokens that it sees, or all of them.
    """
    if masks not in get_args(Masks):
        raise NetworkError(f"network {name!r} has masks {shown(masks)}; it must be {' or '.join(get_args(Masks))}")
    if phase not in get_args(Phase):
        raise NetworkError(f"network {name!r} has phase {shown(phase)}; it must be {' or '.join(get_args(Phase))}")
    is_decode = phase == "decode"
    new = option(name, "length", length, 1, MAX_LENGTH, 1 if is_decode else LENGTH)
    given = tuple(past) if isinstance(past, Sequence) and not isinstance(past, str) else (past,)
    before = [option(name, "past", each, 0, MAX_LENGTH, PAST if is_decode else 0) for each in given]
    if not before or (len(before) > 1 and not is_decode):
        rule = "several sequences are for the phase decode, and the chunks of a prompt for explore"
        raise NetworkError(f"network {name!r} has past {shown(past)}; {rule}")
    shared = option(name, "prefix", prefix, 0, min(before), 0)
    if shared and len(before) == 1:
        raise NetworkError(f"network {name!r} has prefix {shared} and one sequence; several in past share one")
    count = option(name, "layers", layers, 1, len(model.layers), len(model.layers))
    several = "-".join(map(str, given)) if past else None
    said = [phase] * is_decode + [f"{what}{value}" for what, value in (("length", length), ("past", several)) if value]
    options = (("layers", layers), ("chips", chips), ("stage", stage), ("prefix", prefix), ("experts", experts))
    said += [f"{what}{value}" for what, value in options if value is not None]
    number = option(name, "chips", chips, 1, MAX_CHIPS if stage is None else count, 1)
    first, last, sharing = 0, count, number
    if stage is not None:
        at = option(name, "stage", stage, 1, number, 1)
        first, last, sharing = (at - 1) * count // number, at * count // number, 1
    try:
        model = share_of(model, sharing)
    except NetworkError as error:
        raise NetworkError(f"network {name!r} {error}") from None
    is_masked = masks == "model" and new > 1
    b = Builder("_".join([name, *said, *["masked"] * is_masked]))
    x = b.input("tokens", new * len(before), 1, model.width)
    for i, (mixer, feed_forward, norms_after) in enumerate(_used(name, model, experts)[first:last], first + 1):
        x = b.decoder_layer(f"l{i}", x, mixer, feed_forward, before, norms_after, is_masked, shared)
    if layers is None and last == count:
        x = b.layernorm("norm", x)
        if is_decode:
            b.fc("head", x, model.vocabulary)
        else:
            b.conv("head", x, model.vocabulary, padding=(1 - new, 0, 0, 0))  # reads the last position only
    notes = _notes(model, layers if stage is None else None, before, is_decode, sharing, shared)
    if stage is not None:
        notes += (Note("tokens", f"{stage} of {number}", "stage"), *([Note(x, "rows", "send")] * (last < count)))
    network = replace(b.build().with_bits(model.bits), notes=notes)
    if model.expert_bits is None:
        return network
    return replace(network, layers=tuple(_few_bits(layer, model.expert_bits) for layer in network.layers))


def option(name: str, what: str, value: object, least: int, most: int, default: int) -> int:
    """Return the value of an option, or what it is by default; raises NetworkError where it is no such integer."""
    if value is None:
        return default
    if type(value) is not int or not least <= value <= most:
        raise NetworkError(f"network {name!r} has {what} {shown(value)}; it must be an integer from {least} to {most}")
    return value


def _used(name: str, model: Decoder, used: int | None) -> tuple[DecoderLayer, ...]:
    """Return the layers, with so many experts in use."""
    if used is None:
        return model.layers
    mixtures = [part.experts for _, part, _ in model.layers if part is not None and part.experts]
    if not mixtures:
        raise NetworkError(f"network {name!r} has no option 'experts'; it has {', '.join(OPTIONS[:-1])}")
    option(name, "experts", used, mixtures[0].active, mixtures[0].count, 0)
    return tuple(
        layer._replace(feed_forward=replace(part, experts=replace(part.experts, used=used)))
        if (part := layer.feed_forward) is not None and part.experts else layer
        for layer in model.layers
    )  # fmt: skip


def _notes(
    model: Decoder, layers: int | None, pasts: list[int], is_decode: bool, chips: int, prefix: int
) -> tuple[Note, ...]:
    """Return notes of sequences, chunks and chips, and how often the first layers make up the model, if they do."""
    found = [Note("tokens", str(len(pasts)), "sequences")] if len(pasts) > 1 else []
    times, rest = divmod(len(model.layers), layers or 1)
    if layers is not None and not rest and model.layers == model.layers[:layers] * times:
        found.append(Note("layers", str(times), "part"))
    if prefix:
        found.append(Note("tokens", str(max(pasts)), "prefix"))
    if pasts[0] and not is_decode:
        found.append(Note("tokens", str(pasts[0]), "chunk"))
    if chips > 1:
        found += summed(model.layers[:layers], chips)
        found += [Note("head", "columns", "all-gather")] * (layers is None)
    return tuple(found)


def _few_bits(layer: Layer, bits: int) -> Layer:
    if layer.experts is None:
        return layer
    return replace(layer, bits=replace(layer.bits, weights=bits, weights_as="int"))
