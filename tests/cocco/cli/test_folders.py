"""A folder that holds a run keeps it, unless the same is asked again or --force is given."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cocco.cli import main
from tests.helpers.command_line import ENVIRONMENT, assert_malformed, cocco
from tests.helpers.parts import first_of

pytestmark = pytest.mark.usefixtures("undrawn")

EXPLORE = ("explore", "vgg16", "--range", "1MB:2MB:512KB", "--samples", 40, "--method", "ga", "--keep", "none", "-o")
PARETO = ("pareto", "vgg16", "--samples", 40, "--keep", "none", "-o")


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files by name, but the steps of a search that was cut off, which may go on."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith(".resume/")}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first") / "run"
    assert cocco(*EXPLORE, folder).returncode == 0
    return folder


@pytest.fixture
def run(first: Path, tmp_path: Path) -> Path:
    """A folder of its own with the same run."""
    return shutil.copytree(first, tmp_path / "run")


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


FULL = """
import resource, sys
from cocco.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.exit(main(sys.argv[2:]))
"""  #: no file may have more bytes, as if the disk was full then


def fill(most: int, words: tuple[object, ...], folder: Path) -> str:
    """Return the last words of a search on a disk that is full when it writes."""
    command = [sys.executable, "-c", FULL, str(most), *map(str, words), str(folder)]
    finished = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 2 and "Traceback" not in finished.stderr, finished.stderr
    return finished.stderr.splitlines()[-1]


@pytest.mark.usefixtures("with_pictures")
@pytest.mark.parametrize("name", first_of(["samples.png", "result.json"], 1))
def test_a_full_disk_leaves_the_run_that_was_there_or_none(run: Path, tmp_path: Path, name: str):
    """Files of one run never stand beside those of another, and a part of a run is no run."""
    assert cocco(*EXPLORE, run, "--force").returncode == 0
    before, most = contents(run), int(0.8 * (run / name).stat().st_size)
    assert most > (run / "partition.json").stat().st_size
    told = fill(most, (*EXPLORE[:-1], "--seed", 5, "--force", "-o"), run)
    assert told.startswith(f"cocco: error: {run}") and told.endswith("cannot be written: File too large")
    assert contents(run) == before and cocco("evaluate", run).returncode == 0
    fill(most, EXPLORE, tmp_path / "fresh")
    assert not contents(tmp_path / "fresh")
    for command in ("evaluate", "report"):
        assert_malformed(cocco(command, tmp_path / "fresh"), [f"{tmp_path / 'fresh'} is not the folder of a run"])


def test_a_move_that_is_cut_off_leaves_no_run(run: Path, monkeypatch: pytest.MonkeyPatch):
    """A kill on the way from one answer to the next: neither is believed, and the next search may write there."""
    move, moved = os.replace, []

    def cut_off(source: object, target: object) -> None:
        if Path(str(target)).parent == run:
            moved.append(target)
            if len(moved) == 4:
                raise KeyboardInterrupt
        move(source, target)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "replace", cut_off)
    inside = [str(word) for word in (*EXPLORE[:-1], "--seed", 5, "--force", "-o", run)]
    assert main(inside) == 130
    monkeypatch.undo()
    assert len(moved) == 4 and "result.json" not in contents(run)
    assert_malformed(cocco("evaluate", run), [str(run), "is not the folder of a run"])
    assert cocco(*EXPLORE, run).returncode == 0 and cocco("report", run).returncode == 0
    assert not list(run.glob(".*"))


def test_a_torn_run_is_not_written_over_either(run: Path):
    (run / "result.json").write_text("{")
    assert_malformed(cocco(*EXPLORE, run), ["cannot be read", "--force"])
    assert cocco(*EXPLORE, run, "--force").returncode == 0
