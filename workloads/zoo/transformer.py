"""Transformer base (Vaswani et al., 2017) and GPT-1 (Radford et al., 2018), without embeddings and output head.

44.1 M and 85.1 M parameters. Sequences are maps of length x 1 x features. Attention is computed in full,
whatever a mask would hide. Normalisation follows each residual sum, in both (the original papers).
"""

from __future__ import annotations

from workloads.network.builder import Builder
from workloads.network.network import Network


def transformer(length: int = 512) -> Network:
    """Return the base model, 6 encoder and 6 decoder layers; `length` is that of source and target."""
    b = Builder("transformer")
    return _both(b, b.input("source", length, 1, 512), b.input("target", length, 1, 512))


def transformer_10_20() -> Network:
    """Return one sample of COSMA's Transformer: the base model on a source of 10 and a target of 20 tokens.

    COSMA (Fig. 3) gives it "two input tensors of size (10, 32, 512) and (20, 32, 512)": length, batch, features, the
    example in the documentation of torch.nn.Transformer, which also normalises what leaves the encoder and the decoder
    (44,140,544 parameters). A Network is one sample; a batch of 32 multiplies every activation by 32.
    """
    b = Builder("transformer_10_20")
    source, target = b.input("source", 10, 1, 512), b.input("target", 20, 1, 512)
    return _both(b, source, target, norms=True)


def encoder_stack(length: int = 128) -> Network:
    """Return the 6 encoder layers alone: 78 layers, the golden example of whole-tensor scheduling."""
    b = Builder("encoder_stack")
    _encoder(b, b.input("tokens", length, 1, 512))
    return b.build()


def gpt(length: int = 512) -> Network:
    """Return GPT-1: 12 decoder layers of 768 features and 12 heads."""
    b = Builder("gpt")
    x = b.input("tokens", length, 1, 768)
    for i in range(1, 13):
        x = _attention(b, f"l{i}", x, x, heads=12)
        x = _feed_forward(b, f"l{i}", x)
    return b.build()


def _both(b: Builder, source: str, target: str, norms: bool = False) -> Network:
    """6 encoder and 6 decoder layers; `norms` normalises what leaves either stack once more."""
    x = _encoder(b, source)
    x = b.layernorm("enc_norm", x) if norms else x
    y = target
    for i in range(1, 7):
        y = _attention(b, f"dec{i}_self", y, y, heads=8)
        y = _attention(b, f"dec{i}_cross", y, x, heads=8)
        y = _feed_forward(b, f"dec{i}", y)
    if norms:
        b.layernorm("dec_norm", y)
    return b.build()


def _encoder(b: Builder, x: str) -> str:
    for i in range(1, 7):
        x = _attention(b, f"enc{i}", x, x, heads=8)
        x = _feed_forward(b, f"enc{i}", x)
    return x


def _attention(b: Builder, name: str, x: str, memory: str, heads: int) -> str:
    """Multi-head attention of x over memory, its residual sum and normalisation."""
    return b.layernorm(f"{name}_norm", b.add(f"{name}_add", [attended(b, name, x, memory, heads), x]))


def attended(b: Builder, name: str, x: str, memory: str, heads: int) -> str:
    """Multi-head attention of x over memory."""
    features = b.shape(x)[2]
    query, key, value = (b.fc(f"{name}_{part}", read, features) for part, read in zip("qkv", (x, memory, memory)))
    scores = b.matmul(f"{name}_scores", query, key, heads=heads, transpose=True)
    context = b.matmul(f"{name}_context", b.softmax(f"{name}_softmax", scores), value, heads=heads)
    return b.fc(f"{name}_out", context, features)


def _feed_forward(b: Builder, name: str, x: str) -> str:
    """Two layers with four times the features between them, their residual sum and normalisation."""
    y = b.fc(f"{name}_ffn2", b.fc(f"{name}_ffn1", x, 4 * b.shape(x)[2]), b.shape(x)[2])
    return b.layernorm(f"{name}_ffn_norm", b.add(f"{name}_ffn_add", [y, x]))
