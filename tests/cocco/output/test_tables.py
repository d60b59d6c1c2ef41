"""Tables fit the terminal, lose nothing, and come as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocco.output.text.layout.tables import laid_out, seen_tables
from tests.helpers.command_line import cocco

WORD = st.text("abcxyz0123456789.,%", min_size=1, max_size=12)
CELL = st.lists(WORD, min_size=0, max_size=6).map(" ".join)


def in_columns(columns: int, *table: object) -> str:
    with patch.dict("os.environ", {"COLUMNS": str(columns)}):
        return laid_out(*table)  # type: ignore[arg-type]


def test_a_table_that_fits_is_left_alone():
    assert in_columns(80, ("a", "b"), [("x", 1), ("yy", 23)]) == "  a    b\n  --  --\n  x    1\n  yy  23"


def test_texts_are_wrapped_before_columns_go_below():
    text = in_columns(26, ("what", "value"), [("one two three four", "12.5 KB")])
    assert text == ("  what               value\n  ---------------  -------\n  one two three    12.5 KB\n  four")


def test_columns_without_room_follow_below_with_the_first_and_what_they_say_more_of():
    heads, row = ("net", "aaaaaaaa", "bbbbbbbb", ""), [("vgg", "1" * 8, "2" * 8, "+3 %")]
    assert in_columns(24, heads, row) == (
        "  net  aaaaaaaa\n  ---  --------\n  vgg  11111111\n\n"
        "  net  bbbbbbbb\n  ---  --------  ----\n  vgg  22222222  +3 %"
    )


def test_columns_move_together_before_one_goes_below():
    heads, row = ("net", "aaaaaaaa", "bbbbbbbb", ""), [("vgg", "1" * 8, "2" * 8, "+3 %")]
    assert in_columns(30, heads, row) == (
        " net aaaaaaaa bbbbbbbb\n --- -------- -------- ----\n vgg 11111111 22222222 +3 %"
    )


@given(st.integers(2, 8).flatmap(lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), min_size=1, max_size=5)))
def test_every_table_of_short_words_is_within_80_columns_and_says_all(lines: list[list[str]]):
    heads, rows = [cell[:12] for cell in lines[0]], [[cell[:20] for cell in line] for line in lines[1:]]
    text = in_columns(80, heads, rows, 1)
    assert max(map(len, text.splitlines())) <= 80
    for cell in (cell for row in rows for cell in row[1:]):
        assert cell.strip() in text  # numbers are never wrapped


def test_csv_and_markdown_hold_the_cells():
    heads, rows = ("name", "bytes"), [("a|b", "1,024"), ('say "c"', "2")]
    with seen_tables() as found:
        laid_out(heads, rows)
    (table,) = found
    assert [tuple(row) for row in csv.reader(io.StringIO(table.csv()))] == [heads, *rows]
    assert table.markdown() == '| name | bytes |\n| --- | --- |\n| a\\|b | 1,024 |\n| say "c" | 2 |\n'


COMMANDS = (
    ("networks",), ("show", "gpt2"), ("evaluate", "vgg16", "layerwise", "--explain", "--shared-buffer", "8KB"),
    ("evaluate", "vgg16", "layerwise", "--cores", 2, "--addresses", "--verify", "--shared-buffer", "1MB"),
    ("compare", "vgg16", "layerwise", "docs/../tests/../x.yaml"), ("capacity", "resnet50", "layerwise"),
    ("map", "googlenet"),
)  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(map(str, words)))
def test_printed_tables_are_within_80_columns(words: tuple[object, ...], tmp_path, monkeypatch):
    """Of the lines of a table; sentences are wrapped by the terminal."""
    (tmp_path / "x.yaml").write_text("subgraphs:\n- [conv1_1, conv1_2]\n- [conv3_1..conv3_3]\n")
    words = tuple(tmp_path / "x.yaml" if str(word).endswith("x.yaml") else word for word in words)
    monkeypatch.setattr("tests.helpers.command_line._like_a_process", _as_it_is)
    monkeypatch.setenv("COLUMNS", "80")
    wide, rule = [], False
    for line in cocco(*words).stdout.splitlines():
        rule = set(line.strip()) == {"-", " "} or (rule and line.startswith("  "))
        wide += [line] if rule and len(line) > 80 and "; --json" not in line else []
    assert wide == []


def _as_it_is(_: object):
    import contextlib

    return contextlib.nullcontext()


def test_a_command_prints_its_tables_alone():
    words = ("evaluate", "vgg16", "layerwise", "--shared-buffer", "1MB", "--format")
    text = cocco(*words, "csv").stdout
    energy, subgraphs = (list(csv.reader(io.StringIO(part))) for part in text.split("\n\n"))
    assert energy[0] == ["energy", "mJ", "share"] and subgraphs[0][:2] == ["#", "subgraph"]
    assert {len(row) for row in subgraphs} == {len(subgraphs[0])}
    assert cocco(*words, "markdown").stdout.startswith("| energy | mJ | share |\n| --- |")
    assert cocco("report", "--help").returncode == 0
    assert cocco(*words, "csv", "--json").returncode == 2
