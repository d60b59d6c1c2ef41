"""cocco compare, cocco capacity and evaluate --explain: what they print, their exit codes, what is malformed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.command_line import answer, assert_malformed, cocco

FUSED = "network: resnet50\nsubgraphs:\n  - [conv1..s1b1_add]\n  - ['s1b2_*', s1b3_a..s1b3_add]\nrest: {rest}\n"
DEEP = "network: resnet50\nsubgraphs:\n  - [conv1..s2b1_add]\n  - ['s4b1_*']\n"
MACHINE = ("--shared-buffer", "1MB")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text(FUSED.format(rest="layerwise"))
    (tmp_path / "b.yaml").write_text(FUSED.format(rest="greedy"))
    (tmp_path / "deep.yaml").write_text(DEEP)
    return tmp_path


def test_a_comparison_has_the_figures_of_evaluate(folder):
    found = answer(cocco("compare", "resnet50", "a.yaml", "b.yaml", *MACHINE, "--json", folder=folder))
    assert found.keys() == {"network", "accelerator", "tile_rule", "partitions", "differences"}
    assert [row["name"] for row in found["partitions"]] == ["a.yaml", "b.yaml"]
    for row in found["partitions"]:
        assert row.keys() == {"name", "status", "subgraphs", "totals", "held_bytes", "least", "infeasible"}
        alone = answer(cocco("evaluate", "resnet50", "--partition", row["name"], *MACHINE, "--json", folder=folder))
        assert row["totals"] == alone["totals"] and row["subgraphs"] == len(alone["subgraphs"])
        assert row["held_bytes"] == max(x["activation_bytes"] + x["weight_bytes"] for x in alone["subgraphs"])
    for difference in found["differences"]:
        assert difference.keys() == {"layers", "sides"}
        for side in difference["sides"]:
            assert side.keys() == {"name", "subgraphs", "ema_bytes", "energy_pj", "latency_cycles"}
            assert sorted(layer for group in side["subgraphs"] for layer in group) == sorted(difference["layers"])
    text = cocco("compare", "resnet50", "a.yaml", "b.yaml", *MACHINE, folder=folder)
    assert text.returncode == 0 and "where they differ" in text.stdout and " %" in text.stdout
    same = cocco("compare", "resnet50", "a.yaml", "./a.yaml", *MACHINE, folder=folder)
    assert "The partitions are the same." in same.stdout


def test_a_comparison_with_one_that_cannot_run_ends_with_1(folder):
    found = answer(cocco("compare", "resnet50", "a.yaml", "deep.yaml", *MACHINE, "--json", folder=folder), 1)
    good, bad = found["partitions"]
    assert good["status"] == "feasible" and bad["status"] == "infeasible" and bad["totals"] is None
    assert bad["infeasible"][0]["needed_bytes"] == bad["least"]["shared_buffer"]
    text = cocco("compare", "resnet50", "deep.yaml", "a.yaml", *MACHINE, folder=folder)
    assert text.returncode == 1 and "Cannot run:" in text.stdout


@pytest.mark.parametrize("more", [
    (),
    pytest.param(("--cores", "2", "--batch", "2"), marks=pytest.mark.slow),
])  # fmt: skip
def test_a_partition_runs_on_its_least_capacity_and_not_below(folder, more):
    found = answer(cocco("capacity", "resnet50", "deep.yaml", *more, "--json", folder=folder))
    assert found.keys() == {"network", "subgraphs", "runs", "held"}
    assert found["subgraphs"][0].keys() == {"layers", "activation_bytes", "weight_bytes", "may_stream"}
    least = found["runs"]
    assert found["held"]["shared_buffer"] >= least["shared_buffer"]
    shared, buffers = least["shared_buffer"], (least["global_buffer"], least["weight_buffer"])
    tried = [
        (0, ("--shared-buffer", shared)),
        (1, ("--shared-buffer", shared - 1)),
        (0, ("--global-buffer", buffers[0], "--weight-buffer", buffers[1])),
        (1, ("--global-buffer", buffers[0] - 1, "--weight-buffer", buffers[1])),
        (1, ("--global-buffer", buffers[0], "--weight-buffer", buffers[1] - 1)),
    ]
    for code, machine in tried:
        finished = cocco("evaluate", "resnet50", "--partition", "deep.yaml", *machine, *more, folder=folder)
        assert finished.returncode == code, (machine, finished.stdout)
    text = cocco("capacity", "resnet50", "deep.yaml", *more, folder=folder)
    assert text.returncode == 0 and "s4b1_a .. s4b1_add (5)" in text.stdout


def test_a_partition_that_runs_in_no_memory_has_no_capacity(folder):
    finished = cocco("capacity", "resnet50", "deep.yaml", "--max-regions", "4", "--json", folder=folder)
    found = answer(finished, 1)
    assert found["status"] == "infeasible" and "exceed the 4 regions" in found["infeasible"][0]["reason"]


def test_an_explanation_names_bytes_split_and_capacity(folder):
    arguments = ("evaluate", "resnet50", "--partition", "deep.yaml", *MACHINE, "--explain")
    found = answer(cocco(*arguments, "--json", folder=folder), 1)
    assert found.keys() == {"status", "infeasible", "explained", "repaired"}
    bad = next(row for row in found["explained"] if row["status"] == "infeasible")
    assert bad.keys() == {
        "position", "layers", "status", "reason", "order", "tile", "activation_bytes", "weight_bytes",
        "fits_from", "tensors", "weights", "ema_bytes", "split",
    }  # fmt: skip
    assert bad["tensors"][0].keys() == {
        "tensor", "role", "main", "side", "main_bytes", "side_bytes", "dram_bytes"
    }  # fmt: skip
    assert bad["split"].keys() == {"parts", "ema_bytes", "energy_pj", "latency_cycles"}
    repaired = folder / "repaired.json"
    repaired.write_text(json.dumps({"subgraphs": found["repaired"]["partition"]}))
    again = answer(cocco("evaluate", "resnet50", "--partition", repaired, *MACHINE, "--json"))
    assert again["totals"] == found["repaired"]["totals"]
    size = bad["fits_from"]["shared_buffer"]
    assert (
        cocco("evaluate", "resnet50", "--partition", "deep.yaml", "--shared-buffer", size, folder=folder).returncode
        == 0
    )
    text = cocco(*arguments, folder=folder)
    assert text.returncode == 1 and "does not fit" in text.stdout and "best split:" in text.stdout


@pytest.mark.parametrize(("arguments", "words"), [
    (("compare", "resnet50", "a.yaml"), ["two partitions"]),
    (("compare", "resnet50", "a.yaml", "a.yaml"), ["'a.yaml' is given twice"]),
    (("compare", "googlenet", "a.yaml", "b.yaml"), ["a.yaml", "partition of network 'resnet50'"]),
    (("compare", "resnet50", "a.yaml", "none.yaml"), ["none.yaml", "cannot be read"]),
    (("capacity", "resnet50", "b.yaml"), ["rest: greedy", "needs given hardware"]),
    (("capacity", "resnet50", "bad.yaml"), ["bad.yaml", "no layer", "'conv9_*'"]),
    (("evaluate", "resnet50", "--partition", "backward.yaml"), ["backward.yaml", "runs backwards"]),
    (("evaluate", "resnet50", "--partition", "twice.yaml"), ["twice.yaml", "'conv1' is in subgraph 0", "again"]),
])  # fmt: skip
def test_what_is_malformed_is_one_line(folder, arguments, words):
    (folder / "bad.yaml").write_text("subgraphs: [['conv9_*']]\n")
    (folder / "backward.yaml").write_text("subgraphs: [['s1b1_add..conv1']]\n")
    (folder / "twice.yaml").write_text("subgraphs: [['conv?'], ['conv1..pool1']]\n")
    assert_malformed(cocco(*arguments, folder=folder), words)
