"""Masks of an attention: which keys a query sees, from the positions of both alone.

Each query sees an interval of keys, its own position among them, and no interval begins or ends before that of an
earlier query. Causal, sliding and chunked masks are values of this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Mask:
    """Which keys a query sees: those near it, in its own chunk. The queries are the last of the keys' positions.

    The default is causal: itself and all before it. `Mask(behind=4095)` is a window of 4,096 that slides.

    Examples
    --------
    Query 2 of 4 after 2 earlier positions stands at position 4:

    >>> from workloads import Mask
    >>> [mask.seen(2, 4, 6) for mask in (Mask(), Mask(behind=1), Mask(chunk=4), Mask(behind=1, ahead=1))]
    [range(0, 5), range(3, 5), range(4, 5), range(3, 6)]
    >>> Mask().pairs(4, 4)  # 1 + 2 + 3 + 4
    10
    """

    behind: int | None = None  #: positions before its own, at most; None: all
    ahead: int | None = 0  #: positions after its own, at most; None: all
    chunk: int = 0  #: positions of a chunk, of which a query sees its own; 0: all are one
    together: int = 1  #: adjacent queries at one position: of heads that share keys, as loops run them

    def seen(self, query: int, queries: int, keys: int) -> range:
        """Return the keys that a query sees, of so many queries and keys."""
        place = keys - queries // self.together + query // self.together
        first = 0 if self.behind is None else max(0, place - self.behind)
        stop = keys if self.ahead is None else min(keys, place + self.ahead + 1)
        if self.chunk:
            start = place // self.chunk * self.chunk
            first, stop = max(first, start), min(stop, start + self.chunk)
        return range(first, stop)

    def pairs(self, queries: int, keys: int) -> int:
        """Return how many pairs of a query and a key that it sees there are."""
        return _pairs(self, queries, keys)

    def counts(self, queries: int, keys: int) -> tuple[int, ...]:
        """Return how many keys each query sees."""
        return _counts(self, queries, keys)

    def __str__(self) -> str:
        """Return it in words: causal, window 4,096, chunks of 8,192, 1 before, 1 after."""
        if self == Mask():
            return "causal"
        said = [f"chunks of {self.chunk:,}"] if self.chunk else []
        if self.behind is not None:
            said.append(f"window {self.behind + 1:,}" if self.ahead == 0 else f"{self.behind:,} before")
        if self.ahead:
            said.append(f"{self.ahead:,} after")
        return ", ".join(said) or "none"


CAUSAL = Mask()


@lru_cache(maxsize=1 << 4)
def _counts(mask: Mask, queries: int, keys: int) -> tuple[int, ...]:
    return tuple(len(mask.seen(query, queries, keys)) for query in range(queries))


@lru_cache(maxsize=1 << 10)
def _pairs(mask: Mask, queries: int, keys: int) -> int:
    return sum(_counts(mask, queries, keys))
