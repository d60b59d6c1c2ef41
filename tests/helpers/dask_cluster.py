"""A dask scheduler and workers on this machine, as processes of their own that end with a test."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from cocco.candidates.code import ROOMS
from tests.helpers.command_line import ROOT

QUIET = {"DASK_DISTRIBUTED__DASHBOARD__ENABLED": "False", "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical"}


def start(stack: ExitStack, tool: str, *words: str, root: Path = ROOT) -> subprocess.Popen[bytes]:
    """Start a scheduler or a worker, with the code in root, that ends with the stack."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{tool}", *words, "--host", "127.0.0.1", "--no-dashboard"]
    environment: Mapping[str, str] = os.environ | QUIET | {"PYTHONPATH": str(root)}
    process = stack.enter_context(
        subprocess.Popen(command, env=environment, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    )
    stack.callback(process.kill)
    return process


@contextmanager
def scheduler(protocol: str = "tcp") -> Iterator[tuple[str, ExitStack]]:
    """Give the address of a scheduler, and the stack that it ends with."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with ExitStack() as stack:
        start(stack, "scheduler", "--port", str(port), "--protocol", protocol)
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.05)
        yield f"{protocol}://127.0.0.1:{port}", stack


def worker(stack: ExitStack, address: str, root: Path = ROOT) -> subprocess.Popen[bytes]:
    """Start a worker of the scheduler at an address."""
    return start(stack, "worker", address, "--nthreads", "1", "--no-nanny", root=root)


def another_build(folder: Path) -> Path:
    """Return a root with our code, in which one comment differs."""
    for name in ROOMS:
        shutil.copytree(ROOT / name, folder / "build" / name, ignore=shutil.ignore_patterns("*.c", "__pycache__"))
    with (folder / "build" / "simulator" / "evaluate.py").open("a") as file:
        file.write("# of another build\n")
    return folder / "build"
