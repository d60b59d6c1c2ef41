"""cocco report on addresses: which points of a front, and which answers, were changed until every region had one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cocco.exploration.answers.lacking import Moved
from cocco.output import report
from tests.helpers.command_line import assert_malformed, cocco
from tests.helpers.pages import change, data_of, page_of

pytestmark = pytest.mark.usefixtures("undrawn")

CHANGES = [
    Moved("vgg16", "dropped", "conv1_1", None, "conv1_1 is not kept"),
    Moved("vgg16", "resized", None, "conv2_1", "<b>conv2_1</b> has smaller tiles"),
]


@pytest.fixture(scope="module")
def front_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A front with kept tensors for vgg16 in a few memories."""
    folder = tmp_path_factory.mktemp("placing") / "vgg16"
    words = ("pareto", "vgg16", "--shared", "--range", "512KB:1536KB:512KB", "--samples", 200)
    assert cocco(*words, "-o", folder).returncode == 0
    return folder


def told(folder: Path, moved: list[Moved], placed: bool) -> None:
    """Let result.json say so of the first point of a front, as `FrontPoint.addresses_json` does."""

    def edit(content: dict[str, Any]) -> None:
        content["result"]["front"][0] |= {"moved": [each.to_json() for each in moved], "placed": placed}

    change(folder, edit)
    report.write(folder)


def test_a_front_as_it_was_found_says_so(front_folder: Path):
    report.write(front_folder)
    points = json.loads((front_folder / "result.json").read_text())["result"]["front"]
    kept = [point for point in points if "moved" in point]
    assert kept and all(point["placed"] and not point["moved"] for point in kept)
    page = page_of(front_folder)
    assert page.texts.count("nothing changed") == len(kept)
    assert "every region of every point has one, in the plans as the search found them" in " ".join(page.texts)
    lines = data_of(front_folder)["chart"]["lines"]
    assert sum("has its addresses as it was found" in each for each in lines) == len(kept)


def test_the_point_that_was_changed_is_marked_with_its_changes(front_folder: Path, tmp_path: Path):
    shutil.copytree(front_folder, tmp_path / "copy")
    told(tmp_path / "copy", CHANGES, True)
    page, (first, *others) = page_of(tmp_path / "copy"), data_of(tmp_path / "copy")["chart"]["lines"]
    assert page.texts.count("2 changes") == 1
    assert all(each.text in page.texts for each in CHANGES) and page.count("b") == 0
    assert "2 changes of the plan for its addresses" in first
    assert not any("changes of the plan" in line for each in others for line in each)
    assert "1 of " in " ".join(page.texts)


def test_the_point_without_addresses_is_marked(front_folder: Path, tmp_path: Path):
    shutil.copytree(front_folder, tmp_path / "copy")
    told(tmp_path / "copy", [], False)
    page = page_of(tmp_path / "copy")
    assert page.texts.count("none found") == 1 and "for 1 none were found" in " ".join(page.texts)
    assert "no addresses found for all that is kept" in data_of(tmp_path / "copy")["chart"]["lines"][0]


def test_a_front_without_kept_tensors_says_nothing_of_addresses(front_folder: Path, tmp_path: Path):
    shutil.copytree(front_folder, tmp_path / "copy")
    change(tmp_path / "copy", lambda c: [each.pop("moved", None) for each in c["result"]["front"]])
    report.write(tmp_path / "copy")
    assert not any("addresses" in text for text in page_of(tmp_path / "copy").texts)


def test_changes_that_are_none_are_one_line(front_folder: Path, tmp_path: Path):
    shutil.copytree(front_folder, tmp_path / "copy")
    change(tmp_path / "copy", lambda c: c["result"]["front"][0].update(moved=[{"text": 3}], placed=True))
    assert_malformed(cocco("report", tmp_path / "copy"), ["'network' is missing"])


@pytest.mark.parametrize("minimized", [False, True])
def test_an_answer_says_what_its_addresses_took(tmp_path: Path, minimized: bool):
    words = ("--minimize", "energy", "--limit", "capacity=1MB") if minimized else ()
    done = cocco("explore", "vgg16", "--shared", "--range", "512KB:1024KB:512KB", *words, "-o", tmp_path)
    assert done.returncode == 0
    report.write(tmp_path)
    assert "every region has one, in the plan as the search found it" in page_of(tmp_path).texts
    moved = [each.to_json() for each in CHANGES]
    change(tmp_path, lambda c: c["result"].update(moved=moved, placed=True))
    report.write(tmp_path)
    text = " ".join(page_of(tmp_path).texts)
    assert f"after 2 changes of the plan, which was priced again: {CHANGES[0].text}; {CHANGES[1].text}" in text
    change(tmp_path, lambda c: c["result"].update(placed=False))
    report.write(tmp_path)
    assert "none were found for all that is kept on chip" in " ".join(page_of(tmp_path).texts)
