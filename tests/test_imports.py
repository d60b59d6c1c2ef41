"""Who may import whom, and that nothing is imported that setup.cfg does not declare."""

from __future__ import annotations

import ast
import configparser
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("workloads", "simulator", "cocco", "experiments")  #: each imports only what stands to its left
OUTSIDE = ("benchmarks", "tests", "docs")  #: may import every room
DISTRIBUTIONS = {"yaml": "pyyaml", "sklearn": "scikit-learn", "google": "protobuf"}  #: import name -> package


@cache
def imported(path: Path) -> frozenset[str]:
    """Return the top-level names of everything a file imports, inside functions too."""
    return frozenset(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            yield node.module.split(".")[0]


@cache
def declared() -> set[str]:
    """Return the packages in install_requires and in the extras, in lower case."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    lists = [setup["options"]["install_requires"], *setup["options.extras_require"].values()]
    lines = [line.strip() for text in lists for line in text.splitlines() if line.strip()]
    return {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower() for line in lines}


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_one_way(room: str):
    forbidden = {*ROOMS[ROOMS.index(room) + 1 :], *OUTSIDE}
    for path in (ROOT / room).rglob("*.py"):
        assert not forbidden & imported(path), path


@pytest.mark.parametrize("room", ROOMS + OUTSIDE)
def test_third_party_imports_are_declared(room: str):
    """An import that works only because another package brought it is a defect."""
    here = {path.stem for path in (ROOT / room).rglob("*.py")}  # helpers beside the tests
    known = {*sys.stdlib_module_names, *ROOMS, *({*OUTSIDE, *here} if room in OUTSIDE else ())}
    for path in (ROOT / room).rglob("*.py"):
        found = {DISTRIBUTIONS.get(name, name.lower()) for name in imported(path) - known}
        assert found <= declared(), path


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("workloads", "numpy deap matplotlib pandas scipy networkx"),
        ("simulator", "deap matplotlib pandas scipy networkx"),
        ("cocco.cli", "deap matplotlib pandas scipy networkx"),
    ],
)
def test_importing_a_package_stays_light(module: str, heavy: str):
    code = f"import sys, {module}; print(*set({heavy.split()}) & set(sys.modules))"
    finished = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert finished.stdout.strip() == ""
