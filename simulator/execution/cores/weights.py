"""Where the weights lie on several cores, and how many of them move.

Channels dealt: each weight is in the core of the output that it makes. Rotated: all bytes are dealt evenly to all
cores, and at every update of a layer each core that makes something receives from the others what it does not hold.
Held: all weights are in every core that works; they are loaded once and cross once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.execution.cores.share import Share
from simulator.execution.count.layer_facts import loaded_bytes, matrix, weight_bytes
from simulator.execution.count.part import Part


@dataclass(frozen=True)
class Weights:
    """Bytes by layer and core; cores of the first team first."""

    owned: dict[int, list[int]]  #: that lie in a core
    used: dict[int, list[int]]  #: that a core reads for an update
    loaded: int  #: from DRAM
    written: int  #: into all weight buffers
    crossing: int  #: once, before the first update

    def held(self) -> list[int]:
        """Return the bytes in each core that holds any."""
        return [sum(each) for each in zip(*self.owned.values())]

    def moved(self, updates: dict[int, list[int]], rounds: Sequence[int]) -> tuple[int, int]:
        """Return the bytes read for all updates of all rounds of samples, and the bytes that cross.

        updates: by layer and core of a team; rounds: of each team.
        """
        reads, crossing = 0, self.crossing
        for v, used in self.used.items():
            for core, size in enumerate(used):
                team, place = divmod(core, len(updates[v]))
                times = updates[v][place] * rounds[team]
                reads += times * size
                crossing += times * max(0, size - self.owned[v][core])
        return reads, crossing


def hold_weights(part: Part, scheme: str, shares: Sequence[Share], cores: int, teams: int) -> Weights:
    """Return where the weights of a part lie under a scheme; cores: of the machine, also those without work."""
    sizes = {v: weight_bytes(part.network, v) for v in part.layers}
    total = sum(sizes.values())
    if scheme == "channels":
        own = {v: _with_outputs(part, v, shares) for v in part.layers}
        return Weights(own, own, total, total, 0)
    used = {v: [size] * (len(shares) * teams) for v, size in sizes.items()}
    if scheme == "held":
        works = [any(share.extent(v) for v in part.layers) for share in shares] * teams
        owned = {v: [size * each for each in works] for v, size in sizes.items()}
        return Weights(owned, used, total, sum(works) * total, (sum(works) - 1) * total)
    edges = [total * core // cores for core in range(cores + 1)]
    owned, first = {}, 0
    for v, size in sizes.items():
        stop = first + size
        owned[v] = [max(0, min(stop, b) - max(first, a)) for a, b in zip(edges, edges[1:])]
        first = stop
    return Weights(owned, used, total, total, 0)


def _with_outputs(part: Part, v: int, shares: Sequence[Share]) -> list[int]:
    layer, weights = part.network.layers[v], matrix(part.network, v)
    return [loaded_bytes(layer, weights * len(share.channels[v]) // layer.channels) for share in shares]
