"""The face of a package: names that are imported when they are first asked for (PEP 562), so that it costs nothing.

They stand in the stub beside its `__init__.py`, where type checkers read them too (SPEC 1 of Scientific Python).
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def face(scope: dict[str, Any]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of the package whose globals these are; its stub is read on demand."""
    homes: dict[str, str] = {}  # name -> the module that has it; the package itself for a folder of it

    def names() -> dict[str, str]:
        if not homes:
            import ast

            with open(f"{scope['__file__']}i", encoding="utf-8") as stub:
                for node in ast.parse(stub.read()).body:
                    if isinstance(node, ast.ImportFrom):
                        homes.update((alias.name, str(node.module)) for alias in node.names)
        return homes

    def find(name: str) -> Any:
        from importlib import import_module

        package = scope["__name__"]
        if name == "__all__":
            value: Any = sorted(each for each, home in names().items() if home != package and each[0] != "_")
        elif name in ("__path__", "__wrapped__") or name not in names():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        else:
            module = import_module(names()[name])
            value = import_module(f"{package}.{name}") if module.__name__ == package else getattr(module, name)
        scope[name] = value
        return value

    return find, lambda: sorted({*scope, *names()})
