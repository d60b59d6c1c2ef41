"""ViT-B/16 (Dosovitskiy et al., 2020, Table 1): 17.6 GMAC, 86.6 M parameters (torchvision 0.29: 86,567,656).

The image comes as its patches, a sequence: 16x16 patches with stride 16 do not overlap, so the first convolution is a
fully connected layer of 768 values for each, with the same bytes, weights and MACs. The class token is the first row of
the sequence from the start (torchvision puts it before the rows that leave that layer): 0.6 MMAC more.
Position embeddings are constants that are added, like a bias, and left out.
"""

from __future__ import annotations

from workloads.errors import check_option
from workloads.network.builder import Builder
from workloads.network.network import Network
from workloads.zoo.encoders import attention, feed_forward

FEATURES, HEADS, LAYERS, PATCH = 768, 12, 12, 16


def vit_b16(size: int = 224) -> Network:
    """Return ViT-B/16 on an image of size x size, a multiple of 16, with a class token and a head of 1000."""
    check_option("vit_b16", "size", size, PATCH)
    b = Builder("vit_b16")
    rows = (size // PATCH) ** 2 + 1
    x = b.input("patches", rows, 1, 3 * PATCH * PATCH)
    x = b.fc("embed", x, FEATURES)
    for i in range(1, LAYERS + 1):
        x = attention(b, f"l{i}", b.layernorm(f"l{i}_norm1", x), x, HEADS)
        x = feed_forward(b, f"l{i}", b.layernorm(f"l{i}_norm2", x), x)
    x = b.layernorm("norm", x)
    b.conv("head", x, 1000, padding=(0, 0, 1 - rows, 0))  # reads the class token only
    return b.build()
