"""How a team of cores runs a subgraph in lock-step: which core makes which columns when, and what each holds.

Every event advances one tensor in all cores; then all wait for each other. Channels dealt: the plan of one core, its
channels shared. Mirrored columns (mirrored.py): each core sweeps a band of columns towards a neighbour or away from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from simulator.execution.cores.share import Share, deal
from simulator.execution.count.layer_facts import bits_of
from simulator.execution.count.miss import Span
from simulator.execution.count.part import COLUMNS, Part
from simulator.execution.count.scheme import Cells, Scheme, derive_scheme


class Sweep(NamedTuple):
    """A tensor advances along the columns; each core counts its own columns from the start of its sweep."""

    tensor: int
    pieces: tuple[Span, ...]


@dataclass(frozen=True)
class Team:
    """Cores that share one sample. scheme: pace of rows, tile, and the regions of a core before channels are dealt.

    cells: for each core, by tensor id.
    """

    scheme: Scheme
    shares: tuple[Share, ...]
    sweeps: tuple[Sweep, ...]  #: of one row operation
    cells: tuple[Mapping[int, Cells], ...]

    @property
    def part(self) -> Part:
        """What runs."""
        return self.scheme.part

    def activation_bytes(self) -> list[int]:
        """Return the bytes of all regions of each core; what is on chip whole has none."""
        lies = self.part.lies.on_chip
        return [sum(cells.size_bytes for u, cells in each.items() if u not in lies) for each in self.cells]


def deal_team(part: Part, tile: tuple[int, int], word: int, samples: int, cores: int, channels: Sequence[int]) -> Team:
    """Return cores to which the channels of every tensor are dealt; everything else is as on one core."""
    scheme, shares = derive_scheme(part, tile, word, samples), deal(part, word, cores, channels)
    cells = []
    for share in shares:
        rooms = {u: -(-len(share.channels[u]) // word) * word for u in part.tensors}
        bits = {u: bits_of(part.network, u) for u in part.tensors}
        cells.append({u: Cells(*each[:4], rooms[u], samples, bits[u]) for u, each in _sizes(scheme).items()})
    if scheme.is_alone:
        sweeps = [Sweep(u, ((0, part.extent[COLUMNS][u]),) * cores) for u in part.tensors]
    else:
        room = {u: each.columns for u, each in scheme.cells.items()}
        sweeps = [Sweep(each.tensor, ((each.start, each.stop),) * cores) for each in scheme.columns.events(room)]
    return Team(scheme, shares, tuple(sweeps), tuple(cells))


def _sizes(scheme: Scheme) -> dict[int, tuple[int, int, int, int]]:
    return {u: (each.rows, each.columns, each.kept, each.width) for u, each in scheme.cells.items()}
