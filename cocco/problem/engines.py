"""Choose the engine: a compiled part if it is built, else its readable twin, which gives the same answers."""

from __future__ import annotations

import importlib.util
import warnings
from dataclasses import dataclass
from functools import cache
from typing import cast, get_args

from cocco.problem.names import EngineName

ENGINES: tuple[EngineName, ...] = get_args(EngineName)


@dataclass(frozen=True)
class Compiled:
    """A compiled part that may be missing: an install without a compiler works, slower."""

    module: str
    noun: str  #: what it is called in messages
    speedup: int  #: over its readable twin, about; measured
    beside: tuple[str, ...] = ()  #: modules that it imports and that are compiled, too

    def is_built(self) -> bool:
        """Return whether the compiled part is installed."""
        return all(importlib.util.find_spec(name) is not None for name in (self.module, *self.beside))

    def choice(self, name: str | None) -> EngineName:
        """Return the engine to use (name None: the default); raises ValueError if it is unknown or not built."""
        if name is None:
            return _default(self)
        if name not in ENGINES:
            raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {name!r}")
        if name == "fast" and not self.is_built():
            raise ValueError(
                "engine 'fast' is not built here; reinstall where there is a C compiler, or use 'reference'"
            )
        return cast(EngineName, name)


@cache
def _default(part: Compiled) -> EngineName:
    """Return "fast" if the part is compiled, else "reference", and report that once."""
    if part.is_built():
        return "fast"
    warnings.warn(
        f"the compiled {part.noun} is not built here, so the Python engine searches: the same answers, some "
        f"{part.speedup} times slower (reinstall where there is a C compiler)",
        RuntimeWarning,
        stacklevel=3,
    )
    return "reference"
