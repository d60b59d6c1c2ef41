"""User-defined operators in the search: drawn by their shares, with results always checked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cocco.candidates.genome import Genome
from cocco.candidates.operators import Operator
from cocco.candidates.stream import Stream, threshold
from cocco.problem.problem import Problem
from cocco.search.genetic.operators.checked import checked_genome


class Own:
    """The user-defined operators of one kind: mutations or crossovers."""

    def __init__(self, problem: Problem, operators: Sequence[Operator], ours: float) -> None:
        """Take operators; ours: the sum of the shares of the search's own operators of that kind."""
        self.problem, self.operators = problem, tuple(operators)
        whole = math.fsum(each.share for each in self.operators)
        self.share = threshold(whole / (whole + ours)) if self.operators else 0
        ends = [math.fsum(each.share for each in self.operators[: i + 1]) for i in range(len(self.operators))]
        self.ends = [threshold(end / whole) for end in ends]

    def is_next(self, stream: Stream) -> bool:
        """Return whether one of these comes next; draws no random number if there are none."""
        return bool(self.operators) and stream.chance(self.share)

    def apply(self, genomes: Sequence[Genome], stream: Stream) -> Genome:
        """Return the result of one of them on copies of these genomes; a ValueError names it if that is no genome."""
        drawn = stream.draw() >> 32
        place = next((i for i, end in enumerate(self.ends) if drawn < end), len(self.ends) - 1)
        operator = self.operators[place]
        copies = [Genome(list(each.labels), tuple(each.capacities)) for each in genomes]
        made = operator.function(self.problem, *copies, stream)
        try:
            return checked_genome(self.problem, made)
        except ValueError as error:
            raise ValueError(f"operator {operator.name!r}: {error}") from None
