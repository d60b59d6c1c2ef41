"""A worker process that is killed is missed, said, and what it computed is computed again, to the same bytes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from multiprocessing import connection
from pathlib import Path
from typing import Any

import pytest

from cocco.cli import main
from cocco.effort.work_units import LOST, Steps
from cocco.exploration.workers import processes
from cocco.exploration.workers.processes import Processes
from tests.helpers.command_line import ROOT

pytestmark = pytest.mark.skipif(
    multiprocessing.get_all_start_methods()[0] != "fork", reason="processes are not copied here"
)
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
WAIT = 120  #: seconds after which a test gives up


def doubled(number: int, mark: str = "") -> int:
    """Return twice the number; kill its process where the mark is not there yet, or may never be."""
    if number == 3 and mark and not Path(mark).exists():
        if Path(mark).parent.exists():
            Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def half_an_answer(mark: str) -> bytes:
    """Return more than a pipe holds; the first time its process dies when half of that is on the way."""

    def send(self: Any, data: Any, write: object = None) -> None:
        os.write(self.fileno(), bytes(data[: len(data) // 2]) if len(data) > 1000 else data)
        if len(data) > 1000:
            os.kill(os.getpid(), signal.SIGKILL)

    if not Path(mark).exists():
        Path(mark).touch()
        connection.Connection._send = send  # type: ignore[attr-defined]
    return bytes(2**20)


@pytest.fixture
def anywhere(monkeypatch):
    """Let workers be copies although the runner of the tests has threads."""
    monkeypatch.setattr(processes, "may_fork", lambda: True)


def test_step_of_a_killed_worker_is_computed_again(anywhere, tmp_path: Path):
    with ExitStack() as stack, pytest.warns(RuntimeWarning, match="a worker process died") as told:
        run = Processes(2, stack).run
        assert run(doubled, [(1, ""), (3, str(tmp_path / "mark")), (4, "")]) == [2, 6, 8]
        assert run(doubled, [(5, ""), (6, "")]) == [10, 12]
    assert len(told) == 1


def test_step_that_kills_each_worker_is_left_to_this_process(anywhere, tmp_path: Path):
    """No attempt answers it; the steps beside it are answered, and what asks for it computes it."""
    never = str(tmp_path / "nowhere" / "mark")
    with ExitStack() as stack, pytest.warns(RuntimeWarning, match="a worker process died") as told:
        run = Processes(2, stack).run
        found = run(doubled, [(1, ""), (3, never), (4, "")])
        assert found[1] is LOST and found[0] in (2, LOST) and found[2] in (8, LOST)
        assert len(told) == processes.ATTEMPTS
        steps = Steps(None, lambda function, asked: [LOST] * len(asked), 2)
        steps.precompute(doubled, [(4, ""), (5, "")])
        assert steps.answer(doubled, (4, "")) == 8


def test_worker_killed_in_the_middle_of_a_long_answer_is_missed(anywhere, tmp_path: Path):
    with ExitStack() as stack, pytest.warns(RuntimeWarning, match="a worker process died"):
        found = Processes(2, stack).run(half_an_answer, [(str(tmp_path / "mark"),)])
    assert [len(each) for each in found] == [2**20]


def test_without_room_for_workers_this_process_computes(anywhere, monkeypatch):
    def full(self: object, *_: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    before = multiprocessing.active_children()
    monkeypatch.setattr(processes.ProcessPoolExecutor, "submit", full)
    with ExitStack() as stack:
        assert Processes(2, stack).run(doubled, [(1,), (2,)]) == [LOST, LOST]
    assert multiprocessing.active_children() == before


def test_no_worker_outlives_its_search(anywhere):
    before = multiprocessing.active_children()
    with ExitStack() as stack:
        assert Processes(3, stack).run(doubled, [(1,), (2,)]) == [2, 4]
        assert len(multiprocessing.active_children()) >= len(before) + 3
    assert multiprocessing.active_children() == before


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def searched(words: list[str], out: Path, kills: int, every: float) -> tuple[int, str]:
    """Run a search with two workers, kill one now and then, and return how many kills there were and what was said."""
    command = [sys.executable, "-m", "cocco.cli", *words, "--workers", "2"]
    with out.open("w") as answer, subprocess.Popen(
        command, env=ENVIRONMENT, stdout=answer, stderr=subprocess.PIPE, text=True
    ) as process:  # fmt: skip
        killed, end, last = 0, time.monotonic() + WAIT, 0.0
        try:
            while process.poll() is None:
                assert time.monotonic() < end, "the search hangs"
                time.sleep(0.02)
                if killed < kills and time.monotonic() > last + every and (workers := children(process.pid)):
                    os.kill(workers[killed % len(workers)], signal.SIGKILL)
                    killed, last = killed + 1, time.monotonic()
        finally:
            process.kill()
        assert process.returncode == 0 and process.stderr is not None
        return killed, process.stderr.read()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_search_with_a_killed_worker_ends_in_the_same_bytes(tmp_path: Path, capsys):
    """The first worker that there is, at once; it is said in one line."""
    words = ["explore", "vgg16", "--keep", "none", "--samples", "50000", "--json"]
    killed, said = searched(words, tmp_path / "killed", 1, 0.0)
    assert killed == 1 and said.count("a worker process died") == 1 and "Traceback" not in said
    assert main(words) == 0
    assert (tmp_path / "killed").read_text() == capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_search_with_workers_killed_again_and_again_ends_in_the_same_bytes(tmp_path: Path, capsys):
    words = ["explore", "googlenet", "--samples", "20000", "--json"]
    killed, said = searched(words, tmp_path / "killed", 10**6, 0.7)
    assert killed >= 3 and "a worker process died" in said
    assert main(words) == 0
    assert (tmp_path / "killed").read_text() == capsys.readouterr().out


DAEMON = """
import multiprocessing, signal
import cocco, workloads

def search():
    before = signal.getsignal(signal.SIGINT)
    network = workloads.load("vgg16")
    space = cocco.SharedBuffer(512 * 2**10, 1024 * 2**10, 256 * 2**10)
    cocco.explore(network, space=space, samples=200, keep="none", workers=2)
    print(signal.getsignal(signal.SIGINT) is before, flush=True)

if __name__ == "__main__":
    process = multiprocessing.Process(target=search, daemon=True)
    process.start()
    process.join()
"""


def test_ctrl_c_lives_after_a_search_whose_workers_cannot_be_processes(tmp_path: Path):
    """A daemon may have no processes of its own: it computes itself, and stays as it was."""
    (tmp_path / "daemon.py").write_text(DAEMON)
    command = [sys.executable, str(tmp_path / "daemon.py")]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=WAIT, check=True)
    assert done.stdout == "True\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_end_with_a_killed_search(tmp_path: Path):
    command = [sys.executable, "-m", "cocco.cli", "explore", "googlenet", "--workers", "2"]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + WAIT
            while len(workers := children(process.pid)) < 2:
                assert process.poll() is None and time.monotonic() < end
                time.sleep(0.05)
        finally:
            process.kill()
    while any(is_alive(worker) for worker in workers):
        assert time.monotonic() < end
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
