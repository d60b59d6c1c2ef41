"""The judge of allocations, and buffers in files. Worked examples of memory by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.allocation.buffers import Allocation, AllocationError, Buffer, live_intervals
from simulator.allocation.files import read_buffers, write_buffers
from simulator.allocation.judge import check_allocation, height, lower_bound
from workloads.errors import FileFormatError

FIVE = (
    Buffer("b1", 0, 3, 4),
    Buffer("b2", 3, 9, 4),
    Buffer("b3", 0, 9, 4),
    Buffer("b4", 9, 21, 4),
    Buffer("b5", 0, 21, 4),
)
PLACED = Allocation({"b1": 8, "b2": 8, "b3": 4, "b4": 4, "b5": 0})
HEAD = "id,lower,upper,size,alignment,offset,gaps\n"


def kinds(buffers, allocation, capacity):
    return [each.kind for each in check_allocation(buffers, allocation, capacity)]


def test_the_example_of_minimalloc_takes_twelve_bytes():
    """b1, b3 and b5 are live in step 0: 12 bytes; b2 takes the bytes of b1 from step 3, touching in time."""
    assert lower_bound(FIVE) == height(FIVE, PLACED) == 12
    assert check_allocation(FIVE, PLACED, 12) == []


def test_every_broken_rule_is_named_with_its_buffers():
    assert kinds(FIVE, PLACED, 11) == ["beyond_capacity", "beyond_capacity"]  # b1 and b2 end at 12
    moved = Allocation({**PLACED.addresses, "b4": 2})  # b5 has [0, 4) until step 21
    (violation,) = check_allocation(FIVE, moved, 12)
    assert (violation.kind, violation.ids) == ("overlap", ("b4", "b5"))
    assert violation.message == "buffers 'b4' [2, 6) and 'b5' [0, 4) share bytes in step 9"
    one = Buffer("a", 0, 1, 3, alignment=4, offset=4)
    assert kinds([one], Allocation({"a": 6}), 12) == ["misaligned", "moved"]
    assert kinds([one], Allocation({"a": -4}), 12) == ["negative", "moved"]
    assert kinds([one], Allocation({}), 12) == ["missing"]
    assert kinds([], Allocation({"z": 0}), 12) == ["unknown"]


def test_no_buffers_fit_everywhere():
    assert check_allocation([], Allocation({}), 0) == [] and lower_bound([]) == 0 == height([], Allocation({}))


def test_another_buffer_may_live_in_a_gap():
    """a rests in steps 2 and 3, where b has its bytes; in step 4 it is back."""
    a, b = Buffer("a", 0, 6, 8, gaps=((2, 4),)), Buffer("b", 2, 4, 8)
    same = Allocation({"a": 0, "b": 0})
    assert live_intervals(a) == [(0, 2), (4, 6)] and lower_bound([a, b]) == 8
    assert check_allocation([a, b], same, 8) == []
    (violation,) = check_allocation([a, replace(b, upper=5)], same, 8)
    assert violation.message.endswith("in step 4")


def test_a_repeated_id_is_refused():
    with pytest.raises(AllocationError, match="'a' is repeated"):
        check_allocation([Buffer("a", 0, 1, 1)] * 2, Allocation({"a": 0}), 9)


@st.composite
def lists_of_buffers(draw):
    found = []
    for name in draw(st.lists(st.text(min_size=1).filter(str.isprintable), unique=True, max_size=5)):
        lower, life, alignment = draw(st.integers(0, 9)), draw(st.integers(1, 9)), draw(st.integers(1, 4))
        gaps = ((lower + 1, lower + 2),) if life > 2 and draw(st.booleans()) else ()
        offset = draw(st.none() | st.integers(0, 5).map(lambda k, a=alignment: k * a))
        found.append(Buffer(name, lower, lower + life, draw(st.integers(1, 99)), alignment, offset, gaps))
    return tuple(found)


@given(buffers=lists_of_buffers())
def test_what_is_written_is_read_back(buffers, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "buffers.csv"
    write_buffers(path, buffers)
    assert read_buffers(path) == buffers


def test_a_written_allocation_fixes_every_buffer(tmp_path):
    path = tmp_path / "placed.csv"
    write_buffers(path, FIVE, PLACED)
    assert path.read_text().splitlines()[:2] == ["id,lower,upper,size,offset", "b1,0,3,4,8"]
    assert [each.offset for each in read_buffers(path)] == [8, 8, 4, 4, 0]
    assert read_buffers(path, ignore_offsets=True) == FIVE


@pytest.mark.parametrize("heads", ["id,lower,upper,size", "id,start,stop,size", "buffer_id,begin,upper,size"])
def test_column_names_have_aliases_and_any_order(heads, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(heads + "\nx,2,5,7\n")
    assert read_buffers(path) == (Buffer("x", 2, 5, 7),)
    path.write_text(",".join(reversed(heads.split(","))) + ",hint\r\n7,5,2,x,9\r\n")
    assert read_buffers(path) == (Buffer("x", 2, 5, 7),)
    assert read_buffers(path, inclusive=True) == (Buffer("x", 2, 6, 7),)


def test_a_column_named_end_is_read_like_upper_and_says_so(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,start,end,size,gaps\nx,2,9,7,3-4 6-7\n")
    with pytest.warns(UserWarning, match="'end' is read as the step after the last"):
        assert read_buffers(path) == (Buffer("x", 2, 9, 7, gaps=((3, 4), (6, 7))),)
    assert read_buffers(path, inclusive=True) == (Buffer("x", 2, 10, 7, gaps=((3, 5), (6, 8))),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: is empty"),
        ("id,lower,size\n", "line 1: has no column 'upper'"),
        ("id,lower,upper,size,colour\n", "line 1: unknown column 'colour'"),
        ("id,lower,upper,stop,size\n", "line 1: has 2 columns for 'upper'"),
        (HEAD + "a,0,1,5,1,0,\na,0,1,5,1,0,\n", "line 3: id 'a' stands in line 2 already"),
        (HEAD + "a,0,1,5\n", "line 2: has 4 cells"),
        (HEAD + "a,0,1,nan,,,\n", "line 2: size must be a whole number, got 'nan'"),
        (HEAD + "a,0,1,1e3,,,\n", "line 2: size must be a whole number, got '1e3'"),
        (HEAD + f"a,0,1,{10**21},,,\n", "line 2: size must be a whole number of at most 20 digits, got '1000"),
        (HEAD + "a,0,1,-5,,,\n", "line 2: buffer 'a': size must be an integer from 1"),
        (HEAD + "a,0,1,,,,\n", "line 2: size must be a whole number, got ''"),
        (HEAD + ",0,1,5,,,\n", "line 2: a buffer's id must be a printable text"),
        (HEAD + "a,3,3,5,,,\n", "line 2: buffer 'a': upper must exceed lower 3, got 3"),
        (HEAD + "a,-1,3,5,,,\n", "line 2: buffer 'a': lower must be an integer from 0"),
        (HEAD + "a,0,3,5,0,,\n", "line 2: buffer 'a': alignment must be an integer from 1"),
        (HEAD + "a,0,3,5,4,6,\n", "line 2: buffer 'a': offset must be a multiple of the alignment 4, got 6"),
        (HEAD + "a,0,3,5,,,1-2@0:4\n", "without windows ('@0:4'), got '1-2@0:4'"),
        (HEAD + "a,0,3,5,,,1-9\n", "line 2: buffer 'a': gaps must be in order"),
        (HEAD + 'a,0,3,5,,,"\n', "is not CSV"),
    ],
)
def test_a_malformed_file_is_one_line_with_file_and_line(text, words, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(FileFormatError) as error:
        read_buffers(path)
    assert str(error.value).startswith(f"{path}: line ") and words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_with_column_names_only_has_no_buffers(tmp_path):
    path = tmp_path / "none.csv"
    path.write_text(HEAD)
    assert read_buffers(path) == ()


def test_other_unreadable_files_are_named(tmp_path):
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_buffers(tmp_path / "missing.csv")
    Path(tmp_path / "bytes.csv").write_bytes(b"id,lower,upper,size\n\xff,0,1,1\n")
    with pytest.raises(FileFormatError, match="line 2: is not text"):
        read_buffers(tmp_path / "bytes.csv")
