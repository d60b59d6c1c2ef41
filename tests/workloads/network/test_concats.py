"""The readers of dissolved concatenations are found again."""

import pytest
from hypothesis import given

import workloads
from tests.helpers.random_networks import QUICK, networks
from workloads.errors import NetworkError
from workloads.network.builder import Builder
from workloads.network.layers.layer import Concat, Layer, Tensor
from workloads.network.network import Network
from workloads.network.rewriting.concats import sources


def test_readers_name_the_concat_they_read():
    net = workloads.load("googlenet")
    found = sources(net)
    assert found["inception_3b_1x1"] == ("inception_3a_concat",)
    assert found["pool3"] == ("inception_3b_concat",)
    assert found["conv2"] == ("conv2_reduce",)
    assert found["inception_3a_concat"] == net.concats[0].inputs


def test_concats_that_overlap_each_get_a_reader():
    """conv1 reads a + (b c), conv2 (a b), conv3 c: taking (a b) out of conv1 would leave (b c) without a reader."""
    b = Builder("net")
    image = b.input("image", 4, 4, 2)
    for name in ("a", "b", "c"):
        b.conv(name, image, 2)
    b.concat("ab", ["a", "b"])
    b.concat("bc", ["b", "c"])
    b.conv("conv1", ["a", "bc"], 2)
    b.conv("conv2", "ab", 2)
    b.conv("conv3", "c", 2)
    found = sources(b.build())
    assert found["conv1"] == ("a", "bc")
    assert found["conv2"] == ("ab",)
    assert found["conv3"] == ("c",)


def test_one_layer_may_read_several_concats_in_a_row():
    """Each is read alone too; (b c) would fit in between, but only where the longer (c d a) leaves it no room."""
    b = Builder("net")
    image = b.input("image", 4, 4, 2)
    for name in ("a", "b", "c", "d"):
        b.conv(name, image, 2)
    for parts in ("ab", "cda", "bc"):
        b.concat(parts, list(parts))
        b.conv(f"alone_{parts}", parts, 2)
    b.conv("conv", ["ab", "cda", "bc", "ab"], 2)
    assert sources(b.build())["conv"] == ("ab", "cda", "bc", "ab")


def test_two_concats_of_the_same_parts_are_both_read():
    """conv's operands a a a a hold either at 0, 1 or 2."""
    b = Builder("net")
    image = b.input("image", 4, 4, 2)
    b.conv("a", image, 2)
    b.concat("one", ["a", "a"])
    b.concat("two", ["a", "a"])
    b.conv("conv", ["one", "two"], 2)
    assert sources(b.build())["conv"] == ("one", "two")


def test_prefixes_of_a_dense_block_each_get_their_reader():
    """Layer k reads the concat of all before it; its operands begin with those of every earlier concat."""
    b = Builder("dense")
    features = [b.input("image", 4, 4, 2)]
    for i in range(12):
        features.append(b.conv(f"conv{i}", b.concat(f"cat{i}", features), 2))
    found = sources(b.build())
    assert [found[f"conv{i}"] for i in range(12)] == [(f"cat{i}",) for i in range(12)]


def test_a_concat_that_nobody_can_have_read_is_an_error():
    image = Tensor("image", 2, 2, 2)
    conv = Layer("conv", "conv", ("image",), 2, 2, 2, 2)
    net = Network("net", (image,), (conv,), (Concat("cat", ("conv", "image"), 1),))
    with pytest.raises(NetworkError, match="'cat' has no reader"):
        sources(net)


@QUICK
@given(networks())
def test_expanding_the_concats_gives_the_operands_back(net):
    found = sources(net)
    parts = {}
    for concat in net.concats:
        parts[concat.name] = tuple(part for name in concat.inputs for part in parts.get(name, (name,)))
    for layer in net.layers:
        assert tuple(part for name in found[layer.name] for part in parts.get(name, (name,))) == layer.inputs
    assert {concat.name for concat in net.concats} <= {name for names in found.values() for name in names}
