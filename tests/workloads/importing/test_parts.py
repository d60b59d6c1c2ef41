"""Parts of one map that are joined again: a function of the map where each of them is taken once."""

from __future__ import annotations

import pytest

import workloads
from tests.helpers.onnx_graphs import Graph


def halves(g, x, width):
    return [
        g.node("Slice", x, g.numbers(start), g.numbers(start + width // 2), g.numbers(-1)) for start in (0, width // 2)
    ]


@pytest.mark.parametrize("turned", [8, 4])
def test_rotary_embeddings_are_a_function_of_their_map(tmp_path, turned):
    """x cos + (-second half, first half) sin for 4 heads of 8 features, or for 4 of the 8: channels have no order."""
    g = Graph()
    x = g.node("MatMul", g.input("x", 1, 5, 16), g.weight(16, 32))
    x = g.node("Transpose", g.node("Reshape", x, g.numbers(1, 5, 4, 8)), perm=[0, 2, 1, 3])
    rest = []
    if turned < 8:
        x, *rest = halves(g, x, 8)
    first, second = halves(g, x, turned)
    swapped = g.node("Concat", g.node("Neg", second), first, axis=-1)
    angles = g.weight(turned), g.weight(turned)
    found = g.node("Add", g.node("Mul", x, angles[0]), g.node("Mul", swapped, angles[1]))
    found = g.node("Concat", found, *rest, axis=-1) if rest else found
    network = workloads.load(g.save(tmp_path, g.node("MatMul", found, g.weight(8, 2))))
    assert [layer.op for layer in network.layers][0] == "fc" and network.layers[0].channels == 32
    assert not {"slice", "concat", "add"} & {layer.op for layer in network.layers}


@pytest.mark.parametrize("taken", [(0, 0), (0,), (1, 0, 1)])
def test_parts_that_are_not_each_taken_once_stay_parts(tmp_path, taken):
    g = Graph()
    conv = g.node("Conv", g.input("x", "N", 4, 6, 6), g.weight(8, 4, 1, 1))
    parts = [g.node("Slice", conv, g.numbers(at), g.numbers(at + 4), g.numbers(1)) for at in (0, 4)]
    joined = g.node("Concat", *(parts[i] for i in taken), axis=1)
    network = workloads.load(g.save(tmp_path, g.node("Conv", joined, g.weight(2, 4 * len(taken), 1, 1))))
    assert network.layers[-1].in_channels == 4 * len(taken)
    assert [layer.channels for layer in network.layers[:-1]] != [8]


def test_parts_along_another_dimension_are_not_the_whole(tmp_path):
    """[1, 2, 4, 6, 6] cut along the second dimension, joined along the third: channels 0 to 7 twice as wide."""
    g = Graph()
    conv = g.node("Conv", g.input("x", "N", 4, 6, 6), g.weight(8, 4, 1, 1))
    split = g.node("Reshape", conv, g.numbers(1, 2, 4, 36))
    first, second = g.node("Split", split, outputs=2, axis=1)
    joined = g.node("Reshape", g.node("Concat", first, second, axis=2), g.numbers(1, 8, 6, 6))
    network = workloads.load(g.save(tmp_path, g.node("Conv", joined, g.weight(2, 8, 1, 1))))
    assert network.layers[-1].in_channels == 8
