"""Run folders are not believed: a change of any number of result.json is named, or it is a record of the run."""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cocco.cli.running.runs import networks_of
from cocco.output.folders.verified.made_for import RunFolder
from cocco.output.folders.verified.verify_run import RECORDS, SLOW, check_numbers
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.tiny_network import write_tiny
from workloads.errors import FileFormatError

pytestmark = pytest.mark.usefixtures("undrawn")

FEW = ("--range", "32KB:128KB:32KB", "--samples", 60)
ASKED: dict[str, tuple[object, ...]] = {
    "kept": ("explore", "tiny.json", *FEW, "--addresses"),
    "cores": ("explore", "tiny.json", *FEW, "--cores", 2, "--batch", 3, "--exchange", "300pJ/B", "--count", "all"),
    "two": ("explore", "tiny.json", "other.json", *FEW, "--weights", 1, 2, "--keep", "none", "--compare"),
    "limited": ("explore", "tiny.json", *FEW, "--minimize", "capacity", "--limit", "energy=1mJ"),
    "nearest": ("explore", "tiny.json", *FEW, "--minimize", "capacity", "--limit", "energy=1pJ"),
    "front": ("pareto", "tiny.json", *FEW, "--objectives", "energy,capacity,latency"),
}
DEFAULT, OTHERS = ("kept", "two", "limited", "front"), ("cores", "nearest")
Place = tuple[str | int, ...]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where folders of tiny networks are made, each when it is asked for."""
    folder = tmp_path_factory.mktemp("runs")
    text = Path(write_tiny(folder / "tiny.json")).read_text()
    (folder / "other.json").write_text(text.replace('"tiny"', '"other"'))
    return folder


@pytest.fixture
def here(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(runs)  # the networks are named from here
    return runs


@pytest.fixture(scope="module")
def known() -> set[str]:
    """The names of numbers that one of the tests has lied about."""
    return set()


def run_of(name: str) -> Path:
    if not Path(name).is_dir():
        found = cocco(*ASKED[name], "-o", name)
        assert found.returncode in (0, 1), found.stderr
    return Path(name)


def copied(name: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run_of(name), tmp_path / name))


def leaves(content: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the place of every number."""
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inner:
        yield from leaves(value, (*place, key))
    if isinstance(content, (int, float)) and not isinstance(content, bool):
        yield place


def lying(content: dict[str, Any], place: Place) -> dict[str, Any]:
    """Return the same with another number there: a whole one by 1, another by a millionth."""
    found = copy.deepcopy(content)
    inner: Any = found
    for key in place[:-1]:
        inner = inner[key]
    value = inner[place[-1]]
    inner[place[-1]] = value + 1 if isinstance(value, int) else value * (1 + 1e-6) if value else 1e-6
    return found


def name_of(place: Place) -> str:
    return ": ".join(key for key in place if isinstance(key, str))


def unnoticed(folder: Path, most: int, known: set[str]) -> tuple[int, set[str]]:
    """Return how many lies were told, at most so many of a name, and the names of those that were not noticed.

    known: names of which none is told; those that are told are added.
    """
    content, networks = json.loads((folder / "result.json").read_text()), networks_of(RunFolder(folder))
    places: dict[str, list[Place]] = {}
    for place in leaves(content):
        places.setdefault(name_of(place), []).append(place)
    rng, told, missed = random.Random(0), 0, set()
    for name, found in places.items():
        if name in known:
            continue
        known.add(name)
        for place in rng.sample(found, min(most, len(found))):
            (folder / "result.json").write_text(json.dumps(lying(content, place)))
            told += 1
            try:
                check_numbers(RunFolder(folder), networks, is_full=True)
                missed.add(name)
            except FileFormatError as error:
                assert str(folder) in str(error) and "\n" not in str(error)
    return told, missed


EACH = [*DEFAULT, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]


@pytest.mark.parametrize("name", EACH)
def test_a_folder_that_does_not_lie_is_believed(here: Path, name: str):
    run = RunFolder(run_of(name))
    for is_full in (False, True):
        found = check_numbers(run, networks_of(run), is_full)
        assert found is not None and found.numbers > 20
        records = RECORDS if is_full else RECORDS + SLOW
        assert [each for each in found.records if not each.startswith(records)] == []


@pytest.mark.parametrize("name", EACH)
def test_every_number_that_is_changed_is_named_or_is_a_record(here: Path, tmp_path: Path, name: str, known: set[str]):
    """Each name once, in the first folder that has it."""
    told, missed = unnoticed(copied(name, tmp_path), 1, known)
    assert told and len(known) > 30 and [each for each in missed if not each.startswith(RECORDS)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_any_number_that_is_changed_is_named_or_is_a_record(here: Path, tmp_path: Path, name: str):
    told, missed = unnoticed(copied(name, tmp_path), 1000, set())
    assert told > 30 and [each for each in missed if not each.startswith(RECORDS)] == []


@pytest.mark.parametrize(
    ("command", "words"),
    [("evaluate", ()), ("report", ()), ("evaluate", ("--verify",)), ("compare", ("two",)), ("report", ("two",))],
)
def test_each_command_names_the_number_with_the_right_one(here: Path, tmp_path: Path, command: str, words: tuple):
    """A folder whose cost and bound are halved; the one whose traffic is more by a byte."""
    folder, _ = copied("kept", tmp_path), run_of("two")
    content = json.loads((folder / "result.json").read_text())
    cost, moved = content["result"]["cost"], content["result"]["totals"]["ema_bytes"]
    content["result"] |= {"cost": cost / 2, "lower_bound": cost / 2}
    (folder / "result.json").write_text(json.dumps(content))
    assert_malformed(cocco(command, folder, *words), [f"lower_bound is {cost / 2!r}, worked out again {cost!r}"])
    content["result"] |= {"cost": cost, "lower_bound": cost}
    content["result"]["totals"]["ema_bytes"] += 1
    (folder / "result.json").write_text(json.dumps(content))
    told = f"totals: ema_bytes is {moved + 1}, worked out again {moved}"
    assert_malformed(cocco(command, folder, *words), [f"{folder}/result.json", told])
    assert not list(folder.glob("*.html"))


def test_a_plan_is_read_from_no_folder_that_lies(here: Path, tmp_path: Path):
    """Wherever a plan may be a folder: as one of several, or as the start of a search."""
    folder = copied("kept", tmp_path)
    content = json.loads((folder / "result.json").read_text())
    content["result"]["subgraphs"][0]["weight_bytes"] -= 1
    (folder / "result.json").write_text(json.dumps(content))
    told = ["subgraphs 0: weight_bytes is"]
    assert_malformed(cocco("compare", "tiny.json", folder, "layerwise"), told)
    assert_malformed(cocco("explore", "tiny.json", *FEW, "--from", folder), told)


def test_hardware_that_the_plan_was_not_made_for_is_named(here: Path, tmp_path: Path):
    folder = copied("kept", tmp_path)
    content = json.loads((folder / "result.json").read_text())
    content["result"]["accelerator"]["cores"] = 4
    (folder / "result.json").write_text(json.dumps(content))
    for command in (("evaluate",), ("hardware",)):
        assert_malformed(cocco(*command, folder), ["accelerator: cores is 4, worked out again 1"])


def test_with_verify_the_bound_is_proved_again_and_the_rest_is_named(here: Path):
    found = answer(cocco("evaluate", run_of("kept"), "--verify", "--json"))["folder"]
    assert found["lower_bound"]["status"] == "equal" and found["numbers_compared"] > 100
    assert {"history.csv", "samples.csv", "seconds", "result: samples"} <= set(found["not_compared"])
    assert "proved again" in cocco("evaluate", "kept", "--verify").stdout
    limited = answer(cocco("evaluate", run_of("limited"), "--verify", "--json"))["folder"]
    assert limited["lower_bound"]["status"] == "not executed"


def test_a_bound_that_a_plan_undercuts_is_named(here: Path, tmp_path: Path):
    """The plan of one layer after the other, said to be the cheapest, with its own right price."""
    folder = tmp_path / "run"
    words = ("explore", "tiny.json", *FEW, "--keep", "none", "-o", folder)
    assert cocco(*words, "--method", "random").returncode == 0
    content = json.loads((folder / "result.json").read_text())
    result = content["result"]
    worse = answer(cocco("evaluate", "tiny.json", "layerwise", "--shared-buffer", "128KB", "--json"))
    for key in ("accelerator", "totals", "subgraphs"):
        result[key] = worse[key]
    names = [each["layers"] for each in worse["subgraphs"]]
    (folder / "partition.json").write_text(json.dumps({"network": "tiny", "subgraphs": names}))
    result["partition"] = names
    result["cost"] = 2**17 + 0.002 * worse["totals"]["energy_pj"]
    result |= {"status": "optimal", "lower_bound": result["cost"], "gap": 0.0, "shared_buffer_bytes": 2**17}
    del result["ranges"]
    (folder / "result.json").write_text(json.dumps(content))
    assert cocco("evaluate", folder).returncode == 0
    assert_malformed(cocco("evaluate", folder, "--verify"), ["lower_bound is", "and a plan costs"])


def test_numbers_of_a_network_that_is_not_here_are_said_not_to_be_compared(here: Path, tmp_path: Path):
    folder = copied("kept", tmp_path)
    found = cocco("report", folder, folder=tmp_path)
    assert found.returncode == 0 and "not compared: its networks cannot be read from here (tiny)" in found.stderr


def test_old_folders_say_less_and_are_believed_as_far(here: Path, tmp_path: Path):
    """As version 0.1 wrote them: no keys of kept tensors, ranges, addresses, no hardware in the partition file."""
    folder = tmp_path / "old"
    assert cocco("explore", "tiny.json", *FEW, "--keep", "none", "-o", folder).returncode == 0
    content, plan = (json.loads((folder / name).read_text()) for name in ("result.json", "partition.json"))
    for key in ("keep", "check_addresses", "groups_apart", "exchange"):
        content["settings"].pop(key, None)
    for key in ("ranges", "exchange", "addresses", "verified", "metric", "placed", "moved", "splits"):
        if key != "metric":
            content["result"].pop(key, None)
    del plan["accelerator"], content["result"]["totals"]["compulsory_bytes"]
    content["versions"]["cocco"] = "0.1.0"
    for name, written in (("result.json", content), ("partition.json", plan)):
        (folder / name).write_text(json.dumps(written))
    assert cocco("evaluate", folder, "--verify").returncode == 0 and cocco("report", folder).returncode == 0
    content["result"]["totals"]["energy_pj"] *= 2
    (folder / "result.json").write_text(json.dumps(content))
    assert_malformed(cocco("evaluate", folder), ["energy_pj", "written by version 0.1.0"])
