"""Sweeps over machines: a real scheduler and real workers on this one, one of them killed on the way."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest

from cocco.exploration.workers import machines
from experiments.sweep.points import SweepError
from experiments.sweep.sweep import sweep
from tests.helpers import sweep_tasks
from tests.helpers.dask_cluster import another_build, scheduler, worker

pytest.importorskip("distributed", reason="needs the extra 'dask'")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "points").iterdir()}


def test_worker_killed_on_the_way_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Both workers compute; one is killed after the fourth of 16 points; the files are those of one process."""
    monkeypatch.setattr(machines, "ANSWER_SECONDS", 60.0)  # workers take their time to begin on a busy machine
    (tmp_path / "who").mkdir()
    asked = [{"x": x, "seconds": 0.15, "who": str(tmp_path / "who")} for x in range(16)]
    with scheduler() as (address, stack):
        first = worker(stack, address)
        worker(stack, address)

        def kill(done: int, _: int) -> None:
            if done == 4:
                wait_for_both(tmp_path / "who")
                first.kill()

        found = sweep(sweep_tasks.says_who, asked, tmp_path / "dask", dask=address, progress=kill)
        assert first.wait(10) == -9
    assert [row["square"] for row in found] == [x * x for x in range(16)]
    assert repr(found) == repr(sweep(sweep_tasks.says_who, asked, tmp_path / "alone"))
    assert files(tmp_path / "dask") == files(tmp_path / "alone")


def wait_for_both(folder: Path) -> None:
    end = time.monotonic() + 30
    while len({path.name.split("-")[1] for path in folder.iterdir()}) < 2:
        assert time.monotonic() < end, "the second worker never computed"
        time.sleep(0.05)


def test_points_that_the_scheduler_dropped_are_submitted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Somebody cancels all tasks after the second of 8 points, as a scheduler does that loses its client."""
    from distributed import Client, Future

    monkeypatch.setattr(machines, "ANSWER_SECONDS", 60.0)
    asked = [{"x": x, "seconds": 0.1} for x in range(8)]
    with scheduler() as (address, stack):
        worker(stack, address)

        with Client(address, timeout=60, set_as_default=False) as other:  # before the points: it may take longer

            def cancel(done: int, _: int) -> None:
                if done == 2:
                    keys = [key for key in other.run_on_scheduler(sweep_tasks.names_of) if key.startswith("cocco")]
                    assert keys
                    other.cancel([Future(key, client=other) for key in keys], force=True)

            found = sweep(sweep_tasks.square, asked, tmp_path, dask=address, progress=cancel)
    assert [row["square"] for row in found] == [x * x for x in range(8)]
    assert len(files(tmp_path)) == 8


def test_scheduler_that_goes_away_is_one_line_and_what_is_finished_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(machines, "ANSWER_SECONDS", 60.0)
    with scheduler() as (address, stack):
        worker(stack, address)

        def end(done: int, _: int) -> None:
            if done == 2:
                stack.close()
                monkeypatch.setattr(machines, "ANSWER_SECONDS", 0.5)

        with pytest.raises(SweepError, match=rf"^dask scheduler {address}: went away; what was finished is stored$"):
            sweep(
                sweep_tasks.square, [{"x": x, "seconds": 0.1} for x in range(8)], tmp_path, dask=address, progress=end
            )
    assert len(files(tmp_path)) >= 2


def test_faults_of_points_and_workers_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """No worker yet; a point that raises; a worker with other code; a scheduler that is gone."""
    monkeypatch.setattr(machines, "ANSWER_SECONDS", 1.0)
    asked = [{"x": x} for x in range(4)]
    with scheduler() as (address, stack):
        with pytest.raises(SweepError, match="has no workers"):
            sweep(sweep_tasks.square, asked, tmp_path / "none", dask=address)
        monkeypatch.setattr(machines, "ANSWER_SECONDS", 10.0)
        worker(stack, address)
        with pytest.raises(SweepError, match=r"1 of 4 points failed.*'x': 2.*ZeroDivisionError"):
            sweep(sweep_tasks.fails_at_two, asked, tmp_path / "bad", dask=address)
        assert len(files(tmp_path / "bad")) == 3
        worker(stack, address, another_build(tmp_path))
        with pytest.raises(SweepError, match=r"has code [0-9a-f]{8} \(here [0-9a-f]{8}\)"):
            sweep(sweep_tasks.square, [{"x": x, "seconds": 0.2} for x in range(100)], tmp_path / "other", dask=address)
        assert len(files(tmp_path / "other")) < 100


def test_address_that_does_not_answer_is_one_line_within_ten_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nobody there, somebody who says nothing, somebody who speaks something else, no address at all.

    Two waits at most: for the scheduler and for a worker.
    """
    assert 2 * machines.ANSWER_SECONDS < 10
    monkeypatch.setattr(machines, "ANSWER_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as mute, socket.create_server(("127.0.0.1", 0)) as other:
        threading.Thread(target=speak, args=(other,), daemon=True).start()
        with socket.create_server(("127.0.0.1", 0)) as free:
            nobody = free.getsockname()[1]
        ports = (mute.getsockname()[1], other.getsockname()[1], nobody)
        for address in (*(f"tcp://127.0.0.1:{port}" for port in ports), "nonsense", "tcp://", "spx://host:1"):
            start = time.monotonic()
            with pytest.raises(SweepError, match="does not answer") as caught:
                sweep(sweep_tasks.square, [{"x": 1}], tmp_path, dask=address)
            assert time.monotonic() - start < 5
            assert address in str(caught.value) and "\n" not in str(caught.value)
    assert files(tmp_path) == {}


def speak(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" * 10)
        connection.recv(1000)
