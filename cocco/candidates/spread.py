"""Which of a list are taken where not all can be."""

from __future__ import annotations


def spread(count: int, most: int) -> list[int]:
    """Return at most so many of the places 0 to count - 1, evenly spread, the ends among them.

    >>> spread(3, 5), spread(9, 3), spread(9, 1)
    ([0, 1, 2], [0, 4, 8], [0])
    """
    if count <= most:
        return list(range(count))
    return [i * (count - 1) // (most - 1) for i in range(most)] if most > 1 else [0][:most]
