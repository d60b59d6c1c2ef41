"""The commands of docs/partitions.md are run on the files of docs/examples, and what they print is compared."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "partitions.md"
EXAMPLES = ROOT / "docs" / "examples"
BLOCKS = [block.split("```")[0] for block in PAGE.read_text(encoding="utf-8").split("```\n$ ")[1:]]


def test_the_page_has_its_examples():
    text = PAGE.read_text(encoding="utf-8")
    assert len(BLOCKS) >= 4
    for path in EXAMPLES.glob("*.yaml"):
        assert path.name in text and path.read_text(encoding="utf-8") in text


@pytest.mark.parametrize("block", BLOCKS, ids=[block.split("\n")[0] for block in BLOCKS])
def test_a_command_of_the_page_prints_what_the_page_says(block: str):
    command, *expected = block.rstrip("\n").split("\n")
    words = [sys.executable, "-m", "cocco.cli", *shlex.split(command)[1:]]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    finished = subprocess.run(
        words, cwd=EXAMPLES, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert finished.returncode in (0, 1), finished.stderr
    printed = finished.stdout.rstrip("\n").split("\n")
    if expected[-1] == "...":  # the rest is left out
        expected.pop()
        printed = printed[: len(expected)]
    assert printed == expected
