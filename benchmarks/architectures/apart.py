"""A function's answers in a process of its own: a crash, or time that runs out, ends only that."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from typing import Any


def answers(of: Callable[[], Iterator[dict[str, Any]]], seconds: float) -> dict[str, Any]:
    """Return all that the parts of an answer say together, and how the process ended where not by itself ("ended")."""
    context = multiprocessing.get_context("fork")  # what the caller has imported is there
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(there, of))
    child.start()
    there.close()
    found: dict[str, Any] = {}
    until = time.monotonic() + seconds
    try:
        while here.poll(max(0.0, until - time.monotonic())):
            found |= here.recv()
        found["ended"] = f"after {seconds:g} s"
        child.kill()
    except EOFError:
        child.join()
        if child.exitcode:
            found["ended"] = f"with exit code {child.exitcode}"
    child.join()
    return found


def _send(there: Any, of: Callable[[], Iterator[dict[str, Any]]]) -> None:
    for part in of():
        there.send(part)
    there.close()
