"""Sets of layers, or of tensors, as integers with a bit for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def bits(numbers: Iterable[int]) -> int:
    """Return the set of these numbers."""
    found = 0
    for number in numbers:
        found |= 1 << number
    return found


def members(found: int) -> Iterator[int]:
    """Yield the numbers of a set, ascending."""
    while found:
        low = found & -found
        yield low.bit_length() - 1
        found ^= low


class Cones:
    """Per layer the set of itself and its ancestors, and of itself and its descendants.

    producers: of each layer, in an order of execution; what is no layer, such as a model input, is passed over.
    """

    def __init__(self, producers: Sequence[Iterable[int]]) -> None:
        count = len(producers)
        layers = [[u for u in reads if u < count] for reads in producers]
        self.up, self.down = [1 << v for v in range(count)], [1 << v for v in range(count)]
        for v, reads in enumerate(layers):
            for u in reads:
                self.up[v] |= self.up[u]
        for v in reversed(range(count)):
            for u in layers[v]:
                self.down[u] |= self.down[v]

    def between(self, layers: Iterable[int]) -> int:
        """Return the set of these layers and all that lie on paths from one of them to another."""
        above = below = 0
        for v in layers:
            above |= self.up[v]
            below |= self.down[v]
        return above & below
