"""The compiled engines of both searches. Optional: without a C compiler the Python engines give the same answers.

A part of the model is written once, in a .py file, and compiled where a .pxd file beside it gives the C types of its
functions: docs/architecture.md, "One text for both engines".
"""

import ast
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

GATHERED = Path("build/gathered")  #: the compiled texts; each unit includes those of the folders that it names
HEAD = re.compile(r"(?:^@.*\n)*^cdef [^()\n:]*?(\w+)\((?:[^()]|\n)*\)[^:\n]*$", re.MULTILINE)
TYPE = re.compile(r"^(?:cdef struct|ctypedef struct|cdef union) (\w+):", re.MULTILINE)
CONSTANTS = re.compile(r"^cdef enum:.*\n((?:^ +.*\n)+)", re.MULTILINE)
NAMES = re.compile(r"^# compiled: (.*(?:\n# .*)*)", re.MULTILINE)  #: of functions with the signatures of the .py
BY_VALUE = re.compile(r"^cdef struct (\w+):  # by value", re.MULTILINE)  #: the others are passed by pointers
SCALARS = {"int": "i64", "str": "i64", "bool": "bint", "float": "double", "None": "void"}  #: of Python in C
#: structs are passed by value, which costs nothing where calls are inlined: without these, loop orders take 1.15 times
INLINED = (
    "--param large-function-growth=1000 --param large-stack-frame-growth=5000 --param inline-unit-growth=100".split()
)
UNITS = sorted(path.as_posix() for path in Path("cocco").rglob("_*.pyx"))


def gather(folder: Path) -> str:
    """Return the compiled text of all parts below a folder: functions of each .pxd with their bodies from the .py."""
    paths = sorted(folder.rglob("*.pxd"))
    values = {name for path in paths for name in BY_VALUE.findall(read(path))}
    return "\n".join(part for path in paths for part in compiled_text(path, values))


def compiled_text(declared: Path, values: set[str]) -> Iterator[str]:
    """Yield the text of one part: types and helpers are imported from its .pxd, functions get the signatures there."""
    types, source = declared.read_text(encoding="utf-8"), declared.with_suffix(".py")
    text = source.read_text(encoding="utf-8")
    functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    heads = {match.start(): [(match[1], match[0])] for match in HEAD.finditer(types)}
    for match in NAMES.finditer(types):
        named = re.findall(r"\w+", match[1])
        heads[match.start()] = [
            (name, signature(functions[name], values) if name in functions else "") for name in named
        ]
    if not heads:  # helpers, whole in the .pxd
        return
    yield f"# {source.as_posix()}"
    yield from re.findall(r"^from .* cimport .*$", types, re.MULTILINE)
    names = TYPE.findall(types)
    for block in CONSTANTS.findall(types):
        names += re.findall(r"^ +(\w+)", block, re.MULTILINE)
    if names:
        yield f"from {'.'.join(declared.with_suffix('').parts)} cimport {', '.join(names)}"
    for name, head in (each for at in sorted(heads) for each in heads[at]):
        if name not in functions:
            raise SystemExit(f"{declared} declares {name}, which {source} does not define")
        inlined = head.strip().replace("cdef ", "cdef inline ", 1)  # structs by value cost nothing where inlined
        yield f"\n\n{inlined}:\n{body(text, functions[name])}"
    yield "\n"


def signature(function: ast.FunctionDef, values: set[str]) -> str:
    """Return the C signature of a function of which all types are numbers or structs, by its annotations."""

    def of(annotation: ast.expr | None) -> str:
        name = ast.unparse(annotation) if annotation is not None else ""
        if not (name in SCALARS or name.isidentifier()):
            raise SystemExit(
                f"{function.name}: {name or 'a type that is missing'} is no type of C; write its signature"
            )
        return SCALARS.get(name) or (name if name in values else f"{name}*")

    taken = ", ".join(f"{of(each.annotation)} {each.arg}" for each in function.args.args)
    return f"cdef {of(function.returns)} {function.name}({taken}) noexcept nogil"


def body(text: str, function: ast.FunctionDef) -> str:
    """Return the lines of a function below its signature, without its docstring."""
    first = function.body[ast.get_docstring(function) is not None]
    return "\n".join(text.splitlines()[first.lineno - 1 : function.end_lineno])


def translate(extensions: list[Extension], jobs: int, is_forced: bool = False) -> list[Extension]:
    """Gather the parts of each unit and translate the units to C side by side; return what is to be compiled.

    What is older than its C stays as it is: a file of gathered parts is as old as the newest of them.
    """
    from Cython.Build import cythonize

    for folder in sorted({name for unit in UNITS for name in re.findall(r'include "(\S+)/parts.pxi"', read(unit))}):
        path, text = GATHERED / folder / "parts.pxi", gather(Path(folder))
        if not path.exists() or read(path) != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        newest = max(part.stat().st_mtime for end in ("py", "pxd") for part in Path(folder).rglob(f"*.{end}"))
        os.utime(path, (newest, newest))
    found: list[Extension] = cythonize(
        extensions, nthreads=jobs, include_path=[".", GATHERED.as_posix()], force=is_forced, quiet=True
    )
    return found


class Archive(sdist):
    """Ships the C of the units as well, so that whoever builds from the archive only compiles it."""

    def run(self) -> None:
        translate(self.distribution.ext_modules, jobs=2)
        super().run()


class BuildUnits(build_ext):
    """Translates the units side by side, then compiles them side by side."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or 2

    def build_extensions(self) -> None:
        is_over = Event()
        Thread(target=tell, args=[is_over], daemon=True).start()
        translated = translate(self.extensions, int(self.parallel), bool(self.force))
        for extension, made in zip(self.extensions, translated):
            extension.sources = made.sources
        super().build_extensions()
        is_over.set()


def tell(is_over: Event) -> None:
    """Print the seconds so far again and again: the largest unit takes half a minute. pip passes it on with -v."""
    began = time.monotonic()
    while not is_over.wait(4):
        print(f"compiling {len(UNITS)} units, {time.monotonic() - began:.0f} s", flush=True)


def read(path: str | Path) -> str:
    return Path(path).read_text(encoding="utf-8")


setup(
    cmdclass={"build_ext": BuildUnits, "sdist": Archive},
    # -ffp-contract=off: no fused multiply-add, since both engines must round alike;
    # -O2 -g0 compile in half the time of -O3 -g, and searches are as fast
    ext_modules=[
        Extension(
            unit.removesuffix(".pyx").replace("/", "."),
            [unit],
            extra_compile_args=["-O2", "-g0", "-ffp-contract=off", *(INLINED if "/parts.pxi" in read(unit) else [])],
            optional=True,
        )
        for unit in UNITS
    ],
)
