"""An end of the range of memories at which an answer lies."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from cocco.problem.space import Space, round_sizes


class Edge(NamedTuple):
    """An end of a range at which an answer, or a size that costs at most 1 % more, lies, with sizes beyond."""

    buffer: str  #: its name in Accelerator
    end: Literal["low", "high"]
    size_bytes: int
    beyond_bytes: int  #: the farthest size beyond that may cost as little

    @property
    def ask(self) -> str:
        """The range of what lies beyond, as the command line takes it.

        Examples
        --------
        >>> Edge("shared_buffer", "low", 128 * 1024, 48 * 1024).ask
        '48KB:128KB:4KB'
        """
        low, high = sorted((self.size_bytes, self.beyond_bytes))
        sizes = [*round_sizes(low, high), high, 2 * high][:2]
        return ":".join(
            f"{size // 1024}KB" if size % 1024 == 0 else f"{size}" for size in (low, high, sizes[1] - sizes[0])
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return self._asdict()


def searched_json(space: Space | None, edges: tuple[Edge, ...]) -> dict[str, Any]:
    """Return what an answer says of the ranges that were searched, and of their ends at which it lies."""
    if space is None:
        return {}
    ranges = {name: each.to_json() for name, each in space.ranges.items()}
    return {"searched": ranges, "edges": [each.to_json() for each in edges]}
