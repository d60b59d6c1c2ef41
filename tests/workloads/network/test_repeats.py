"""Blocks that repeat: found by shapes and edges, whatever they are called."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workloads
from workloads import Network
from workloads.network.builder import Builder
from workloads.network.rewriting.repeats import longest_run, repeat_of, repeat_text


def test_the_run_that_covers_most_of_equals_the_shortest():
    """By hand; the rest of a stretch says how much later it may start."""
    assert longest_run("abcdcdcde") == ((2, 2, 3), 0)
    assert longest_run("aaaaaaa") == ((0, 1, 7), 0)
    assert longest_run("xabcabcabca") == ((1, 3, 3), 1)
    assert longest_run("abab") is None  # two of a kind are no pattern
    assert longest_run("") is None


@pytest.mark.parametrize(
    ("network", "layers"),
    [
        (workloads.load("llama3_8b", phase="decode"), 32),
        (workloads.load("llama3_8b", length=8), 32),
        (workloads.load("gemma2_9b", phase="decode", past=4096), 21),  # every other layer looks back less far
        (workloads.load("vit_b16"), 12),
    ],
)
def test_layers_of_a_language_model_repeat(network, layers):
    """All of them, as often as the configuration says, under other names, too."""
    run = repeat_of(network)
    assert run.times == layers
    assert run.first < run.period
    named = {each: f"t{i}" for i, each in enumerate(tensor.name for tensor in network.tensors)}
    renamed = Network(
        "renamed",
        tuple(replace(each, name=named[each.name]) for each in network.inputs),
        tuple(
            replace(each, name=named[each.name], inputs=tuple(named[name] for name in each.inputs))
            for each in network.layers
        ),
    )
    assert repeat_of(renamed) == run


def test_equal_shapes_with_other_edges_do_not_repeat():
    """Sums of the image instead of the sum before: no block repeats."""
    b = Builder("odd")
    x = first = b.input("x", 8, 8, 16)
    for i in range(4):
        y = b.conv(f"c{i}", x, 16)
        x = b.add(f"a{i}", [y, first if i % 2 else x])
    network = b.build()
    assert repeat_of(network) is None and repeat_text(network) == ""


def test_a_chain_of_one_layer_repeats_it():
    """The text names it."""
    b = Builder("chain")
    x = b.input("x", 8, 8, 16)
    for i in range(5):
        x = b.conv(f"c{i}", x, 16)
    assert repeat_text(b.build()) == "c1 .. c4 are c0 4 times more"


def test_networks_that_hardly_repeat_have_no_block():
    """The blocks of ResNet50 are fewer than half of its layers, those of a stage of ResNet152 are more."""
    assert repeat_of(workloads.load("resnet50")) is None
    assert repeat_of(workloads.load("resnet152")).times > 30
