"""Encoders of text and speech: BERT base (Devlin et al., 2018) and Whisper tiny (Radford et al., 2022)."""

from __future__ import annotations

from dataclasses import dataclass

from workloads.language.step import option
from workloads.network.builder import Builder
from workloads.network.network import Network
from workloads.zoo.transformer import attended


@dataclass(frozen=True)
class Encoder:
    """Widths of an encoder. source: the public configuration; published: its parameters there."""

    source: str
    published: int
    layers: int
    width: int
    heads: int
    not_loaded: int  #: parameters of tables: tokens, positions, kinds of segments
    most: int  #: positions


ENCODERS = {
    "bert_base": Encoder(
        "google-bert/bert-base-uncased", 109_482_240, 12, 768, 12, (30522 + 512 + 2) * 768, 512
    ),
    "whisper_tiny": Encoder("openai/whisper-tiny, its encoder", 8_208_384, 4, 384, 6, 1500 * 384, 1500),
}  # fmt: skip


def bert_base(length: int = 512, layers: int | None = None) -> Network:
    """Return BERT base with its pooler, which reads the first position; with `layers` the first so many alone."""
    model = ENCODERS["bert_base"]
    rows = option("bert_base", "length", length, 1, model.most, model.most)
    b = Builder(_said("bert_base", length=(length, 512), layers=(layers, None)))
    x = b.input("tokens", rows, 1, model.width)
    for i in range(1, option("bert_base", "layers", layers, 1, model.layers, model.layers) + 1):
        x = b.layernorm(f"l{i}_norm1", attention(b, f"l{i}", x, x, model.heads))
        x = b.layernorm(f"l{i}_norm2", feed_forward(b, f"l{i}", x, x))
    if layers is None:
        b.conv("pooler", x, model.width, padding=(0, 0, 1 - rows, 0))
    return b.build()


def whisper_tiny(length: int = 1500, layers: int | None = None) -> Network:
    """Return the encoder on twice as many frames of 80 mel bands: 30 s have 1500 positions of two frames each."""
    model = ENCODERS["whisper_tiny"]
    rows = option("whisper_tiny", "length", length, 1, model.most, model.most)
    b = Builder(_said("whisper_tiny", length=(length, 1500), layers=(layers, None)))
    x = b.conv("conv1", b.input("mel", 2 * rows, 1, 80), model.width, (3, 1), padding=(1, 0, 1, 0))
    x = b.conv("conv2", x, model.width, (3, 1), (2, 1), padding=(1, 0, 1, 0))
    for i in range(1, option("whisper_tiny", "layers", layers, 1, model.layers, model.layers) + 1):
        x = attention(b, f"l{i}", b.layernorm(f"l{i}_norm1", x), x, model.heads)
        x = feed_forward(b, f"l{i}", b.layernorm(f"l{i}_norm2", x), x)
    if layers is None:
        b.layernorm("norm", x)
    return b.build()


# The network's name and each option that differs from its default: bert_base_layers2. options: (value, default).
def _said(name: str, **options: tuple[object, object]) -> str:
    return "_".join([name, *(f"{what}{value}" for what, (value, default) in options.items() if value != default)])


def attention(b: Builder, name: str, x: str, residual: str, heads: int) -> str:
    """Attention of x over itself and the residual sum."""
    return b.add(f"{name}_add1", [attended(b, name, x, x, heads), residual])


def feed_forward(b: Builder, name: str, x: str, residual: str) -> str:
    """Two layers with four times the features between them, and the residual sum."""
    y = b.fc(f"{name}_fc2", b.fc(f"{name}_fc1", x, 4 * b.shape(x)[2]), b.shape(x)[2])
    return b.add(f"{name}_add2", [y, residual])
