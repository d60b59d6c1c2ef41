"""A folder that holds a run keeps it, unless the same is asked again or --force is given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.command_line import assert_malformed, cocco

EXPLORE = ("explore", "vgg16", "--range", "1MB:2MB:512KB", "--samples", 40, "--method", "ga", "--keep", "none", "-o")
PARETO = ("pareto", "vgg16", "--samples", 40, "--keep", "none", "-o")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    assert cocco(*EXPLORE, tmp_path / "run").returncode == 0
    return tmp_path / "run"


def test_the_same_question_may_be_asked_again(run: Path):
    """As the command of the README is."""
    before = contents(run)
    assert cocco(*EXPLORE, run).returncode == 0
    after = contents(run)
    assert before.keys() == after.keys()
    assert [before[name] == after[name] for name in ("partition.json", "samples.csv", "history.csv")] == [True] * 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((*EXPLORE, "--seed", 3), ["its seed is 0, here 3"]),
        ((*EXPLORE, "--samples", 41), ["its samples is 40, here 41"]),
        ((*EXPLORE, "--alpha", 0.01), ["its alpha is 0.002, here 0.01"]),
        ((*EXPLORE, "--cores", 1, 2), ["another question"]),
        (PARETO, ["another question", "objectives"]),
        (("explore", "vgg16", "--minimize", "energy", "--limit", "capacity=1MB", "-o"), ["another question"]),
    ],
)
def test_another_question_is_refused_before_the_search(run: Path, words: tuple[object, ...], told: list[str]):
    before = contents(run)
    place = words.index("-o") + 1
    assert_malformed(cocco(*words[:place], run, *words[place:]), [str(run), "--force", *told])
    assert contents(run) == before


def test_with_force_nothing_of_the_earlier_run_stays(run: Path):
    """Files that no run wrote do."""
    assert cocco(*EXPLORE, run, "--addresses").returncode == 0
    assert cocco("report", run).returncode == 0
    for name in ("notes.txt", "partition-mine.json", "sizes/mine.json", "partitions.txt"):
        (run / "sizes").mkdir(exist_ok=True)
        (run / name).write_text("{}")
    assert (run / "addresses.csv").exists() and (run / "report.html").exists()
    assert cocco(*PARETO, run, "--force").returncode == 0
    partitions = {f"partitions/{path.name}" for path in (run / "partitions").iterdir()}
    ours = {"notes.txt", "partition-mine.json", "sizes/mine.json", "partitions.txt"}
    front = {"pareto.csv", "pareto.png", "pareto.svg", "result.json", "samples.csv"}
    assert contents(run).keys() == ours | front | partitions
    assert cocco(*EXPLORE, run, "--force").returncode == 0
    assert not partitions & contents(run).keys() and "pareto.csv" not in contents(run)
    assert ours <= contents(run).keys() and "partition.json" in contents(run)


def test_several_numbers_of_cores_have_folders_that_are_kept_too(tmp_path: Path):
    words = (*EXPLORE, tmp_path, "--cores", 1, 2)
    assert cocco(*words).returncode == 0
    assert cocco(*words).returncode == 0
    assert_malformed(cocco(*words, "--seed", 1), ["cores-1", "its seed is 0, here 1"])
    assert_malformed(cocco(*EXPLORE, tmp_path), ["several numbers of cores", "--force"])
    assert_malformed(cocco("evaluate", tmp_path), ["cores-1, cores-2"])
    assert cocco(*EXPLORE, tmp_path, "--force").returncode == 0
    assert not (tmp_path / "cores.csv").exists() and json.loads((tmp_path / "result.json").read_text())["seed"] == 0


def test_a_torn_run_is_not_written_over_either(run: Path):
    (run / "result.json").write_text("{")
    assert_malformed(cocco(*EXPLORE, run), ["cannot be read", "--force"])
    assert cocco(*EXPLORE, run, "--force").returncode == 0
