"""The builder infers shapes, dissolves concatenations and says what does not fit."""

import pytest
from hypothesis import given

from tests.helpers.random_networks import QUICK, networks
from workloads.errors import NetworkError
from workloads.network.builder import Builder
from workloads.network.layers.layer import Concat, Tensor


@pytest.fixture
def b() -> Builder:
    builder = Builder("net")
    builder.input("image", 224, 224, 3)
    builder.input("text", 10, 1, 64)
    return builder


def layer(b: Builder, name: str):
    net = b.build()
    return net.layers[net.index[name]]


def test_convolutions_and_pools_follow_the_worked_shapes(b):
    """ResNet's head: (224 + 6 - 7) / 2 + 1 = 112 (floor), (112 + 2 - 3) / 2 + 1 = 56."""
    assert b.shape(b.conv("conv1", "image", 64, kernel=7, stride=2, padding=3)) == (112, 112, 64)
    assert b.shape(b.maxpool("pool1", "conv1", kernel=3, stride=2, padding=1)) == (56, 56, 64)
    assert b.shape(b.maxpool("ceil", "conv1", kernel=3, stride=2, ceil_mode=True)) == (56, 56, 64)
    assert b.shape(b.maxpool("floor", "conv1", kernel=3, stride=2)) == (55, 55, 64)
    assert b.shape(b.conv("dilated", "pool1", 8, kernel=3, dilation=2)) == (52, 52, 8)
    assert b.shape(b.conv("oblong", "pool1", 8, kernel=(1, 7), stride=(2, 1), padding=(0, 3, 0, 3))) == (28, 56, 8)
    assert b.shape(b.conv("valid", "pool1", 8, kernel=3, padding="valid")) == (54, 54, 8)
    assert b.shape(b.avgpool("shifted", "pool1", 1, 2, padding=(-1, -1, 1, 1))) == (28, 28, 64)
    assert b.shape(b.avgpool("halved", "pool1", 2)) == (28, 28, 64)
    assert b.shape(b.global_avgpool("mean", "pool1")) == (1, 1, 64)
    assert layer(b, "conv1").weight_bytes == 49 * 3 * 64


def test_same_padding_is_as_the_published_networks_have_it(b):
    """224 rows, 3x3 stride 2: 112 windows span 225 rows, one more: it goes to the bottom and the right."""
    b.conv("conv", "image", 8, kernel=3, stride=2, padding="same")
    assert layer(b, "conv").padding == (0, 0, 1, 1)
    assert b.shape("conv") == (112, 112, 8)


def test_a_depthwise_convolution_has_one_group_per_channel(b):
    b.separable("sep", "image", 16, kernel=3, stride=2)
    assert b.shape("sep_dw") == (112, 112, 3)
    assert b.shape("sep_pw") == (112, 112, 16)
    assert layer(b, "sep_dw").is_depthwise
    assert layer(b, "sep_dw").weight_bytes == 27


def test_a_fully_connected_layer_flattens_a_map_and_keeps_the_rows_of_a_sequence(b):
    """224*224*3 inputs each; a row of the text has 64."""
    b.fc("classes", "image", 10)
    b.fc("rows", "text", 32)
    b.fc("pooled", "text", 32, flatten=True)
    b.fc("positions", "image", 10, flatten=False)
    assert b.shape("classes") == (1, 1, 10)
    assert layer(b, "classes").kernel == (224, 224)
    assert b.shape("rows") == (10, 1, 32)
    assert layer(b, "rows").weight_bytes == 64 * 32
    assert b.shape("pooled") == (1, 1, 32)
    assert layer(b, "pooled").weight_bytes == 640 * 32
    assert b.shape("positions") == (224, 224, 10)


def test_attention_has_the_shapes_of_its_heads(b):
    """8 heads of 8 features over 10 rows: 80 scores a row; 10*80 scores and 10*64 outputs of 8 and 10 MACs."""
    b.matmul("scores", "text", "text", heads=8, transpose=True)
    b.softmax("softmax", "scores")
    b.matmul("context", "softmax", "text", heads=8)
    assert b.shape("scores") == (10, 1, 80)
    assert b.shape("context") == (10, 1, 64)
    assert layer(b, "scores").macs == 800 * 8
    assert layer(b, "context").macs == 640 * 10
    assert layer(b, "scores").whole == (1,)
    assert layer(b, "softmax").whole == ()


def test_an_operand_broadcast_over_the_map_is_needed_whole(b):
    b.global_avgpool("mean", "image")
    b.conv("gray", "image", 1)
    b.mul("scaled", ["mean", "image", "gray"])
    assert b.shape("scaled") == (224, 224, 3)
    assert layer(b, "scaled").whole == (0,)


def test_a_concat_dissolves_into_readers_that_take_several_producers(b):
    b.conv("a", "image", 4)
    b.conv("c", "image", 6)
    b.concat("inner", ["a", "c"])
    b.concat("outer", ["inner", "image"])
    b.conv("conv", "outer", 8, kernel=3)
    b.maxpool("pool", "inner", 2)
    net = b.build()
    assert [item.name for item in net.layers] == ["a", "c", "conv", "pool"]
    assert layer(b, "conv").inputs == ("a", "c", "image")
    assert layer(b, "conv").in_channels == 13
    assert layer(b, "pool").inputs == ("a", "c")
    assert net.concats == (Concat("inner", ("a", "c"), 2), Concat("outer", ("inner", "image"), 2))


@pytest.mark.parametrize("reader", ["output", "add", "softmax", "matmul"])
def test_a_concat_is_a_layer_for_all_readers_where_one_is_of_another_kind(b, reader):
    b.fc("a", "text", 32)
    b.concat("cat", ["a", "text"])
    b.conv("conv", "cat", 8)
    if reader == "output":
        b.concat("end", ["conv", "a"])
    elif reader == "add":
        b.add("sum", ["cat", "cat"])
    elif reader == "softmax":
        b.softmax("soft", "cat")
    else:
        b.matmul("product", "cat", "cat", transpose=True)
    net = b.build()
    name, inputs = ("end", ("conv", "a")) if reader == "output" else ("cat", ("a", "text"))
    found = net.layers[net.index[name]]
    assert (found.op, found.inputs, found.kernel, found.taps) == ("concat", inputs, (1, 1), 1)
    assert found.channels == found.in_channels == (40 if reader == "output" else 96)
    assert layer(b, "conv").inputs == (("a", "text") if reader == "output" else ("cat",))
    assert [concat.name for concat in net.concats] == (["cat"] if reader == "output" else [])


def test_convolutions_take_several_producers_directly(b):
    b.conv("a", "image", 4)
    b.conv("conv", ["a", "image"], 8)
    assert layer(b, "conv").in_channels == 7
    assert b.build().concats == ()


def test_build_keeps_the_order_of_writing_and_the_model_inputs(b):
    for name in ("third", "first", "second"):
        b.conv(name, "image", 4)
    net = b.build()
    assert [item.name for item in net.layers] == ["third", "first", "second"]
    assert net.inputs == (Tensor("image", 224, 224, 3), Tensor("text", 10, 1, 64))


@pytest.mark.parametrize(
    ("build", "fragments"),
    [
        (lambda b: b.conv("c", "imagee", 8), ["'imagee'", "did you mean 'image'"]),
        (lambda b: b.conv("image", "image", 8), ["'image'", "twice"]),
        (lambda b: b.conv("c", "image", 0), ["'c'", "channels 0"]),
        (lambda b: b.conv("c", "image", 8, kernel=0), ["'c'", "kernel 0"]),
        (lambda b: b.conv("c", "image", 8, kernel=2.5), ["'c'", "kernel 2.5"]),
        (lambda b: b.conv("c", "image", 8, stride=(1, -1)), ["'c'", "stride (1, -1)"]),
        (lambda b: b.maxpool("p", "image", 2, stride=0), ["'p'", "stride 0"]),
        (lambda b: b.conv("c", "image", 8, padding=0.5), ["'c'", "padding 0.5"]),
        (lambda b: b.conv("c", "image", 8, padding=(1, 1)), ["'c'", "padding (1, 1)"]),
        (lambda b: b.conv("c", "image", 8, padding="full"), ["'c'", "padding 'full'"]),
        (lambda b: b.conv("c", "image", 8, groups=2), ["'c'", "divisible", "2"]),
        (lambda b: b.conv("c", "text", 8, kernel=3), ["'c'", "window of 3", "extent of 1"]),
        (lambda b: b.conv("c", ["image", "text"], 8), ["'c'", "224x224", "10x1"]),
        (lambda b: b.conv("c", [], 8), ["'c'", "no inputs"]),
        (lambda b: b.add("s", ["image", "text"]), ["'s'", "224x224x3", "10x1x64"]),
        (lambda b: b.add("s", []), ["'s'", "no inputs"]),
        (lambda b: b.concat("s", ["image", "text"]), ["'s'", "224x224", "10x1"]),
        (lambda b: b.matmul("m", "text", "image"), ["'m'", "10x1x64", "224x224x3"]),
        (lambda b: b.matmul("m", "text", "text", heads=0, transpose=True), ["'m'", "0 heads"]),
        (lambda b: b.matmul("m", "text", "text", heads=5, transpose=True), ["'m'", "5 heads"]),
        (lambda b: b.input("image", 1, 1, 1), ["'image'", "twice"]),
        (lambda b: b.input("x", 0, 1, 1), ["'x'", "height 0"]),
        (lambda b: b.build(), ["'net'", "no layers"]),
        (lambda b: Builder(""), ["''", "network"]),
    ],
)
def test_what_does_not_fit_is_named_at_once(b, build, fragments):
    with pytest.raises(NetworkError) as error:
        build(b)
    message = str(error.value)
    assert "\n" not in message
    assert [fragment for fragment in fragments if fragment not in message] == []


def test_concats_that_repeat_their_parts_cannot_explode():
    """Each concat doubles: 2**13 operands after 13 of them, more than the 4096 that a layer may have."""
    b = Builder("bomb")
    x = b.input("image", 1, 1, 1)
    for i in range(13):
        x = b.concat(f"c{i}", [x, x])
    b.conv("conv", x, 1)
    with pytest.raises(NetworkError, match="8192 inputs once concats dissolve"):
        b.build()


@QUICK
@given(networks())
def test_random_networks_hold_no_trace_of_dissolved_concats(net):
    """A dissolved concat is neither a layer nor an operand, its parts stand before it, and its readers can take it."""
    dissolved = {concat.name for concat in net.concats}
    assert dissolved.isdisjoint(name for item in net.layers for name in (item.name, *item.inputs))
    for concat in net.concats:
        for name in concat.inputs:
            assert name in dissolved or name in ("image", "text") or net.index[name] < concat.position
    for i, item in enumerate(net.layers):
        kinds = {net.layers[reader].op for reader in net.consumers[i]}
        assert item.op != "concat" or not kinds or not kinds <= {"conv", "fc", "maxpool", "avgpool", "concat"}
