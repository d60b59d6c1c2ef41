"""Plans, networks and tables that a user's own code makes, by file and by entry points of what is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

import workloads
from simulator import find_table
from simulator.memory.reading import shipped
from tests.helpers.command_line import answer, assert_malformed, cocco, write_json
from tests.helpers.packages import install_package

CODE = """
from simulator import Partition
from workloads import Builder

def first_two(network, accelerator):
    return [["conv1_1", "conv1_2"]]

def kept(network, accelerator):
    assert accelerator.shared_buffer == 2**21
    return Partition.from_groups(network, first_two(network, accelerator), keep=["pool4"])

def number(network, accelerator):
    return 7

def network():
    b = Builder("mine")
    b.conv("only", b.input("x", 8, 8, 8), 16, 1)
    return b.build()
"""
CHIP = ("--shared-buffer", "2MB")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own_plans.py").write_text(CODE)
    write_json(tmp_path / "two.json", {"network": "vgg16", "subgraphs": [["conv1_1", "conv1_2"]]})
    return tmp_path


def test_a_heuristic_of_a_file_is_a_plan_wherever_a_plan_is_asked_for(folder: Path):
    asked = ("evaluate", "vgg16", "two.json", *CHIP, "--json")
    written, made = (
        answer(cocco(*asked[:2], plan, *asked[3:], folder=folder)) for plan in ("two.json", "own_plans.py:first_two")
    )
    assert made == written
    kept = answer(cocco("evaluate", "vgg16", "own_plans.py:kept", *CHIP, "--json", folder=folder))
    assert [each["tensor"] for each in kept["keep"]] == ["pool4"]
    for words in (("compare", "vgg16", "layerwise"), ("partition", "vgg16", "--method", "greedy", "--from")):
        said = cocco(*words, "own_plans.py:first_two", *CHIP, folder=folder)
        assert said.returncode == 0 and "own_plans.py:first_two" in said.stdout


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("own_plans.py:number", ["own_plans.py:number: groups must be a list of lists of layer names; got 7"]),
        ("own_plans.py:kept", ["own_plans.py:kept: raises AssertionError"]),
        ("own_plans.py:other", ["has no 'other'; it has ", "first_two"]),
        ("nowhere.py:plan", ["nowhere.py is not there"]),
        ("nothing", ["nothing: is not there", "heuristic.py:make_plan"]),
    ],
)
def test_what_makes_no_plan_is_one_line(plan: str, said: list[str], folder: Path):
    assert_malformed(cocco("evaluate", "vgg16", plan, "--shared-buffer", "1MB", folder=folder), said)


def test_a_network_of_a_file_needs_no_torch(folder: Path):
    assert answer(cocco("show", "own_plans.py:network", "--json", folder=folder))["weight_bytes"] == 8 * 16


def test_plans_and_tables_of_other_packages_have_names(folder: Path, monkeypatch: pytest.MonkeyPatch):
    table = shipped()["cacti7_22nm_hp"]
    code = CODE + f"table = {str(table)!r}\n"
    install_package(folder, monkeypatch, code, plans={"first_two": "first_two"}, sram={"my_table": "table"})
    asked = ("evaluate", "vgg16", *CHIP, "--json")
    assert answer(cocco(*asked, "--partition", "first_two")) == answer(
        cocco(*asked, "--partition", "two.json", folder=folder)
    )
    assert find_table("my_table").rows == find_table("cacti7_22nm_hp").rows
    assert "first_two" not in workloads.names()


def test_files_of_one_name_are_told_apart_with_what_lies_beside_them(tmp_path: Path):
    """Two versions of one's own network, each with sizes of its own; one has the name of a module of Python."""
    text = "from sizes import WIDTH\n" + CODE.replace("16, 1", "WIDTH, 1")
    for folder, width in (("a", 8), ("b", 24)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "string.py").write_text(text)
        (tmp_path / folder / "sizes.py").write_text(f"WIDTH = {width}\n")
    widths = [workloads.load(f"{tmp_path / folder / 'string.py'}:network").layers[0].channels for folder in "abab"]
    assert widths == [8, 24, 8, 24]
