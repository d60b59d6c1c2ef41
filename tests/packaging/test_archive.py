"""The source archive: it holds what the checkout holds, and what is built from it elsewhere passes its tests."""

from __future__ import annotations

import re
import shutil
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.command_line import ROOT
from tests.helpers.environments import PACKAGES, copy_of_the_project, environment, install, needs_build_tools, run
from tests.helpers.parts import first_of

needs_build_tools()

INCLUDED = re.compile(r'^include "(.*)"$', re.MULTILINE)
CC = (sysconfig.get_config_var("CC") or "cc").split()[0]  #: the compiler that setuptools calls
SOME_TESTS = """
    tests/simulator/test_evaluate.py tests/cocco/cli/test_clips.py
    tests/experiments/test_reference_tables.py::test_every_reference_is_finite_and_ours_is_beside_the_papers
    tests/cocco/search/kernel/test_generations.py::test_a_real_network
""".split()  #: of the model, a command, the data, and the compiled engine beside the other one: a few seconds


def build(what: str, source: Path, folder: Path, **variables: str) -> Path:
    """Build the "sdist" or the "wheel" of a source tree with the tools that are there."""
    code = f"import sys; from setuptools import build_meta; build_meta.build_{what}(sys.argv[1])"
    finished = run(sys.executable, "-c", code, folder, folder=source, **variables)
    assert finished.returncode == 0, finished.stderr
    (built,) = folder.iterdir()
    return built


def files(folder: Path) -> Iterator[str]:
    return (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_the_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def unpacked(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = shutil.copytree(project, tmp_path_factory.mktemp("source") / "cocco")  # where the C is left as well
    archive = build("sdist", source, tmp_path_factory.mktemp("archive"))
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    return root


@pytest.fixture(scope="module", params=first_of(["readable", "compiled"], 1))
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def wheel(engine: str, unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel that is built from the archive: as where there is no compiler, or slowly with the engines.

    These are not optimized: that is three times as fast.
    """
    if engine == "readable":
        source = shutil.copytree(unpacked, tmp_path_factory.mktemp("source") / unpacked.name)
        for unit in source.rglob("*.pyx"):
            unit.write_text("")
            unit.with_suffix(".pxd").unlink(missing_ok=True)
        return build("wheel", source, tmp_path_factory.mktemp("wheel"), CC="false")
    compiler = tmp_path_factory.mktemp("compiler") / "cc"
    compiler.write_text(f'#!/bin/sh\nexec {CC} "$@" -O0\n')
    compiler.chmod(0o755)
    return build("wheel", unpacked, tmp_path_factory.mktemp("wheel"), CC=str(compiler))


def test_the_archive_holds_every_file_of_the_checkout(project: Path, unpacked: Path):
    assert set(files(project)) - set(files(unpacked)) == set()


def test_the_archive_holds_nothing_that_was_built_but_the_c_of_the_units(project: Path, unpacked: Path):
    made_by_setuptools = {name for name in files(unpacked) if name == "PKG-INFO" or ".egg-info/" in name}
    added = set(files(unpacked)) - set(files(project)) - made_by_setuptools
    assert added == translated(project)


def test_what_is_built_from_the_archive_takes_the_c_as_it_is(unpacked: Path, tmp_path: Path):
    """It is younger than what it is made of, also where the parts are gathered again."""
    source = shutil.copytree(unpacked, tmp_path / unpacked.name)
    code = "import runpy, sys; sys.argv = ['setup.py', 'build_ext', '--inplace']; runpy.run_path('setup.py')"
    before = {name: (source / name).stat().st_mtime_ns for name in translated(source)}
    finished = run(sys.executable, "-c", code, folder=source, CC="false")
    assert finished.returncode == 0, finished.stderr
    assert {name: (source / name).stat().st_mtime_ns for name in translated(source)} == before


def translated(project: Path) -> set[str]:
    """Return the names of the C of the units."""
    return {path.with_suffix(".c").relative_to(project).as_posix() for path in project.rglob("_*.pyx")}


def test_the_wheel_holds_the_packages_with_their_data_and_nothing_else(unpacked: Path, wheel: Path):
    with zipfile.ZipFile(wheel) as file:
        held = {name for name in file.namelist() if ".dist-info/" not in name and not name.endswith((".so", ".pyd"))}
    data = (".py", ".pyi", ".css", ".js", ".csv", ".json", "/py.typed", ".c", ".h", "/Makefile")
    packages = {name for name in files(unpacked) if name.split("/")[0] in PACKAGES} - translated(unpacked)
    assert held == {name for name in packages if name.endswith(data)}


@pytest.mark.skipif(not shutil.which(CC), reason="needs a C compiler")
def test_the_wheel_holds_the_compiled_engines(engine: str, wheel: Path):
    with zipfile.ZipFile(wheel) as file:
        built = [Path(name).name.split(".")[0] for name in file.namelist() if name.endswith((".so", ".pyd"))]
    assert sorted(built) == (["_kernel", "_model", "_search"] if engine == "compiled" else [])


def test_the_installed_wheel_passes_the_tests_of_the_archive(unpacked: Path, wheel: Path, tmp_path: Path):
    """They run where the packages are not: what is tested is what was installed."""
    python = environment(tmp_path / "environment")
    install(python, wheel)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(unpacked, elsewhere, ignore=lambda folder, _: PACKAGES if Path(folder) == unpacked else ())
    finished = run(python, "-m", "pytest", "-p", "no:cacheprovider", *SOME_TESTS, folder=elsewhere)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_every_part_of_a_compiled_module_is_there():
    """Cython builds a unit again when a part that it includes changes; setup.py gathers those of the model."""
    for unit in ROOT.glob("cocco/**/_*.pyx"):
        included = INCLUDED.findall(unit.read_text(encoding="utf-8"))
        assert included
        for name in included:
            assert (unit.parent / name).is_file() or (name.endswith("/parts.pxi") and (ROOT / name).parent.is_dir()), (
                name
            )
