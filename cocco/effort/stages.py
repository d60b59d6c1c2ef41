"""Stages: report to a listener what a search is doing. Nothing here changes an answer.

A search reports its stages from anywhere, as a program writes to its log: the listener is not passed as an argument.
They also go to the logger "cocco", at level DEBUG.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

LOG = logging.getLogger("cocco")
PROGRESS = "cocco progress"  #: name of the thread that shows stages beside a search, where there is one


class Stage(NamedTuple):
    """What a search is doing, how far it is, and what it knows about the answer.

    Examples
    --------
    >>> Stage("proof", 3, 46, best=200.0, bound=150.0).gap
    0.25
    """

    name: str  #: founders, search, annealing, polish, kept tensors, proof, addresses, other memories, other sizes
    done: int  #: of the total, in the unit of the stage
    total: int  #: 0 where nobody knows
    unit: str = ""
    best: float = math.inf  #: the cost of the best answer so far
    bound: float = 0.0  #: no answer costs less, as far as is known

    @property
    def gap(self) -> float | None:
        """How much less than the best an answer can cost at most, as a share of the best; None if unknown."""
        return max(0.0, self.best - self.bound) / self.best if 0 < self.bound and 0 < self.best < math.inf else None


Stages = Callable[[Stage], object]
"""Called with the stage of a search, whenever it gets on."""


class _Watched:
    """The listener, and the best and the bound reported so far."""

    def __init__(self, listener: Stages) -> None:
        self.listener = listener
        self.best, self.bound = math.inf, 0.0
        self.of_parts = 0  # open blocks of another question, whose bounds do not hold for ours


_watched: ContextVar[_Watched | None] = ContextVar("watched", default=None)


@contextmanager
def watched_by(listener: Stages | None) -> Iterator[None]:
    """Report to this listener in the `with` block; None keeps the current listener."""
    before = _watched.get()
    heard = listener or (before.listener if before is not None else None)
    token = _watched.set(None if heard is None else _Watched(heard))
    try:
        yield
    finally:
        _watched.reset(token)


@contextmanager
def without_bounds() -> Iterator[None]:
    """Report no bounds in the `with` block: it solves another question, whose answers also answer this one."""
    watched = _watched.get()
    if watched is None:
        yield
        return
    watched.of_parts += 1
    try:
        yield
    finally:
        watched.of_parts -= 1


def tell(
    name: str, done: int = 0, total: int = 0, unit: str = "", *, best: float = math.inf, bound: float = 0.0
) -> None:
    """Report how far the search is; best and bound are of the whole question, and stay until improved."""
    LOG.debug("%s %d of %d %s", name, done, total, unit)
    watched = _watched.get()
    if watched is None:
        return
    watched.best = min(watched.best, best)
    if not watched.of_parts:
        watched.bound = max(watched.bound, bound)
    watched.listener(Stage(name, done, total, unit, watched.best, watched.bound))
