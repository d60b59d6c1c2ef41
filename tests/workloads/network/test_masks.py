"""Masks of an attention: counts by hand and pair by pair, the rules, files, rewriting, smaller maps."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workloads
from workloads import Builder, Mask, NetworkError
from workloads.network.layers.attention import steps_of

#: mask, queries, keys, and the pairs that are seen, worked out by hand
BY_HAND = [
    (Mask(), 4, 4, 1 + 2 + 3 + 4),
    (Mask(), 2, 6, 5 + 6),  # 4 earlier positions
    (Mask(), 1, 9, 9),  # decode
    (Mask(behind=2), 6, 6, 1 + 2 + 3 + 3 + 3 + 3),
    (Mask(behind=2), 3, 5, 3 + 3 + 3),
    (Mask(chunk=3), 7, 7, (1 + 2 + 3) + (1 + 2 + 3) + 1),
    (Mask(chunk=4), 3, 5, 3 + 4 + 1),  # positions 2, 3 and 4
    (Mask(behind=1, chunk=3), 6, 6, (1 + 2 + 2) * 2),
    (Mask(behind=1, ahead=1), 5, 5, 2 + 3 + 3 + 3 + 2),
    (Mask(ahead=None), 5, 7, 35),  # all
    (Mask(ahead=None, chunk=3), 6, 6, 18),  # two blocks on the diagonal
]


@pytest.mark.parametrize(("mask", "queries", "keys", "pairs"), BY_HAND)
def test_pairs_by_hand(mask, queries, keys, pairs):
    assert mask.pairs(queries, keys) == pairs


FAR = st.one_of(st.none(), st.integers(0, 12))


@given(FAR, FAR, st.integers(0, 8), st.integers(1, 12), st.integers(0, 12), st.integers(1, 3))
def test_a_query_sees_what_the_definition_says(behind, ahead, chunk, positions, past, together):
    """Pair by pair; intervals with the own position in them, none of which begins or ends before an earlier one."""
    mask, keys, before = Mask(behind, ahead, chunk, together), past + positions, range(0)
    for row in range(positions * together):
        place, seen = past + row // together, mask.seen(row, positions * together, keys)
        assert list(seen) == [
            key
            for key in range(keys)
            if (behind is None or key >= place - behind)
            and (ahead is None or key <= place + ahead)
            and (not chunk or key // chunk == place // chunk)
        ]
        assert place in seen and before.start <= seen.start <= max(before.stop, seen.start) and before.stop <= seen.stop
        before = seen


def attention(mask, queries=6, past=0, heads=2, in_blocks=True):
    b = Builder("one")
    query, second = b.input("q", queries, 1, 4 * heads), []
    for part in "kv":
        cache = [b.input(f"{part}_cache", past, 1, 4 * heads, kind="cache")] if past else []
        second.append([*cache, b.input(part, queries, 1, 4 * heads)])
    keys, values = second
    if in_blocks:
        b.attention("mix", query, keys, values, heads, mask=mask)
    else:
        softmax = b.softmax("softmax", b.matmul("scores", query, keys, heads, True, mask=mask), mask, heads)
        b.matmul("context", softmax, values, heads, mask=mask)
    return b.build()


def test_three_layers_are_one():
    """Causal, 6 queries of 2 heads of 4: 21 pairs, 2 x 21 x 4 MACs of scores and of context, 42 powers."""
    three, one = (attention(Mask(), in_blocks=each) for each in (False, True))
    assert [(layer.macs, layer.light_ops) for layer in three.layers] == [(168, 0), (0, 42), (168, 0)]
    assert (one.macs, one.layers[0].light_ops) == (336, 42)
    for mine, theirs in zip(steps_of(one.layers[0]), three.layers):
        assert (mine.macs, mine.light_ops, mine.mask) == (theirs.macs, theirs.light_ops, Mask())
    blocks = workloads.attention_in_blocks(three)
    assert (blocks.macs, blocks.layers[0].mask, blocks.layers[0].keys) == (336, Mask(), 6)


def test_gemma_2_slides():
    """16 heads of 256 at 16,384 tokens, a window of 4,096: 1 + 2 + .. + 4,096, then 12,288 queries that see 4,096.

    58,722,304 pairs, each of 2 x 16 x 256 MACs. (Half of the window's square in place of its triangle would be
    481,036,337,152: 2,048 pairs of the diagonal less.)
    """
    b = Builder("gemma2")
    b.attention("a", b.input("q", 16384, 1, 4096), b.input("k", 16384, 1, 2048), b.input("v", 16384, 1, 2048), 16, 8,
                Mask(behind=4095))  # fmt: skip
    assert b.build().macs == (4096 * 4097 // 2 + 12288 * 4096) * 2 * 16 * 256 == 481_053_114_368


def test_different_masks_are_no_attention():
    b = Builder("odd")
    query, keys, values = (b.input(each, 6, 1, 8) for each in "qkv")
    softmax = b.softmax("softmax", b.matmul("scores", query, keys, 2, True, mask=Mask()), Mask(behind=1), 2)
    b.matmul("context", softmax, values, 2, mask=Mask())
    (note,) = workloads.attention_in_blocks(b.build()).notes
    assert note.op == "scores, softmax and context have different masks"


@pytest.mark.parametrize(("mask", "past", "message"), [
    (Mask(behind=2), 4, "layer 'mix' (attention) must have no keys that no query sees, such as rows of a cache before "
     "its window; found 2"),
    (Mask(chunk=4), 5, "no keys that no query sees"),
    (Mask(behind=-1), 0, "must have a mask with behind from 0 to 2**20; found -1"),
    (Mask(ahead=True), 0, "must have a mask with ahead from 0 to 2**20; found True"),
    (Mask(chunk=2**21), 0, "must have a mask with chunk from 0 to 2**20; found 2097152"),
    (Mask(together=4), 0, "must have a mask with at least as many keys"),
    ("causal", 0, "layer 'mix' has mask 'causal'; it must be a Mask"),
])  # fmt: skip
def test_a_malformed_mask_is_one_line(mask, past, message):
    with pytest.raises(NetworkError) as found:
        attention(mask, past=past)
    assert message in str(found.value) and "\n" not in str(found.value)


def test_a_map_has_no_mask():
    b = Builder("map")
    maps = [b.input(each, 6, 2, 8) for each in "qkv"]
    with pytest.raises(NetworkError, match="must have no mask; an attention, matmul or softmax of a sequence may"):
        b.attention("mix", *maps, mask=Mask())


@pytest.mark.parametrize(("mask", "past", "in_blocks"), [
    (*each, in_blocks) for each, in_blocks in product(
        [(Mask(), 0), (Mask(behind=3), 3), (Mask(behind=2, ahead=1), 0), (Mask(ahead=None, chunk=3), 2)], (True, False)
    )
])  # fmt: skip
def test_files_keep_a_mask(mask, past, in_blocks, tmp_path):
    network = attention(mask, past=past, in_blocks=in_blocks)
    workloads.save(network, tmp_path / "masked.json")
    assert workloads.load(tmp_path / "masked.json") == network


@pytest.mark.parametrize(("mask", "message"), [
    ("causal", "node 'mix' (attention) has mask 'causal'; it must be an object with some of the keys behind, ahead, "
     "chunk"),
    ({"window": 3}, "it must be an object with some of the keys"),
    ({"behind": "3"}, "must have a mask with behind from 0 to 2**20; found '3'"),
])  # fmt: skip
def test_a_malformed_mask_of_a_file_is_one_line(mask, message, tmp_path):
    workloads.save(attention(Mask()), tmp_path / "masked.json")
    content = json.loads((tmp_path / "masked.json").read_text())
    content["nodes"][-1]["mask"] = mask
    (tmp_path / "masked.json").write_text(json.dumps(content))
    with pytest.raises(NetworkError) as found:
        workloads.load(tmp_path / "masked.json")
    assert message in str(found.value)


@pytest.mark.parametrize("in_blocks", [True, False])
def test_a_smaller_network_keeps_its_masks(in_blocks):
    """Queries and keys are half as many, and see so many of them: 1 + 2 + 3."""
    small = workloads.shrink(attention(Mask(behind=4), in_blocks=in_blocks), 2)
    assert small.layers[0].seen_pairs == 6 and small.macs == 6 * 2 * 8


def test_words():
    masks = [Mask(), Mask(behind=4095), Mask(chunk=8192), Mask(behind=1, ahead=2), Mask(ahead=None)]
    said = ["causal", "window 4,096", "chunks of 8,192", "1 before, 2 after", "none"]
    assert list(map(str, masks)) == said
