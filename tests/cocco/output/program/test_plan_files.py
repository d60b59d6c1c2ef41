"""A plan file that says what cannot be is refused in a line, and no program is written."""

from __future__ import annotations

import json

import pytest

import workloads
from tests.helpers.command_line import cocco

LAYERS = [[layer.name] for layer in workloads.load("vgg16").layers]
FILES = {
    "a layer runs twice": ({"subgraphs": [LAYERS[0], *LAYERS]}, "conv1_1"),
    "a subgraph is in two parts": ({"subgraphs": [["conv1_1", "pool1"], ["conv1_2"], *LAYERS[3:]]}, "not connected"),
    "an interval ends before it begins": ({"keep": [{"tensor": "pool5", "from": "fc6", "until": "pool5"}]}, "pool5"),
    "an interval begins where its tensor is not": (
        {"keep": [{"tensor": "pool5", "from": "conv1_1", "until": "fc6"}]},
        "pool5",
    ),
    "a tensor stays that nothing reads": ({"keep": [{"tensor": "fc8", "from": "fc8", "until": "fc8"}]}, "fc8"),
}


@pytest.mark.parametrize("lie", FILES)
def test_a_lie_in_a_plan_file_is_refused_in_a_line(lie, tmp_path):
    changed, named = FILES[lie]
    (tmp_path / "plan.json").write_text(json.dumps({"network": "vgg16", "subgraphs": LAYERS} | changed))
    found = cocco("export", "vgg16", "plan.json", "--shared-buffer", "2MB", "--c", "x", folder=tmp_path)
    assert found.returncode == 2 and found.stderr.count("\n") == 1 and named in found.stderr
    assert not (tmp_path / "x").exists()


def test_a_plan_that_does_not_fit_is_an_answer(tmp_path):
    found = cocco("export", "vgg16", "layerwise", "--shared-buffer", "1KB", "--c", "x", folder=tmp_path)
    assert found.returncode == 1 and not (tmp_path / "x").exists()
