"""cocco allocate, as a process: answers, exit codes, files, malformed input."""

from __future__ import annotations

import pytest

from simulator.allocation.buffers import Allocation
from simulator.allocation.files import read_buffers, write_buffers
from simulator.allocation.judge import check_allocation
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.parts import first_of
from tests.helpers.random_buffers import EIGHT, TEN, named

FIVE = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n"
KEYS = [
    "file", "method", "buffers", "capacity_bytes", "lower_bound_bytes", "height_bytes", "fragmentation", "status",
    "proved_infeasible_bytes", "nodes", "solved_by", "conflict",
    "conflict_is_irreducible", "addresses",
]  # fmt: skip


@pytest.fixture
def five(tmp_path):
    path = tmp_path / "five.csv"
    path.write_text(FIVE)
    return path


def test_the_answer_is_one_json_object_that_the_judge_accepts(five):
    finished = cocco("allocate", five, "--capacity", 12, "--json")
    content = answer(finished)
    assert list(content) == KEYS
    assert content["file"] == "five.csv" and str(five.parent) not in finished.stdout
    assert (content["status"], content["height_bytes"], content["lower_bound_bytes"]) == ("optimal", 12, 12)
    assert content["proved_infeasible_bytes"] == 8  # the granule is 4
    assert check_allocation(read_buffers(five), Allocation(content["addresses"]), 12) == []
    assert cocco("allocate", five, "--capacity", 12, "--json").stdout == finished.stdout


def test_too_little_memory_ends_with_1_and_says_which_buffers_are_too_much(five):
    content = answer(cocco("allocate", five, "--capacity", 11, "--json"), code=1)
    assert (content["status"], content["addresses"], content["height_bytes"]) == ("infeasible", None, None)
    assert content["conflict"] == ["b1", "b3", "b5"] and content["conflict_is_irreducible"] is True
    shown = cocco("allocate", five, "--capacity", 11)
    assert shown.returncode == 1
    assert "3 buffers cannot be placed together, and each of them is needed for that: b1, b3, b5" in shown.stdout


def test_a_search_that_gives_up_ends_with_1(tmp_path):
    """One node is no search."""
    write_buffers(tmp_path / "ten.csv", named(TEN))
    short = ("allocate", tmp_path / "ten.csv", "--capacity", 6, "--method", "search", "--nodes", 1)
    content = answer(cocco(*short, "--json"), code=1)
    assert (content["status"], content["nodes"], content["conflict"]) == ("gave_up", 1, None)
    assert "gave_up" in cocco(*short).stdout


def test_minimize_proves_the_least_height(tmp_path):
    write_buffers(tmp_path / "eight.csv", named(EIGHT))
    content = answer(cocco("allocate", tmp_path / "eight.csv", "--capacity", "1KB", "--minimize", "--json"))
    assert (content["status"], content["height_bytes"], content["proved_infeasible_bytes"]) == ("optimal", 5, 4)
    assert content["fragmentation"] == 0.25
    assert (
        answer(cocco("allocate", tmp_path / "eight.csv", "--capacity", 4, "--json"), code=1)["status"] == "infeasible"
    )


def test_a_written_answer_is_checked_by_reading_it(five, tmp_path):
    placed = tmp_path / "placed.csv"
    assert cocco("allocate", five, "--capacity", 12, "-o", placed).returncode == 0
    assert answer(cocco("allocate", placed, "--capacity", 12, "--json"))["status"] == "optimal"
    lines = placed.read_text().splitlines()
    lines[1] = lines[1].rsplit(",", 1)[0] + ",1"  # b1, now over another
    placed.write_text("\n".join(lines) + "\n")
    content = answer(cocco("allocate", placed, "--capacity", 12, "--json"), code=1)
    assert content["status"] == "infeasible" and "b1" in content["conflict"] and len(content["conflict"]) == 2
    assert answer(cocco("allocate", placed, "--capacity", 12, "--ignore-offsets", "--json"))["status"] == "optimal"


def test_inclusive_ends_are_one_step_later(five):
    """b1 and b2 meet in step 3 then, with b3 and b5: 16 bytes."""
    content = answer(cocco("allocate", five, "--capacity", 16, "--inclusive", "--json"))
    assert content["lower_bound_bytes"] == 16


@pytest.mark.parametrize(("suffix", "start"), first_of([(".svg", b"<?xml"), (".png", b"\x89PNG")], 1))
def test_a_picture_of_the_packing_has_the_same_bytes_each_time(five, tmp_path, suffix, start):
    pictures = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for picture in pictures:
        assert cocco("allocate", five, "--capacity", 12, "--picture", picture).returncode == 0
    first, second = (picture.read_bytes() for picture in pictures)
    assert first == second and first.startswith(start)


def test_nothing_is_written_without_an_answer(five, tmp_path):
    output = tmp_path / "new" / "placed.csv"
    finished = cocco("allocate", five, "--capacity", 11, "-o", output, "--picture", tmp_path / "a.png")
    assert finished.returncode == 1 and not output.exists() and not (tmp_path / "a.png").exists()


def test_a_table_without_rows_is_placed_in_no_bytes(tmp_path):
    (tmp_path / "none.csv").write_text("id,lower,upper,size\n")
    content = answer(cocco("allocate", tmp_path / "none.csv", "--capacity", 1, "--json"))
    assert (content["status"], content["height_bytes"], content["addresses"]) == ("optimal", 0, {})


@pytest.mark.parametrize(
    ("rows", "conflict"),
    [("a,0,9,9,\n", ["a"]), ("a,0,9,4,0\nb,3,5,4,2\nc,0,9,1,\n", ["a", "b"]), ("a,0,9,4,6\n", ["a"])],
)
def test_too_large_and_colliding_buffers_are_infeasible_and_named(rows, conflict, tmp_path):
    (tmp_path / "a.csv").write_text("id,lower,upper,size,offset\n" + rows)
    content = answer(cocco("allocate", tmp_path / "a.csv", "--capacity", 8, "--json"), code=1)
    assert (content["status"], content["conflict"]) == ("infeasible", conflict)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["five.csv"], ["--capacity"]),
        (["five.csv", "--capacity", "0"], ["at least 1 byte"]),
        (["five.csv", "--capacity", "nan"], ["nan"]),
        (["five.csv", "--capacity", "12", "--method", "magic"], ["magic", "search"]),
        (["five.csv", "--capacity", "12", "--nodes", "0"], ["--nodes"]),
        (["five.csv", "--capacity", "12", "--picture", "a.gif"], ["--picture", ".png"]),
        (["missing.csv", "--capacity", "12"], ["missing.csv", "cannot be read"]),
        (["bad.csv", "--capacity", "12"], ["bad.csv: line 3", "size", "'nan'"]),
        (["empty.csv", "--capacity", "12"], ["empty.csv: line 1", "empty"]),
    ],
)
def test_malformed_input_ends_with_2_and_one_line(arguments, words, five):
    (five.parent / "bad.csv").write_text("id,lower,upper,size\na,0,1,1\nb,0,1,nan\n")
    (five.parent / "empty.csv").write_text("")
    assert_malformed(cocco("allocate", *arguments, folder=five.parent), words)
