"""Bits, shared heads, caches and experts of layers: rules, bytes, files."""

import pickle
from dataclasses import replace

import pytest

import workloads
from workloads import Bits, Builder, Experts, NetworkError, Tensor
from workloads.importing.layer_graph.files import decode, encode
from workloads.network.layers.types import INT8, bits_of


def attention(past=3, length=2, heads=4, own=2):
    b = Builder("attention")
    x = b.input("x", length, 1, 16)
    rows = {part: [b.input(f"{part}_cache", past, 1, 4 * own, kind="cache")] if past else [] for part in "kv"}
    second = {part: [*rows[part], b.fc(part, x, 4 * own, appended=True)] for part in "kv"}
    scores = b.matmul("scores", b.fc("q", x, 4 * heads), second["k"], heads, transpose=True, operand_heads=own)
    b.matmul("context", b.softmax("softmax", scores), second["v"], heads, operand_heads=own)
    return b.build()


def test_a_product_has_the_rows_of_a_cache_and_new_ones():
    network = attention()
    scores, context = (network.layers[network.index[name]] for name in ("scores", "context"))
    assert (scores.channels, context.channels, scores.macs, context.macs) == (4 * 5, 16, 2 * 20 * 4, 2 * 16 * 5)
    assert scores.second_heads == 2 and scores.whole == (1, 2)
    assert [network.layers[v].name for v in network.outputs] == ["k", "v", "context"]
    assert [network.is_output[u] for u in range(len(network.tensors))].count(True) == 3


def test_heads_that_do_not_divide_are_one_line():
    b = Builder("bad")
    x, y = b.input("x", 4, 1, 24), b.input("y", 4, 1, 16)
    with pytest.raises(
        NetworkError, match=r"^layer 'p' \(matmul\) has 4 operand heads; they must divide its 6 heads, or"
    ):
        b.matmul("p", x, y, heads=6, transpose=True, operand_heads=4)
    with pytest.raises(NetworkError, match="cannot multiply 4x1x24 with 4x1x16 transposed in 5 heads"):
        b.matmul("p", x, y, heads=5, transpose=True)
    with pytest.raises(NetworkError, match="0 heads; it must be an integer from 1"):
        b.matmul("p", x, y, heads=0)
    network = attention()
    scores = network.layers[network.index["scores"]]
    for own, words in ((3, "divide its 4 heads"), (5, "divide its 4 heads, or"), (True, "integer")):
        with pytest.raises(NetworkError, match=words):
            replace(network, layers=tuple(replace(v, operand_heads=own) if v is scores else v for v in network.layers))


def test_rows_of_other_widths_do_not_stand_below():
    b = Builder("bad")
    x = b.input("x", 1, 1, 16)
    with pytest.raises(NetworkError, match=r"joins the rows of 3x1x16 and 1x1x8; they must be as wide"):
        b.matmul("p", x, [b.input("c", 3, 1, 16, kind="cache"), b.input("k", 1, 1, 8)], 2, transpose=True)


@pytest.mark.parametrize("past", [0, 3])
@pytest.mark.parametrize("own", [1, 2, 4])
def test_files_keep_caches_and_heads(past, own):
    network = attention(past, own=own)
    assert decode(encode(network)) == network
    bits = network.with_bits(Bits(weights=4, cache=16, sums=24))
    assert decode(encode(bits)) == bits
    assert decode(encode(network) | {"bits": {"weights": 4, "cache": 16, "sums": 24}}) == bits


@pytest.mark.parametrize(("rows", "numbers", "used"), [(3, [4, 2, 4], None), (3, [4, 2, 3], 3), (1, [4, 2, 2], None)])
def test_files_of_version_0_2_say_how_many_experts_one_sample_uses(rows, numbers, used):
    """3 tokens are expected to use 4 (1 - 0.5^3) = 3.5 of 4 experts, 1 token 2: other numbers were given."""
    b = Builder("experts")
    b.fc("up", b.input("x", rows, 1, 8), 2 * 16, experts=Experts(4, 2, used))
    content = encode(b.build())
    assert content["nodes"][-1]["experts"] == [4, 2]
    content["nodes"][-1]["experts"] = numbers
    content["nodes"][-1].pop("experts_used", None)
    assert decode(content) == b.build()


@pytest.mark.parametrize("used", [None, 3])
def test_experts_in_use_follow_the_batch_unless_they_are_given(used, tmp_path):
    """8 tokens of 2 of 4 experts use all; files and pickles keep what is known, and not what one batch uses."""
    b = Builder("experts")
    b.fc("up", b.input("x", 2, 1, 8), 2 * 16, experts=Experts(4, 2, used))
    network = b.build()
    workloads.save(network, tmp_path / "saved.json")
    for each in (network, workloads.load(tmp_path / "saved.json"), pickle.loads(pickle.dumps(network))):
        assert each == network
        loaded = [each.in_batch(samples).weight_bytes for samples in (1, 4)]
        assert loaded == [3 * 8 * 16, (4 if used is None else 3) * 8 * 16]
        assert each.in_batch(4).in_batch(1) == each.in_batch(4)


def test_files_keep_experts_and_bits_of_a_layer():
    b = Builder("experts")
    x = b.input("x", 3, 1, 8)
    b.fc("down", b.fc("up", x, 2 * 16, experts=Experts(4, 2, 3)), 8, experts=Experts(4, 2, 3))
    network = b.build()
    up = network.layers[0]
    assert (up.weight_bytes, up.parameters, up.macs) == (3 * 8 * 16, 4 * 8 * 16, 3 * 2 * 8 * 16)
    assert decode(encode(network)) == network
    one = replace(network, layers=(replace(up, bits=Bits(weights=3)), network.layers[1]))
    assert decode(encode(one)) == one and one.layers[0].weight_bytes == 3 * 8 * 16 * 3 // 8


def test_files_without_them_have_no_new_keys():
    for name in ("vgg16", "gpt", "nasnet"):
        keys = {key for node in encode(workloads.load(name))["nodes"] for key in node}
        assert not keys & {"bits", "cache", "appended", "experts", "operand_heads"}


@pytest.mark.parametrize("value", [0, 33, -1, 8.0, True, "8", None])
@pytest.mark.parametrize("name", ["weights", "activations", "cache", "sums"])
def test_bits_are_1_to_32(name, value):
    with pytest.raises(NetworkError, match=rf"^bits have {name} .*; it must be an integer from 1 to 32$"):
        Bits(**{name: value})
    with pytest.raises(NetworkError, match="from 1 to 32"):
        bits_of({name: value})


def test_malformed_marks_of_nodes_are_one_line():
    content = encode(attention())
    for key, value, words in (
        ("bits", {"weights": 40}, "'k'.*weights 40.*from 1 to 32"),
        ("bits", {"width": 4}, "'k'.*'width'; known are"),
        ("bits", 4, "'k'.*bits are 4"),
        ("appended", "yes", "'k'.*appended 'yes'.*true or false"),
        ("experts", [4], "'k'.*experts.*2 integers"),
        ("experts", [4, 2, 1], "'k'.*1 used"),
        ("experts_used", 3, "no key .experts."),
    ):
        nodes = [node | {key: value} if node["name"] == "k" else node for node in content["nodes"]]
        with pytest.raises(NetworkError, match=words) as error:
            decode(content | {"nodes": nodes})
        assert "\n" not in str(error.value)
    with pytest.raises(NetworkError, match="bits are 8"):
        decode(content | {"bits": 8})


def test_a_position_has_whole_bytes():
    assert Tensor("x", 3, 5, 3, bits=4).size_bytes == 3 * 5 * 2
    assert Tensor("x", 3, 5, 8, bits=16).size_bytes == 3 * 5 * 16
    assert repr(Tensor("x", 3, 5, 8)) == "Tensor(name='x', height=3, width=5, channels=8)"
    assert repr(Tensor("x", 3, 5, 8, "cache", 4)).endswith("channels=8, kind='cache', bits=4)")
    assert Bits(weights=4).to_json() == {"weights": 4} and INT8.to_json() == {}
    with pytest.raises(NetworkError, match="kind 'bin'"):
        replace(attention(), inputs=(Tensor("x", 2, 1, 16, "bin"), *attention().inputs[1:]))
