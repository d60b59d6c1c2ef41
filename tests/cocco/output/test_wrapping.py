"""Sentences are wrapped at the width of the terminal; nothing is lost, and what is copied stays one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocco.output.text.layout.tables import wrapped

WORDS = st.lists(st.text("abcdefghij,.0123456789", min_size=1, max_size=12), min_size=1, max_size=60)


@given(WORDS, st.sampled_from(["", "  ", "  search   "]))
def test_no_word_is_lost_and_no_line_is_too_wide(words: list[str], start: str):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "60")
        lines = wrapped(start + " ".join(words)).split("\n")
    assert " ".join(lines).split() == (start + " ".join(words)).split()
    assert all(len(line) <= 60 for line in lines)
    assert all(line.startswith(" " * len(start)) for line in lines[1:])


@pytest.mark.parametrize(
    "line",
    [
        "  cocco evaluate resnet50 --partition results/a/long/folder/partition.json --shared-buffer 960KB --verify",
        "  0   conv1 .. s2b1_shortcut (17)   1 x 28     369.2 KB   98.0 KB  377.2 KB    916.2 KB  0.410  1.189",
        "  results/" + "x" * 100,
    ],
)
def test_commands_rows_and_paths_stay_one_line(line: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert wrapped(f"{line}\n\n") == f"{line}\n\n"
