"""Which engine answers: what is built, what was asked for, and what is said where it is not there."""

from __future__ import annotations

import warnings

import pytest

from cocco.problem.engines import Compiled

BUILT = Compiled("math", "sum", 100)
MISSING = Compiled("cocco.problem.no_such_module", "sum", 100)


def test_compiled_part_answers_where_it_is_built():
    assert [BUILT.choice(name) for name in (None, "fast", "reference")] == ["fast", "fast", "reference"]


def test_part_is_not_built_where_one_that_it_needs_is_not():
    assert not Compiled("math", "sum", 100, ("cmath", "cocco.problem.no_such_module")).is_built()


def test_missing_part_is_said_once_and_its_twin_answers():
    with pytest.warns(RuntimeWarning, match="compiled sum is not built here.*some 100 times slower") as said:
        assert MISSING.choice(None) == "reference"
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert MISSING.choice(None) == MISSING.choice("reference") == "reference"


def test_engine_that_cannot_answer_is_refused():
    with pytest.raises(ValueError, match="engine 'fast' is not built here; reinstall"):
        MISSING.choice("fast")
    for part in (BUILT, MISSING):
        with pytest.raises(ValueError, match="engine must be one of fast, reference, got 'quick'"):
            part.choice("quick")
