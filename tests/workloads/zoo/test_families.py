"""The nine networks of the paper against their published counts, and their structure by hand."""

import hashlib
import random

import networkx
import pytest

import workloads
from workloads.errors import NetworkError
from workloads.zoo import randwire

#: GMAC and million parameters, without bias and embeddings (spec section 10); None where none is published
PUBLISHED = {
    "vgg16": (15.5, 138.4),
    "resnet50": (3.86, 25.6),
    "resnet152": (11.3, 60.2),
    "googlenet": (1.58, 7.0),
    "transformer": (None, 44.1),
    "gpt": (None, 85.1),
    "randwire_a": (0.58, 5.6),
    "randwire_b": (4.0, 31.9),
    "nasnet": (23.8, 88.9),
}
TOLERANCE = 0.03  # ours count no bias and no batch norm; published figures are rounded


def test_the_first_names_are_the_nine_of_the_paper():
    assert workloads.PAPER_NETWORKS == tuple(PUBLISHED)
    assert workloads.names()[:9] == workloads.PAPER_NETWORKS


@pytest.mark.parametrize("name", PUBLISHED)
def test_macs_and_parameters_are_within_3_percent_of_the_published(name):
    net = workloads.load(name)
    gmac, million = PUBLISHED[name]
    row = f"{name:12} {len(net.layers):4} layers {net.edges:5} edges {net.macs / 1e9:7.3f} GMAC (published {gmac}) "
    print(row + f"{net.weight_bytes / 1e6:8.3f} M parameters (published {million})")
    if gmac:
        assert net.macs == pytest.approx(gmac * 1e9, rel=TOLERANCE)
    assert net.weight_bytes == pytest.approx(million * 1e6, rel=TOLERANCE)
    assert net.name == name


@pytest.mark.parametrize(
    ("name", "layers", "edges", "macs", "weight_bytes"),
    [
        ("vgg16", 21, 20, 15_470_264_320, 138_344_128),
        ("resnet50", 72, 87, 3_857_973_248, 25_502_912),
        ("resnet152", 208, 257, 11_282_415_616, 60_040_384),
        ("googlenet", 72, 152, 1_582_671_872, 6_990_272),
        ("transformer", 210, 268, 27_380_416_512, 44_040_192),
        ("gpt", 156, 200, 48_318_382_080, 84_934_656),
        ("nasnet", 681, 1003, None, None),
    ],
)
def test_counts_stay_what_they_are(name, layers, edges, macs, weight_bytes):
    """A change here changes every result; VGG16's and ResNet50's are the sums of their published tables."""
    net = workloads.load(name)
    assert (len(net.layers), net.edges) == (layers, edges)
    if macs:
        assert (net.macs, net.weight_bytes) == (macs, weight_bytes)


def test_resnet50_begins_and_ends_as_the_readme_says():
    net = workloads.load("resnet50")
    names = [layer.name for layer in net.layers]
    assert names[:7] == ["conv1", "pool1", "s1b1_a", "s1b1_b", "s1b1_c", "s1b1_shortcut", "s1b1_add"]
    assert names[-5:] == ["s4b3_b", "s4b3_c", "s4b3_add", "pool5", "fc"]
    assert net.layers[net.index["s1b1_add"]].inputs == ("s1b1_c", "s1b1_shortcut")
    assert net.layers[net.index["s1b2_add"]].inputs == ("s1b2_c", "s1b1_add")


def test_resnet_versions_differ_in_where_the_stride_is():
    """v1 strides in the first 1x1 of a stage, v1.5 in its 3x3: the same weights, 4.09 GMAC."""
    v1, v15 = workloads.load("resnet50"), workloads.load("resnet50", version="1.5")
    strides = [(net.layers[net.index["s2b1_a"]].stride, net.layers[net.index["s2b1_b"]].stride) for net in (v1, v15)]
    assert strides == [((2, 2), (1, 1)), ((1, 1), (2, 2))]
    assert v15.macs == pytest.approx(4.09e9, rel=0.005)
    assert v15.weight_bytes == v1.weight_bytes
    with pytest.raises(NetworkError, match="resnet50 has no version '2'; it must be '1' or '1.5'"):
        workloads.load("resnet50", version="2")


def test_googlenet_modules_join_four_branches():
    net = workloads.load("googlenet")
    concat = net.concats[0]
    assert concat.name == "inception_3a_concat"
    channels = [net.layers[net.index[name]].channels for name in concat.inputs]
    assert channels == [64, 128, 32, 32]
    assert net.layers[net.index["inception_3b_1x1"]].inputs == concat.inputs
    maps = [net.layers[net.index[name]].height for name in ("pool1", "pool2", "pool3", "pool4", "pool5")]
    assert maps == [56, 28, 14, 7, 1]
    with_lrn = workloads.load("googlenet", lrn=True)
    assert [layer.name for layer in with_lrn.layers if layer.op == "lrn"] == ["norm1", "norm2"]
    assert with_lrn.macs == net.macs


def test_nasnet_cells_have_the_published_maps_and_channels():
    """331 -> 165 -> 83 -> 42 (168 filters, 6 join: 1008) -> 21 (2016) -> 11 (4032)."""
    net = workloads.load("nasnet")
    concats = {concat.name: concat for concat in net.concats}

    def joined(name):
        tensors = [net.tensors[net.index[part]] for part in concats[name].inputs]
        return tensors[0].height, sum(tensor.channels for tensor in tensors)

    cells = ("stem1", "stem2", "s1c1", "s1c6", "r1", "s2c6", "r2", "s3c6")
    assert [joined(f"{cell}_concat") for cell in cells] == [
        (83, 168), (42, 336), (42, 1008), (42, 1008), (21, 1344), (21, 2016), (11, 2688), (11, 4032),
    ]  # fmt: skip
    shifted = net.layers[net.index["s2c1_adjust_odd_pool"]]
    assert (shifted.padding, shifted.height) == ((-1, -1, 1, 1), 21)
    assert len(net.layers) + len(net.concats) + 1 == 705  # operators with the image, as spec tensor-scheduling counts


def test_randwire_is_the_same_for_the_same_seed_and_another_for_another():
    """Counts change little with the seed: only the nodes that read a stage's input have fewer channels to read."""
    first, again, other = (workloads.load("randwire_a", seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first != other
    assert workloads.load("randwire_a") == first
    with pytest.raises(NetworkError, match="seed 0.5"):
        workloads.load("randwire_b", seed=0.5)


def test_the_default_randwire_graphs_do_not_drift():
    """Guards the seed stream: results for "randwire_a" must mean the same graph for all."""
    edges = [(item.name, item.inputs) for name in ("randwire_a", "randwire_b") for item in workloads.load(name).layers]
    assert hashlib.sha256(repr(edges).encode()).hexdigest()[:16] == "e043df9bb5072896"


@pytest.mark.parametrize(("nodes", "seed"), [(16, 0), (32, 0), (16, 7), (32, 7)])
def test_randwire_is_wired_as_networkx_wires(nodes, seed):
    rng = random.Random(f"randwire {seed} 3")
    graph = networkx.connected_watts_strogatz_graph(nodes, 4, 0.75, tries=200, seed=rng)
    assert randwire._wiring(nodes, seed, 3) == sorted((min(edge), max(edge)) for edge in graph.edges)


@pytest.mark.parametrize("name", ["randwire_a", "randwire_b"])
def test_randwire_stages_have_32_nodes_and_64_edges(name):
    """WS(32, 4, 0.75) keeps 32 * 4 / 2 edges; a node of several inputs sums them; sources stride."""
    net = workloads.load(name)
    nodes = [layer for layer in net.layers if layer.name.startswith("s4n") and layer.name.endswith("_dw")]
    assert len(nodes) == 32
    sources = [layer for layer in nodes if layer.stride == (2, 2)]
    assert sources
    assert {layer.height for layer in nodes} == {14}
    stage_input = {layer.inputs for layer in sources}
    assert len(stage_input) == 1
    edges = 0
    for node in nodes:
        (source,) = node.inputs
        producer = net.layers[net.index[source]]
        if node not in sources:
            edges += len(producer.inputs) if producer.op == "add" else 1
    assert edges == 64


def test_transformer_attention_multiplies_activations():
    net = workloads.load("transformer")
    scores, context = (net.layers[net.index[f"dec1_cross_{what}"]] for what in ("scores", "context"))
    assert scores.inputs == ("dec1_cross_q", "dec1_cross_k")
    assert (scores.height, scores.width, scores.channels, scores.groups) == (512, 1, 8 * 512, 8)
    assert context.inputs == ("dec1_cross_softmax", "dec1_cross_v")
    assert context.channels == 512
    assert net.layers[net.index["dec1_cross_k"]].inputs == ("enc6_ffn_norm",)
    assert [net.layers[i].name for i in net.outputs] == ["dec6_ffn_norm"]
    assert workloads.load("gpt", length=64).inputs[0].height == 64


def test_an_encoder_layer_has_the_13_operators_of_the_scheduling_spec():
    """q, k, v, qk, softmax, pv, out, add, norm, fc1, fc2, add, norm."""
    ops = " ".join(layer.op for layer in workloads.load("transformer").layers[:13])
    assert ops == "fc fc fc matmul softmax matmul fc add layernorm fc fc add layernorm"
