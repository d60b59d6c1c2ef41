"""Keys and values of earlier steps, and those of fewer heads than the queries, as operands of their products."""

from __future__ import annotations

import pytest

import workloads
from simulator import Accelerator, Partition
from simulator.execution import verify
from tests.helpers.onnx_graphs import Graph, helper

HEADS, OWN, WIDTH, PAST = 4, 2, 8, 6
CHIP = Accelerator(shared_buffer=2**16)


def ops(network):
    return [layer.op for layer in network.layers]


def runs(network):
    """Whether both extreme partitions are executed as they are priced."""
    together = Partition.from_groups(network, [[layer.name for layer in network.layers]])
    return all(verify(network, each, CHIP).verified for each in (Partition.layerwise(network), together))


def step(g: Graph, new: int, form: str):
    """Attention of `new` tokens of 4 heads with 2 heads of keys and values, after 6 earlier ones."""
    x = g.input("x", 1, new, 32)
    sizes = {"q": HEADS, "k": OWN, "v": OWN}
    parts = {
        name: g.node(
            "Transpose",
            g.node("Reshape", g.node("MatMul", x, g.weight(32, n * WIDTH)), g.numbers(1, new, n, WIDTH)),
            perm=[0, 2, 1, 3],
        )
        for name, n in sizes.items()
    }
    past = {name: g.input(f"past_{name}", "batch", OWN, PAST, WIDTH) for name in "kv"}
    if form == "Attention":
        return g.node("Attention", parts["q"], parts["k"], parts["v"], "", past["k"], past["v"], outputs=3)
    present, wide = {}, {}
    for name in "kv":
        present[name] = g.node("Concat", past[name], parts[name], axis=2)
        six = g.node("Unsqueeze", present[name], g.numbers(2))
        six = g.node("Expand", six, g.numbers(1, OWN, HEADS // OWN, PAST + new, WIDTH))
        wide[name] = g.node("Reshape", six, g.numbers(1, HEADS, PAST + new, WIDTH))
    turned = g.node("Mul", g.node("Transpose", wide["k"], perm=[0, 1, 3, 2]), g.numbers(0.5))
    weights = g.node("Softmax", g.node("MatMul", parts["q"], turned), axis=-1)
    return [g.node("MatMul", weights, wide["v"]), present["k"], present["v"]]


@pytest.mark.parametrize("form", ["Attention", "MatMul"])
@pytest.mark.parametrize("new", [1, 3])
def test_a_step_of_a_decoder_reads_its_cache_and_appends_rows(tmp_path, form, new):
    """Scores and context: new x (6 + new) x 4 heads x 8 each; 6 rows x 16 of keys and of values come in, new go out."""
    g = Graph(opset=23)
    network = workloads.load(g.save(tmp_path, *step(g, new, form)))
    assert ops(network) == ["fc", "fc", "fc", "matmul", "softmax", "matmul"]
    caches = [tensor for tensor in network.inputs if tensor.kind == "cache"]
    assert [(each.name, each.height, each.channels) for each in caches] == [("past_k", 6, 16), ("past_v", 6, 16)]
    assert [(layer.height, layer.channels) for layer in network.layers if layer.appended] == [(new, 16), (new, 16)]
    assert [layer.operand_heads for layer in network.layers if layer.op == "matmul"] == [OWN, OWN]
    assert network.macs == new * 32 * (32 + 16 + 16) + 2 * new * (PAST + new) * 32
    assert sum(note.how == "cache" for note in network.notes) == 2
    assert runs(network)
    blocks = workloads.attention_in_blocks(network)
    assert ops(blocks) == ["fc", "fc", "fc", "attention"]
    assert (blocks.layers[3].inputs[1::2], blocks.layers[3].second_heads) == (("past_k", "past_v"), OWN)
    assert blocks.macs == network.macs and verify(blocks, Partition.layerwise(blocks), CHIP).verified


def test_an_image_with_rows_below_it_is_no_cache(tmp_path):
    g = Graph()
    joined = g.node("Concat", g.input("x", "N", 4, 6, 8), g.weight(1, 4, 2, 8), axis=2)
    network = workloads.load(g.save(tmp_path, g.node("Conv", joined, g.weight(4, 4, 3, 3))))
    assert {tensor.kind for tensor in network.inputs} == {"input"}


def test_repeats_that_no_product_reads_are_copied(tmp_path):
    """A map twice as high and as wide, each element four times, before a convolution."""
    g = Graph()
    six = g.node("Reshape", g.input("x", "N", 4, 3, 5), g.numbers(1, 4, 3, 1, 5, 1))
    wide = g.node("Reshape", g.node("Expand", six, g.numbers(1, 4, 3, 2, 5, 2)), g.numbers(1, 4, 6, 10))
    network = workloads.load(g.save(tmp_path, g.node("Conv", wide, g.weight(8, 4, 3, 3))))
    assert set(ops(network)) == {"rearrange", "conv"}
    assert network.macs == 4 * 8 * 36 * 8 and runs(network)


def test_keys_of_one_head_are_shared_by_all(tmp_path):
    """Multi-query attention by broadcasting: [1, 4, 5, 8] x [1, 1, 8, 5]."""
    g = Graph()
    x = g.input("x", 1, 5, 32)
    query = g.node("Reshape", g.node("MatMul", x, g.weight(32, 32)), g.numbers(1, 5, 4, 8))
    key = g.node("Unsqueeze", g.node("MatMul", x, g.weight(32, 8)), g.numbers(1))
    scores = g.node(
        "MatMul", g.node("Transpose", query, perm=[0, 2, 1, 3]), g.node("Transpose", key, perm=[0, 1, 3, 2])
    )
    network = workloads.load(g.save(tmp_path, scores))
    assert ops(network) == ["fc", "fc", "matmul"] and network.layers[-1].operand_heads == 1
    assert network.layers[-1].macs == 4 * 5 * 5 * 8 and runs(network)


def test_a_concat_without_outputs_is_no_cache(tmp_path):
    """A mutated file: nothing can read what such a node makes."""
    g = Graph()
    past = g.input("past", 1, 2, 6, 8)
    g.nodes.append(helper.make_node("Concat", [past, past], [], axis=2))
    network = workloads.load(g.save(tmp_path, g.node("Conv", past, g.weight(4, 2, 3, 3))))
    assert ops(network) == ["conv"] and [tensor.kind for tensor in network.inputs] == ["input"]


def test_windows_that_attend_each_by_itself_are_blocks_of_positions(tmp_path):
    """4 windows of 3 tokens with 2 heads of 8: no copy, and as layers, for a window has few keys."""
    g = Graph()
    x = g.input("x", 1, 12, 16)
    query, key, value = (
        g.node("Transpose", g.node("Reshape", g.node("MatMul", x, g.weight(16, 16)), g.numbers(4, 3, 2, 8)), perm=order)
        for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    )
    weights = g.node("Softmax", g.node("MatMul", query, key), axis=-1)
    network = workloads.load(g.save(tmp_path, g.node("MatMul", weights, value)))
    assert ops(network) == ["fc", "fc", "fc", "matmul", "softmax", "matmul"]
    scores, context = (each for each in network.layers if each.op == "matmul")
    assert (scores.blocks, scores.groups, scores.macs, context.macs) == (4, 2, 8 * 3 * 3 * 8, 8 * 3 * 3 * 8)
    assert [note.op for note in workloads.attention_in_blocks(network).notes if note.how == "in layers"]
    assert runs(network)
