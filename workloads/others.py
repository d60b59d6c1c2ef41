"""What others bring: by entry points of installed packages, and by a name in a file, as servers name applications."""

from __future__ import annotations

import sys
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workloads.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

NETWORKS = "cocco.networks"  #: entry points: functions that return a Network
PLANS = "cocco.plans"  #: functions of a network and an accelerator that return a Partition, or its groups
METHODS = "cocco.methods"  #: functions of a problem, a number of samples and a seed that yield plans
TABLES = "cocco.sram"  #: paths of SRAM tables (.csv)
OURS = ("cocco", "experiments", "simulator", "workloads")
_folders: set[Path] = set()  #: that files of the user's were read from


def of_packages(group: str, name: str) -> Any:
    """Return what an installed package has under this name of a group of entry points; None where none has it."""
    from importlib.metadata import entry_points  # here: it reads every package

    return next((each.load() for each in entry_points(group=group, name=name)), None)


def is_python(source: str) -> bool:
    """Return whether something is named as what a file or module of Python has: model.py:make_model."""
    home, colon, name = source.rpartition(":")
    return bool(colon) and name.isidentifier() and (home.endswith(".py") or home.replace(".", "_").isidentifier())


def of_python(source: str, *arguments: object, error: type[ValueError]) -> Any:
    """Return what a name of a file or module is, called with these arguments where it is a function or a class.

    The file is imported: its code runs, and what it prints goes to stderr. Raises an error of this type, one line,
    where that fails or ends the process.
    """
    home, _, name = source.rpartition(":")
    path = Path(home)
    is_file = home.endswith(".py")
    if is_file and not path.is_file():
        raise error(f"{source}: {home} is not there")
    try:
        with _first(path.resolve().parent if is_file else Path.cwd()), redirect_stdout(sys.stderr):
            scope = _of_file(path.resolve()) if is_file else import_module(home)
            if hasattr(scope, name):
                made = getattr(scope, name)
                is_module = hasattr(made, "forward") and not isinstance(made, type)
                return made if is_module or not callable(made) else made(*arguments)
    except (Exception, SystemExit) as raised:  # whatever the user's own code raises
        raise error(f"{source}: raises {type(raised).__name__}: {one_line(raised)}") from None
    public = ", ".join(each for each in vars(scope) if not each.startswith("_")) or "nothing"
    raise error(f"{source}: has no {name!r}; it has {public}")


def _of_file(path: Path) -> ModuleType:
    """Return the module of a file, under a name that no other file has."""
    name = f"{path.stem} in {path.parent}"
    if name not in sys.modules:
        spec = spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None  # it ends in .py
        module = sys.modules[name] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


@contextmanager
def _first(folder: Path) -> Iterator[None]:
    """Let imports look into a folder first, and not find what a file of another folder imported from beside it."""
    others = _folders - {folder}
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if any(_is_in(each, name) for each in others)}
    _folders.add(folder)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.modules.update(hidden)


def _is_in(folder: Path, name: str) -> bool:
    """Whether a module, none of ours, was found by its name in a folder."""
    first, path = name.partition(".")[0], Path(getattr(sys.modules[name], "__file__", None) or "")
    return first not in OURS and (folder / first in path.parents or path == folder / f"{first}.py")
