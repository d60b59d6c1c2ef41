"""Which code an answer comes from: our sources, their compiled parts, and the libraries used."""

from __future__ import annotations

import hashlib
import importlib.util
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ROOMS = ("workloads", "simulator", "cocco", "experiments")  #: whose code decides what a search or a sweep answers
CODE = (".py", ".pxd", ".pyx", ".pxi", ".csv")  #: .csv: tables of memories
ANSWERS = "reference"  #: the folder of tables that the code made
COMPILED = ("cocco.search.kernel._model", "cocco.search.kernel._kernel", "cocco.allocation.compiled._search")
LIBRARIES = ("numpy", "scipy", "ortools", "deap")
ROOT = Path(__file__).resolve().parents[2]  #: where the rooms are
DIGITS = 8  #: hexadecimal digits of a fingerprint


@cache
def made_by() -> Mapping[str, str]:
    """Return, by name, all that decides what a search answers: fingerprints of our code and versions of libraries.

    Two machines give the same answers if these are equal. "code" and "compiled" are fingerprints: of the sources, and
    of the compiled modules as loaded.
    """
    compiled = {name: importlib.util.find_spec(name) for name in COMPILED}
    files = {name: Path(spec.origin) for name, spec in compiled.items() if spec is not None and spec.origin}
    return {
        "cocco": version("cocco"),
        "code": fingerprint(ROOT),
        "compiled": digest_of(files) if files else "not built",
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


@cache
def code_version() -> str:
    """Return the version of the package and a fingerprint of all of `made_by`, such as '0.2.0+1f2e3d4c'.

    A stored search is only resumed by the code that stored it: an edit may change the answer.
    """
    made = made_by()
    return f"{made['cocco']}+{hashlib.sha256(repr(sorted(made.items())).encode()).hexdigest()[:DIGITS]}"


def difference(theirs: object) -> str:
    """Return what `made_by` of another process has that differs from ours, '' if they are equal."""
    if not isinstance(theirs, Mapping):
        from workloads.errors import shown  # here, since `cocco --version` reads this file and no network

        return f"no cocco that says what made it: {shown(theirs)}"
    ours = made_by()
    told = [f"{name} {theirs.get(name)} (here {ours[name]})" for name in ours if theirs.get(name) != ours[name]]
    return ", ".join(told)


def fingerprint(root: Path) -> str:
    """Return 8 hexadecimal digits that change with the name or text of any code file in our packages below root."""
    files = (path for room in ROOMS for path in (root / room).rglob("*") if path.suffix in CODE)
    files = (path for path in files if path.parent.name != ANSWERS)
    return digest_of({path.relative_to(root).as_posix(): path for path in files})


def digest_of(files: Mapping[str, Path]) -> str:
    """Return 8 hexadecimal digits that change with a name or the content of a file."""
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:DIGITS]


def version(package: str) -> str:
    """Return the version of an installed package, or 'not installed' (a checkout on the path)."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
