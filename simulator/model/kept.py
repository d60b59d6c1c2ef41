"""Tensors that stay on chip, whole, over several steps, as one of them sees it (our extension; docs/model.md, 3).

A step is a subgraph by its place in the execution order; simulator/partition/steps.py says where its tensors lie.
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.partition.steps import Step


class Kept(NamedTuple):
    """Where the tensors of a subgraph lie, by tensor id.

    on_chip tensors have no MAIN and no SIDE: their windows are read from the whole map, and results are written to it.
    One that is loaded here, to be kept from here on, comes in whole, once. A result may be kept and written, too.

    Examples
    --------
    Layer 4 reads tensors 2 and 3 of which 3 has stayed on chip; its own stays for others, who read it there:

    >>> Kept(on_chip=frozenset({3, 4}), loaded=frozenset({2}), written=frozenset())
    Kept(on_chip=frozenset({3, 4}), loaded=frozenset({2}), written=frozenset())
    """

    on_chip: frozenset[int]  #: of S and in(S): kept whole while the subgraph runs
    loaded: frozenset[int]  #: of in(S): read from DRAM; all others are on chip before
    written: frozenset[int]  #: of S: written to DRAM


class Reserved(NamedTuple):
    """What kept tensors take of the activation buffer while a step runs, those that it does not touch among them."""

    size_bytes: int = 0  #: of one core, of all of them
    elsewhere: int = 0  #: how many the step neither makes nor reads: each is a region, too


NOTHING = Reserved()


def kept_of(step: Step) -> Kept | None:
    """Return where the tensors of a step lie, None where it touches no tensor that is kept."""
    if not step.touched:
        return None
    return Kept(step.touched, frozenset(step.loaded), frozenset(step.written))
