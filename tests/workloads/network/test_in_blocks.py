"""Attentions made of layers become one layer each where it describes them; the others stay, and a note says why."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import workloads
from simulator import Accelerator, Partition
from simulator.execution import verify
from tests.helpers.random_attention import random_decoder
from workloads import Bits, Builder, NetworkError, attention_in_blocks
from workloads.network.rewriting.in_blocks import LEFT, MADE, attention_text

HEADS, WIDTH, ROWS = 2, 8, 6
FULL = HEADS * WIDTH


def attention(b, change=""):
    """Scores, softmax and context of two heads of 8 channels over 6 positions, with one thing that is unusual."""
    q, k, v = (b.input(name, ROWS, 1, FULL) for name in "qkv")
    heads = 1 if change == "heads" else HEADS
    if change == "turned keys":  # 16 rows of 2 heads x 8 channels, but of 6 positions: R x (heads M)
        k = b.input("turned", WIDTH, 1, HEADS * ROWS)
    if change == "cache":
        k = (b.input("cache", 2, 1, FULL, kind="cache"), b.input("new", ROWS - 2, 1, FULL))
    x = b.matmul("a_scores", q, k, HEADS, transpose=change != "turned keys")
    if change == "mask":
        x = b.add("mask", [x, b.input("table", ROWS, 1, HEADS * ROWS)])
    if change == "scale":
        x = b.mul("scale", [x])
    if change == "mixed heads":
        x = b.conv("mixed", x, HEADS * ROWS)
    weights = b.softmax("a_softmax", x)
    if change == "mixed weights":
        weights = b.conv("mixed", weights, HEADS * ROWS)
    if change == "second":
        turned = b.rearrange("turn", v, FULL, 1, ROWS)
        found = b.matmul("a_context", turned, b.rearrange("flat", weights, ROWS, 1, HEADS * ROWS), 1)
    elif change == "heads":
        found = b.matmul("a_context", weights, b.input("wide", HEADS * ROWS, 1, FULL), heads)
    elif change == "turned values":
        found = b.matmul("a_context", weights, b.input("turned", 5, 1, HEADS * ROWS), HEADS, transpose=True)
    else:
        found = b.matmul("a_context", weights, v, HEADS)
    if change == "read":
        b.fc("shown", weights, 4)
    return found


def built(change=""):
    b = Builder("one")
    b.fc("out", attention(b, change), FULL)
    return b.build()


def test_scores_softmax_and_context_become_one_layer_by_hand():
    """6 x 6 positions, 2 heads of 8: 2 x 6 x 6 x 16 MACs; the layer stands where its context did."""
    network = built()
    found = attention_in_blocks(network)
    b = Builder("one_blocks")
    b.fc("out", b.attention("a_attention", *(b.input(name, ROWS, 1, FULL) for name in "qkv"), HEADS), FULL)
    assert found == b.build()
    assert found.macs == network.macs == 2 * 6 * 6 * 16 + 6 * 16 * 16
    assert [(note.node, note.how) for note in found.notes] == [("a_attention", MADE)]
    assert found.layers[0].light_ops == network.layers[1].light_ops


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("mask", "another map joins the scores"),
        ("mixed heads", "a conv between scores and softmax"),
        ("mixed weights", "a conv between softmax and context"),
        ("read", "something else reads the scores"),
        ("second", "a rearrange between softmax and context"),
        ("heads", "scores and context have different heads"),
        ("turned keys", "the keys lie transposed"),
        ("turned values", "the values lie transposed"),
        ("cache", "keys or values alone have a cache"),
    ],
)
def test_what_no_layer_describes_stays_and_is_named(change, why):
    network = built(change)
    found = attention_in_blocks(network)
    assert found == network
    assert [(note.node, note.op, note.how) for note in found.notes] == [("a_softmax", why, LEFT)]
    assert attention_text(found) == f"0 in blocks; 1 in layers: {why} (a_softmax)"


def test_a_softmax_that_is_the_second_operand_stays():
    b = Builder("one")
    weights = b.softmax("w", b.matmul("s", b.input("q", ROWS, 1, WIDTH), b.input("k", ROWS, 1, WIDTH), transpose=True))
    b.matmul("c", b.input("v", WIDTH, 1, ROWS), weights)
    assert "second operand" in attention_in_blocks(b.build()).notes[0].op


def test_what_scales_the_scores_alone_is_part_of_the_attention():
    found = attention_in_blocks(built("scale"))
    assert found == attention_in_blocks(built())


def test_types_of_its_layers_that_differ_and_rows_of_a_cache_stay():
    network = built()
    layers = list(network.layers)
    layers[1] = replace(layers[1], bits=Bits(activations=16))
    found = attention_in_blocks(replace(network, layers=tuple(layers)))
    assert [note.op for note in found.notes] == ["its layers have different types"]
    layers[1] = replace(network.layers[1], appended=True)
    found = attention_in_blocks(replace(network, layers=tuple(layers)))
    assert [note.op for note in found.notes] == ["something else reads the scores"]


def test_a_softmax_without_both_products_is_no_attention():
    """A choice of experts, scores that are an output, and products that are far off."""
    b = Builder("none")
    x = b.input("x", ROWS, 1, FULL)
    b.softmax("choice", b.fc("router", x, 4))
    b.softmax("output", b.matmul("scores", x, b.input("k", ROWS, 1, FULL), transpose=True))
    network = b.build()
    found = attention_in_blocks(network)
    assert found == network and not found.notes
    assert attention_text(found) == "none that could run in blocks"


def test_names_are_those_of_the_context_where_its_layers_share_none_or_it_is_taken():
    b = Builder("n")
    x = b.input("x", ROWS, 1, FULL)
    y = b.matmul("matmul_1", b.softmax("softmax", b.matmul("matmul", x, x, transpose=True)), x)
    b.matmul("l_c", b.softmax("l_b", b.matmul("l_a", b.fc("l_attention", y, FULL), y, transpose=True)), y)
    found = attention_in_blocks(b.build())
    assert [layer.name for layer in found.layers] == ["matmul_1", "l_attention", "l_c"]
    assert found.layers[2].inputs == ("l_attention", "matmul_1", "matmul_1")


def test_concats_stand_where_they_stood():
    """One before the attention, one that reads it: both dissolved; the file that is written reads back equal."""
    b = Builder("parts")
    x = b.input("x", ROWS, 1, FULL)
    y = b.conv("first", b.concat("before", [x, b.conv("a", x, 4)]), FULL)
    z = b.matmul("m_context", b.softmax("m_softmax", b.matmul("m_scores", y, y, HEADS, transpose=True)), y, HEADS)
    b.conv("last", b.concat("after", [z, y]), 8)
    found = attention_in_blocks(b.build())
    assert [(each.name, each.inputs, each.position) for each in found.concats] == [
        ("before", ("x", "a"), 1), ("after", ("m_attention", "first"), 3),
    ]  # fmt: skip


def test_files_of_networks_in_blocks_are_read_back(tmp_path):
    found = workloads.load("transformer_10_20", attention="blocks")
    workloads.save(found, tmp_path / "blocks.json")
    assert workloads.load(tmp_path / "blocks.json") == found
    workloads.save(workloads.load("transformer_10_20"), tmp_path / "layers.json")
    assert workloads.load(tmp_path / "layers.json", attention="blocks") == found


@pytest.mark.parametrize("seed", range(60))
def test_random_decoders_are_as_if_written_in_blocks(seed):
    three, one = (random_decoder(random.Random(seed), in_blocks) for in_blocks in (False, True))
    found = attention_in_blocks(three)
    names = {"attention": "context"}
    expected = tuple(
        replace(each, name=names.get(each.name, each.name), inputs=tuple(names.get(n, n) for n in each.inputs))
        for each in one.layers
    )
    assert (found.inputs, found.layers) == (one.inputs, expected)
    assert attention_in_blocks(found) == found
    assert attention_in_blocks(found).notes == found.notes


@pytest.mark.parametrize("name", [each for each in workloads.names() if each not in workloads.CLIP_NETWORKS])
def test_built_in_networks_keep_their_counts(name):
    network = workloads.load(name)
    found = workloads.load(name, attention="blocks")
    assert (found.macs, found.weight_bytes, found.inputs) == (network.macs, network.weight_bytes, network.inputs)
    softmaxes = sum(layer.op == "softmax" and "choice" not in layer.name for layer in network.layers)
    assert sum(note.how == MADE for note in found.notes) == softmaxes == (len(network.layers) - len(found.layers)) / 2
    assert not [note for note in found.notes if note.how == LEFT]


def test_an_attention_over_the_positions_of_a_map_is_executed():
    """A vision transformer that is imported has a map of tokens: 5 x 4, so 20 keys."""
    b = Builder("map")
    q, k, v = (b.fc(name, b.input(f"x_{name}", 5, 4, 16), 16, flatten=False) for name in "qkv")
    b.matmul("context", b.softmax("softmax", b.matmul("scores", q, k, HEADS, transpose=True)), v, HEADS)
    network = attention_in_blocks(b.build())
    assert (network.layers[-1].op, network.layers[-1].width, network.layers[-1].keys) == ("attention", 4, 20)
    for size in (2**9, 2**10, 2**20):
        assert verify(network, Partition.layerwise(network), Accelerator(shared_buffer=size)).verified


def test_a_word_that_is_none_is_refused():
    with pytest.raises(NetworkError, match="'gpt2' has attention 'whole'; it must be layers or blocks"):
        workloads.load("gpt2", attention="whole")
