"""`import cocco` costs nothing: names come when they are asked for, and the tools see them all the same."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

import cocco
from tests.helpers.command_line import ROOT

HEAVY = "numpy pandas deap matplotlib networkx scipy dataclasses typing simulator.technology workloads.network"
#: packages whose names come from a stub
FACES = sorted(".".join(path.parent.relative_to(ROOT).parts) for path in ROOT.glob("[csw]*/**/__init__.pyi"))


def lazy_names(package: str) -> dict[str, str]:
    """Return what the stub imports: name -> module."""
    tree = ast.parse((ROOT.joinpath(*package.split(".")) / "__init__.pyi").read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert found == tree.body
    return {alias.name: str(node.module) for node in found for alias in node.names}


@pytest.mark.parametrize("package", FACES)
def test_importing_a_face_imports_nothing_heavy(package):
    code = f"import sys, {package}; print(*set({HEAVY!r}.split()) & set(sys.modules))"
    finished = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == ""


@pytest.mark.parametrize("package", FACES)
def test_type_checkers_see_the_names_that_a_user_gets(package):
    """Each is that of the module that the stub names, and no file of the package hides it."""
    face, seen = import_module(package), lazy_names(package)
    assert {*face.__all__} == {name for name, home in seen.items() if home != package and name[0] != "_"}
    for name, home in seen.items():
        module = import_module(home)
        assert isinstance(getattr(face, name), ModuleType) == (home == package), name
        assert home == package or getattr(face, name) is getattr(module, name), name


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
