"""What a sweep outlives: SIGKILL of the parent and of workers, a full disk, Ctrl-C, a second sweep in its folder."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from experiments.common.command import main
from experiments.sweep.points import SweepError
from experiments.sweep.sweep import sweep
from tests.helpers import sweep_tasks
from tests.helpers.command_line import ROOT, in_this_process
from tests.helpers.parts import first_of
from tests.helpers.sweep_script import EXPERIMENT

ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
WAIT = 60.0  #: seconds after which a test gives up


def script(*words: object) -> list[str]:
    return [sys.executable, str(ROOT / "tests" / "helpers" / "sweep_script.py"), *map(str, words)]


def run(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(script(*words), env=ENVIRONMENT, capture_output=True, text=True, timeout=WAIT, check=False)


@contextmanager
def started(folder: Path, *words: object) -> Iterator[subprocess.Popen[str]]:
    """Start the script, and wait until two of its points are stored."""
    with subprocess.Popen(
        script("-o", folder, *words), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            wait_until(lambda: len(points(folder)) >= 2)
            yield process
        finally:
            process.kill()


def points(folder: Path) -> list[str]:
    return [path.name for path in sorted((folder / "points").glob("*.json"))]


def wait_until(condition: object) -> None:
    end = time.monotonic() + WAIT
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.02)


def one_line(process: subprocess.CompletedProcess[str]) -> str:
    """Return the one line after the estimate."""
    lines = [each for each in process.stderr.splitlines() if not re.search(r", \d+ s$", each)]  # of a slow machine
    assert len(lines) == 2 and process.stdout == "", (process.stdout, process.stderr)
    return lines[1]


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_killed_parent_goes_on_to_the_same_bytes(tmp_path: Path, workers: int):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    words = ("--points", 8, "--seconds", 0.15, "--workers", workers)
    assert run("-o", whole, *words).returncode == 0
    with started(killed, *words) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (killed / "squares.csv").exists()
    stored = points(killed)
    assert 2 <= len(stored) < 8
    before = {name: (killed / "points" / name).stat().st_mtime_ns for name in stored}
    finished = run("-o", killed, *words)
    assert finished.returncode == 0, finished.stderr
    assert (killed / "squares.csv").read_bytes() == (whole / "squares.csv").read_bytes()
    for suffix in (".png", ".svg"):
        assert (killed / f"squares{suffix}").read_bytes() == (whole / f"squares{suffix}").read_bytes()
    assert points(killed) == points(whole)
    assert {name: (killed / "points" / name).stat().st_mtime_ns for name in stored} == before
    about = (whole / "squares.json").read_text().replace(str(whole), str(killed))
    assert (killed / "squares.json").read_text() == about


def test_killed_worker_loses_nothing(tmp_path: Path):
    asked = [{"x": x, "mark": str(tmp_path / "mark")} for x in range(6)]
    found = sweep(sweep_tasks.dies_once, asked, tmp_path / "folder", workers=2)
    assert (tmp_path / "mark").exists()
    assert [row["square"] for row in found] == [0, 1, 4, 9, 16, 25]


def test_point_that_kills_every_worker_is_named_and_the_others_finish(tmp_path: Path):
    seen: list[int] = []
    with pytest.raises(SweepError, match=r"1 of 6 points failed.*'x': 3.*worker process dies"):
        sweep(
            sweep_tasks.dies_at_three, [{"x": x} for x in range(6)], tmp_path,
            workers=2, progress=lambda done, _: seen.append(done),
        )  # fmt: skip
    assert len(points(tmp_path)) == 5
    assert seen == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("workers", first_of([2, 1], 1))
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path, workers: int):
    folder = tmp_path / "folder"
    with started(folder, "--points", 50, "--seconds", 0.2, "--workers", workers) as process:
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=WAIT)
    assert (process.returncode, output) == (130, ""), errors
    last = [each for each in errors.splitlines() if "resource_tracker" not in each][-1]  # a process of joblib's own
    assert last.startswith("squares: stopped") and "Traceback" not in errors
    assert 2 <= len(points(folder)) < 50


@pytest.mark.parametrize("workers", first_of([2, 1], 1))
def test_ctrl_c_in_a_search_stores_no_half_of_it(tmp_path: Path, workers: int):
    """Interrupted, the search raises with the best of some 100 samples; the sweep keeps it not even of who goes on."""
    alone = [sys.executable, str(ROOT / "tests" / "helpers" / "interrupted_sweep.py"), str(tmp_path), str(workers)]
    finished = subprocess.run(alone, env=ENVIRONMENT, capture_output=True, text=True, timeout=WAIT, check=True)
    both = json.loads(finished.stdout)
    assert len(both) == 2
    for found in both:
        half, whole = found["half"], found["whole"]
        assert half["status"] == "stopped" and half["samples"] < whole[1]["samples"]
        assert found["interrupted"] and found["stored"] < 3
        assert found["finished"] == whole and found["handler"]


def test_ctrl_c_in_a_script_that_searches_ends_with_130(tmp_path: Path):
    """The signal comes in the search of the second or a later point of ten."""
    words = [sys.executable, "-m", "experiments.alpha_sweep", "--quick", "-o", str(tmp_path)]
    with subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: points(tmp_path))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=WAIT)
    assert process.returncode == 130, errors
    stored = [json.loads((tmp_path / "points" / name).read_text())["answer"] for name in points(tmp_path)]
    assert 1 <= len(stored) < 10 and all(answer["status"] in ("optimal", "feasible") for answer in stored)


def test_answer_that_says_stopped_is_refused(tmp_path: Path):
    with pytest.raises(SweepError, match="2 of 2 points failed.*half of a search is not stored"):
        sweep(sweep_tasks.answers, [{"what": "stopped"}, {"what": "stopped rows"}], tmp_path)
    assert points(tmp_path) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_point_that_exits_does_not_end_the_sweep(tmp_path: Path, workers: int):
    with pytest.raises(SweepError, match=r"1 of 4 points failed.*'x': 2.*SystemExit: 3"):
        sweep(sweep_tasks.exits, [{"x": x} for x in range(4)], tmp_path, workers=workers)
    assert len(points(tmp_path)) == 3


def test_commands_to_the_terminal_in_a_message_are_written_out(tmp_path: Path):
    with pytest.raises(SweepError) as caught:
        sweep(sweep_tasks.paints, [{"x": 1}], tmp_path)
    assert r"ValueError: \x1b[31mred\x1b[0m and \x07bell, \u202eright to left; é stays;" in str(caught.value)
    (note,) = caught.value.__notes__
    assert note.startswith("Traceback") and all(line.isprintable() for line in note.splitlines())


def test_second_sweep_in_the_folder_says_so_and_leaves_the_first_alone(tmp_path: Path):
    with started(tmp_path / "folder", "--points", 4, "--seconds", 0.15) as process:
        process.send_signal(signal.SIGSTOP)  # it holds the folder, however long the second takes to begin
        words = ("-o", tmp_path / "folder", "--points", 4, "--seconds", 0.15)
        second = in_this_process(partial(main, EXPERIMENT), *words)
        process.send_signal(signal.SIGCONT)
        assert second.returncode == 2
        assert one_line(second).startswith(f"squares: error: {tmp_path / 'folder'}: another sweep is running in it")
        process.communicate(timeout=WAIT)
    assert process.returncode == 0
    assert len(points(tmp_path / "folder")) == 4


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_file_that_the_disk_refuses_is_one_line_and_nothing_is_half_written(tmp_path: Path, workers: int):
    """A limit of the system on file sizes refuses the write, as a full disk does."""
    folder, words = tmp_path / "folder", ("--points", 4, "--size", 5000, "--workers", workers)
    refused = run("-o", folder, *words, "--most-bytes", 4000)
    assert refused.returncode == 2
    assert "a point cannot be stored: File too large" in one_line(refused)
    assert list((folder / "points").iterdir()) == []
    assert run("-o", folder, *words).returncode == 0
    assert in_this_process(partial(main, EXPERIMENT), "-o", tmp_path / "whole", *words[:-1], 1).returncode == 0
    assert (folder / "squares.csv").read_bytes() == (tmp_path / "whole" / "squares.csv").read_bytes()


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_killed_worker_left_half_written_is_gone_when_the_sweep_ends(tmp_path: Path, workers: int):
    with pytest.raises(SweepError, match="1 of 3 points failed"):
        sweep(sweep_tasks.leaves, [{"x": x, "folder": str(tmp_path)} for x in range(3)], tmp_path, workers=workers)
    assert len(list((tmp_path / "points").iterdir())) == len(points(tmp_path)) == 2


def test_workers_end_with_a_killed_parent(tmp_path: Path):
    """Each worker computes for a minute; without its parent it ends within seconds."""
    with started(tmp_path, "--points", 40, "--seconds", 0.3, "--workers", 2) as process:
        workers = children(process.pid)
        assert len(workers) >= 2
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda: not any(is_alive(worker) for worker in workers))


def test_bar_moves_on_a_terminal_and_estimates_the_rest(tmp_path: Path):
    """One line that is drawn again and again: points done of all, seconds since the start and to go."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    words = ("-o", tmp_path, "--points", 6, "--seconds", 0.6)
    with subprocess.Popen(script(*words), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # Linux says so at the end of a terminal
            pass
        assert process.stdout is not None and process.stdout.read().count(b"\n") == 4
    os.close(ours)
    assert process.returncode == 0
    assert b"0/6" in shown and b"6/6" in shown
    assert len(re.findall(rb"[1-5]/6 \[00:0\d<00:0\d", shown)) >= 3


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
