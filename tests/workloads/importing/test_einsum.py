"""Sums of products by letters: shapes as numpy has them, operations counted by letters, layers executed."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workloads
from simulator import Accelerator, Partition
from simulator.execution import verify
from tests.helpers.onnx_graphs import Graph
from workloads import NetworkError
from workloads.importing.families.einsum import einsum
from workloads.importing.sketch import Sketch

LETTERS = "abcdef"


def layers(network):
    return [(layer.op, layer.macs) for layer in network.layers]


@st.composite
def equations(draw):
    """Two operands of one to three letters each, a result of some of them, and extents of 1 to 4."""
    terms = ["".join(draw(st.permutations(LETTERS))[: draw(st.integers(1, 3))]) for _ in range(2)]
    every = sorted(set("".join(terms)))
    kept = draw(st.permutations(every))[: draw(st.integers(0, len(every)))]
    extents = {letter: draw(st.integers(1, 4)) for letter in every}
    return terms, "".join(kept), extents


@given(equations())
def test_shapes_are_those_of_numpy(case):
    terms, result, extents = case
    equation = f"{','.join(terms)}->{result}"
    shapes = [tuple(extents[letter] for letter in term) for term in terms]
    expected = np.einsum(equation, *(np.zeros(shape) for shape in shapes)).shape
    sketch = Sketch("letters")
    values = [sketch.input(f"x{i}", shape, range(len(shape) - 1)) for i, shape in enumerate(shapes)]
    assert einsum(sketch, equation, values).shape == expected


@given(equations())
def test_operations_are_one_for_each_choice_of_letters(case):
    """Where letters are summed that both operands have, and none that only one has."""
    terms, result, extents = case
    result += "".join(sorted((set(terms[0]) ^ set(terms[1])) - set(result)))
    inner = [each for each in terms[0] if each in terms[1] and each not in result]
    sketch = Sketch("letters")
    shapes = [tuple(extents[letter] for letter in term) for term in terms]
    values = [sketch.input(f"x{i}", shape, range(len(shape) - 1)) for i, shape in enumerate(shapes)]
    einsum(sketch, f"{','.join(terms)}->{result}", values)
    assert sum(layer.macs for layer in sketch.layers) == (prod(extents.values()) if inner else 0)


def test_attention_by_letters_is_two_products_without_copies(tmp_path):
    """5 tokens of 4 heads of 8: scores and context take 4 x 5 x 5 x 8 MACs each."""
    g = Graph()
    x = g.input("x", 1, 5, 32)
    q, k, v = (g.node("Reshape", g.node("MatMul", x, g.weight(32, 32)), g.numbers(1, 5, 4, 8)) for _ in range(3))
    scores = g.node("Softmax", g.node("Einsum", q, k, equation="bqhd, bkhd -> bhqk"), axis=-1)
    network = workloads.load(g.save(tmp_path, g.node("Einsum", scores, v, equation="bhqk,bkhd->bqhd")))
    assert layers(network)[3:] == [("matmul", 800), ("softmax", 0), ("matmul", 800)]
    together = Partition.from_groups(network, [[layer.name for layer in network.layers]])
    assert verify(network, together, Accelerator(shared_buffer=2**16)).verified


@pytest.mark.parametrize("equation", ["bchw,oc->bohw", "...chw,oc->...ohw", "bchw,oc"])
def test_weights_by_letters_are_a_layer(tmp_path, equation):
    """A convolution of 1 x 1 on 6 x 6; without a result its letters are sorted: b, h, o, w."""
    g = Graph()
    out = g.node("Einsum", g.input("x", "N", 4, 6, 6), g.weight(8, 4), equation=equation)
    network = workloads.load(g.save(tmp_path, out))
    assert layers(network) == [("fc", 36 * 32)] and network.weight_bytes == 32


def test_three_operands_are_multiplied_from_left_to_right():
    """[2, 3] x [3, 4] x [4, 5]: 2 x 3 x 4 and 2 x 4 x 5."""
    sketch = Sketch("chain")
    values = [sketch.input(name, shape, [0]) for name, shape in {"a": (2, 3), "b": (3, 4), "c": (4, 5)}.items()]
    assert einsum(sketch, "ij,jk,kl->il", values).shape == (2, 5)
    assert [layer.macs for layer in sketch.layers if layer.op == "matmul"] == [24, 40]


def test_weights_that_meet_what_is_given_stay_a_layer(tmp_path):
    """A step of time [1, 1] times 16 x 8 weights."""
    from tests.helpers.onnx_graphs import TensorProto

    g = Graph()
    step = g.node("Mul", g.node("Cast", g.input("step", 1, 1, kind=TensorProto.INT64), to=1), g.weight(1, 16))
    network = workloads.load(g.save(tmp_path, g.node("Einsum", step, g.weight(16, 8), equation="bi,io->bo")))
    assert layers(network) == [("fc", 128)]


@pytest.mark.parametrize("equation", ["", "ij", "iij,jk->ik", "ij,jk->il", "ij,jk->ii", "i1,1k->ik", "ijk,jk->i"])
def test_what_is_no_equation_of_two_matrices_is_refused(equation):
    sketch = Sketch("odd")
    values = [sketch.input(name, (3, 3), [0]) for name in "ab"]
    with pytest.raises(NetworkError, match="has the equation"):
        einsum(sketch, equation, values)


def test_extents_of_a_letter_must_agree():
    sketch = Sketch("odd")
    values = [sketch.input("a", (3, 4), [0]), sketch.input("b", (5, 3), [0])]
    with pytest.raises(NetworkError, match="for the letter j"):
        einsum(sketch, "ij,jk->ik", values)
