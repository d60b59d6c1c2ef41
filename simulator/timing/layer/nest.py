"""Nested loops: what adjacent steps move together, without running the steps one by one.

Step n of a nest is an odometer: one digit for each loop, the innermost turns first. What moves at a step is a product
of sizes, one for each digit, so what all steps before the n-th move is a sum of one product for each loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod
from operator import mul
from typing import Literal, NamedTuple

Sizes = Sequence[int] | Literal["first", "last"]


class Term(NamedTuple):
    """What moves at each step: `times` the product of the sizes of its digits, divided by `over`."""

    sums: tuple[Sequence[int], ...]  #: for each loop of several steps the sizes of the digits before each
    inner: tuple[int, ...]  #: for each loop what the loops inside it give in one turn
    times: int
    over: int

    def before(self, digits: Sequence[int]) -> int:
        """Return what moves before the step of these digits."""
        total, size = 0, self.times
        for sums, inner, digit in zip(self.sums, self.inner, digits):
            if not size:
                break
            total += size * sums[digit] * inner
            size *= sums[digit + 1] - sums[digit]
        return total // self.over

    @property
    def total(self) -> int:
        """What all steps move."""
        return self.times * prod(sums[-1] for sums in self.sums) // self.over


class Nest:
    """Loops by name from the outermost, and how many steps each has.

    Examples
    --------
    Two chunks of 8 and 4 outputs, three tiles; a chunk's weights come with its first tile.

    >>> nest = Nest({"chunks": 2, "tiles": 3})
    >>> nest.moved([nest.term({"chunks": [8, 4], "tiles": "first"}, 72)], 1)
    [576, 0, 0, 288, 0, 0]
    >>> nest.moved([nest.term({"chunks": [8, 4], "tiles": "first"}, 72)], 4)
    [864, 0]
    """

    def __init__(self, steps: Mapping[str, int]) -> None:
        self.steps = dict(steps)
        self.count = prod(self.steps.values())
        self._turning = [count for count in self.steps.values() if count > 1]
        self._marks: dict[int, list[list[int]]] = {}

    def term(self, sizes: Mapping[str, Sizes], times: int = 1, over: int = 1) -> Term:
        """Return the term with these sizes: by loop, the size of each of its steps; 1 for loops not given."""
        assert sizes.keys() <= self.steps.keys(), (sizes, self.steps)
        every = [_sums(sizes.get(name), count) for name, count in self.steps.items()]
        times *= prod(sums[-1] for sums in every if len(sums) == 2)
        sums = tuple(sums for sums in every if len(sums) > 2)
        turns = [*accumulate((each[-1] for each in reversed(sums)), mul, initial=1)]
        return Term(sums, tuple(reversed(turns[:-1])), times, over)

    def moved(self, terms: Sequence[Term], together: int) -> list[int]:
        """Return what each run of this many adjacent steps moves in all of these terms."""
        ends = [sum(term.before(digits) for term in terms) for digits in self._digits(together)]
        ends.append(sum(term.total for term in terms))
        return [stop - start for start, stop in zip(ends, ends[1:])]

    def _digits(self, together: int) -> list[list[int]]:
        """Return the digits of the first step of each run of this many."""
        if together not in self._marks:
            found = []
            for step in range(0, self.count, together):
                digits = []
                for count in reversed(self._turning):
                    step, digit = divmod(step, count)
                    digits.append(digit)
                found.append(digits[::-1])
            self._marks[together] = found
        return self._marks[together]


def _sums(sizes: Sizes | None, count: int) -> Sequence[int]:
    if sizes is None:
        return range(count + 1)
    if sizes == "first":
        return [0] + [1] * count
    if sizes == "last":
        return [0] * count + [1]
    assert len(sizes) == count, (sizes, count)
    return [*accumulate((int(size) for size in sizes), initial=0)]


class Moves(NamedTuple):
    """The loops of a layer and what their steps move: bytes for the whole batch, work as parts of the whole."""

    nest: Nest
    inputs: list[Term]
    weights: list[Term]
    outputs: list[Term]
    work: list[Term]
    ahead: list[Term]  #: bytes of one core that the inputs of a step take in addition to what the plan holds
    behind: list[Term]  #: bytes of one core that its outputs take
