"""Reading tables: what is read, the one line that refuses what is none, and thousands of broken files."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.memory.reading import find_table, read_table, shipped, table_text
from simulator.memory.table import COLUMNS, SramRow, SramTable
from workloads.errors import FileFormatError

HEAD = "capacity_bytes,read_pj_per_byte,write_pj_per_byte,leakage_mw,area_mm2,cycle_ns\n"
ROWS = "1024,0.5,0.6,0.1,0.01,0.5\n2048,0.7,0.8,0.2,0.02,0.6\n"
PIECES = (
    "", ",", "\n", "\r", '"', "#", "-1", "0", "nan", "inf", "1e999", "1e-400", "capacity_bytes", "1024", "0.5", ";",
    "\x00", "\ufeff", "\u2028", "9" * 50, "cycle_ns", " ", "1.5", "e", "+", "--", "row",
)  # fmt: skip  #: what a broken file is made of


def table_of(folder: Path, text: str) -> SramTable:
    path = folder / "mine.csv"
    path.write_bytes(text.encode())
    return read_table(path)


def test_columns_stand_in_any_order_and_comments_are_the_source(tmp_path):
    text = "# made by hand\n# in 2026\narea_mm2, capacity_bytes ,read_pj_per_byte,note,write_pj_per_byte,leakage_mw\n"
    table = table_of(tmp_path, text + "\n0.01,1024,0.5,x,0.6,0\n0.02,2048,.75,y,8e-1,1.\n")
    assert table.name == "mine.csv" and table.source == "made by hand in 2026"
    assert table.rows == ((1024, 0.5, 0.6, 0.0, 0.01, None), (2048, 0.75, 0.8, 1.0, 0.02, None))


def test_a_compilers_units_become_ours(tmp_path):
    table = table_of(
        tmp_path, "size_kb,read_pj_per_byte,write_pj_per_byte,leakage_uw,area_um2,cycle_time_ns\n1,1,1,500,10000,1\n"
        "4,1,1,2000,40000,2\n",
    )  # fmt: skip
    assert table.rows[0] == (1024, 1.0, 1.0, 0.5, pytest.approx(0.01), 1.0)


def test_what_is_written_is_read_again(tmp_path):
    for name, path in shipped().items():
        table = find_table(name)
        (tmp_path / "again.csv").write_text(table_text(table))
        found = find_table("again.csv", tmp_path)
        assert found.rows == table.rows and found.source == table.source and path.stem == name


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "is empty"), ("\n \n", "is empty"), ("# only words\n", "is empty; its first line names the columns"),
        (HEAD, "must have 2 to 4096 rows, got 0"), (HEAD + "1024,1,1,1,1,1\n", "must have 2 to 4096 rows, got 1"),
        (HEAD.replace("leakage_mw,", "") + ROWS, "column leakage_mw is missing"),
        (HEAD.replace("area_mm2", "leakage_mw") + ROWS, "column area_mm2 is missing"),
        (HEAD.replace("cycle_ns", "leakage_mw") + ROWS, "column leakage_mw is there 2 times"),
        (HEAD + ROWS + "4096,1,1,1,1\n", "row 3 has 5 columns; the first line names 6"),
        (HEAD + ROWS + "4096,x,1,1,1,1\n", "row 3: read_pj_per_byte must be a number, got 'x'"),
        (HEAD + ROWS + "4096,,1,1,1,1\n", "row 3: read_pj_per_byte must be a number, got ''"),
        (HEAD + ROWS + "4096,nan,1,1,1,1\n", "row 3: read_pj_per_byte must be a number, got 'nan'"),
        (HEAD + ROWS + "4096,1,1e999,1,1,1\n", "row 3: write_pj_per_byte must be a finite number of at least 0"),
        (HEAD + ROWS + "4096,1,1,-1,1,1\n", "row 3: leakage_mw must be a finite number of at least 0"),
        (HEAD + ROWS + "4096.5,1,1,1,1,1\n", "row 3: capacity_bytes must be a whole number of bytes, got '4096.5'"),
        (HEAD + ROWS + "-4096,1,1,1,1,1\n", "row 3: capacity_bytes must be an integer from 1"),
        (HEAD + ROWS + "2048,1,1,1,1,1\n", "row 3: capacity_bytes must differ from the row before, got 2048 again"),
        (HEAD + ROWS + "1500,1,1,1,1,1\n", "row 3: capacity_bytes must be larger than in the row before"),
        (HEAD + '"1024,1,1', "is no CSV"), ("a" * (2**20 + 1), "is larger than 1048576 bytes"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused_in_one_line(tmp_path, text, rule):
    with pytest.raises(FileFormatError) as error:
        table_of(tmp_path, text)
    assert "mine.csv: " in str(error.value) and rule in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["", "nothing", "a\x00b", "../x.yaml"])
def test_a_table_that_is_not_there(tmp_path, name):
    with pytest.raises(FileFormatError, match="no SRAM table is called .*; tables that ship are cacti7_22nm_hp"):
        find_table(name, tmp_path)
    with pytest.raises(FileFormatError, match="cannot be read"):
        find_table("nothing.csv", tmp_path)


def check_broken(folder: Path, text: str) -> bool:
    """Return whether a file is read; then its rows are a table, else one line refuses it."""
    try:
        table = table_of(folder, text)
    except FileFormatError as error:
        assert len(str(error).splitlines()) == 1 and len(str(error)) < 600, error
        return False
    sizes = [row.capacity_bytes for row in table.rows]
    assert sizes == sorted(set(sizes)) and len(sizes) >= 2
    for row in table.rows:
        assert all(value is None or value >= 0 for value in row) and table.at(row.capacity_bytes) == row
    assert read_table_again(folder, table) == table.rows
    return True


def read_table_again(folder: Path, table: SramTable):
    (folder / "again.csv").write_text(table_text(table), encoding="utf-8")
    return read_table(folder / "again.csv").rows


def broken(rng: random.Random) -> str:
    """Return a real table after some changes: pieces put in, cut out, doubled or moved."""
    text = shipped()[rng.choice(sorted(shipped()))].read_text() if rng.random() < 0.3 else HEAD + ROWS
    for _ in range(rng.choice((0, 1, 1, 2, 5))):
        at, end = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        end = min(end, at + rng.choice((0, 0, 1, 3, 40)))
        kind = rng.randrange(4)
        if kind == 0:
            text = text[:at] + rng.choice(PIECES) + text[end:]
        elif kind == 1:
            text = text[:at] + text[end:]
        elif kind == 2:
            text = text[:end] + text[at:]
        else:
            lines = text.splitlines(keepends=True)
            rng.shuffle(lines)
            text = "".join(lines)
    return text


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200) | st.lists(st.sampled_from([*PIECES, *COLUMNS]), max_size=40).map("".join))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    check_broken(tmp_path_factory.mktemp("any"), text.encode(errors="replace").decode())


def test_broken_tables_are_read_or_refused(tmp_path):
    read = sum(check_broken(tmp_path, broken(random.Random(seed))) for seed in range(400))
    assert 40 < read < 360


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_broken_tables_are_read_or_refused(tmp_path, part):
    """20,000 files."""
    for seed in range(2000 * part, 2000 * (part + 1)):
        check_broken(tmp_path, broken(random.Random(f"table {seed}")))


WORDS = "num_words,word_size,read_energy_pj,write_energy_pj,leakage_uw,area_um2\n"


def test_words_of_bits_by_hand(tmp_path):
    """256 words of 32 bits are 1 KB; 8 pJ for an access to a word are 2 pJ for each of its 4 bytes."""
    path = tmp_path / "openram.csv"
    path.write_text(WORDS + "256,32,8,12,500,10000\n2048,64,16,24,900,90000\n")
    first, second = read_table(path).rows
    assert first == SramRow(1024, 2.0, 3.0, 0.5, 0.01) and second[:3] == (16384, 2.0, 3.0)
    path.write_text("words,bits," + HEAD.split(",", 1)[1] + "256,32,1,1,1,1,1\n512,32,1,1,1,1,1\n")
    assert read_table(path).capacities == (1024, 2048)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (WORDS + "3,3,8,12,1,1\n64,64,8,12,1,1\n", "row 1: words x bits must be whole bytes from 1, got 3 x 3 bits"),
        (WORDS + "0,8,8,12,1,1\n64,64,8,12,1,1\n", "row 1: words x bits must be whole bytes from 1"),
        (WORDS + "1.5,8,8,12,1,1\n64,64,8,12,1,1\n", "row 1: words must be a whole number"),
        (WORDS.replace("num_words,", "") + "8,8,12,1,1\n64,8,12,1,1\n", "column capacity_bytes is missing"),
        (WORDS.replace("word_size,", "") + "8,8,12,1,1\n64,8,12,1,1\n", "column capacity_bytes is missing"),
        (WORDS.replace("word_size", "words") + "8,8,8,12,1,1\n", "column capacity_bytes is missing"),
    ],
)
def test_words_that_are_no_memory_are_refused(tmp_path, text, words):
    path = tmp_path / "openram.csv"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=words) as refusal:
        read_table(path)
    assert "\n" not in str(refusal.value)
