"""User-defined operators: what the genetic search breeds with in addition to its own (docs/own-loop.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocco.candidates.genome import Genome

MAX_SHARE = 1e6  #: our choice: so large a share leaves the others next to nothing


@dataclass(frozen=True)
class Operator:
    """A user-defined mutation or crossover, for `operators=` of explore, partition, pareto and minimize.

    Parameters
    ----------
    function
        Called with the problem, one genome (two for a crossover) and a stream of random numbers; returns a new genome.
        `genome.labels` has a number per layer, equal for the layers of one subgraph. `genome.capacities` has, for each
        buffer that is chosen, its position among the candidates. `problem.edges`, `producers`, `consumers` and
        `candidates` describe both. Any labels are allowed: they are repaired. All randomness must come from the stream
        (`below(n)`, `draw()`), so that a seed gives the same answer.
    share
        How often it is drawn, relative to ours: the shares of Settings for a mutation, 1 for the paper's crossover.
    parents
        1 for a mutation, 2 for a crossover.

    Raises
    ------
    ValueError
        Names the field, the rule and the value.

    Examples
    --------
    >>> def alone(problem, genome, stream):
    ...     labels = list(genome.labels)
    ...     labels[stream.below(len(labels))] = len(labels)  # a label that no layer has
    ...     return genome._replace(labels=labels)
    >>> Operator(alone, share=0.5).name
    'alone'
    """

    function: Callable[..., Genome]
    share: float = 1.0
    parents: int = 1

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"operators must be functions or cocco.Operator, got {self.function!r}")
        if isinstance(self.share, bool) or not isinstance(self.share, (int, float)) or not 0 < self.share <= MAX_SHARE:
            raise ValueError(f"operator.share must be a number above 0 and at most {MAX_SHARE:g}, got {self.share!r}")
        if self.parents not in (1, 2) or isinstance(self.parents, bool):
            raise ValueError(f"operator.parents must be 1 (a mutation) or 2 (a crossover), got {self.parents!r}")

    @property
    def name(self) -> str:
        """The name of its function."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))


Operators = Sequence[Operator | Callable[..., "Genome"]]


def operators_of(given: Operators) -> tuple[Operator, ...]:
    """Return operators, with plain functions given the share 1; ValueError if something is not an operator."""
    if callable(given) or isinstance(given, str) or not isinstance(given, Sequence):
        raise ValueError(f"operators must be a list of functions or of cocco.Operator, got {given!r}")
    return tuple(each if isinstance(each, Operator) else Operator(each) for each in given)
