"""A module that a user's own file makes, named as servers name applications: model.py:make_model, or package.a:net."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workloads.errors import NetworkError, one_line, shown
from workloads.importing.torch.module import read_module

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.network.network import Network

SOURCE = re.compile(r"(?P<home>.+\.py|[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)")
Argument = tuple[Sequence[int], str | None]  #: its shape, and its type; None: that of the module's parameters


def read_named(
    source: str, inputs: Sequence[Argument] = (), unsupported: str = "error", masks: str = "model"
) -> Network:
    """Return the network of the module that a name stands for: itself, or what it returns when it is called.

    The file is imported: its code runs. Raises NetworkError, one line, where it cannot be imported, has no such name,
    or makes no module, or where no input is given.
    """
    try:
        import torch
    except ImportError:
        raise NetworkError(f"{source}: reading it takes the package torch: pip install 'cocco[torch]'") from None
    if not inputs:
        raise NetworkError(f"{source}: has no inputs; give the shape of each argument, as in --input 1,3,224,224")
    found = SOURCE.fullmatch(source)
    assert found is not None, "the caller looked"
    module = _made(found["home"], found["name"], source)
    if not isinstance(module, torch.nn.Module):
        raise NetworkError(f"{source}: is {shown(module)}; it must be a torch.nn.Module, or a function that makes one")
    own = next((each.dtype for each in module.parameters() if each.is_floating_point()), torch.float32)
    given = tuple(torch.zeros(tuple(shape), dtype=getattr(torch, kind) if kind else own) for shape, kind in inputs)
    try:
        return read_module(module.eval(), given, None, unsupported, masks)
    except NetworkError as error:
        raise NetworkError(f"{source}: {error}") from None


def _made(home: str, name: str, source: str) -> Any:
    """Return what a name of a file or module is, called where it is a function or a class."""
    path = Path(home)
    is_file = home.endswith(".py")
    if is_file and not path.is_file():
        raise NetworkError(f"{source}: {home} is not there")
    try:
        with _first(str(path.resolve().parent if is_file else Path.cwd())):
            scope = import_module(path.stem if is_file else home)
            made = getattr(scope, name, None)
            if made is None:
                public = ", ".join(each for each in vars(scope) if not each.startswith("_")) or "nothing"
                raise NetworkError(f"{source}: has no {name!r}; it has {public}")
            is_module = hasattr(made, "forward") and not isinstance(made, type)
            return made if is_module or not callable(made) else made()
    except NetworkError:
        raise
    except Exception as error:  # whatever the user's own code raises
        raise NetworkError(f"{source}: raises {type(error).__name__}: {one_line(error)}") from None


@contextmanager
def _first(folder: str) -> Iterator[None]:
    """Let imports look into a folder first."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
