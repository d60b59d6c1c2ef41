"""`import cocco` costs nothing: names come when they are asked for, and the tools see them all the same."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

import cocco
from tests.helpers.command_line import ROOT

HEAVY = "numpy pandas deap matplotlib networkx scipy simulator workloads"


def lazy_names() -> dict[str, str]:
    """Return what the face imports for type checkers: name -> module."""
    tree = ast.parse((ROOT / "cocco" / "__init__.py").read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in found for alias in node.names}


def test_importing_cocco_imports_nothing_heavy():
    code = f"import sys, cocco; print(*set({HEAVY!r}.split()) & set(sys.modules))"
    finished = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == ""


def test_importing_cocco_takes_less_than_a_fifth_of_a_second():
    code = "import time; import cocco; print(time.process_time())"
    runs = [subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True) for _ in range(3)]
    assert min(float(each.stdout) for each in runs) < 0.2


def test_type_checkers_see_the_names_that_a_user_gets():
    seen = lazy_names()
    assert {*cocco.__all__} <= {*seen}
    for name in cocco.__all__:
        assert getattr(cocco, name).__module__ == seen[name], name


@pytest.mark.parametrize("code", [
    "import cocco; print(cocco.search.toolbox.__name__)",
    "from cocco import *; print(explore.__name__)",
    "import cocco; print('explore' in dir(cocco) and 'search' in dir(cocco) and cocco.__version__ != '')",
])  # fmt: skip
def test_names_and_rooms_are_there_without_being_imported(code):
    finished = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert finished.stdout.strip() in ("toolbox", "explore", "True")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'cocco' has no attribute 'explor'"):
        cocco.explor  # noqa: B018
