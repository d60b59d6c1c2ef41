"""Every example in the docstring of a public name runs, and says what really comes out."""

from __future__ import annotations

import doctest
import inspect

import pytest

import cocco

RETURNED = {
    "Candidate",
    "Comparison",
    "Compromise",
    "Explanation",
    "Limited",
}  #: shown by functions
EXAMPLES = sorted({*cocco.__all__} - RETURNED - {"allocate", "chrome_trace", "schedule"})  #: each has one at least


def examples_of(name: str) -> list[doctest.DocTest]:
    public = getattr(cocco, name)
    module = inspect.getmodule(public)
    return doctest.DocTestFinder(recurse=False).find(public, name, module, vars(module))


@pytest.mark.parametrize("name", cocco.__all__)
def test_the_examples_of_a_public_name_hold(name):
    runner = doctest.DocTestRunner(verbose=False)
    complaints: list[str] = []
    for test in examples_of(name):
        runner.run(test, out=complaints.append)
    assert not complaints, "".join(complaints)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_public_name_has_an_example(name):
    assert any(test.examples for test in examples_of(name))
