"""Network refuses what is malformed, with one line that names the layer, the rule and the value."""

import pickle
from dataclasses import replace

import pytest

from workloads.errors import NetworkError
from workloads.network.layers.layer import Concat, Layer, Tensor
from workloads.network.network import Network

IMAGE = Tensor("image", 8, 8, 4)
CONV = Layer("conv", "conv", ("image",), 8, 8, 6, 4, (3, 3), (1, 1), (1, 1, 1, 1))
POOL = Layer("pool", "maxpool", ("conv",), 4, 4, 6, 6, (2, 2), (2, 2))
ADD = Layer("add", "add", ("conv", "conv"), 8, 8, 6, 6)
NORM = Layer("norm", "layernorm", ("conv",), 8, 8, 6, 6)
FC = Layer("fc", "fc", ("conv",), 1, 1, 10, 6, (8, 8))
TEXT = Tensor("text", 5, 1, 8)
SCORES = Layer("scores", "matmul", ("text", "text"), 5, 1, 10, 8, groups=2, whole=(1,))


def network(*layers: Layer, concats: tuple[Concat, ...] = ()) -> Network:
    return Network("net", (IMAGE, TEXT), layers, concats)


def test_a_sound_network_has_the_sums_of_its_layers():
    """conv: 8*8*6 outputs of 3*3*4; fc: 10 of 8*8*6; scores: 5 rows x 10 scores of 8 / 2."""
    net = network(CONV, POOL, ADD, NORM, FC, SCORES)
    assert net.macs == 384 * 36 + 10 * 384 + 50 * 4
    assert net.weight_bytes == 36 * 6 + 384 * 10
    assert net.edges == 4
    assert [net.layers[i].name for i in net.outputs] == ["pool", "add", "norm", "fc", "scores"]


def test_layers_count_their_work_by_kind():
    """conv: MACs only; pool: 2*2 taps of 4*4*6 outputs; addition: 2 operands of 8*8*6; a group per channel: no sum."""
    assert (CONV.light_ops, POOL.macs, POOL.light_ops, ADD.light_ops, NORM.light_ops) == (0, 0, 384, 768, 384)
    assert (SCORES.macs, SCORES.light_ops, SCORES.weight_bytes, SCORES.has_weights) == (200, 0, 0, False)
    depthwise = replace(CONV, channels=4, groups=4)
    assert (depthwise.macs, depthwise.weight_bytes) == (256 * 9, 36)
    kinds = (depthwise, replace(depthwise, groups=2), replace(CONV, in_channels=1, channels=1), POOL, ADD, SCORES)
    assert [item.is_depthwise for item in kinds] == [True, False, False, True, True, False]
    assert replace(CONV, dilation=(2, 3)).reach == (5, 7)


@pytest.mark.parametrize(
    ("layers", "fragments"),
    [
        ((), ["'net'", "no layers"]),
        ((CONV, CONV), ["'conv'", "twice"]),
        ((replace(CONV, name="image"),), ["'image'", "twice"]),
        ((replace(CONV, name=""),), ["''", "1 to 256"]),
        ((replace(CONV, name="a\nb"),), ["'a\\nb'", "printable"]),
        ((replace(CONV, name=7),), ["7", "printable text"]),
        ((replace(CONV, name="x" * 300),), ["xxx", "256"]),
        ((replace(CONV, op="convolve"),), ["'conv'", "'convolve'", "avgpool"]),
        ((replace(CONV, op=["conv"]),), ["'conv'", "['conv']"]),
        ((replace(CONV, inputs=()),), ["'conv'", "()"]),
        ((replace(CONV, inputs="image"),), ["'conv'", "tuple of names"]),
        ((replace(CONV, inputs=("imag",)),), ["'conv'", "'imag'", "neither"]),
        ((replace(CONV, inputs=([],)),), ["'conv'", "[]", "neither"]),
        ((POOL, CONV), ["'pool'", "'conv'", "not defined before"]),
        ((replace(CONV, height=0),), ["'conv'", "height 0"]),
        ((replace(CONV, height=-8),), ["'conv'", "height -8"]),
        ((replace(CONV, width=8.0),), ["'conv'", "width 8.0"]),
        ((replace(CONV, channels=True),), ["'conv'", "channels True"]),
        ((replace(CONV, channels=float("nan")),), ["'conv'", "channels nan"]),
        ((replace(CONV, channels=2**21),), ["'conv'", "channels 2097152", "2**20"]),
        ((replace(CONV, kernel=3),), ["'conv'", "kernel 3", "tuple"]),
        ((replace(CONV, kernel=(3, 3, 3)),), ["'conv'", "kernel (3, 3, 3)"]),
        ((replace(CONV, kernel=(0, 3)),), ["'conv'", "kernel 0"]),
        ((replace(CONV, stride=(1, "1")),), ["'conv'", "stride '1'"]),
        ((replace(CONV, padding=(1, 1)),), ["'conv'", "padding (1, 1)"]),
        ((replace(CONV, padding=(1, 1, 1, 0.5)),), ["'conv'", "padding 0.5"]),
        ((replace(CONV, padding=(-9, 1, 1, 1)),), ["'conv'", "crops", "8", "(-9, 1, 1, 1)"]),
        ((replace(CONV, in_channels=5),), ["'conv'", "in_channels 5", "4"]),
        ((replace(CONV, groups=3),), ["'conv'", "divisible", "3"]),
        ((replace(CONV, height=9),), ["'conv'", "height 9", "follows 8"]),
        ((replace(CONV, width=7),), ["'conv'", "width 7", "follows 8"]),
        ((replace(CONV, kernel=(20, 3)),), ["'conv'", "kernel 20", "does not fit"]),
        ((replace(CONV, whole=(0,)),), ["'conv'", "(0,)"]),
        ((replace(CONV, inputs=("image", "text")),), ["'conv'", "8x8", "5x1", "equal"]),
        ((CONV, replace(POOL, channels=3)), ["'pool'", "6 channels", "3"]),
        ((CONV, replace(POOL, height=5)), ["'pool'", "height 5", "follows 4"]),
        ((CONV, replace(FC, kernel=(8, 4))), ["'fc'", "8x8", "(8, 4)"]),
        ((CONV, replace(ADD, kernel=(3, 3))), ["'add'", "kernel"]),
        ((CONV, replace(ADD, in_channels=3)), ["'add'", "in_channels 6"]),
        ((CONV, replace(ADD, height=4)), ["'add'", "4x8x6", "8x8x6"]),
        ((CONV, replace(ADD, inputs=("conv", "image"))), ["'add'", "8x8x4", "8x8x6"]),
        ((CONV, replace(NORM, inputs=("conv", "conv"))), ["'norm'", "1 input", "2"]),
        ((replace(SCORES, inputs=("text",)),), ["'scores'", "2 inputs", "1"]),
        ((replace(SCORES, whole=()),), ["'scores'", "(1,)", "()"]),
        ((replace(SCORES, in_channels=4),), ["'scores'", "in_channels 8", "4"]),
        ((replace(SCORES, groups=3),), ["'scores'", "heads", "3"]),
        ((replace(SCORES, channels=12),), ["'scores'", "5x1x12", "5x1x10"]),
        (
            (Layer("concat", "concat", ("image",), 4, 4, 4, 4, (2, 2), (2, 2)),),
            ["'concat'", "kernel 1", "(2, 2)"],
        ),
    ],
)
def test_a_malformed_layer_is_named_with_its_rule_and_value(layers, fragments):
    with pytest.raises(NetworkError) as error:
        network(*layers)
    message = str(error.value)
    assert "\n" not in message
    assert [fragment for fragment in fragments if fragment not in message] == []


def test_an_absurd_tensor_and_absurd_weights_are_refused():
    huge = Tensor("huge", 2**20, 2**20, 2)
    with pytest.raises(NetworkError, match=r"'huge'.*1048576x1048576x2.*2\*\*40"):
        Network("net", (huge,), (Layer("p", "maxpool", ("huge",), 1, 1, 2, 2),))
    wide = Tensor("wide", 2, 1, 2**20)
    with pytest.raises(NetworkError, match=r"'fc'.*2199023255552 of weights.*2\*\*40"):
        Network("net", (wide,), (Layer("fc", "fc", ("wide",), 1, 1, 2**20, 2**20, (2, 1)),))


def test_what_lies_at_the_limits_is_taken():
    """2**20 columns; 2**40 bytes of map and of weights; a name of 256 characters; a crop of the whole map."""
    line = Tensor("line", 1, 2**20, 1)
    wide = Layer("wide", "conv", ("line",), 1, 1, 2**20, 1, (1, 2**20))
    assert Network("n" * 256, (line,), (wide,)).weight_bytes == 2**40
    plane = Tensor("plane", 2**20, 2**20, 1)
    gone = Layer("gone", "maxpool", ("plane",), 1, 1, 1, 1, (1, 1), (1, 1), (-(2**20), -(2**20), 1, 1))
    assert Network("net", (plane,), (gone,)).layers[0].size_bytes == 1
    many = Layer("many", "maxpool", ("line",) * 4096, 1, 2**20, 4096, 4096)
    assert Network("net", (line,), (many,)).edges == 0
    with pytest.raises(NetworkError, match="'many' has 4097 inputs"):
        Network("net", (line,), (replace(many, inputs=("line",) * 4097, channels=4097, in_channels=4097),))


@pytest.mark.parametrize("tensor", [Tensor("image", 8, 8, 0), Tensor("image", 8, 8.5, 4), Tensor("text", 8, 8, 4)])
def test_a_malformed_model_input_is_named(tensor):
    with pytest.raises(NetworkError, match=repr(tensor.name)):
        Network("net", (TEXT, tensor), (CONV,))


def test_pools_may_round_up_and_convolutions_may_not():
    """7 rows, 2x2 stride 2: 3 windows, or 4 in ceil mode."""
    seven = Tensor("image", 7, 7, 4)
    pool = Layer("pool", "maxpool", ("image",), 4, 4, 4, 4, (2, 2), (2, 2))
    assert Network("net", (seven,), (pool,)).layers[0].height == 4
    with pytest.raises(NetworkError, match="'conv'.*height 4.*follows 3"):
        Network("net", (seven,), (replace(pool, name="conv", op="conv"),))


@pytest.mark.parametrize(
    ("concats", "fragment"),
    [
        ((Concat("conv", ("image",), 0),), "twice"),
        ((Concat("cat", ("conv",), 0),), "'conv', which is not defined before it"),
        ((Concat("cat", ("nothing",), 1),), "'nothing'"),
        ((Concat("cat", (), 1),), "()"),
        ((Concat("cat", ("image",), 3),), "position 3"),
        ((Concat("a", ("conv",), 1), Concat("b", ("image",), 0)), "position 0"),
    ],
)
def test_a_malformed_concat_is_named(concats, fragment):
    with pytest.raises(NetworkError) as error:
        network(CONV, POOL, concats=concats)
    assert repr(concats[-1].name) in str(error.value)
    assert fragment in str(error.value)


def test_a_network_can_be_sent_to_another_process_after_use():
    net = network(CONV, POOL)
    assert net.outputs == (1,)
    again = pickle.loads(pickle.dumps(net))
    assert again == net
    assert again.outputs == (1,)
