"""sweep(): the order of the points, the same answers for any number of workers, nothing run twice, what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cocco.candidates import code
from experiments.sweep import points as stored
from experiments.sweep.points import SweepError
from experiments.sweep.sweep import sweep
from tests.helpers import sweep_tasks
from tests.helpers.command_line import ROOT

POINTS = [{"x": x, "network": "vgg16"} for x in (5, 1, 4, 1, 3)]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "points").iterdir())}


def point_file(folder: Path) -> Path:
    return sorted((folder / "points").iterdir())[0]


def test_answers_come_in_the_order_of_the_points(tmp_path: Path):
    found = sweep(sweep_tasks.square, POINTS, tmp_path)
    assert [(row["x"], row["square"]) for row in found] == [(5, 25), (1, 1), (4, 16), (1, 1), (3, 9)]


def test_any_number_of_workers_gives_the_same_answers_and_files(tmp_path: Path):
    one = sweep(sweep_tasks.square, POINTS, tmp_path / "one")
    two = sweep(sweep_tasks.square, POINTS, tmp_path / "two", workers=2)
    assert repr(one) == repr(two)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert len(files(tmp_path / "one")) == 4  # x = 1 is asked for twice


def test_stored_answers_are_those_that_were_computed(tmp_path: Path):
    """A list of rows with floats that have no short decimal form; the second time nothing is called."""
    asked = [{"x": x, "log": str(tmp_path / "log")} for x in range(3)]
    first = sweep(sweep_tasks.rows, asked, tmp_path / "folder")
    again = sweep(sweep_tasks.rows, asked, tmp_path / "folder")
    assert repr(first) == repr(again)
    assert first[2][1] == {"x": 2, "row": 1, "third": 1 / 3}
    assert (tmp_path / "log").read_text() == "0\n1\n2\n"


def test_more_points_in_the_same_folder_run_only_what_is_new(tmp_path: Path):
    def asked(count: int) -> list[dict[str, Any]]:
        return [{"log": str(tmp_path / "log"), "x": x} for x in range(count)]

    sweep(sweep_tasks.rows, asked(2), tmp_path / "folder")
    assert [answer[0]["x"] for answer in sweep(sweep_tasks.rows, asked(4)[::-1], tmp_path / "folder")] == [3, 2, 1, 0]
    assert sorted((tmp_path / "log").read_text().split()) == ["0", "1", "2", "3"]


def test_progress_counts_the_points_of_all_workers(tmp_path: Path):
    """Two points, then four of which these two are stored."""
    seen: list[tuple[int, int]] = []
    for workers in (1, 2):
        asked = [{"x": x} for x in range(2 * workers)]
        sweep(sweep_tasks.square, asked, tmp_path, workers=workers, progress=lambda *state: seen.append(state))
    assert seen == [(1, 2), (2, 2), (3, 4), (4, 4)]


def test_key_does_not_depend_on_the_order_of_the_settings():
    assert stored.key_of("run", {"a": 1, "b": 2.5}) == stored.key_of("run", {"b": 2.5, "a": 1})
    different = [{"a": 1}, {"a": "1"}, {"a": 1.5}, {"a": True}, {"a": None}, {"a": [1]}, {}]
    assert len({stored.key_of(run, point) for point in different for run in ("run", "other")}) == 14


def test_version_changes_with_the_code_that_answers(tmp_path: Path):
    """A file that is edited, renamed or added, a table of memories; a picture beside it changes nothing."""
    assert code.made_by()["code"] == code.fingerprint(ROOT)
    seen = [code.fingerprint(tmp_path)]
    (tmp_path / "cocco" / "search").mkdir(parents=True)
    file = tmp_path / "cocco" / "search" / "greedy.py"
    for change in (
        lambda: file.write_text("1"),
        lambda: file.write_text("2"),
        lambda: file.rename(tmp_path / "cocco" / "a.pyx"),
        lambda: (tmp_path / "cocco" / "sram.csv").write_text("1"),
        lambda: (tmp_path / "experiments").mkdir(),
        lambda: (tmp_path / "experiments" / "pareto.py").write_text("1"),
    ):
        change()
        seen.append(code.fingerprint(tmp_path))
    assert len(set(seen)) == 6 and code.fingerprint(ROOT) not in seen
    (tmp_path / "cocco" / "a.png").write_text("")
    (tmp_path / "a.py").write_text("")
    assert code.fingerprint(tmp_path) == seen[-1]


def test_function_has_the_same_name_as_a_script(tmp_path: Path):
    (tmp_path / "named.py").write_text(
        "from experiments.sweep.points import name_of\ndef run(point): pass\nprint(name_of(run))\n"
    )
    environment = {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    for command in (["-m", "named"], ["-c", "import named"], [str(tmp_path / "named.py")]):
        finished = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        assert finished.stdout == "named.run\n"


@pytest.mark.parametrize("workers", [1, 2])
def test_bad_point_does_not_stop_the_others(tmp_path: Path, workers: int):
    with pytest.raises(SweepError, match=r"1 of 4 points failed.*'x': 2.*ZeroDivisionError: two is no good") as caught:
        sweep(sweep_tasks.fails_at_two, [{"x": x} for x in range(4)], tmp_path, workers=workers)
    assert "\n" not in str(caught.value)
    assert "fails_at_two" in caught.value.__notes__[0]  # the traceback
    assert sweep(sweep_tasks.fails_at_two, [{"x": x} for x in (0, 1, 3)], tmp_path, progress=pytest.fail) == [0, 1, 3]


@pytest.mark.parametrize(("what", "word"), [("nan", "JSON compliant"), ("object", "is no JSON"), ("large", "bytes")])
def test_answer_that_no_file_can_hold_is_a_bad_point(tmp_path: Path, what: str, word: str):
    with pytest.raises(SweepError, match=word):
        sweep(sweep_tasks.answers, [{"what": what}], tmp_path)
    assert files(tmp_path) == {}


@pytest.mark.parametrize("point", [{"x": float("inf")}, {"x": object()}, {"x": {1, 2}}])
def test_point_that_is_no_json_is_refused_before_anything_runs(tmp_path: Path, point: dict[str, Any]):
    with pytest.raises(ValueError, match="point 1 of the sweep"):
        sweep(sweep_tasks.square, [{"x": 0}, point], tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


def test_function_that_no_other_process_can_find_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="function of a module"):
        sweep(lambda point: 1, [{}], tmp_path)


def test_folder_of_something_else_is_not_touched(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(SweepError, match="no sweep wrote them"):
        sweep(sweep_tasks.square, POINTS, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_file_in_place_of_the_folder_is_one_line(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SweepError, match="file: cannot be used"):
        sweep(sweep_tasks.square, POINTS, tmp_path / "file")
    with pytest.raises(SweepError, match="cannot be used"):
        sweep(sweep_tasks.square, POINTS, tmp_path / "file" / "below")


def test_foreign_file_among_the_points_is_refused(tmp_path: Path):
    sweep(sweep_tasks.square, POINTS, tmp_path)
    (tmp_path / "points" / "notes.txt").write_text("mine")
    with pytest.raises(SweepError, match=r"notes\.txt"):
        sweep(sweep_tasks.square, POINTS, tmp_path)
    (tmp_path / ".sweep").write_text("cocco-sweep/2\n")
    with pytest.raises(SweepError, match=r"cocco-sweep/2.*not cocco-sweep/1"):
        sweep(sweep_tasks.square, POINTS, tmp_path)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"version": "0.0.1+00000000"}, "has version '0.0.1"),
        ({"format": "cocco-sweep/0"}, "has format 'cocco-sweep/0'"),
        ({"run": "other.run"}, "has run 'other.run'"),
        ({"point": {"x": 99}}, "has point {'x': 99}"),
        ({"answer": float("nan")}, "NaN"),
        (None, "is not JSON"),
    ],
)
def test_stored_point_of_another_sweep_is_refused_and_kept(tmp_path: Path, change: dict[str, Any] | None, word: str):
    sweep(sweep_tasks.square, POINTS, tmp_path)
    path = point_file(tmp_path)
    text = path.read_text()
    path.write_text(text[:50] if change is None else json.dumps(json.loads(text) | change))
    before = files(tmp_path)
    with pytest.raises(SweepError) as caught:
        sweep(sweep_tasks.square, POINTS, tmp_path)
    assert str(path) in str(caught.value) and word in str(caught.value) and "\n" not in str(caught.value)
    assert files(tmp_path) == before


def test_what_killed_writers_left_is_cleared_away(tmp_path: Path):
    sweep(sweep_tasks.square, POINTS, tmp_path)
    before = files(tmp_path)
    left = tmp_path / "points" / f".{point_file(tmp_path).name}.a1b2.tmp"
    for path in (left, tmp_path / ".table.csv.c3d4.tmp"):
        path.write_text("half of")
    sweep(sweep_tasks.square, POINTS, tmp_path)
    assert files(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [".sweep", "points"]


def test_full_disk_in_this_process_stops_with_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The second point finds no room: the first is kept, nothing is half-written."""
    real, calls = stored.write_atomic, []

    def full(path: Path, text: str) -> None:
        calls.append(path)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(path, text)

    monkeypatch.setattr(stored, "write_atomic", full)
    with pytest.raises(SweepError, match="a point cannot be stored: No space left on device"):
        sweep(sweep_tasks.square, POINTS, tmp_path)
    assert len(calls) == 2 and len(files(tmp_path)) == 1


def test_machines_without_the_extra_say_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SweepError, match=r"needs the extra 'dask': pip install 'cocco\[dask\]'"):
        sweep(sweep_tasks.square, POINTS, tmp_path, dask="tcp://127.0.0.1:8786")


EDITED = """
from experiments.sweep import SweepError, sweep

def run(point):
    return point["x"] + 1

if __name__ == "__main__":
    try:
        print(sweep(run, [{"x": 1}, {"x": 2}], "folder", workers=WORKERS))
    except SweepError as error:
        print(error)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_rows_of_an_edited_function_are_not_mixed_with_those_of_before(tmp_path: Path, workers: int):
    """The script is run, run again, then edited: what it stored is of another text, and it says so."""
    script = tmp_path / "edited.py"

    def ran(text: str) -> str:
        script.write_text(text.replace("WORKERS", str(workers)))
        command, environment = [sys.executable, str(script)], os.environ | {"PYTHONPATH": str(ROOT)}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True, timeout=120
        ).stdout

    assert ran(EDITED) == "[2, 3]\n"
    assert ran(EDITED) == "[2, 3]\n"
    assert "the stored point has source" in ran(EDITED.replace("+ 1", "+ 10"))


def test_sweep_whose_workers_cannot_be_processes_computes_itself(tmp_path: Path):
    """joblib is told to make none: the process lives on, and hears Ctrl-C as before."""
    text = "import signal, time; from experiments.sweep import sweep; from tests.helpers.sweep_tasks import square"
    text += "; before = signal.getsignal(signal.SIGINT)"
    text += "; found = sweep(square, [{'x': 1, 'seconds': 0.8}, {'x': 2, 'seconds': 0.8}], 'folder', workers=2)"
    text += "; print([row['square'] for row in found], signal.getsignal(signal.SIGINT) is before)"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JOBLIB_MULTIPROCESSING": "0"}
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "[1, 4] True\n"), done.stderr
