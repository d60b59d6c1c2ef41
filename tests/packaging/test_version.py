"""The version and its date are the same wherever they stand."""

from __future__ import annotations

import configparser
import re

import yaml

from tests.helpers.command_line import ROOT

HEADING = re.compile(r"^## (\S+) \((.+)\)$", re.MULTILINE)


def changes() -> str:
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_version_is_the_same_in_all_places():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    (version, date), *_ = HEADING.findall(changes())
    assert setup["metadata"]["version"] == citation["version"] == version
    assert str(citation["date-released"]) == date


def test_changes_are_grouped_and_short():
    """By version and by kind, in lines that a terminal shows whole."""
    groups = re.findall(r"^### (.+)$", changes(), re.MULTILINE)
    assert set(groups) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed"}
    assert all(len(line) <= 88 for line in changes().splitlines())
    titles = re.findall(r"^## .+$", changes(), re.MULTILINE)
    released = [title for title in titles if title != "## Unreleased"]
    assert released == titles[-len(released) :] and len(titles) - len(released) <= 1  # what comes next stands first
    assert all(HEADING.match(title) for title in released) and len(set(released)) == len(released) == 2
