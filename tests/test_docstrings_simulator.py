"""Public names of the simulator and the workloads say what they take and show it: every example is run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re

import pytest

import simulator
import simulator.allocation
import simulator.execution
import simulator.mapping
import simulator.schedule
import simulator.timing
import workloads
from docs.rooms import modules

FACES = (
    workloads,
    simulator,
    simulator.allocation,
    simulator.schedule,
    simulator.mapping,
    simulator.execution,
    simulator.timing,
)
PUBLIC = {f"{face.__name__}.{name}": getattr(face, name) for face in FACES for name in face.__all__}
DOCUMENTED = {name: each for name, each in PUBLIC.items() if inspect.isclass(each) or inspect.isfunction(each)}
#: files with examples; those of the faces are among them
INSIDE = [
    name
    for name, path in modules().items()
    if name.startswith(("simulator.", "workloads."))
    and re.search(r"^ *>>>", path.read_text(encoding="utf-8"), re.MULTILINE)
]


def sections(documented) -> dict[str, str]:
    """Return the text of each numpydoc section by its title."""
    found, title = {"": ""}, ""
    lines = (inspect.getdoc(documented) or "").splitlines()
    for line, following in zip(lines, [*lines[1:], ""]):
        if line and set(following) == {"-"} and len(following) == len(line):
            title = line
            found[title] = ""
        else:
            found[title] += line + "\n"
    return found


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_name_has_an_example_that_runs(name):
    module = inspect.getmodule(DOCUMENTED[name])
    (test,) = [
        each
        for each in doctest.DocTestFinder(recurse=False).find(DOCUMENTED[name], name, module, globs={})
        if each.name == name
    ]
    assert test.examples, f"{name} has no example"
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("name", [name for name, each in DOCUMENTED.items() if inspect.isfunction(each)])
def test_every_public_function_says_what_it_takes_and_returns(name):
    found, signature = sections(DOCUMENTED[name]), inspect.signature(DOCUMENTED[name])
    for parameter in signature.parameters:
        assert any(parameter in line.partition(":")[0] for line in found["Parameters"].splitlines()), parameter
    assert "Returns" in found or signature.return_annotation == "None"


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_first_line_of_every_docstring_is_one_sentence(name):
    first, *rest = inspect.getdoc(DOCUMENTED[name]).splitlines()
    assert first.endswith(".") and (not rest or not rest[0])


@pytest.mark.parametrize("name", INSIDE)
def test_the_examples_of_a_file_run(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted and not found.failed
