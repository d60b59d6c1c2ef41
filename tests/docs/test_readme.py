"""The README has the two commands that `.ci/run` takes from there."""

import re

from tests.helpers.command_line import ROOT


def test_the_readme_has_the_two_commands():
    """One installs and explores, the other installs and tests."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    explore, tests = [line for line in lines if line.startswith("python3 -m venv")]
    assert "cocco explore resnet50" in explore and tests.endswith("pytest -n auto")


def test_the_readme_warns_of_the_names_that_it_takes():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "four names at the top level" in text


def test_the_readme_is_one_screen_with_a_picture_and_an_answer():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert text.index("![") < text.index("Build a shared buffer of") < text.index("\n## ")
    assert all(f"[{name}]" in text for name in ("SoMa", "stream", "accelforge"))


def test_the_numbers_beside_other_tools_stand_on_a_page_that_says_how_they_were_found():
    """The README rounds nothing: each number of its differences is on the page that it links to."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "alternatives.md").read_text(encoding="utf-8")
    differences = text.split("## What others do not")[1].split("\n## ")[0]
    numbers = re.findall(r"\d[\d.,]*\d (?:MB|KB|s|sizes|layers)|\d (?:MB|s)\b", differences.replace("\n", " "))
    assert len(numbers) >= 8
    assert [number for number in numbers if number not in page.replace("\n", " ")] == []
