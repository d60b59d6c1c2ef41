"""A share of the tests that a word draws: the same anywhere, and a test that has no time left is no failure."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.command_line import ROOT
from tests.helpers.drawn import drawn

CASES = [f"a.py::many[{i}]" for i in range(500)] + [f"b.py::few[{i}-0]" for i in range(3)] + ["b.py::one", "c.py::one"]

TESTS = """
import time
import pytest

@pytest.mark.parametrize("seed", range(4))
def test_short(seed):
    assert seed < 4

def test_long():
    for _ in range(600):
        time.sleep(0.1)
"""

IN_A_FIXTURE = """
@pytest.fixture(scope="module")
def late():
    for _ in range(600):
        time.sleep(0.1)

def test_late(late):
    pass
"""

TAKEN_FOR_A_FAILURE = """
def test_code():
    code = 0
    try:
        for _ in range(600):
            time.sleep(0.1)
    except BaseException:
        code = 1
    assert code == 0
"""


def test_the_order_has_all_cases_and_is_that_of_the_word():
    one, again, other = drawn(CASES, "one"), drawn(CASES, "one"), drawn(CASES, "other")
    assert one == again != other
    assert sorted(one) == sorted(other) == list(range(len(CASES)))
    assert {CASES[i].partition("[")[0] for i in one[:4]} == {case.partition("[")[0] for case in CASES}
    shuffled = sorted(CASES)
    assert [shuffled[i] for i in drawn(shuffled, "one")] == [CASES[i] for i in one]


def test_every_case_is_first_of_its_function_for_some_word():
    """Of 3 cases by 60 words each comes first 20 times, more or less; the first of all is any of the functions."""
    orders = [[CASES[i] for i in drawn(CASES, str(word))] for word in range(60)]
    firsts = [next(case for case in order if "few" in case) for order in orders]
    assert all(10 <= firsts.count(f"b.py::few[{i}-0]") <= 30 for i in range(3))
    assert len({order[0].partition("[")[0] for order in orders}) == 4
    assert len({order[0] for order in orders if "many" in order[0]}) > 5


def run(folder: Path, *words: str, tests: str = TESTS) -> str:
    """Run pytest with the conftest of the project on tests of its own."""
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (folder / "test_some.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-v", "-rs", "-p", "no:cacheprovider", f"--rootdir={folder}"]
    options = ["-c", "/dev/null", "-o", f"pythonpath={ROOT}", *words, str(folder)]
    finished = subprocess.run(command + options, capture_output=True, text=True, timeout=100, check=False, cwd=folder)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def test_what_is_not_begun_or_cut_off_is_skipped(tmp_path: Path):
    """The long one is cut off after a third more than the seconds; what comes after the seconds is not begun."""
    said = run(tmp_path, "--draw", "x", "--seconds", "3")
    order = re.findall(r"::(test_\w+)\S* (PASSED|SKIPPED)", said)
    place = [name for name, _ in order].index("test_long")
    assert place in (0, 1) and all(end == "PASSED" for _, end in order[:place])
    assert [end for _, end in order[place:]] == ["SKIPPED"] * (5 - place)
    assert "cut off: the seconds are over" in said and "not begun: the seconds are over" in said


@pytest.mark.parametrize("tests", [IN_A_FIXTURE, TAKEN_FOR_A_FAILURE])
def test_what_is_cut_off_anywhere_and_whatever_it_makes_of_it_is_skipped(tmp_path: Path, tests: str):
    said = run(tmp_path, "--seconds", "3", tests="import time\nimport pytest\n" + tests)
    assert "1 skipped" in said and "cut off: the seconds are over" in said


def test_without_time_left_nothing_is_begun(tmp_path: Path):
    assert "5 skipped" in run(tmp_path, "--seconds", "0")
