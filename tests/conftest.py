"""Settings of all tests: no time limit per example, memory that comes back, and a share of them drawn by a word."""

from __future__ import annotations

import compileall
import gc
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO
from unittest.mock import patch

import pytest
from hypothesis import settings

from cocco.cli.running import progress
from cocco.output.pictures import saving
from tests.helpers.drawn import drawn

settings.register_profile("unhurried", deadline=None)  # the machine may be shared
settings.load_profile("unhurried")
os.environ["COCCO_BANK"] = ""  # no search of a test starts from what others found
progress.QUIET_SECONDS = 1e9  # no line that only a slow machine prints

BEGAN = time.monotonic()
DRAWN = saving.write_picture


def pytest_addoption(parser: pytest.Parser) -> None:
    """With both, what fits: `pytest -m slow --draw WORD --seconds 180 --dist load --maxschedchunk 1`."""
    parser.addoption("--draw", metavar="WORD", help="run the tests in an order that this word draws")
    parser.addoption("--seconds", type=float, help="begin no test later, and skip what still runs a third later")


def pytest_configure(config: pytest.Config) -> None:
    """Compile the packages once: hundreds of commands in tests import them, and some may write no file whole."""
    sys.dont_write_bytecode = False  # what pytest makes of the tests takes it most of the time to collect them
    if not hasattr(config, "workerinput"):
        for name in ("workloads", "simulator", "cocco", "experiments"):
            compileall.compile_dir(config.rootpath / name, quiet=2)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order what is left of the tests after all other options."""
    if word := config.getoption("draw"):
        items[:] = [items[i] for i in drawn([item.nodeid for item in items], word)]


def pytest_collection_finish() -> None:
    """Set all that was collected apart, so that looking for what is no longer used passes over it, and look seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """A test that is not begun is no failure."""
    seconds = item.config.getoption("seconds")
    if seconds is not None and time.monotonic() - BEGAN > seconds:
        pytest.skip("not begun: the seconds are over")
    with _cut_off(seconds):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Nor is one that takes much longer than is left; no test is cut off without --seconds."""
    with _cut_off(item.config.getoption("seconds")):
        return (yield)


@contextmanager
def _cut_off(seconds: float | None) -> Iterator[None]:
    """Skip what runs a third longer than the seconds, whatever it makes of that: a command may end with a message."""
    is_over = False

    def cut(*_: object) -> None:
        nonlocal is_over
        is_over = True
        pytest.skip("cut off: the seconds are over")

    if seconds is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, cut)
    signal.setitimer(signal.ITIMER_REAL, max(1.0, seconds * 4 / 3 - (time.monotonic() - BEGAN)), 10)
    try:
        yield
    except Exception:
        if not is_over:
            raise
        pytest.skip("cut off: the seconds are over")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module", autouse=True)
def _free_what_a_file_leaves() -> Iterator[None]:
    """Pricers and their memos refer to each other; few as they are, Python would look for them after gigabytes.

    What stays is set apart, too: each file would be looked through again after all later ones.
    """
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def undrawn() -> Iterator[None]:
    """Pictures of runs are made but not drawn, which takes longer than most searches: for files about other things."""
    from matplotlib.figure import Figure

    def save(_: Figure, file: BinaryIO, format: str, **__: Any) -> None:
        file.write(f"a picture ({format})\n".encode())

    def write(*arguments: Any) -> None:
        with patch.object(Figure, "savefig", save):
            DRAWN(*arguments)

    with patch.object(saving, "write_picture", write):
        yield


@pytest.fixture
def unoptimized(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are built without -O2, which takes four times as long as all else: for small programs."""
    monkeypatch.setenv("MAKEFLAGS", "e")
    monkeypatch.setenv("CFLAGS", "-std=c11 -Wall -Wextra -Werror")


@pytest.fixture
def with_pictures() -> Iterator[None]:
    """Pictures are drawn all the same."""
    with patch.object(saving, "write_picture", DRAWN):
        yield
