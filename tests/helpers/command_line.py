"""Runs the real command line in a process of its own, and says what a malformed input must look like."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "cocco.cli"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}

Finished = subprocess.CompletedProcess[str]


def cocco(*arguments: object, folder: Path | None = None, text_input: str | None = None) -> Finished:
    """Run `cocco` with these arguments in this folder."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder, env=ENVIRONMENT, input=text_input, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def answer(finished: Finished, code: int = 0) -> dict[str, Any]:
    """Return the one JSON object on standard output; NaN and infinity are no JSON."""
    assert finished.returncode == code, finished.stderr
    assert finished.stdout.count("\n") == 1

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    content = json.loads(finished.stdout, parse_constant=refuse)
    assert isinstance(content, dict)
    return content


def assert_malformed(finished: Finished, words: Sequence[str]) -> None:
    """Exit code 2, nothing on stdout, one line on stderr that has all these words."""
    assert finished.returncode == 2, (finished.stdout, finished.stderr)
    assert finished.stdout == ""
    assert finished.stderr.startswith("cocco: error: ")
    assert finished.stderr.count("\n") == 1 and finished.stderr.endswith("\n"), finished.stderr
    assert len(finished.stderr) < 1000
    for word in words:
        assert word in finished.stderr, finished.stderr


def write_json(path: Path, content: object) -> Path:
    """Write any content as JSON and return the path."""
    path.write_text(json.dumps(content))
    return path
