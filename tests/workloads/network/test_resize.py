"""shrink: the same network on smaller maps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workloads
from tests.helpers.random_networks import QUICK, networks
from workloads import NetworkError, shrink
from workloads.network.builder import Builder


def shapes(network):
    return {tensor.name: (tensor.height, tensor.width, tensor.channels) for tensor in network.tensors}


@pytest.mark.parametrize("name", [name for name in workloads.names() if name not in workloads.CLIP_NETWORKS])
def test_a_factor_of_one_changes_nothing(name):
    network = workloads.load(name)
    assert shrink(network, 1) == network


@pytest.mark.parametrize(
    ("name", "factor"),
    [("vgg16", 7), ("resnet50", 16), ("resnet152", 16), ("googlenet", 7), ("nasnet", 12), ("randwire_a", 16),
     ("randwire_b", 16), ("transformer", 32), ("gpt", 32)],
)  # fmt: skip
def test_the_built_in_networks_shrink(name, factor):
    """Layers, operands and channels of everything with weights stay; the work falls."""
    network, small = workloads.load(name), shrink(workloads.load(name), factor)
    assert small.name == network.name
    assert small.concats == network.concats
    assert [(a.name, a.op, a.inputs) for a in small.layers] == [(a.name, a.op, a.inputs) for a in network.layers]
    dense = [(a.channels, a.in_channels) for a in small.layers if a.op in ("conv", "fc")]
    assert dense == [(a.channels, a.in_channels) for a in network.layers if a.op in ("conv", "fc")]
    assert small.macs * factor < network.macs


def test_resnet_maps_follow_by_hand():
    """224 / 5 -> 45; conv1 (45 + 6 - 7) / 2 + 1 = 23; pool1 (23 + 2 - 3) / 2 + 1 = 12; stages 12, 6, 3, 2; pool5 1."""
    small = shapes(shrink(workloads.load("resnet50"), 5))
    names = ("image", "conv1", "pool1", "s1b1_add", "s2b1_add", "s3b1_add", "s4b1_add", "pool5", "fc")
    assert [small[name][0] for name in names] == [45, 23, 12, 12, 6, 3, 2, 1, 1]


def test_what_spans_its_map_keeps_spanning_it():
    """VGG's fc6 flattens 7x7x512; at a quarter of 224 the map is 1x1. ResNet's last pool spans 7x7, then 4x4."""
    vgg = shrink(workloads.load("vgg16"), 4)
    assert vgg.layers[vgg.index["fc6"]].kernel == (1, 1)
    resnet = shrink(workloads.load("resnet50"), 2)
    assert resnet.layers[resnet.index["pool5"]].kernel == (4, 4)


def test_pools_round_as_they_did():
    """GoogleNet at 224 / 3 -> 75: conv1 38; pool1 (38 - 3) / 2 = 17.5 up to 18, + 1 = 19."""
    assert shapes(shrink(workloads.load("googlenet"), 3))["pool1"] == (19, 19, 64)
    b = Builder("floor")
    b.maxpool("pool", b.input("image", 22, 22, 4), 3, 2)
    assert shapes(shrink(b.build(), 2))["pool"] == (5, 5, 4)
    b = Builder("floor")
    b.maxpool("pool", b.input("image", 20, 20, 4), 3, 2)
    assert shapes(shrink(b.build(), 2))["pool"] == (4, 4, 4)


def test_attention_follows_the_length():
    """512 / 32 -> 16 rows; 8 heads of 16 scores; the features stay."""
    small = shapes(shrink(workloads.load("transformer"), 32))
    assert small["enc1_q"] == (16, 1, 512)
    assert small["enc1_scores"] == (16, 1, 128)
    assert small["enc1_softmax"] == (16, 1, 128)
    assert small["enc1_context"] == (16, 1, 512)


def test_square_attention_of_one_head_is_not_mistaken():
    """64 rows of 64: scores and context have the same shapes; at half the length they differ: 32 and 64 channels."""
    b = Builder("square")
    x = b.input("text", 64, 1, 64)
    scores = b.matmul("scores", b.fc("q", x, 64), b.fc("k", x, 64), transpose=True)
    b.matmul("context", b.softmax("softmax", scores), b.fc("v", x, 64))
    small = shapes(shrink(b.build(), 2))
    assert small["scores"] == (32, 1, 32)
    assert small["context"] == (32, 1, 64)


def test_a_broadcast_operand_follows_and_is_no_longer_whole_on_a_map_of_one():
    b = Builder("gate")
    x = b.input("image", 8, 8, 4)
    b.mul("scaled", [x, b.global_avgpool("mean", x)])
    half, one = shrink(b.build(), 2), shrink(b.build(), 8)
    assert shapes(half) == {"image": (4, 4, 4), "mean": (1, 1, 4), "scaled": (4, 4, 4)}
    assert half.layers[1].whole == (1,)
    assert one.layers[1].whole == ()


def test_uneven_same_padding_is_computed_anew():
    """42 rows, 5x5 stride 2 "same" pad 1 + 2; 21 rows pad 2 + 2: 11 windows, as the 1x1 stride 2 beside them."""
    b = Builder("same")
    x = b.input("image", 42, 42, 4)
    b.add("sum", [b.conv("five", x, 4, 5, 2, "same"), b.conv("one", x, 4, 1, 2)])
    small = shrink(b.build(), 2)
    assert small.layers[0].padding == (2, 2, 2, 2)
    assert shapes(small)["sum"] == (11, 11, 4)


@pytest.mark.parametrize("method", ["nearest", "linear", "cubic"])
def test_a_resize_makes_its_own_extents_divided_by_the_factor(method):
    """28 rows to 10 by 3; twice that were 20, but the map that it meets has 56 / 3, rounded up."""
    b = Builder("up")
    image = b.input("image", 56, 56, 4)
    half = b.conv("half", image, 4, 3, 2, 1)
    pool = b.global_avgpool("pool", half)
    b.add("sum", [b.resize("up", half, 56, 56, method), b.resize("one", pool, 56, 56, method)])
    small = shrink(b.build(), 3)
    found = shapes(small)
    assert [found[name] for name in ("half", "up", "one", "sum")] == [(10, 10, 4)] + [(19, 19, 4)] * 3
    expected = Builder("up")
    x = expected.input("x", 10, 10, 4)
    expected.resize("up", x, 19, 19, method)
    same = expected.build().layers[0]
    up = small.layers[small.index["up"]]
    assert (up.kernel, up.stride, up.padding, up.upsample) == (same.kernel, same.stride, same.padding, same.upsample)


def test_a_map_never_falls_below_one():
    """3x3 with padding 1 still fits a map of 1x1."""
    b = Builder("net")
    b.conv("conv", b.input("image", 5, 7, 4), 4, kernel=3, padding=1)
    assert shapes(shrink(b.build(), 100)) == {"image": (1, 1, 4), "conv": (1, 1, 4)}


def test_a_kernel_that_no_longer_fits_is_named():
    with pytest.raises(NetworkError) as error:
        shrink(workloads.load("vgg16"), 16)
    assert str(error.value) == (
        "network 'vgg16' does not shrink by 16: layer 'pool4' has a window of 2, which does not fit on an extent of 1 "
        "with padding 0 and 0; use a smaller factor"
    )


@pytest.mark.parametrize("factor", [0, -1, 1.5, 2.0, True, "2", None])
def test_a_factor_is_a_positive_integer(factor):
    with pytest.raises(NetworkError, match="factor of .*; it must be an integer of at least 1"):
        shrink(workloads.load("vgg16"), factor)


@QUICK
@given(networks(), st.integers(1, 4))
def test_random_networks_shrink_or_say_why_not(network, factor):
    try:
        small = shrink(network, factor)
    except NetworkError as error:
        assert factor > 1
        assert str(error).startswith(f"network 'random' does not shrink by {factor}: layer ")
        return
    if factor == 1:
        assert small == network
    for before, after in zip(network.inputs, small.inputs, strict=True):
        assert (after.height, after.width) == (-(-before.height // factor), -(-before.width // factor))
        assert after.channels == before.channels
    for before, after in zip(network.layers, small.layers, strict=True):
        assert (after.dilation, after.op) == (before.dilation, before.op)
        assert after.op == "resize" or after.stride == before.stride
        assert after.size_bytes <= before.size_bytes or before.op == "matmul"
