"""A function's answers in a process of its own: a crash, or time that runs out, ends only that."""

from __future__ import annotations

import multiprocessing
import resource
import signal
from collections.abc import Callable, Iterator
from typing import Any


def answers(of: Callable[[], Iterator[dict[str, Any]]], seconds: int) -> dict[str, Any]:
    """Return all that the parts of an answer say together, and how the process ended where not by itself ("ended").

    seconds: of the processor, so that the same are cut off on a busy machine as on an idle one.
    """
    context = multiprocessing.get_context("fork")  # what the caller has imported is there
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(there, of, seconds))
    child.start()
    there.close()
    found: dict[str, Any] = {}
    try:
        while True:
            found |= here.recv()
    except EOFError:
        child.join()
    if child.exitcode:
        is_late = child.exitcode == -signal.SIGXCPU
        found["ended"] = f"after {seconds} s" if is_late else f"with exit code {child.exitcode}"
    return found


def _send(there: Any, of: Callable[[], Iterator[dict[str, Any]]], seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    for part in of():
        there.send(part)
    there.close()
