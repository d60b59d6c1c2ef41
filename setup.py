"""The compiled engines of both searches. Optional: without a C compiler the Python engines give the same answers.

A part of the model is written once, in a .py file, and compiled where a .pxd file beside it gives the C types of its
functions: docs/architecture.md, "One text for both engines".
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

GATHERED = Path("build/gathered")  #: the compiled texts; each unit includes those of the folders that it names
HEAD = re.compile(r"(?:^@.*\n)*^cdef [^()\n:]*?(\w+)\((?:[^()]|\n)*\)[^:\n]*$", re.MULTILINE)
TYPE = re.compile(r"^(?:cdef struct|ctypedef struct|cdef union) (\w+):", re.MULTILINE)
CONSTANTS = re.compile(r"^cdef enum:.*\n((?:^ +.*\n)+)", re.MULTILINE)
#: structs are passed by value, which costs nothing where calls are inlined: without these, loop orders take 1.15 times
INLINED = (
    "--param large-function-growth=1000 --param large-stack-frame-growth=5000 --param inline-unit-growth=100".split()
)
UNITS = sorted(path.as_posix() for path in Path("cocco").rglob("_*.pyx"))


def gather(folder: Path) -> str:
    """Return the compiled text of all parts below a folder: functions of each .pxd with their bodies from the .py."""
    return "\n".join(part for path in sorted(folder.rglob("*.pxd")) for part in compiled_text(path))


def compiled_text(declared: Path) -> Iterator[str]:
    """Yield the text of one part: types and helpers are imported from its .pxd, functions get the signatures there."""
    types, source = declared.read_text(encoding="utf-8"), declared.with_suffix(".py")
    text = source.read_text(encoding="utf-8")
    functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    if not HEAD.search(types):  # helpers, whole in the .pxd
        return
    yield f"# {source.as_posix()}"
    yield from re.findall(r"^from .* cimport .*$", types, re.MULTILINE)
    names = TYPE.findall(types)
    for block in CONSTANTS.findall(types):
        names += re.findall(r"^ +(\w+)", block, re.MULTILINE)
    if names:
        yield f"from {'.'.join(declared.with_suffix('').parts)} cimport {', '.join(names)}"
    for head in HEAD.finditer(types):
        if head[1] not in functions:
            raise SystemExit(f"{declared} declares {head[1]}, which {source} does not define")
        signature = head[0].strip().replace("cdef ", "cdef inline ", 1)  # structs by value cost nothing where inlined
        yield f"\n\n{signature}:\n{body(text, functions[head[1]])}"
    yield "\n"


def body(text: str, function: ast.FunctionDef) -> str:
    """Return the lines of a function below its signature, without its docstring."""
    first = function.body[ast.get_docstring(function) is not None]
    return "\n".join(text.splitlines()[first.lineno - 1 : function.end_lineno])


class BuildUnits(build_ext):
    """Gathers the parts of each unit and translates the units side by side, then compiles them side by side."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or 2

    def build_extensions(self) -> None:
        from Cython.Build import cythonize

        for folder in sorted({name for unit in UNITS for name in re.findall(r'include "(\S+)/parts.pxi"', read(unit))}):
            path, text = GATHERED / folder / "parts.pxi", gather(Path(folder))
            if not path.exists() or read(path) != text:  # an untouched file is not compiled again
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        translated = cythonize(
            self.extensions,
            nthreads=int(self.parallel),
            include_path=[".", GATHERED.as_posix()],
            force=bool(self.force),
            quiet=True,
        )
        for extension, made in zip(self.extensions, translated):
            extension.sources = made.sources
        super().build_extensions()


def read(path: str | Path) -> str:
    return Path(path).read_text(encoding="utf-8")


setup(
    cmdclass={"build_ext": BuildUnits},
    # -ffp-contract=off: no fused multiply-add, since both engines must round alike
    ext_modules=[
        Extension(
            unit.removesuffix(".pyx").replace("/", "."),
            [unit],
            extra_compile_args=["-O3", "-ffp-contract=off", *(INLINED if "/parts.pxi" in read(unit) else [])],
            optional=True,
        )
        for unit in UNITS
    ],
)
