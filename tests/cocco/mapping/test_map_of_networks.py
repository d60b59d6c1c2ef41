"""Layers of a network as seven loops: transposed convolutions, windows over time; rows without an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

import workloads
from cocco.mapping.layer_lists import layers_of
from simulator.mapping import LayerShape
from tests.helpers.command_line import answer, assert_malformed, cocco
from workloads import Builder, Frames
from workloads.network.layers.layer import Layer

HEAD = "R,S,P,Q,C,K,N,stride_w,stride_h\n"


def layer_of(name: str, frames: Frames | None = None, groups: int = 1, **window: int | tuple[int, int]) -> Layer:
    b = Builder("one")
    source = b.input("x", 6 * (frames.count if frames else 1), 4, 8)
    add = b.conv_transpose if name == "conv_transpose" else b.conv
    more = {"frames": frames} if frames else {}
    add(name, source, 16 if groups == 1 else 8, groups=groups, **window, **more)  # type: ignore[arg-type]
    return b.build().layers[0]


def test_a_transposed_convolution_is_one_of_its_source_with_a_channel_for_each_phase():
    """6 x 4 to 12 x 8: each of 2 x 2 phases meets 2 x 2 of the 4 x 4 taps."""
    layer = layer_of("conv_transpose", kernel=4, stride=2, padding=1)
    shape = LayerShape.of_layer(layer, samples=3)
    assert shape == LayerShape(2, 2, 4, 6, 8, 64, 3)
    assert (shape.macs, shape.weight_words) == (3 * layer.macs, layer.weight_bytes)
    assert shape.output_words == 3 * layer.size_bytes
    uneven = layer_of("conv_transpose", kernel=3, stride=(1, 3), padding=1)  # 6 x 10
    assert LayerShape.of_layer(uneven) == LayerShape(1, 3, 4, 6, 8, 48)
    light = LayerShape.of_layer(layer_of("conv_transpose", groups=8, kernel=2, stride=2))
    assert light == LayerShape(1, 1, 4, 6, 1, 32, groups=32) and light.is_depthwise


def test_frames_are_samples_and_a_window_over_time_is_one_over_rows():
    """4 frames of 6 x 4; two of them with stride 2 over time."""
    space = layer_of("conv", Frames(4), kernel=3, padding=1)
    assert LayerShape.of_layer(space) == LayerShape(3, 3, 4, 6, 8, 16, 4)
    time = layer_of("conv", Frames(4, 3, 2, 1))
    assert LayerShape.of_layer(time) == LayerShape(1, 3, 24, 2, 8, 16, 1, (1, 2))
    both = layer_of("conv", Frames(4, 3, 2, 1), kernel=3, padding=1)
    assert LayerShape.of_layer(both) == LayerShape(3, 3, 4, 6, 24, 16, 2)
    for each in (space, time, both):
        shape = LayerShape.of_layer(each)
        assert (shape.macs, shape.weight_words) == (each.macs, each.weight_bytes)


@pytest.mark.parametrize("name", ["s3d", "r2plus1d", "l_raspp"])
def test_the_macs_of_a_list_are_those_of_the_network(name: str):
    network = workloads.load(name)
    assert sum(row.times * row.shape.macs for row in layers_of(network) if row.shape) == network.macs


def test_a_layer_that_is_no_nest_of_seven_loops_has_an_error_and_the_others_an_answer(tmp_path: Path):
    b = Builder("clip")
    x = b.conv("first", b.input("x", 24, 4, 3), 8, 3, padding=1, frames=Frames(4))
    b.conv("light", x, 8, 3, padding=1, groups=8, frames=Frames(4, 3, 1, 1))
    workloads.save(b.build(), tmp_path / "clip.json")
    first, light = answer(cocco("map", tmp_path / "clip.json", "--json"), code=2)["layers"]
    assert first["status"] == "optimal" and (light["name"], light["status"]) == ("light", "error")
    assert "over time and space" in light["error"]


def test_a_row_with_an_error_has_all_keys_of_one_with_an_answer_and_its_line_once(tmp_path: Path):
    (tmp_path / "l.csv").write_text(HEAD + "1,1,0,4,8,8,1,1,1\n1,1,4,4,8,8,1,1,1\n")
    run = cocco("map", tmp_path / "l.csv", "--json")
    bad, good = answer(run, code=2)["layers"]
    assert list(bad) == [*good, "error"]
    assert {bad[name] for name in ("shape", "cycles", "mapping", "energy_pj", "objective")} == {None}
    assert run.stderr.count("line 2") == 1


def test_the_name_of_a_machine_is_a_text(tmp_path: Path):
    levels = (
        "levels: [{name: b, entries: 64, stores: {W: 0.5, I: 0.25, O: 0.25}}, {name: D, stores: {W: 1, I: 1, O: 1}}]"
    )
    (tmp_path / "a.yaml").write_text(f"name: [1]\nmacs: 1\n{levels}\n")
    (tmp_path / "l.csv").write_text(HEAD + "1,1,4,4,8,8,1,1,1\n")
    run = cocco("map", tmp_path / "l.csv", "--arch", tmp_path / "a.yaml")
    assert_malformed(run, ["the name of an architecture must be a text, got [1]"])
