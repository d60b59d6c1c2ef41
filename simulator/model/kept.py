"""Tensors that stay on chip, whole, over several steps, as seen by one step (our extension; docs/model.md, 3).

A step is a subgraph by its place in the execution order; simulator/partition/steps.py says where its tensors lie.
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.partition.steps import Step


class Kept(NamedTuple):
    """Where the tensors of a subgraph lie, by tensor id.

    on_chip tensors have no MAIN and no SIDE: windows are read from the whole map, and results are written to it.
    A tensor that is loaded here, to be kept from now on, is loaded whole and once. A result may be kept and written.

    Examples
    --------
    Layer 4 reads tensors 2 and 3, of which 3 has stayed on chip; its own stays for later layers to read there:

    >>> Kept(on_chip=frozenset({3, 4}), loaded=frozenset({2}), written=frozenset())
    Kept(on_chip=frozenset({3, 4}), loaded=frozenset({2}), written=frozenset())
    """

    on_chip: frozenset[int]  #: of S and in(S): kept whole while the subgraph runs
    loaded: frozenset[int]  #: of in(S): read from DRAM; all others are on chip before
    written: frozenset[int]  #: of S: written to DRAM


class Reserved(NamedTuple):
    """What a step may not use: what kept tensors take of the activation buffer meanwhile, and what it leaves free."""

    size_bytes: int = 0  #: of one core, of all kept tensors, without `handed`, including those that it does not use
    elsewhere: int = 0  #: how many the step neither makes nor reads: each is a region, too
    handed: int = 0  #: bytes of a result that takes the place of an operand; not if all regions are held
    spare: int = 0  #: bytes of the buffer of weights, or of the shared one, that the step leaves free


NOTHING = Reserved()


def kept_of(step: Step) -> Kept | None:
    """Return where the tensors of a step lie; None if it uses no kept tensor."""
    if not step.touched:
        return None
    return Kept(step.touched, frozenset(step.loaded), frozenset(step.written))
