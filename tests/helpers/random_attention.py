"""Random products of grouped queries over a cache and new rows, alone and in networks, for tests of the loops."""

from __future__ import annotations

import random

from workloads import Builder, Mask, Network


def random_mask(rng: random.Random, queries: int, keys: int) -> Mask:
    """Return a mask that hides no key from all queries: causal, sliding, chunked, or near on both sides."""
    past = keys - queries
    behind = rng.choice((None, past, past + 1, rng.randint(past, keys)))
    ahead = rng.choice((0, 0, 0, 1, rng.randint(0, keys), None))
    chunk = rng.choice((0, 0, past + 1, rng.randint(past + 1, keys + 2)))
    return Mask(behind, ahead, chunk)


def random_masked_attention(rng: random.Random) -> Network:
    """Return a network of one attention with a mask: fewer heads of keys, a cache above them, or itself."""
    b = Builder("one")
    own, sharing = rng.choice((1, 2, 3)), rng.choice((1, 1, 2, 4))
    inner, made, rows = rng.choice((1, 4, 8, 12)), rng.choice((1, 4, 8, 12)), rng.choice((1, 2, 3, 5, 9, 17, 30))
    if rng.random() < 0.15:  # of itself
        x = b.input("x", rows, 1, own * inner)
        b.attention("n", x, x, x, own, mask=random_mask(rng, rows, rows))
        return b.build()
    past, second = rng.choice((0, 0, 1, 5, 14)), list[list[str]]()
    query = b.input("q", rows, 1, own * sharing * inner)
    for part, width in (("k", own * inner), ("v", own * made)):
        second.append([*_cache(b, part, past, width), b.input(part, rows, 1, width)])
    b.attention("n", query, *second, own * sharing, own, random_mask(rng, rows, rows + past))
    return b.build()


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


def random_attention_in_blocks(rng: random.Random) -> Network:
    """Return a network of one attention: fewer heads of keys, a cache above them, maps, or a map as its own keys."""
    b = Builder("one")
    own, sharing = rng.choice((1, 2, 3)), rng.choice((1, 1, 2, 4))
    inner, made, positions = rng.choice((1, 4, 8, 12)), rng.choice((1, 4, 8, 12)), rng.choice((1, 2, 3, 8, 17, 20, 40))
    if rng.random() < 0.15:  # of itself
        x = b.input("x", rng.randint(1, 5), rng.randint(1, 4), own * inner)
        b.attention("n", x, x, x, own)
        return b.build()
    past, heads = rng.choice((0, rng.randint(0, positions - 1))), own * sharing
    query = b.input("q", rng.randint(1, 6), rng.choice((1, 1, 3)), heads * inner)
    second: list[list[str]] = []
    for part, width in (("k", own * inner), ("v", own * made)):
        second.append([*_cache(b, part, past, width), b.input(part, positions - past, 1, width)])
    b.attention("n", query, *second, heads, own)
    return b.build()


def random_attention_in_layers(rng: random.Random) -> Network:
    """Return a network of an attention in layers: scores, perhaps a scale, softmax, context, perhaps a projection.

    Fewer heads of keys, a cache above them, or a map as its own keys and values; queries perhaps of a projection.
    """
    b = Builder("layers")
    own, sharing = rng.choice((1, 2, 3)), rng.choice((1, 1, 2, 4))
    inner, made, positions = rng.choice((1, 4, 8, 12)), rng.choice((1, 4, 8, 12)), rng.choice((1, 2, 3, 8, 17, 20, 40))
    heads, second = own * sharing, list[list[str]]()
    if rng.random() < 0.15:
        query = b.input("x", rng.choice((2, 3, 5)), rng.randint(1, 4), own * inner)
        heads, second = own, [[query], [query]]
    else:
        past = rng.choice((0, rng.randint(0, positions - 1)))
        query = b.input("q", rng.choice((1, 2, 6, 30)), rng.choice((1, 1, 3)), heads * inner)
        if rng.random() < 0.3:
            query = b.fc("query", query, heads * inner)
        for part, width in (("k", own * inner), ("v", own * made)):
            second.append([*_cache(b, part, past, width), b.input(part, positions - past, 1, width)])
    scores = b.matmul("scores", query, second[0], heads, transpose=True, operand_heads=own)
    if rng.random() < 0.3:
        scores = b.mul("scaled", [scores])
    context = b.matmul("context", b.softmax("softmax", scores), second[1], heads, operand_heads=own)
    if rng.random() < 0.5:
        b.fc("out", context, 8)
    return b.build()


def _cache(b: Builder, part: str, past: int, width: int) -> list[str]:
    return [b.input(f"{part}_cache", past, 1, width, kind="cache")] if past else []


def random_decoder(rng: random.Random, in_blocks: bool = False, is_masked: bool = False) -> Network:
    """Return a small decoder layer: grouped queries, a cache (or none), perhaps one attention; gated feed-forward."""
    b = Builder("decoder")
    mask = None
    own, sharing, width = rng.choice((1, 2)), rng.choice((1, 2, 3)), rng.choice((4, 8))
    heads, length, past = own * sharing, rng.randint(1, 5), rng.choice((0, 1, 6, 9))
    features = 8 * rng.randint(1, 3)
    x = b.input("tokens", length, 1, features)
    y = b.layernorm("norm1", x)
    if is_masked:
        mask = random_mask(rng, length, length + past)
    query, second = b.fc("q", y, heads * width), {}
    for part in "kv":
        second[part] = [*_cache(b, part, past, own * width), b.fc(part, y, own * width, appended=True)]
    if in_blocks:
        context = b.attention("attention", query, second["k"], second["v"], heads, own, mask)
    else:
        scores = b.matmul("scores", query, second["k"], heads, transpose=True, operand_heads=own, mask=mask)
        softmax = b.softmax("softmax", scores, mask, heads)
        context = b.matmul("context", softmax, second["v"], heads, operand_heads=own, mask=mask)
    x = b.add("add1", [b.fc("out", context, features), x])
    up = b.mul("mul", [b.fc("gate", x, 2 * features), b.fc("up", x, 2 * features)])
    b.add("add2", [b.fc("down", up, features), x])
    return b.build()
