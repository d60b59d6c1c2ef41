"""cocco partition and explore --from: files as evaluate reads them, and answers that cost no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.command_line import answer, assert_malformed, cocco, write_json

CHIP = ("--shared-buffer", "2MB")
FEW = ("--samples", 3, "--method", "ga", "--json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    stages = [["conv1_1..pool1"], ["conv2_1..pool2"], ["conv3_1..pool3"]]
    write_json(tmp_path / "vgg.json", {"network": "vgg16", "subgraphs": stages})
    write_json(tmp_path / "kept.json", {"network": "vgg16", "subgraphs": stages, "keep": ["pool4"]})
    write_json(tmp_path / "res.json", {"network": "resnet50", "subgraphs": [["s1b1_*"]]})
    return tmp_path


def test_partition_costs_no_more_than_its_start(folder: Path):
    start = answer(cocco("evaluate", "vgg16", "--partition", "vgg.json", *CHIP, "--json", folder=folder))
    found = answer(cocco("partition", "vgg16", "--from", "vgg.json", *CHIP, *FEW, folder=folder))
    assert found["totals"]["energy_pj"] <= start["totals"]["energy_pj"]
    for keep in ("auto", "none"):
        found = answer(cocco("partition", "vgg16", "--from", "kept.json", "--keep", keep, *CHIP, *FEW, folder=folder))
        assert found["totals"]["energy_pj"] <= start["totals"]["energy_pj"]
        assert ("keep" in found) == (keep == "auto")


def test_partition_says_what_became_of_the_start(folder: Path):
    """A row for each change; a plan that cannot run has no numbers to compare with."""
    asked = ("partition", "vgg16", "--from", "vgg.json", "--method", "greedy")
    said = cocco(*asked, *CHIP, folder=folder).stdout
    assert "what became of vgg.json" in said and "in all" in said
    (row,) = [
        line for line in cocco(*asked, "--shared-buffer", "16KB", folder=folder).stdout.splitlines() if "in all" in line
    ]
    assert row.split()[-3:] == ["-", "-", "-"]


def test_explore_takes_a_file_for_each_network(folder: Path):
    asked = ("explore", "vgg16", "resnet50", "--from", "vgg.json", "res.json", "--keep", "none")
    asked += ("--range", "1536KB:3072KB:512KB")  # both run in all of them
    found = answer(cocco(*asked, *FEW, folder=folder))
    size = found["shared_buffer_bytes"]
    values = [
        answer(cocco("evaluate", network, "--partition", file, "--shared-buffer", size, "--json", folder=folder))
        for network, file in (("vgg16", "vgg.json"), ("resnet50", "res.json"))
    ]
    assert found["cost"] <= size + 0.002 * sum(each["totals"]["energy_pj"] for each in values)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("partition", "vgg16", "--from", "res.json", *CHIP), ["res.json", "'resnet50'", "'vgg16'"]),
        (("partition", "vgg16", "--from", "vgg.json", "res.json", *CHIP), ["--from", "one file", "vgg16", "got 2"]),
        (("partition", "vgg16", "--from", "none.json", *CHIP), ["none.json"]),
        (("explore", "vgg16", "resnet50", "--from", "vgg.json"), ["--from", "vgg16, resnet50", "got 1"]),
        (("explore", "vgg16", "resnet50", "--from", "res.json", "vgg.json"), ["res.json", "'resnet50'", "'vgg16'"]),
        (("explore", "vgg16", "--minimize", "ema", "--limit", "capacity=1MB", "--from", "vgg.json"), ["--from"]),
    ],
)
def test_a_start_that_does_not_match_is_one_line(words: tuple[str, ...], said: list[str], folder: Path):
    assert_malformed(cocco(*words, folder=folder), said)
