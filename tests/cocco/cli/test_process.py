"""Other tests call the command in their own process: here it prints there what a process of its own prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.command_line import cocco, cocco_process
from tests.helpers.tiny_network import write_tiny

SMALL = ("tiny.json", "--shared", "--range", "64KB:128KB:32KB", "--samples", 60)
LINES = [
    ("networks",),
    ("show", "tiny.json", "--json"),
    ("evaluate", "tiny.json", "--shared-buffer", "64KB", "--explain"),
    ("evaluate", "tiny.json", "--shared-buffer", "64KB", "--verify", "--json"),
    ("explore", *SMALL, "--keep", "none", "--json"),
    ("pareto", *SMALL),
    ("explore", *SMALL, "--method", "best"),  # malformed
    ("evaluate", "missing.json"),
    ("--version",),
    ("explore", "--help"),
    (),
]


@pytest.mark.parametrize("words", LINES, ids=lambda words: " ".join(map(str, words[:1])) or "nothing")
def test_a_process_of_its_own_prints_the_same(words: tuple[object, ...], tmp_path: Path):
    write_tiny(tmp_path / "tiny.json")
    here, there = (run(*words, folder=tmp_path) for run in (cocco, cocco_process))
    assert here.returncode == there.returncode and here.stdout == there.stdout
    assert _untimed(here.stderr) == _untimed(there.stderr)
    assert (here.returncode == 0) == bool(here.stdout)


def _untimed(text: str) -> str:
    """Return what was said without the seconds that it took."""
    return text if " s, " not in text else text.split(" in ")[0] + text.split(" s, ", 1)[1]
