"""The plan of the house: which room may import which, and no circle among the files of any room."""

from __future__ import annotations

from collections import Counter

import networkx

from docs.rooms import PACKAGES, ROOMS, arrows, modules, room_of
from tests.helpers.command_line import ROOT

LISTS = ("cocco/cli/commands", "workloads/zoo")  #: a file for each command and each network


def test_every_room_is_there():
    assert [room for room in ROOMS if room not in modules()] == []


def test_no_file_imports_a_room_below_its_own():
    """An arrow up would let a reader of one room depend on a room that he has not read yet."""
    up = [(a, b) for a, b in sorted(arrows()) if ROOMS.index(room_of(b)) > ROOMS.index(room_of(a))]
    assert up == []


def test_no_files_import_each_other_in_a_circle():
    circles = [sorted(each) for each in networkx.strongly_connected_components(networkx.DiGraph(arrows()))]
    assert [each for each in circles if len(each) > 1] == []


def test_every_folder_says_what_it_is_for():
    silent = [name for name, path in modules().items() if path.name == "__init__.py" and '"""' not in path.read_text()]
    assert silent == []


def test_no_room_has_more_than_twelve_files():
    """So that a reader sees a room at a glance; entries of a list, one file each, are as many as the list is long.

    The types of a file (.pxd, .pyi) belong to it.
    """
    files = {
        path.relative_to(ROOT).with_suffix("")
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.suffix in (".py", ".pxd", ".pxi", ".pyi", ".pyx", ".js", ".css")
    }
    folders = Counter(each.parent.as_posix() for each in files)
    assert {folder: files for folder, files in folders.items() if files > 12 and folder not in LISTS} == {}


def test_no_test_imports_a_test():
    """What tests share lives in tests/helpers."""
    for path in (ROOT / "tests").rglob("*.py"):
        lines = [
            line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith(("from ", "import "))
        ]
        assert not [line for line in lines if ".test_" in line or " test_" in line], path
