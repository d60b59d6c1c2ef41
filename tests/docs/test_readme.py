"""The README has the two commands that `.ci/run` takes from there."""

from tests.helpers.command_line import ROOT


def test_the_readme_s_first_screen_has_the_two_commands():
    """One installs and explores, the other installs and tests."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    explore, tests = [line for line in lines[:40] if line.startswith("python3 -m venv")]
    assert "cocco explore resnet50" in explore and tests.endswith("pytest -n auto")


def test_the_readme_warns_of_the_names_that_it_takes():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "four names at the top level" in text
