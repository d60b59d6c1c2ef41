"""A copy of the checkout without what was built in it, and environments that do not know the project yet."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.helpers.command_line import ROOT

PACKAGES = ("workloads", "simulator", "cocco", "experiments")
FOLDERS = (*PACKAGES, ".ci", ".github", "benchmarks", "docs", "tests")
FILES = """
    .gitignore .pre-commit-config.yaml CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE MANIFEST.in README.md
    cibuildwheel.toml pyproject.toml ruff.toml setup.cfg setup.py
""".split()


def copy_of_the_project(folder: Path) -> Path:
    """Copy what a fresh checkout holds."""
    built = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text().splitlines()]

    def is_built(where: str, names: list[str]) -> list[str]:
        paths = [(Path(where, name).relative_to(ROOT), name) for name in names]
        return [name for path, name in paths if any(path.match(pattern) for pattern in built)]

    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=is_built)
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    return folder


def environment(folder: Path) -> Path:
    """Make an environment that borrows the dependencies of this one, and return its Python.

    A path in a .pth file is searched, but the .pth files in it are not read: an editable install of the project in
    the environment that runs the tests is not seen.
    """
    venv.create(folder)
    own = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    borrowed = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}
    Path(own, "dependencies.pth").write_text("\n".join(sorted(borrowed)) + "\n")
    return Path(sysconfig.get_path("scripts", vars={"base": str(folder)}), "python")


def run(*command: object, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder that Python would not find the checkout from."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MYPY", "PYTEST"))}
    words, variables = list(map(str, command)), outside | variables
    return subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, timeout=1800, check=False)


def install(python: Path, *what: object, **variables: str) -> None:
    """Install with pip, without looking at any index."""
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--ignore-installed", "--disable-pip-version-check")
    finished = run(python, "-m", "pip", "install", *options, *what, folder=python.parent, **variables)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def needs_build_tools() -> None:
    """Skip a module of tests where the project cannot be built without fetching something."""
    for name, version in (("setuptools", "70.1"), ("Cython", "3.0"), ("pip", None)):
        pytest.importorskip(name, minversion=version, reason=f"needs {name} of the extra 'test'")
