"""The nine real graphs in the onnx package: their weights are ConstantOfShape nodes and Caffe scale layers."""

from __future__ import annotations

import pytest

import workloads
from tests.helpers.onnx_graphs import LIGHT, counts_of
from workloads.importing.layer_graph.files import decode, encode

#: published MACs and parameters in millions. Parameters: with biases (Caffe), with batch norm where it is given as the
#: last number, which our count leaves out. Sources: torchvision's model table (densenet121, resnet50, vgg19,
#: squeezenet 1.1), the Caffe model zoo and its papers (AlexNet, GoogLeNet, ZFNet-512), Ioffe and Szegedy 2015 in
#: PyTorch (BN-Inception). AlexNet runs on 224x224 here, not 227; ZFNet-512 and this ShuffleNet (grouped by 4, with
#: bottlenecks as wide as their outputs) have no published MACs: the oracle below stands for them.
PUBLISHED = {
    "bvlc_alexnet": (None, 60.965, 0),
    "densenet121": (2834, 7.979, 0.0836),
    "inception_v1": (1430, 6.998, 0),
    "inception_v2": (2030, 11.20, 0.0),
    "resnet50": (4089, 25.557, 0.0531),
    "shufflenet": (None, None, 0),
    "squeezenet": (350, 1.2355, 0),
    "vgg19": (19632, 143.667, 0),
    "zfnet512": (None, None, 0),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_counts_are_within_one_percent_of_the_published_ones(name):
    macs, parameters, normalisation = PUBLISHED[name]
    network = workloads.load(LIGHT / f"light_{name}.onnx")
    if macs:
        assert network.macs / 1e6 == pytest.approx(macs, rel=0.01)
    if parameters:
        assert network.weight_bytes / 1e6 == pytest.approx(parameters - normalisation, rel=0.01)


@pytest.mark.parametrize("name", PUBLISHED)
def test_counts_are_those_of_the_shapes_that_onnx_infers(name):
    path = LIGHT / f"light_{name}.onnx"
    network = workloads.load(path)
    assert (network.macs, network.weight_bytes) == counts_of(path)


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_loads_and_is_kept_as_a_layer_graph(name):
    network = workloads.load(LIGHT / f"light_{name}.onnx")
    assert decode(encode(network)) == network
    assert {layer.op for layer in network.layers} <= {
        "conv",
        "fc",
        "maxpool",
        "avgpool",
        "add",
        "lrn",
        "softmax",
        "concat",
    }
    assert {note.how for note in network.notes} <= {"folded", "types", "not loaded", "counted"}


def test_densenet121_has_the_counts_of_the_built_in_one():
    found, known = workloads.load(LIGHT / "light_densenet121.onnx"), workloads.load("densenet121")
    assert (found.macs, found.weight_bytes) == (known.macs, known.weight_bytes)


def test_resnet50_is_the_built_in_one_in_version_one_and_a_half():
    found, known = workloads.load(LIGHT / "light_resnet50.onnx"), workloads.load("resnet50", version="1.5")
    kinds = [
        sorted((layer.op, layer.height, layer.channels, layer.kernel, layer.macs) for layer in network.layers)
        for network in (found, known)
    ]
    assert [kind for kind in kinds[0] if kind[0] != "softmax"] == kinds[1]
