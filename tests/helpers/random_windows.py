"""Random attention in blocks of positions (windows of a map, rows, columns): products alone, and in networks."""

from __future__ import annotations

import random

from workloads import Builder, Network


def _map(rng: random.Random, most: int = 4) -> tuple[int, int, int]:
    """Rows, columns, and blocks that divide their positions."""
    height, width = rng.randint(1, 6), rng.choice((1, 2, 3, 4))
    blocks = [n for n in range(2, most * 3) if height * width % n == 0]
    return (height, width, rng.choice(blocks)) if blocks else _map(rng, most)


def random_product_in_blocks(rng: random.Random) -> Network:
    """Return a network of one product: scores of rows of a block with those of a block of another map, or context."""
    b = Builder("one")
    height, width, blocks = _map(rng)
    heads, inner, rows = rng.choice((1, 2, 3)), rng.choice((1, 4, 8, 12, 24)), rng.choice((1, 2, 3, 9, 16))
    is_scores = rng.random() < 0.5
    query = b.input("q", height, width, heads * (inner if is_scores else rows))
    shape = (rows, blocks) if rng.random() < 0.8 else (blocks * rows, 1)
    second = b.input("k", *shape, heads * inner)
    b.matmul("n", query, second, heads, transpose=is_scores, operand_heads=blocks * heads)
    return b.build()


def random_windows(rng: random.Random) -> Network:
    """Return a layer of an encoder whose attention is one of windows, perhaps with one pooled key a window."""
    b = Builder("windows")
    height, width, blocks = _map(rng)
    heads, channels = rng.choice((1, 2)), rng.choice((4, 8, 12))
    x = b.conv("stem", b.input("image", height, width, 3), heads * channels, 3, padding=1)
    y = b.layernorm("norm", x)
    q, k, v = (b.conv(part, y, heads * channels) for part in "qkv")
    if rng.random() < 0.3:  # of other rows: a window of each has its own
        rows = rng.randint(1, 3)
        k, v = (b.input(f"{part}_rows", rows, blocks, heads * channels) for part in "kv")
    scores = b.matmul("scores", q, k, heads, transpose=True, operand_heads=blocks * heads)
    context = b.matmul("context", b.softmax("softmax", scores), v, heads, operand_heads=blocks * heads)
    z = b.add("sum", [x, b.conv("out", context, heads * channels)])
    b.conv("last", z, 8, 3, padding=1)
    return b.build()
