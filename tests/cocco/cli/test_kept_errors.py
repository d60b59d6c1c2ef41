"""Mistakes in plans with kept tensors at the real command line: one line that names thing, rule and value."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.command_line import answer, assert_malformed, cocco, write_json

BLOCKS = [["conv1", "pool1"], ["s1b1_*"], ["s1b2_a..s1b2_c"], ["s1b2_add"]]

MISTAKES = [
    ("unknown-tensor", ["poool1"], ["keep 0", "'poool1'", "did you mean 'pool1'"]),
    ("pattern", ["s1b1_*"], ["keep 0", "'s1b1_*'", "names, no patterns"]),
    ("not-made-there", [{"tensor": "pool1", "from": "s1b2_a"}], ["step 2", "step 0 makes it, step 1 reads it"]),
    ("not-read-there", [{"tensor": "pool1", "until": "s1b2_a"}], ["'pool1'", "step 2", "step 1 reads it"]),
    ("input", [{"tensor": "image", "until": "s1b1_a"}], ["keep 0", "'image'", "read by no step after step 0"]),
    ("backwards", [{"tensor": "s1b1_add", "from": "s1b2_add", "until": "s1b2_a"}], ["ends before it begins", "step 3"]),
    ("inside", ["conv1"], ["'conv1'", "read by no step after step 0"]),
    ("unknown-layer", [{"tensor": "pool1", "until": "nix"}], ["'until'", "'nix'"]),
    ("unknown-key", [{"tensor": "pool1", "to": "s1b1_a"}], ["'to'", "'tensor', 'from', 'until'"]),
    ("twice", ["pool1", "pool1"], ["keep 0 and keep 1", "'pool1'", "step 0"]),
    ("no-list", "pool1", ["'keep'", "'pool1'", "list"]),
    ("number", [3], ["keep 0 is 3"]),
]  # fmt: skip


def evaluate(folder: Path, subgraphs: object, keep: object, *words: str):
    write_json(folder / "mine.json", {"subgraphs": subgraphs, "keep": keep})
    return cocco("evaluate", "resnet50", "--partition", "mine.json", "--shared-buffer", "512KB", *words, folder=folder)


@pytest.mark.parametrize(("keep", "said"), [each[1:] for each in MISTAKES], ids=[each[0] for each in MISTAKES])
def test_a_mistake_is_one_line(keep: object, said: list[str], tmp_path: Path):
    assert_malformed(evaluate(tmp_path, BLOCKS, keep), ["mine.json", *said])


def test_an_order_against_an_edge_names_it(tmp_path: Path):
    said = ["'s1b1_a' before its input 'pool1'", "subgraph 0", "subgraph 1"]
    assert_malformed(evaluate(tmp_path, [BLOCKS[1], BLOCKS[0]], ["pool1"], "--keep", "auto"), said)


def test_kept_bytes_beyond_the_capacity_are_an_answer_by_step(tmp_path: Path):
    """With the bytes that are needed the step runs."""
    found = answer(evaluate(tmp_path, BLOCKS, ["s1b1_add"], "--json"), code=1)
    assert [each["step"] for each in found["infeasible"]] == [1, 2, 3]
    assert all(each["needed_bytes"] > each["available_bytes"] == 512 * 1024 for each in found["infeasible"])
    assert found["infeasible"][0]["reason"] == "kept tensors exceed the buffer"
    most = max(each["needed_bytes"] for each in found["infeasible"])
    words = ("evaluate", "resnet50", "--partition", "mine.json", "--shared-buffer", most, "--json")
    assert answer(cocco(*words, folder=tmp_path))["keep"]
