"""The examples of the entry points beside the search: allocate, schedule, map_layer and sweep."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

ENTRY_POINTS = {
    "cocco.allocation.allocate": "allocate",
    "cocco.scheduling.schedule": "schedule",
    "cocco.mapping.map_layer": "map_layer",
    "experiments.sweep.sweep": "sweep",
}
SECTIONS = ("Parameters", "Returns", "Raises", "Examples")


@pytest.mark.parametrize(("module", "name"), ENTRY_POINTS.items())
def test_examples_of_an_entry_point_are_true(module: str, name: str):
    found = import_module(module)
    function = getattr(found, name)
    lines = [line.strip() for line in function.__doc__.splitlines()]
    assert all(f"{section}\n{'-' * len(section)}" in "\n".join(lines) for section in SECTIONS)
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
    assert [line.split(" :")[0] for line in lines if line.split(" :")[0] in parameters] == list(parameters)
    (example,) = doctest.DocTestFinder(recurse=False).find(function, name, globs=vars(found))
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0
