"""Random products of grouped queries over a cache and new rows, alone and in networks, for tests of the loops."""

from __future__ import annotations

import random

from workloads import Builder, Network


def random_attention_product(rng: random.Random) -> Network:
    """Return a network of one product, whose second operand may be two inputs and may have fewer heads."""
    b = Builder("one")
    own, sharing = rng.choice((1, 2, 3)), rng.choice((1, 2, 4))
    inner, positions = rng.choice((1, 4, 8, 12, 24)), rng.choice((2, 3, 8, 16, 20))
    past = rng.choice((0, rng.randint(1, positions - 1)))
    heads, rows = own * sharing, rng.randint(1, 6)
    is_scores = rng.random() < 0.5
    width = own * (inner if is_scores else rng.choice((1, 4, 8, 12)))
    query = b.input("q", rows, 1, heads * (inner if is_scores else positions))
    cache = [b.input("cache", past, 1, width, kind="cache")] if past else []
    second = [*cache, b.input("new", positions - past, 1, width)]
    b.matmul("n", query, second, heads, transpose=is_scores, operand_heads=own)
    return b.build()


def random_decoder(rng: random.Random) -> Network:
    """Return a small decoder layer: grouped queries, a cache (or none), a gated feed-forward layer, perhaps experts."""
    b = Builder("decoder")
    own, sharing, width = rng.choice((1, 2)), rng.choice((1, 2, 3)), rng.choice((4, 8))
    heads, length, past = own * sharing, rng.randint(1, 5), rng.choice((0, 1, 6, 9))
    features = 8 * rng.randint(1, 3)
    x = b.input("tokens", length, 1, features)
    y = b.layernorm("norm1", x)
    query, second = b.fc("q", y, heads * width), {}
    for part in "kv":
        rows = [b.input(f"{part}_cache", past, 1, own * width, kind="cache")] if past else []
        second[part] = [*rows, b.fc(part, y, own * width, appended=True)]
    scores = b.matmul("scores", query, second["k"], heads, transpose=True, operand_heads=own)
    context = b.matmul("context", b.softmax("softmax", scores), second["v"], heads, operand_heads=own)
    x = b.add("add1", [b.fc("out", context, features), x])
    up = b.mul("mul", [b.fc("gate", x, 2 * features), b.fc("up", x, 2 * features)])
    b.add("add2", [b.fc("down", up, features), x])
    return b.build()
