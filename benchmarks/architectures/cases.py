"""A case: the name of an architecture, and how to make the module and the arguments of its usual call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """One architecture; `make` returns the module and its arguments, a tuple or a mapping of keywords."""

    library: str
    name: str
    make: Callable[[], tuple[Any, Any]]


def every() -> dict[str, Case]:
    """Return all cases by name, those of libraries that are not installed left out."""
    from importlib import import_module

    found = {}
    for module in ("vision", "timm_models", "language", "diffusion"):
        try:
            cases = import_module(f"benchmarks.architectures.{module}").cases()
        except ImportError:
            continue
        found.update({case.name: case for case in cases})
    return found
